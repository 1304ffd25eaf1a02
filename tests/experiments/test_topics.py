# SPDX-License-Identifier: GPL-2.0-or-later
"""What a series touches: every topic is reached, and its scenarios run on the default platforms."""

import pytest

from eascope.experiments.cli.check import PLATFORMS
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.topics import TOPICS, NotMeasured, scenarios_for, touched

FAIR = "kernel/sched/fair.c"
REACHED = [
    (FAIR, "@@ -1 +1 @@ static int find_energy_efficient_cpu(struct task_struct *p)", ["EAS"]),
    ("include/linux/energy_model.h", "+int em;", ["EAS"]),
    (FAIR, "+\tif (uclamp_is_used())", ["uclamp"]),
    ("kernel/sched/cpufreq_schedutil.c", "+int x;", ["cpufreq"]),
    ("drivers/cpuidle/governors/teo.c", "+int x;", ["cpuidle"]),
    (FAIR, "@@ -1 +1 @@ static int sched_balance_newidle(struct rq *this_rq)", ["load balance"]),
    ("kernel/sched/topology.c", "+int x;", ["load balance"]),
    ("kernel/sched/deadline.c", "+int x;", ["deadline"]),
    (FAIR, "@@ -1 +1 @@ static void place_entity(struct cfs_rq *cfs_rq)", ["other scheduling"]),
    (FAIR, "-\tutil = uclamp(x);\n+\tsugov_update(x);", ["uclamp", "cpufreq"]),
]


def patch(path: str, hunk: str) -> bytes:
    head = "" if hunk.startswith("@@") else "@@ -1 +1 @@\n"
    return f"--- a/{path}\n+++ b/{path}\n{head} context: uclamp cpuidle\n{hunk}\n".encode()


@pytest.mark.parametrize(("path", "hunk", "topics"), REACHED)
def test_a_patch_reaches_its_topics(path: str, hunk: str, topics: list[str]) -> None:
    """Lines of context do not count."""
    assert touched([patch(path, hunk)]) == {name: [path] for name in topics}


def test_every_topic_is_reached() -> None:
    assert {name for _, _, topics in REACHED for name in topics} == {t.name for t in TOPICS}


@pytest.mark.parametrize("platform", PLATFORMS.split(","))
@pytest.mark.parametrize("scenario", scenarios_for(topic.name for topic in TOPICS))
def test_every_scenario_runs_on_the_default_platforms(scenario: str, platform: str) -> None:
    """With a kernel that does not boot as mainline, as a stranger's does not."""
    resolved = resolve(Request(platform, "uclamp-sum", scenario))
    assert not resolved.kernel.starts_as_mainline
    assert resolved.scenario.name == scenario


@pytest.mark.parametrize(
    "paths",
    [
        ["Documentation/scheduler/sched-util-clamp.rst"],
        ["drivers/net/loopback.c", "arch/x86/kernel/smpboot.c"],
    ],
)
def test_what_no_scenario_measures_is_refused_by_its_files(paths: list[str]) -> None:
    """Whatever words it has."""
    with pytest.raises(NotMeasured) as caught:
        touched([patch(path, "+uclamp, schedutil and load_balance") for path in paths])
    first = f"touches nothing that a scenario measures: {', '.join(sorted(paths))};"
    assert str(caught.value).startswith(first)


def test_a_series_has_each_scenario_once() -> None:
    topics = touched([patch(FAIR, "+find_energy_efficient_cpu();\n+sugov();")])
    assert scenarios_for(topics) == ["eas/video-playback", "ui/jank", "eas/misfit-ramp"]
