# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope gc``: list files of runs and cache that can go, or remove them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eascope.experiments.arguments import natural
from eascope.experiments.cli.output import print_columns, print_json, shown
from eascope.host.errors import unknown

if TYPE_CHECKING:
    from eascope.experiments.runs.leftovers import Leftover

SUMMARY = "list run and cache files that can be removed; with --remove, remove them"
EXAMPLE = "eascope gc temporary failed --remove"

DAYS = 30


def add_options(parser: argparse.ArgumentParser) -> None:
    """Kinds, age, and whether to remove."""
    parser.add_argument(
        "kinds",
        nargs="*",
        metavar="KIND",
        help="only these kinds (default: all): temporary, locks, failed, derived, comparisons, "
        "cache",
    )
    parser.add_argument(
        "--days",
        type=natural,
        default=DAYS,
        metavar="N",
        help=f"derived, comparisons and cache: only if unused for N days (default {DAYS})",
    )
    parser.add_argument("--remove", action="store_true", help="remove them (default: only list)")


def run(options: argparse.Namespace) -> int:
    """List files that can go; with ``--remove`` remove them. Finished runs always stay.

    :raises RequestError: for a kind that there is not.
    """
    from eascope.experiments.runs.leftovers import KINDS, leftovers, remove

    for kind in options.kinds:
        if kind not in KINDS:
            raise unknown("kind", kind, KINDS)
    entries = leftovers(tuple(options.kinds or KINDS), options.days)
    gone = [entry for entry in entries if options.remove and remove(entry)]
    if options.json:
        print_json([_object(entry, entry in gone) for entry in entries])
    else:
        _print_text(entries, gone, removing=options.remove)
    return 1 if options.remove and len(gone) < len(entries) else 0


def _object(entry: Leftover, removed: bool) -> dict[str, object]:
    return {
        "kind": entry.kind,
        "path": str(entry.path),
        "why": entry.why,
        "bytes": entry.size,
        "removed": removed,
    }


def _print_text(entries: Sequence[Leftover], gone: Sequence[Leftover], *, removing: bool) -> None:
    print_columns(
        (entry.kind, _megabytes(entry.size), shown(entry.path), entry.why)
        for entry in entries
        if entry.kind != "locks"
    )
    if not entries:
        print("nothing to remove")
        return
    print(f"to remove: {_counted(entries)}")
    if removing:
        print(f"removed: {_counted(gone)}")
    else:
        print("nothing removed; eascope gc --remove removes these")


def _counted(entries: Sequence[Leftover]) -> str:
    """``3 entries of 12.0 MB and 40 lock files``: lock files are counted apart from entries."""
    locks = sum(entry.kind == "locks" for entry in entries)
    others, size = len(entries) - locks, sum(entry.size for entry in entries)
    words = f"{others} {'entry' if others == 1 else 'entries'} of {_megabytes(size)}"
    if not locks:
        return words
    files = "file that no process holds" if locks == 1 else "files that no process holds"
    return f"{words} and {locks} lock {files}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
