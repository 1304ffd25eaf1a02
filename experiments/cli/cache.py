# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope cache``: copy artefacts between the cache and a folder that machines share."""

from __future__ import annotations

import argparse
from pathlib import Path

from eascope.experiments.cli.output import print_json

SUMMARY = "copy cache entries (built and downloaded files) to or from a directory"
EXAMPLE = "eascope cache push /shared/eascope-cache"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Direction, folder and kinds."""
    parser.add_argument(
        "direction",
        choices=("push", "pull"),
        help="push: copy from this host's cache into DIR; pull: from DIR into the cache",
    )
    parser.add_argument("folder", metavar="DIR", help="a directory; push creates it")
    parser.add_argument(
        "kinds",
        nargs="*",
        metavar="KIND",
        help="only these kinds of entries, such as kernel (default: all)",
    )


def run(options: argparse.Namespace) -> int:
    """Copy missing artefacts; 1 when one is damaged.

    :raises RequestError: a folder that cannot be, or a kind that the source does not have.
    """
    from eascope.experiments.runs.writable import check_writable
    from eascope.host.cache import cache_root
    from eascope.host.errors import RequestError, unknown
    from eascope.host.proc import say
    from eascope.host.transfer import kinds_in, transfer

    given, cache = Path(options.folder).absolute(), cache_root()
    source, target = (cache, given) if options.direction == "push" else (given, cache)
    if given.resolve() == cache.resolve():
        raise RequestError(f"cache {options.direction} {options.folder}: this is the cache itself")
    kinds = kinds_in(source)
    if not kinds:
        raise RequestError(f"{source}: contains no cache entries")
    for kind in options.kinds:
        if kind not in kinds:
            raise unknown("kind", kind, kinds)
    check_writable("cache push" if options.direction == "push" else "EASCOPE_CACHE", target)
    done = transfer(source, target, options.kinds or kinds, lambda name: say(f"  {name}"))
    if options.json:
        print_json(
            {
                "copied": done.copied,
                "bytes": done.bytes,
                "there": done.kept,
                "damaged": done.damaged,
            }
        )
    else:
        for line in done.damaged:
            print(line)
        print(
            f"copied {len(done.copied)} of {done.bytes / 1e6:.1f} MB, {done.kept} were there, "
            f"{len(done.damaged)} damaged"
        )
    return 1 if done.damaged else 0
