# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m studies.releases``: variants on two releases of Linux, record and page; resumable."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from configs.platform_file import load_platform
from host.proc import Ending, say
from kernels.releases import DEFAULT, RELEASES
from studies.command import command_of
from studies.draw import save
from studies.pages.plan import Page
from studies.pages.run import compare
from studies.releases.plan import NAME, PLATFORM, SEEDS, groups
from studies.releases.record import record_of
from studies.releases.run import split, wake_ups


def main(arguments: list[str] | None = None) -> int:
    """Execute missing runs, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.releases",
        description=main.__doc__,
        epilog="example: python -m studies.releases --seeds 3 --folder /tmp/releases",
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"(default {SEEDS})")
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        releases = (DEFAULT, list(RELEASES)[-1])
        page = Page(NAME, PLATFORM, groups(releases))
        compared = {
            group.scenario: comparison
            for (_, group), comparison in compare([page], options.seeds, False).items()
        }
        record = record_of(
            load_platform(PLATFORM),
            releases,
            split(compared, releases),
            list(wake_ups(releases)),
            command_of("releases", arguments),
        )
        say(f"  {save(NAME, record, options.folder)}")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
