# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels and variants: loading ``variants.toml``, and a person's own files.

A variant is a kernel, run-time switches, boot arguments and a device-tree flavour. Every run checks
the state that it declares: EAS on or off, the governor (`kernels.state`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from eascope.configs.devicetree import FLAVOURS
from eascope.host.errors import EascopeError, RequestError
from eascope.host.imports import REPO
from eascope.host.keys import (
    NAME,
    NAME_RULE,
    Place,
    Placed,
    WrongValue,
    entries_of,
    form_of,
    is_name,
    key,
    maybe,
    same,
)
from eascope.host.strict import read_toml, shown_path
from eascope.kernels.patch_series import (
    changes_something,
    folders_of_series,
    made_series,
    series_patches,
    states_options,
)
from eascope.kernels.releases import RELEASES
from eascope.kernels.switches import EAS_GOVERNOR, FEATURES, GOVERNORS, SWITCHES, Switches
from eascope.kernels.trees import Tree

#: The command that prints the names of all variants.
LISTING = "eascope list variants"
VARIANTS = Path(__file__).parent / "variants.toml"
SERIES = Path(__file__).parent / "series"
FRAGMENTS = Path(__file__).parent / "fragments"

#: What a person's own file may add to a variant.
_ADDED = ("series", "patches", "config", "boot", "switches")
#: Keys of own files that have another name now.
_RENAMED = {"description": "summary", "switch": "switches"}
_BOOT = re.compile(r"[!#-~]+( [!#-~]+)*")
#: Arguments that take CPUs away, as `kernels.switches` has files that do.
_TAKES_CPUS = ("isolcpus", "maxcpus", "nosmp", "nr_cpus")
#: What `is_boot` takes.
BOOT_RULE = (
    "kernel arguments without quotes, separated by single spaces; none of "
    f"{', '.join(_TAKES_CPUS)}: all CPUs are online and in the domains"
)


def is_boot(text: str) -> bool:
    """True if these are boot arguments that a variant may have."""
    names = [argument.partition("=")[0] for argument in text.split()]
    return bool(_BOOT.fullmatch(text)) and not {*names} & {*_TAKES_CPUS}


BOOT = form_of(
    lambda value: value == "" or (isinstance(value, str) and is_boot(value)),
    f"{BOOT_RULE}, or an empty string",
    type="string",
)


def _series_names() -> list[str]:
    return [path.name for path in folders_of_series(SERIES)]


def _fragments() -> list[str]:
    return sorted(path.stem for path in FRAGMENTS.glob("*.config"))


@dataclass(frozen=True)
class Kernel:
    """A kernel: its series in order, and the fragments of its configuration.

    :param own: folders of a person's series, named in `series` as the folders are; none for ours.
    :param release: the one that is asked for by name (``base@7.3``); empty: the default, or that of
        KERNEL_SRC.
    :param tree: a person's tree as its source, instead of a release's.
    :param more: further fragments for a scenario's programs; none for all other runs.
    """

    name: str
    summary: str = key("one line")
    series: tuple[str, ...] = key(
        "its patch series, directories of kernels/series, in order", choices=_series_names
    )
    fragments: tuple[str, ...] = key(
        "files of kernels/fragments; an option that none names is off; for Linux 7.3, "
        "NAME-7.3.config is read after NAME.config",
        choices=_fragments,
    )
    own: tuple[Path, ...] = ()
    release: str = ""
    tree: Tree | None = None
    more: tuple[str, ...] = ()

    @property
    def starts_as_mainline(self) -> bool:
        """True if it behaves as mainline before a switch is written; sums replace the maximum."""
        return not self.own and self.tree is None and "sum" not in self.series

    @property
    def has_latency_nice(self) -> bool:
        """True if tasks and groups have this attribute."""
        return "latnice" in self.series

    def folders(self, root: Path) -> list[Path]:
        """The folders of its series, ours being below ``root``."""
        own = {folder.name: folder for folder in self.own}
        return [own.get(name, root / name) for name in self.series]

    @property
    def our_series(self) -> tuple[str, ...]:
        """Its series without a person's own."""
        own = {folder.name for folder in self.own}
        return tuple(name for name in self.series if name not in own)

    def with_series(self, folder: Path, *, first: bool = False) -> Kernel:
        """This kernel with a person's series after its own, or ``first``; named as the folder."""
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
    """A variant, as comparisons name it, by the keys of `VariantFile`.

    :param own: a person's, not the project's.
    :param added: boot arguments and switches that a person's file or options state, but for those
        that replace another value.
    """

    name: str
    kernel: str
    summary: str
    source: str
    deviations: tuple[str, ...]
    dtb: str
    boot: str
    switches: Switches
    declares: Declared
    releases: tuple[str, ...] = ()
    own: bool = False
    added: tuple[str | tuple[str, str], ...] = ()

    def with_more(self, boot: str, switches: Switches) -> Variant:
        """This variant with boot arguments and switches in addition, and after its own.

        An argument replaces those of its name, a switch takes the place of the one that it undoes.
        """
        more = {argument_name(word) for word in boot.split()}
        kept = [word for word in self.boot.split() if argument_name(word) not in more]
        written = {decided(switch): switch for switch in (*self.switches, *switches)}
        words = {argument_name(word): word for word in self.boot.split()}
        before = {decided(switch): switch for switch in self.switches}
        new = [word for word in boot.split() if words.get(argument_name(word), word) == word]
        news = [switch for switch in switches if before.get(decided(switch), switch) == switch]
        return replace(
            self,
            boot=" ".join([*kept, *boot.split()]),
            switches=tuple(written.values()),
            added=(*self.added, *new, *news),
        )


@dataclass(frozen=True, kw_only=True)
class VariantFile(Placed):
    """A ``[variant.NAME]``; with a base it has that one's keys where it states none."""

    base: str = key(
        "a variant above: its boot arguments and switches come first; `deviations` are `as BASE`; "
        "all other keys except `summary` are the base's where none is stated",
        default="",
    )
    summary: str = key("one line for `eascope list variants`", default="")
    source: str = key(
        "the release or posting of Linux that it stands for, with version and link", default=""
    )
    deviations: tuple[str, ...] = key(
        "what differs from that source; compare a value of the source with eascope's only where "
        "none of these matters",
        count=(0, 1000),
        allowed="a list of texts on one line each, empty where nothing deviates",
        default=(),
    )
    kernel: str = key("a `[kernel.NAME]`", default="")
    dtb: str = key("the device tree", choices=FLAVOURS, default="")
    boot: str = key("kernel command-line arguments, may be empty", form=BOOT, default="")
    switches: Switches = key(
        "files that the guest agent writes before the workload, in this order; each is read back",
        form=SWITCHES,
        default=(),
    )
    declares: Declared | None = maybe("the state that it stands for")
    releases: tuple[str, ...] = key(
        "that have its switches (default: all that have its series)", choices=RELEASES, default=()
    )

    def check(self) -> None:
        """All keys are there, its own or its base's."""
        self.need(*(name for name in entries_of(VariantFile) if name not in ("base", "releases")))

    def variant(self, name: str, *, own: bool) -> Variant:
        """The variant, whose kernel and whose state are known."""
        return Variant(name=name, own=own, **same(Variant, self))


@dataclass(frozen=True, kw_only=True)
class OwnFile(VariantFile):
    """A person's ``kernels/own/NAME.toml``: ``base`` with what the file adds."""

    base: str = key("a variant, of the project's or your own, to which the file adds")
    summary: str = key("one line for `eascope list variants`")
    series: str = key(
        "its patch series: a directory of kernels/series, applied after those of `base`",
        form=NAME,
        default="",
    )
    first: bool = key("its patches are applied before those of `base`", default=False)
    patches: tuple[str, ...] = key(
        "files, applied in this order on top of the kernel; relative to the file's directory",
        default=(),
    )
    config: tuple[str, ...] = key(
        "`CONFIG_NAME=VALUE` or `# CONFIG_NAME is not set`, which count before all others",
        default=(),
    )


@dataclass(frozen=True, kw_only=True)
class VariantsFile:
    """The keys of ``variants.toml``."""

    kernel: Mapping[str, Kernel] = key("kernels by name")
    variant: Mapping[str, VariantFile] = key("variants by name")
    planned: Mapping[str, str] = key(
        "variants that scenarios name and that have no kernel yet; running one is refused",
        default={},
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
    reader = read_variants(path)
    reader.add_files(own_folder(path))
    return Catalogue(reader.kernels, reader.variants, reader.planned, reader.broken)


def read_variants(path: Path) -> Reader:
    """The contents of the file, without a person's own.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    top = read_toml(path)
    top.only({*entries_of(VariantsFile), "own"})
    reader = Reader({name: at.decoded(Kernel, name=name) for name, at in _named(top, "kernel")})
    for name, place in _named(top, "variant"):
        reader.add(name, place)
    if "planned" in top.data:
        reader.planned = _planned(top.inside("planned"), reader.variants)
    for name in top.inside("own").data if "own" in top.data else ():
        reader.broken[name] = top.error(
            "own", f"a file kernels/own/{name}.toml with base, summary and series = {name!r}"
        )
    return reader


def _planned(place: Place, variants: Mapping[str, Variant]) -> dict[str, str]:
    """Names and summaries of ``[planned]``, without variants that exist."""
    for name in place.data:
        if not is_name(name) or name in variants:
            raise place.error(name, f"a name of {NAME_RULE}, that no [variant] has")
    return {name: place.read(name, str) for name in place.data}


@dataclass
class Reader:
    """What has been read, as `Catalogue` has it.

    :param stated: the keys of each variant, its own before those of its base.
    """

    kernels: dict[str, Kernel]
    variants: dict[str, Variant] = field(default_factory=dict)
    planned: dict[str, str] = field(default_factory=dict)
    broken: dict[str, RequestError] = field(default_factory=dict)
    stated: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def add(self, name: str, place: Place, file: Path | None = None) -> None:
        """A variant; with ``base`` it has that one's keys where it states none.

        :param file: a person's, which may have a series.
        :raises EascopeError: a wrong key, or a patch that cannot be read.
        """
        base = ""
        if file or "base" in place.data:
            if not self.variants:
                raise place.error("base", "no base: no variant is above this one")
            base = place.one_of("base", self.variants, LISTING)
            inherited = {**self.stated[base], "deviations": [f"as {base}"]}
            own = {"source": shown_path(file), "deviations": []} if file else {}
            stated = {**inherited, **own, "boot": "", "switches": [], **place.data}
            place = Place(place.file, stated, place.where)
        kind: Any = OwnFile if file else VariantFile
        place.only(entries_of(kind))
        kernel = place.one_of("kernel", self.kernels)
        read: VariantFile = place.decoded(kind)
        series = _series(file, read) if file and isinstance(read, OwnFile) else None
        variant = read.variant(name, own=bool(file))
        if base:
            more = self.variants[base].with_more(variant.boot, variant.switches)
            added = more.added if file else ()
            variant = replace(variant, boot=more.boot, switches=more.switches, added=added)
        if series:
            folder, first = series
            if folder.name in self.kernels[kernel].series:
                raise place.error("series", f"a series that {base} does not have")
            with_series = self.kernels[kernel].with_series(folder, first=first)
            self.kernels[name] = replace(with_series, name=name, summary=variant.summary)
            variant = replace(variant, kernel=name)
        self.variants[name] = variant
        passed_on = {*place.data} - {"base", "summary", "first", *_ADDED}
        self.stated[name] = {key: place.data[key] for key in passed_on} | {"kernel": variant.kernel}

    def add_files(self, folder: Path) -> None:
        """A person's files, each after its base."""
        taken = {*self.planned, *RELEASES, *self.kernels, *self.variants}
        files = {file.stem: file for file in sorted(folder.glob("*.toml"))}
        while files:
            # Of a ring, each is as good as another: its base is not known yet.
            ready = [name for name, file in files.items() if _base_of(file) not in files]
            for name in ready or [*files]:
                file = files.pop(name)
                base = _base_of(file)
                if base in self.broken and base not in self.variants:
                    self.broken.setdefault(name, self.broken[base])
                    continue
                try:
                    self.add_file(file, taken)
                except EascopeError as error:
                    self.broken[name] = RequestError(str(error))

    def add_file(self, file: Path, taken: set[str]) -> None:
        """The variant of a person's file.

        :raises EascopeError: a wrong name, key or patch.
        """
        place, name = read_toml(file), file.stem
        if not is_name(name) or name in taken:
            allowed = f"a name of {NAME_RULE}, that no kernel or variant has"
            raise RequestError(f"{shown_path(file)}: name {name!r}: allowed: {allowed}")
        for old, new in _RENAMED.items():
            if old in place.data:
                raise place.error(old, f"{new}, which is its name now")
        place.only(entries_of(OwnFile))
        if not {*_ADDED} & {*place.data}:
            raise place.lacks(_ADDED[0], f"one at least of {', '.join(_ADDED)}")
        self.add(name, place, file)


def _base_of(file: Path) -> str:
    """What an own file starts from; empty where that cannot be read."""
    try:
        return str(read_toml(file).data.get("base", ""))
    except EascopeError:
        return ""


def _series(file: Path, own: OwnFile) -> tuple[Path, bool] | None:
    """The series of an own file, if it has one, and whether it is applied before ours.

    :raises EascopeError: a wrong key, or a patch that cannot be read.
    """
    place = own.place
    if own.series:
        folder = SERIES / own.series
        if not (folder / "series").is_file():
            raise place.error(
                "series", "a series: a directory of kernels/series with a file series"
            )
        series_patches(folder)
        for key in ("patches", "config"):
            if key in place.data:
                raise place.error(key, "none beside series: they belong into its folder")
        return folder, own.first
    patches = [_own_patch(place, file.parent / Path(name).expanduser()) for name in own.patches]
    config = "".join(f"{line}\n" for line in own.config).encode()
    if config and not states_options(config):
        raise place.error("config", "a list of CONFIG_NAME=VALUE or '# CONFIG_NAME is not set'")
    if patches or config:
        return made_series(file.stem, patches, config), own.first
    if own.first:
        raise place.error("first", "false, or true beside series, patches or config")
    return None


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


def _own_patch(place: Place, path: Path) -> tuple[str, bytes]:
    """Name and content of a patch that an own file names."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise place.error(
            "patches", f"patches, and {shown_path(path)}: {error.strerror}"
        ) from error
    if not changes_something(content):
        raise place.error("patches", f"patches, and {shown_path(path)} has no hunk")
    return path.name, content


def load_variants(path: Path = VARIANTS) -> dict[str, Variant]:
    """All variants by name, in the file's order.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    return dict(load_catalogue(path).variants)


def _named(top: Place, key: str) -> list[tuple[str, Place]]:
    """Names and tables of ``[key.NAME]``, their names checked."""
    group = top.inside(key)
    if not group.data:
        raise top.error(key, "at least one table")
    for name in group.data:
        if not is_name(name):
            raise group.error(name, f"a name of {NAME_RULE}")
    return [(name, group.inside(name)) for name in group.data]


def argument_name(word: str) -> str:
    """The name of a boot argument as the kernel compares it: a dash is an underscore."""
    return word.partition("=")[0].replace("-", "_")


def decided(switch: tuple[str, str]) -> tuple[str, str]:
    """What a switch decides: a file's value, or one feature of the scheduler."""
    path, value = switch
    return (path, value.removeprefix("NO_")) if path == FEATURES else (path, "")


def boot_args(variant: Variant) -> str:
    """Kernel command-line arguments of ``variant``, besides those that every run has."""
    return variant.boot
