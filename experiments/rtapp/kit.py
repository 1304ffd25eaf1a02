# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario as a kit for a board: rt-app's JSON, a LISA script, and a page on both."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.rtapp.compiler import keys_of
from eascope.experiments.rtapp.export import exported
from eascope.experiments.scenario.model import Scenario
from eascope.host.errors import RequestError

SCRIPT, FACTS, PAGE = "board.py", "kit.json", "README.md"
_TOOL = Path(__file__).with_name(SCRIPT)


def kit(scenario: Scenario, platform: Platform, activity: Activity) -> dict[str, str]:
    """The texts of its files by name.

    :param platform: the board on which the JSON's times hold.
    :raises RequestError: it has no tasks that rt-app can run.
    """
    document, unsaid = exported(scenario, platform, activity)
    if not document["tasks"]:
        raise RequestError(f"scenario kit {scenario.name}: it has no tasks, only programs")
    name = scenario.name.replace("/", "-")
    own = scenario.rt_app.tasks if scenario.rt_app else ()
    facts: dict[str, object] = {
        "name": name,
        "json": f"{name}.json",
        "tasks": {task.name: [task.key] for task in own}
        or {task.name: keys_of(task) for task in scenario.tasks},
        "clusters": {cluster.name: [*cluster.cpus] for cluster in platform.clusters},
    }
    return {
        f"{name}.json": json.dumps(document, indent=1, ensure_ascii=False) + "\n",
        FACTS: json.dumps(facts, indent=1) + "\n",
        SCRIPT: _TOOL.read_text(),
        PAGE: "\n".join(_page(scenario, platform, f"{name}.json", document["global"], unsaid))
        + "\n",
    }


def _page(
    scenario: Scenario,
    platform: Platform,
    file: str,
    settings: Mapping[str, object],
    unsaid: Sequence[str],
) -> Iterator[str]:
    calibrated = settings.get("calibration", "CPU0")
    yield f"# {scenario.name}\n\n{scenario.summary}. {scenario.source}\n"
    yield "## What it should show\n"
    for each in scenario.expect:
        size = "" if each.size_percent is None else f" ({each.size_percent:+g} % there)"
        yield f"* `{each.variant}`: `{each.statement}`{size}\n  {each.source}"
    if not scenario.expect:
        yield "No source states what it shows."
    yield f"""
## Run it

    pip install lisa-linux==3.1.0 "numpy<2" "pandas<2.1" "pyarrow<15" nest_asyncio
    python {SCRIPT} target_conf.yml      # LISA 3.1.0: runs {file}, records trace.dat
    python {SCRIPT} trace.dat            # the same measures of a trace that is there

It prints `latency_us` and `mean_mhz` as eascope computes them. Of a trace of eascope's, latencies
are equal to 0.1 us, and frequencies, which are those requested, to 0.1 %. `energy_j` is for the
board's meter. Nobody has recorded with it on a board yet.

## On another board

* `calibration` is {calibrated}: `run` is in us of such a CPU of {platform.name} at its top OPP.
  Set it to the CPU with the same role. Utilization then stays the same share of that CPU.
* For the same work as on {platform.name}, multiply every `run` by the speed of its CPU, and divide
  by that of yours.
* Periods and sleeps stay: they are those of a display or a timer, not of a CPU.
* `cpus` are numbers of {platform.name}, clamps (`util_min`, `util_max`) are of its capacities.
  Replace each by that of the cluster with the same role, and the clusters in {FACTS} by yours:
"""
    yield "| cluster | CPUs | capacity | MHz |\n|---|---|---|---|"
    for cluster in platform.clusters:
        cpus = ", ".join(map(str, cluster.cpus))
        capacity = platform.capacities[cluster.cpus[0]]
        yield f"| {cluster.name} | {cpus} | {capacity} | {cluster.max_khz / 1000:g} |"
    if unsaid:
        yield "\n## Not in rt-app's JSON\n"
        yield from (f"* {words}" for words in unsaid)
