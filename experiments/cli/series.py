# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope series import``: patches from a list, a folder or a tree as a variant."""

from __future__ import annotations

import argparse

from eascope.experiments.cli.output import print_json, shown
from eascope.host.errors import RequestError, unknown
from eascope.host.proc import say
from eascope.kernels.releases import DEFAULT, RELEASES

SUMMARY = "import posted patches as a variant"
EXAMPLE = "eascope series import v2.mbx --name my-idea"

#: What ``eascope series`` can be asked to do.
VERBS = ("import",)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The source of the patches, and the name of the variant."""
    parser.add_argument(
        "verb",
        metavar="import",
        help="import: create kernels/series/X and kernels/own/X.toml",
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a thread's mbox, plain or .gz (its newest version is imported); a mail or a "
        "diff; a directory of such files, in the order of its file series if it has one; or "
        "TREE@A..B, commits of a git tree",
    )
    parser.add_argument(
        "--name", metavar="X", help="name of the series and of the variant (required)"
    )
    parser.add_argument(
        "--onto",
        default="base",
        metavar="base|plain",
        help="base (default): apply the patches on top of the base series; plain: below it, for "
        "patches against Linux as released",
    )
    parser.add_argument(
        "--release",
        default="",
        metavar="R",
        help=f"Linux release that the patches apply to: {' or '.join(RELEASES)} (default "
        f"{DEFAULT}, or the release of KERNEL_SRC)",
    )
    parser.add_argument(
        "--no-compile",
        action="store_true",
        help="only apply the patches; do not compile kernel/sched/",
    )


def run(options: argparse.Namespace) -> int:
    """Make the series and the variant, and print how to compare it.

    :raises RequestError: for a wrong source, name or patch; nothing is written then.
    """
    from eascope.kernels.imported import ONTO, import_series
    from eascope.kernels.patch_series import CONFIG

    if options.verb not in VERBS:
        raise unknown("series command", options.verb, VERBS)
    if options.name is None:
        raise RequestError("series import: --name X is missing")
    if options.onto not in ONTO:
        raise unknown("--onto", options.onto, ONTO)
    if options.release and options.release not in RELEASES:
        raise unknown("--release", options.release, RELEASES)
    imported = import_series(
        options.source,
        options.name,
        onto=options.onto,
        release=options.release,
        compiled=not options.no_compile,
    )
    command = f"eascope compare {' '.join(imported.compare)} --platform juno-r2"
    command += " --scenario eas/video-playback --seeds 20"
    if imported.without_effect:
        say(f"  warning: {imported.name} builds the same kernel as its base")
    for line in imported.not_compiled:
        say(f"  warning: {line}")
    if options.json:
        print_json(
            {
                "name": imported.name,
                "folder": str(imported.folder),
                "patches": list(imported.patches),
                "source": imported.source,
                "compiled": imported.compiled,
                "options": {**vars(imported.options), "without_effect": imported.without_effect},
                "not_compiled": list(imported.not_compiled),
                "compare": command,
            }
        )
        return 0
    for patch in imported.patches:
        print(shown(imported.folder / patch))
    what = "applies and kernel/sched/ compiles" if imported.compiled else "applies"
    print(f"{imported.name} {what}: {imported.source}")
    for line in imported.options.words:
        print(line)
    if imported.options.stated:
        print(f"to take these defaults, put into {shown(imported.folder / CONFIG)}:")
        print("\n".join(f"    {line}" for line in imported.options.stated))
    print(f"compare it: {command}")
    return 0
