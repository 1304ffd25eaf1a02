# SPDX-License-Identifier: GPL-2.0-or-later
"""Variants from the command line.

``--kernel NAME=TREE[@REF]``, ``--patch FILE``, ``--boot NAME=ARGUMENTS`` and
``--switch NAME:PATH=VALUE``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eascope.host.errors import RequestError
from eascope.host.keys import NAME_RULE, is_name
from eascope.kernels.patch_series import changes_something, made_series, states_options
from eascope.kernels.releases import RELEASES
from eascope.kernels.switches import FEATURES, PATH_RULE, Switches, is_switch
from eascope.kernels.trees import Tree, read_tree
from eascope.kernels.variants import (
    BOOT_RULE,
    Catalogue,
    Kernel,
    Variant,
    argument_name,
    is_boot,
    load_catalogue,
)


@dataclass(frozen=True)
class Change:
    """What a variant of one's own has besides its kernel."""

    name: str
    boot: str = ""
    switches: Switches = ()


@dataclass(frozen=True)
class Own:
    """The trees, patches and changes that a command's options name.

    :param trees: ``NAME`` is `mainline` on the tree, ``VARIANT@NAME`` another variant.
    :param patches: folders of series; ``NAME``, the folder's, is `mainline` with these patches.
    """

    trees: tuple[Tree, ...] = ()
    patches: tuple[Path, ...] = ()
    #: Of a name that a tree, a patch or a person's variant has too, or else of `mainline`.
    changes: tuple[Change, ...] = ()
    #: Whole variants with their kernels, such as the steps of a series.
    whole: tuple[tuple[Kernel, Variant], ...] = ()

    @property
    def names(self) -> list[str]:
        """The variants in addition to those of ``variants.toml``."""
        first = [tree.name for tree in self.trees] + [folder.name for folder in self.patches]
        return list(dict.fromkeys([*first, *(change.name for change in self.changes)]))

    def check_used(self, variants: Sequence[str]) -> None:
        """Refuse what none of ``variants`` names: it would change nothing.

        :raises RequestError: the first that no variant names.
        """
        used = {part for variant in variants for part in variant.split("@")}
        for option, names in (
            ("--kernel", [tree.name for tree in self.trees]),
            ("--patch", [folder.name for folder in self.patches]),
            ("--boot or --switch", [change.name for change in self.changes]),
        ):
            for name in names:
                if name not in used:
                    raise RequestError(
                        f"{option}: {name!r} is not among the variants ({', '.join(variants)})"
                    )

    def tree(self, name: str) -> Tree | None:
        """The tree of that name."""
        return next((tree for tree in self.trees if tree.name == name), None)

    def series(self, name: str) -> Path | None:
        """The folder of the series of that name."""
        return next((folder for folder in self.patches if folder.name == name), None)

    def change(self, name: str) -> Change:
        """What the variant of that name has besides its kernel."""
        return next((change for change in self.changes if change.name == name), Change(name))


NO_OWN = Own()


def read_own(
    kernels: Sequence[str],
    patches: Sequence[str],
    boots: Sequence[str] = (),
    switches: Sequence[str] = (),
) -> Own:
    """What the options ``--kernel``, ``--patch``, ``--boot`` and ``--switch`` name.

    :raises RequestError: the first that is wrong.
    """
    catalogue = load_catalogue()
    trees: dict[str, Tree] = {}
    for text in kernels:
        tree = read_tree(text)
        check_name(catalogue, "--kernel", text, tree.name)
        if tree.name in trees:
            raise RequestError(f"--kernel {text!r}: duplicate name")
        trees[tree.name] = tree
    files: dict[str, list[Path]] = {}
    for text in patches:
        name, file = _read_patch(text)
        check_name(catalogue, "--patch", text, name)
        if name in trees:
            raise RequestError(f"--patch {text!r}: a --kernel has this name already")
        files.setdefault(name, []).append(file)
    all_series = (_series(name, some) for name, some in files.items())
    return Own(
        tuple(trees.values()),
        tuple(all_series),
        tuple(_changes(catalogue, boots, switches).values()),
    )


def _changes(
    catalogue: Catalogue, boots: Sequence[str], switches: Sequence[str]
) -> dict[str, Change]:
    changes: dict[str, Change] = {}
    for text in boots:
        name, _, boot = text.partition("=")
        if not is_boot(boot):
            raise RequestError(f"--boot {text!r}: allowed: NAME=ARGUMENTS, {BOOT_RULE}")
        _check_changed(catalogue, "--boot", text, name)
        before = changes.get(name, Change(name))
        given = [argument_name(word) for word in f"{before.boot} {boot}".split()]
        if len({*given}) < len(given):
            raise RequestError(f"--boot {text!r}: duplicate argument of {name}")
        changes[name] = replace(before, boot=f"{before.boot} {boot}".strip())
    for text in switches:
        name, _, switch = text.partition(":")
        path, _, value = switch.partition("=")
        if not is_switch([path, value]):
            raise RequestError(f"--switch {text!r}: allowed: NAME:PATH=VALUE, {PATH_RULE}")
        _check_changed(catalogue, "--switch", text, name)
        before = changes.get(name, Change(name))
        if path != FEATURES and path in dict(before.switches):
            raise RequestError(f"--switch {text!r}: duplicate file of {name}")
        changes[name] = replace(before, switches=(*before.switches, (path, value)))
    return changes


def _check_changed(catalogue: Catalogue, option: str, text: str, name: str) -> None:
    """Refuse a name that one of our variants has; a person's own is changed."""
    catalogue.check(name)
    if not (name in catalogue.variants and catalogue.variants[name].own):
        check_name(catalogue, option, text, name)


def check_name(catalogue: Catalogue, option: str, text: str, name: str) -> None:
    """Refuse a name that a kernel or a variant has, or that cannot be one.

    :raises RequestError: naming ``option`` and its value.
    """
    taken = {*catalogue.kernels, *catalogue.variants, *catalogue.planned, *catalogue.broken}
    if not is_name(name) or name in taken or name in RELEASES:
        allowed = f"a name of {NAME_RULE}, that no kernel or variant has"
        raise RequestError(f"{option} {text!r}: name {name!r}: allowed: {allowed}")


def _read_patch(text: str) -> tuple[str, Path]:
    """Name and file of ``FILE`` or ``NAME=FILE``; without a name, it is made of the file's."""
    file = Path(text).expanduser()
    name = ""
    if not file.is_file() and "=" in text:
        name, _, rest = text.partition("=")
        file = Path(rest).expanduser()
    try:
        content = file.read_bytes()
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise RequestError(f"--patch {text!r}: {reason}; expected a patch, [NAME=]FILE") from error
    if not changes_something(content) and not states_options(content):
        allowed = "a patch, [NAME=]FILE, or a fragment of the configuration"
        raise RequestError(f"--patch {text!r} has no hunk; expected {allowed}")
    plain = re.sub(r"^\d+-", "", file.stem.lower())
    return name or re.sub(r"[^a-z0-9]+", "-", plain).strip("-"), file


def _series(name: str, files: Sequence[Path]) -> Path:
    """A series of ``files`` in the cache: their present content is built and recorded."""
    texts = [(file.name, file.read_bytes()) for file in files]
    options = [text for _, text in texts if not changes_something(text)]
    return made_series(
        name, [item for item in texts if item[1] not in options], b"\n".join(options)
    )
