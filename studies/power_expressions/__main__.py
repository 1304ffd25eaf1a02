# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's own power expressions compared with our rows: ``make power-expressions``.

Rows read every statistic that bills an event. An expression of gem5's MathExprPowerModel reads only
scalars (`engines.gem5.expressions`), and MinorCPU's mix of instructions is not a scalar. Here both
bill the same run of each workload kernel, at the fastest OPP, so that no transition is billed.
"""

from __future__ import annotations

import sys

from configs.platform_file import load_platform
from engines.gem5.provider import find_gem5
from host.proc import Ending
from power.derived import POWER_MODELS
from power.records import ordered_json
from studies.power_expressions.record import measure

RECORDS = POWER_MODELS / "expressions"
#: Which platform shows each core; a core is compared once.
PLATFORMS = ("juno-r2", "pixel6")


def main() -> int:
    """Measure every core of `PLATFORMS` and write its record."""
    with Ending() as ending:
        find_gem5()
        RECORDS.mkdir(exist_ok=True)
        for name in PLATFORMS:
            platform = load_platform(name)
            for cluster in platform.clusters:
                record = measure(platform, cluster)
                path = RECORDS / f"{record.core}.json"
                path.write_bytes(ordered_json(record))
                print(f"{path}: written")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
