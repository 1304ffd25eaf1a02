# SPDX-License-Identifier: GPL-2.0-or-later
"""Circles between folders: files of two folders that need each other, though no two files do."""

from __future__ import annotations

from collections.abc import Mapping

from tests.layers import Import, ModuleTree, circle_lines

#: Folders whose files and those of the folder above import each other, with the reason. Files of
#: the two may still form no circle.
ABOVE_AND_BELOW = {
    "analysis/measures": "one registry of measures, which the source of a run's tables asks",
    "analysis/programs": "tables of programs, which need a run's source, and are tables of it",
    "analysis/known": "records that need the types of those of runs, and give captions figures",
    "analysis/tables": "a run's source names its tables, and each table is made from the source",
    "engines/gem5": "the contract and the registry of engines are in one folder",
    "engines/qemu": "the contract and the registry of engines are in one folder",
    "engines/gem5/boot": "the boot loader needs the board's addresses, the engine the loader",
}


def folder_circles(tree: ModuleTree) -> list[str]:
    """One line for each circle of folders, but for `ABOVE_AND_BELOW`.

    Between a folder and the one above it only both directions at once count.
    """
    folders = {module: file.rpartition("/")[0] for module, file in tree.modules.items()}
    arrows = {
        (folders[module], folders[imported])
        for module, imported in tree.arrows
        if folders[module] != folders[imported]
    }
    apart = {pair: where for pair in sorted(arrows) if (where := _import_of(tree, folders, pair))}
    others = {pair: where for pair, where in apart.items() if not _one_in_the_other(*pair)}
    lines = circle_lines(ModuleTree({name: name for name in folders.values()}, others, {}))
    for above, below in sorted(apart):
        if below.startswith(f"{above}/") and (below, above) in apart:
            known = below in ABOVE_AND_BELOW
            lines += (
                [] if known else [f"{above} and {below} import each other: {apart[above, below]}"]
            )
    return lines


def _import_of(tree: ModuleTree, folders: Mapping[str, str], pair: tuple[str, str]) -> Import:
    """The first import of a folder by another."""
    return next(
        where
        for (module, imported), where in tree.arrows.items()
        if (folders[module], folders[imported]) == pair
    )


def _one_in_the_other(a: str, b: str) -> bool:
    return f"{a}/".startswith(f"{b}/") or f"{b}/".startswith(f"{a}/")
