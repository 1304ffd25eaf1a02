"""The page's part on activity: what the fast engine states of it, and what gem5 counts.

From the records that `make activity-error` commits (`experiments/activity_error.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from configs.power.derived import POWER_MODELS

RECORDS = POWER_MODELS / "activity"
#: Events that happen less often than this, per 1000 instructions both ways, are left out.
RARE = 0.5


def stated_against_counted() -> Iterator[str]:
    """Lines of the page, for every record."""
    for path in sorted(RECORDS.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        cell = record["cell"]
        yield (
            "The fast engine counts instructions and no events: whatever a CPU executes is billed "
            "as rt-app's busy loop. On gem5's detailed cores the loop is elided and billed in the "
            "same way, and the events of all else (the kernel, rt-app's own work) are counted. "
            f"The cell {record['platform']}, {cell['scenario']}, {cell['variant']} in mode "
            f"`{cell['mode']}` (`make activity-error`), the same rows billed both ways, so that "
            "only activity differs: by the events that were counted, and as the fast engine does."
        )
        yield ""
        yield from _clusters(record["clusters"])
        for cluster in record["clusters"]:
            yield from ("", f"### What {cluster['core']} does beside the loop", "")
            yield from _events(cluster)
        yield from (
            "",
            "### Other programs",
            "",
            "A program that is no busy loop is billed as one too. Dynamic energy of a cycle of a "
            "busy CPU at the fastest OPP, as the fast engine bills it, against each workload "
            "kernel on gem5's detailed cores. Most of the big cluster's difference is its "
            "instructions per cycle: the engine runs at the ratio of the device tree's "
            "capacities, which gem5's cores do not have.",
            "",
            "| core | kernel | IPC, fast engine | IPC, gem5 | pJ a cycle, fast engine | "
            "pJ a cycle, gem5 | error |",
            "|---|---|---|---|---|---|---|",
        )
        for one in record["kernels"]:
            error = one["stated_pj"] / one["measured_pj"] - 1
            yield (
                f"| {one['core']} | {one['kernel']} | {one['ipc_stated']:.3g} | {one['ipc']:.3g} | "
                f"{one['stated_pj']:.0f} | {one['measured_pj']:.0f} | {100 * error:+.1f} % |"
            )


def _clusters(clusters: list[Mapping[str, Any]]) -> Iterator[str]:
    yield (
        "| cluster | gem5's model | CPU time, ms | of it not elided, ms | counted, mJ | "
        "as the fast engine, mJ | error |"
    )
    yield "|---|---|---|---|---|---|---|"
    for one in clusters:
        counted, stated = one["energy_counted_j"], one["energy_stated_j"]
        yield (
            f"| {one['cluster']} ({one['core']}) | {one['model']} | {1000 * one['active_s']:.1f} | "
            f"{1000 * one['counted_s']:.1f} | {1000 * counted:.2f} | {1000 * stated:.2f} | "
            f"{100 * (stated / counted - 1):+.2f} % |"
        )


def _events(cluster: Mapping[str, Any]) -> Iterator[str]:
    found = {
        event: one
        for event, one in cluster["events"].items()
        if max(one["stated"], one["counted"]) * 1000 >= RARE
    }
    stated = sum(one["stated"] * one["pj"] for one in cluster["events"].values())
    counted = sum(one["counted"] * one["pj"] for one in cluster["events"].values())
    yield (
        f"Of {cluster['instructions_counted']} instructions; dynamic energy of one is "
        f"{counted:.0f} pJ by the events counted, {stated:.0f} pJ as the fast engine has it "
        f"({100 * (stated / counted - 1):+.0f} %)."
    )
    yield ""
    yield (
        "| event | a 1000 instructions, fast engine | gem5 | difference | difference, pJ an "
        "instruction |"
    )
    yield "|---|---|---|---|---|"
    for event, one in found.items():
        share = (
            f"{100 * (one['stated'] / one['counted'] - 1):+.0f} %"
            if one["counted"]
            else "all of it"
        )
        yield (
            f"| {event} | {1000 * one['stated']:.1f} | {1000 * one['counted']:.1f} | {share} | "
            f"{(one['stated'] - one['counted']) * one['pj']:+.1f} |"
        )
