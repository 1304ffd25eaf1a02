# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up runs side by side."""

from pathlib import Path

from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.derive import derive
from eascope.configs.activity import load_activity
from eascope.configs.platform_file import load_platform
from tests.support.synthetic import make_run


def compared_runs(root: Path, seeds: int) -> Comparison:
    """The video-like runs of ``mainline`` and ``cas`` over some seeds, made below ``root``."""
    platform = load_platform("juno-r2")
    activity = load_activity(platform)
    runs = {
        variant: [
            derive(make_run(root, platform, variant, seed), platform, activity)
            for seed in range(seeds)
        ]
        for variant in ("mainline", "cas")
    }
    return comparison(platform, runs)
