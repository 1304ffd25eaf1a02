# SPDX-License-Identifier: GPL-2.0-or-later
"""Billed power of the Exynos 5422's big cluster, compared with measured watts.

``python -m studies.cluster_power`` simulates nothing. It takes the activity that ``eascope
characterise exynos5422`` measured and the data set that ``EASCOPE_MEASUREMENTS`` names. It writes
``results/cluster-power.json`` and draws its page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.results.origin import Origin
from configs.activity import load_activity
from configs.platform_file import load_platform
from host.proc import Ending, say
from host.version import eascope_version
from power.counted import load_counted
from power.measurements import load_measured
from studies.cluster_power.plan import CLUSTER, NAME, PLATFORM
from studies.cluster_power.record import points_of, record_of
from studies.command import command_of
from studies.draw import save


def main(arguments: list[str] | None = None) -> int:
    """Compare, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.cluster_power",
        description="Compare a cluster's billed power with its measured power.",
        epilog="example: EASCOPE_MEASUREMENTS=FOLDER python -m studies.cluster_power",
    )
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        platform = load_platform(PLATFORM)
        data = load_measured(load_counted(platform.cluster(CLUSTER).core.name))
        origin = Origin(
            command_of("cluster_power", arguments),
            "measurements and activity",
            {"eascope": eascope_version()},
        )
        points = points_of(platform, load_activity(platform), data)
        record = record_of(platform, points, data, origin)
        say(f"  {save(NAME, record, options.folder)}: {len(points)} points")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
