"""``eascope characterise``: measure workload kernels on gem5's cores, or show what was measured."""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from configs.host.errors import RequestError
from configs.host.proc import Step, say
from configs.strict import shown_path


def characterise(options: argparse.Namespace) -> int:
    """Measure, write ``configs/activity/<platform>.json``, print IPC and capacities."""
    from configs.activity import load_activity
    from configs.platform import load_platform
    from engines.characterise.guest import KERNELS
    from engines.characterise.measure import measure, provenance
    from engines.characterise.record import capacities, text, write
    from engines.gem5_provider import find_gem5

    platform = load_platform(options.platform)
    activity = load_activity(platform)
    if options.show and not activity.measured:
        raise RequestError(
            f"{shown_path(activity.path)}: measured is missing: run eascope characterise "
            f"{platform.name} (needs gem5)"
        )
    if not options.show:
        find_gem5()
        instructions = 0.14e6 * len(KERNELS) * sum(len(one.opps) for one in platform.clusters)
        with (
            Step(f"gem5's detailed cores of {platform.name}", instructions / 0.1e6),
            ThreadPoolExecutor(2) as pool,
        ):
            parts = list(pool.map(lambda one: measure(platform, one, say), platform.clusters))
        measured = [one for part, _ in parts for one in part]
        path = write(platform, measured, provenance(platform, parts[0][1]))
        say(f"written to {shown_path(path)}")
        activity = load_activity(platform)
    if options.json:
        kernels = [asdict(one) for one in activity.measured]
        found = {"kernels": kernels, "capacities": capacities(platform, activity.measured)}
        print(json.dumps(found, indent=1, sort_keys=True))
    else:
        print(text(platform, activity.measured))
    return 0
