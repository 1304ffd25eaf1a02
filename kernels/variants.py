# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels and variants: loading ``variants.toml``, and a person's own files.

A variant is a kernel, run-time switches, boot arguments and a device-tree flavour. Every run checks
the state that it declares: EAS on or off, the governor (`kernels.state`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from eascope.configs.devicetree import FLAVOURS
from eascope.host.errors import EascopeError, RequestError
from eascope.host.imports import REPO
from eascope.host.keys import WrongValue, form_of, key
from eascope.host.strict import NAME_RULE, StrictTable, is_name, read_toml, shown_path
from eascope.kernels.queues import (
    changes_something,
    folders_of_queues,
    made_queue,
    series_patches,
    states_options,
)
from eascope.kernels.releases import RELEASES
from eascope.kernels.switches import EAS_GOVERNOR, GOVERNORS, SWITCHES, Switches
from eascope.kernels.trees import Tree

#: The command that prints the names of all variants.
LISTING = "eascope list variants"
VARIANTS = Path(__file__).parent / "variants.toml"
SERIES = Path(__file__).parent / "series"
FRAGMENTS = Path(__file__).parent / "fragments"

#: What a person's own file may add to a variant.
_ADDED = ("patches", "config", "boot", "switch")
_BOOT = re.compile(r"[!#-~]+( [!#-~]+)*")
#: Arguments that take CPUs away, as `kernels.switches` has files that do.
_TAKES_CPUS = ("isolcpus", "maxcpus", "nosmp", "nr_cpus")
#: What `is_boot` takes.
BOOT_RULE = (
    "kernel arguments without quotes, separated by single spaces; none of "
    f"{', '.join(_TAKES_CPUS)}: all CPUs are online and in the domains"
)


def is_boot(text: str) -> bool:
    """Whether these are boot arguments that a variant may have."""
    names = [argument.partition("=")[0] for argument in text.split()]
    return bool(_BOOT.fullmatch(text)) and not {*names} & {*_TAKES_CPUS}


BOOT = form_of(
    lambda value: value == "" or (isinstance(value, str) and is_boot(value)),
    f"{BOOT_RULE}, or an empty string",
    type="string",
)


def _queues() -> list[str]:
    return [path.name for path in folders_of_queues(SERIES)]


def _fragments() -> list[str]:
    return sorted(path.stem for path in FRAGMENTS.glob("*.config"))


@dataclass(frozen=True)
class Kernel:
    """A kernel: its queues in order, and the fragments of its configuration.

    :param own: folders of a person's queues, named in `series` as the folders are; none for ours.
    :param release: the one that is asked for by name (``base@7.3``); empty: the default, or that of
        KERNEL_SRC.
    :param tree: a person's tree as its source, instead of a release's.
    :param more: further fragments for a scenario's programs; none for all other runs.
    """

    name: str
    summary: str = key("one line")
    series: tuple[str, ...] = key("its queues in order", choices=_queues)
    fragments: tuple[str, ...] = key("of its configuration, in order", choices=_fragments)
    own: tuple[Path, ...] = ()
    release: str = ""
    tree: Tree | None = None
    more: tuple[str, ...] = ()

    @property
    def starts_as_mainline(self) -> bool:
        """Whether it behaves as mainline before a switch is written; sums replace the maximum."""
        return not self.own and self.tree is None and "sum" not in self.series

    @property
    def has_latency_nice(self) -> bool:
        """Whether tasks and groups have this attribute."""
        return "latnice" in self.series

    def folders(self, root: Path) -> list[Path]:
        """The folders of its queues, ours being below ``root``."""
        own = {folder.name: folder for folder in self.own}
        return [own.get(name, root / name) for name in self.series]

    @property
    def our_series(self) -> tuple[str, ...]:
        """Its queues without a person's own."""
        own = {folder.name for folder in self.own}
        return tuple(name for name in self.series if name not in own)

    def with_queue(self, folder: Path, *, first: bool = False) -> Kernel:
        """This kernel with a person's queue after its own, or ``first``; named as the folder."""
        name = folder.name
        series = (name, *self.series) if first else (*self.series, name)
        return replace(self, name=name, series=series, own=(*self.own, folder))


@dataclass(frozen=True)
class Declared:
    """The state that a variant stands for."""

    eas: bool = key("whether energy-aware scheduling is on")
    governor: str = key("of every policy", choices=GOVERNORS)

    def check(self) -> None:
        """EAS has one governor."""
        if self.eas and self.governor != EAS_GOVERNOR:
            raise WrongValue("governor", self.governor, f"{EAS_GOVERNOR} where eas = true")


@dataclass(frozen=True)
class Variant:
    """A variant, as comparisons name it.

    :param own: a person's, not the project's.
    """

    name: str
    kernel: str
    summary: str = key("one line")
    source: str = key("the kernel or posting that it stands for")
    #: Whether a figure of ours may be compared with one of the source's depends on it.
    deviations: tuple[str, ...] = key(
        "what differs from that source",
        count=(0, 1000),
        allowed="a list of texts on one line each, empty where nothing deviates",
    )
    dtb: str = key("the device tree", choices=FLAVOURS)
    boot: str = key("kernel command-line arguments, may be empty", form=BOOT)
    switches: Switches = key("in the order in which the agent writes them", form=SWITCHES)
    declares: Declared = key("the state that it stands for, proven by `kernels.state`")
    releases: tuple[str, ...] = key("that have its switches", choices=RELEASES, default=())
    own: bool = False

    def with_more(self, boot: str, switches: Switches) -> Variant:
        """This variant with boot arguments and switches in addition, and after its own.

        An argument replaces those of its name.
        """
        more = {argument_name(word) for word in boot.split()}
        kept = [word for word in self.boot.split() if argument_name(word) not in more]
        return replace(
            self, boot=" ".join([*kept, *boot.split()]), switches=(*self.switches, *switches)
        )


@dataclass(frozen=True)
class Catalogue:
    """The contents of ``variants.toml``, by name, in the file's order, then a person's own files.

    ``planned`` are one-line summaries, ``broken`` errors of own variants: each is raised only when
    its name is asked for.
    """

    kernels: Mapping[str, Kernel]
    variants: Mapping[str, Variant]
    planned: Mapping[str, str]
    broken: Mapping[str, RequestError]

    def shipped(self) -> list[Variant]:
        """The variants of the project, without a person's own."""
        return [variant for variant in self.variants.values() if not variant.own]

    def check(self, name: str) -> None:
        """Complain about an own variant whose line or file is wrong.

        :raises RequestError: what is wrong with it.
        """
        if name in self.broken:
            raise self.broken[name]


@cache
def load_catalogue(path: Path = VARIANTS) -> Catalogue:
    """The contents of the file.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    top = read_toml(path)
    known = {name: table.decoded(Kernel, name=name) for name, table in _named(top, "kernel")}
    variants = {}
    for name, table in _named(top, "variant"):
        kernel = table.text("kernel", known)
        variants[name] = table.decoded(Variant, name=name, kernel=kernel)
    planned = _planned(top.table("planned"), variants) if top.has("planned") else {}
    known, variants, broken = _with_own(path, top, {*planned, *RELEASES}, known, variants)
    top.finish()
    return Catalogue(known, variants, planned, broken)


def _planned(table: StrictTable, variants: Mapping[str, Variant]) -> dict[str, str]:
    """Names and summaries of ``[planned]``, without variants that exist."""
    for name in table.data:
        if not is_name(name) or name in variants:
            raise table.error(name, f"a name of {NAME_RULE}, that no [variant] has")
    return {name: table.text(name) for name in table.data}


def _with_own(
    path: Path,
    top: StrictTable,
    taken: set[str],
    kernels: dict[str, Kernel],
    variants: dict[str, Variant],
) -> tuple[dict[str, Kernel], dict[str, Variant], dict[str, RequestError]]:
    """Kernels and variants with a person's: lines of ``[own]``, then files, in any order."""
    kernels, variants = dict(kernels), dict(variants)
    broken: dict[str, RequestError] = {}
    taken |= {*kernels, *variants}

    def add(name: str, read: Callable[[], tuple[Kernel, Variant]]) -> None:
        try:
            kernel, variant = read()
            kernels[kernel.name], variants[name] = kernel, variant
        except EascopeError as error:
            broken[name] = RequestError(str(error))

    for name in top.table("own").data if top.has("own") else ():
        add(name, partial(_own, top.table("own"), name, kernels, variants))
    taken |= {*variants, *broken}
    files = {file.stem: file for file in sorted(own_folder(path).glob("*.toml"))}
    while files:
        # Of a ring, each is as good as another: its base is not known yet.
        ready = [name for name, file in files.items() if _base_of(file) not in files] or [*files]
        for name in ready:
            file = files.pop(name)
            base = _base_of(file)
            if base in broken and base not in variants:
                broken.setdefault(name, broken[base])
            else:
                add(name, partial(_own_file, file, taken, kernels, variants))
    return kernels, variants, broken


def _base_of(file: Path) -> str:
    """What an own file starts from; empty where that cannot be read."""
    try:
        return str(read_toml(file).data.get("base", ""))
    except EascopeError:
        return ""


def _own(
    table: StrictTable, name: str, kernels: Mapping[str, Kernel], variants: Mapping[str, Variant]
) -> tuple[Kernel, Variant]:
    """Kernel and variant of a line of ``[own]``: ``NAME = "VARIANT"``.

    The queue ``series/NAME`` on top of that variant's kernel, everything else as the variant has
    it; ``NAME = {of = "VARIANT", first = true}`` applies it before our queues.

    :raises RequestError: a wrong line, or a queue that cannot be what was meant.
    """
    if not is_name(name) or name in variants or name in kernels:
        raise table.error(name, f"a name of {NAME_RULE}, that no kernel or variant has")
    if not (SERIES / name / "series").is_file():
        raise table.error(name, f"a queue of that name: kernels/series/{name}/series")
    series_patches(SERIES / name)
    first = False
    if isinstance(table.value(name, ""), dict):
        line = table.table(name)
        of = line.text("of", variants, LISTING)
        first = line.flag("first") if line.has("first") else False
        line.finish()
    else:
        of = table.text(name, variants, LISTING)
    where = f"kernels/series/{name}"
    kernel = kernels[variants[of].kernel].with_queue(SERIES / name, first=first)
    return own_variant(kernel, variants[of], name, f"{of} with the patches of {where}", where)


def own_variant(
    kernel: Kernel, base: Variant, name: str, summary: str, source: str
) -> tuple[Kernel, Variant]:
    """A person's variant ``name``: ``base`` on ``kernel``, which has this name where it is new."""
    if kernel.name != base.kernel:
        kernel = replace(kernel, name=name, summary=summary)
    return kernel, replace(
        base,
        name=name,
        summary=summary,
        source=source,
        deviations=(),
        kernel=kernel.name,
        own=True,
    )


def own_folder(path: Path = VARIANTS) -> Path:
    """The folder of a person's ``NAME.toml``: ``own`` beside ``variants.toml`` in a checkout.

    An installed eascope has its user's ``${XDG_CONFIG_HOME:-~/.config}/eascope/own``.
    """
    if (REPO / "pyproject.toml").is_file():
        return path.parent / "own"
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "eascope/own"


def _own_file(
    file: Path, taken: set[str], kernels: Mapping[str, Kernel], variants: Mapping[str, Variant]
) -> tuple[Kernel, Variant]:
    """Kernel and variant of an own file: the variant ``base`` with what the file adds.

    :raises EascopeError: a wrong name, key or patch.
    """
    table, name = read_toml(file), file.stem
    if not is_name(name) or name in taken:
        allowed = f"a name of {NAME_RULE}, that no kernel or variant has"
        raise RequestError(f"{shown_path(file)}: name {name!r}: allowed: {allowed}")
    table.only(("base", "description", *_ADDED))
    base = variants[table.text("base", variants, LISTING)]
    summary = table.text("description")
    if not any(table.has(key) for key in _ADDED):
        raise table.lacks(_ADDED[0], f"one at least of {', '.join(_ADDED)}")
    patches = [
        _own_patch(table, file.parent / Path(patch).expanduser())
        for patch in (table.texts("patches") if table.has("patches") else ())
    ]
    config = "".join(f"{line}\n" for line in table.texts("config")) if table.has("config") else ""
    if config and not states_options(config.encode()):
        raise table.error("config", "a list of CONFIG_NAME=VALUE or '# CONFIG_NAME is not set'")
    base = base.with_more(
        table.read("boot", str, form=BOOT) if table.has("boot") else "",
        table.read("switch", tuple, form=SWITCHES) if table.has("switch") else (),
    )
    kernel = kernels[base.kernel]
    if patches or config:
        kernel = kernel.with_queue(made_queue(name, patches, config.encode()))
    return own_variant(kernel, base, name, summary, shown_path(file))


def _own_patch(table: StrictTable, path: Path) -> tuple[str, bytes]:
    """Name and content of a patch that an own file names."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise table.error(
            "patches", f"patches, and {shown_path(path)}: {error.strerror}"
        ) from error
    if not changes_something(content):
        raise table.error("patches", f"patches, and {shown_path(path)} has no hunk")
    return path.name, content


def load_variants(path: Path = VARIANTS) -> dict[str, Variant]:
    """All variants by name, in the file's order.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    return dict(load_catalogue(path).variants)


def _named(top: StrictTable, key: str) -> list[tuple[str, StrictTable]]:
    """Names and tables of ``[key.NAME]``, their names checked."""
    group = top.table(key)
    if not group.data:
        raise top.error(key, "at least one table")
    for name in group.data:
        if not is_name(name):
            raise group.error(name, f"a name of {NAME_RULE}")
    return [(name, group.table(name)) for name in group.data]


def argument_name(word: str) -> str:
    """The name of a boot argument as the kernel compares it: a dash is an underscore."""
    return word.partition("=")[0].replace("-", "_")


def boot_args(variant: Variant) -> str:
    """Kernel command-line arguments of ``variant``, besides those that every run has."""
    return variant.boot
