# SPDX-License-Identifier: GPL-2.0-or-later
"""Each statement of the scenario files can fail: under a variant that it names, or in a state.

A statement that names a variant in ``fails_under`` is checked with that variant's runs in place of
its own whenever they are compared (`analysis.verdicts`). The others fail in a state of the machine
that no variant is in; the table below has what is measured in it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.verdict import REFUTED, SHOWN
from eascope.analysis.statement import MeasurePath, parse
from eascope.analysis.verdicts import judge
from eascope.configs.platform_file import load_platform
from eascope.experiments.scenario_file import load_scenario
from eascope.experiments.scenario_names import names
from eascope.kernels.variants import load_catalogue

#: The state in words, then measures of the variant and of mainline in it.
State = tuple[str, dict[str, float], dict[str, float]]
CLUSTERS = ("little", "mid", "big")
_HOG_ON_LITTLE = ("all hogs are on littles", {"speed.hog": 0.32}, {"speed.hog": 0.36})
_HIDDEN = (
    "as under uclamp-sum in uclamp/hidden-overutilization-pinned: a cap hides what A wants",
    {"speed.a": 0.3},
    {"speed.a": 0.5},
)
_VCPU_ON_LITTLE = ("a vCPU is on a little", {"speed.vcpu": 0.5}, {"speed.vcpu": 0.9})
_WORK_ON_LITTLE = ("the thread is on a little", {"speed.work": 0.5}, {"speed.work": 0.9})
_ALONE: State = (
    "the boosted task is alone on its CPU, as in uclamp/shared-boost-0",
    {"activation_us.boosted.p95": 2000, "activation_us.boosted.p50": 1990},
    {},
)
_SHARED: State = (
    "three co-runners are on its CPU, as in uclamp/shared-boost-3",
    {"activation_us.boosted.p95": 9000, "activation_us.boosted.p50": 4000},
    {},
)
_OFF_THE_MIDS: State = (
    "work goes from mids to littles and bigs, which need more for it",
    {f"energy_j.{part}": 1.1 for part in ("total", "cluster.little", "cluster.big")}
    | {"energy_j.cluster.mid": 0.9},
    {f"energy_j.{part}": 1 for part in ("total", *map("cluster.{}".format, CLUSTERS))},
)
_STARVED: State = ("a real-time task takes the CPU", {"missed_deadlines": 48}, {})
#: By scenario, variant, and a part of the statement, such as its first measure's key.
STATES: dict[tuple[str, str, str], State] = {
    **{
        ("ui/jank-boosted", "uclamp-sum", key): (
            "frames wait for a capped task",
            {"deadlines.ui.missed": 9, "activation_us.ui.p50": 9, "activation_us.render.p50": 9},
            {"deadlines.ui.missed": 2, "activation_us.ui.p50": 4, "activation_us.render.p50": 4},
        )
        for key in ("deadlines", "activation_us")
    },
    ("ui/jank-calibrated", "uclamp-sum", "frames"): (
        "frames wait for a capped task",
        {"frames.late": 9},
        {"frames.late": 2},
    ),
    **{
        (f"ui/{name}", "uclamp-sum", "energy_j"): _OFF_THE_MIDS
        for name in ("jank-boosted", "jank-calibrated", "uibench")
    },
    ("ui/uibench", "uclamp-sum", "response_us"): (
        "frames wait for a capped task",
        {"response_us.ui.p50": 9000},
        {"response_us.ui.p50": 4000},
    ),
    ("ui/uibench", "uclamp-sum", "deadlines"): (
        "frames wait for a capped task",
        {"deadlines.ui.missed": 9},
        {"deadlines.ui.missed": 2},
    ),
    **{
        (f"uclamp/infinite-tasks-{tasks}-pinned", "uclamp-sum", "mean_mhz"): (
            "the sum is not asked for",
            {"mean_mhz.big": 450, "speed.hog": 0.2},
            {"mean_mhz.big": 600, "speed.hog": 0.3},
        )
        for tasks in (2, 4, 10)
    },
    **{
        (f"uclamp/{name}", "uclamp-sum", "opp_transitions_per_s"): (
            "caps are lifted by each wake-up, as with the maximum",
            {"opp_transitions_per_s.big": 139, "window_s": 1},
            {"opp_transitions_per_s.big": 140, "window_s": 1},
        )
        for name in ("intro-example", "frequency-spike-loops")
    },
    **{
        (f"uclamp/shared-boost-{others}", "uclamp-sum", "activation_us"): (
            "the boost is lost whenever another task is runnable",
            {"activation_us.boosted.p95": 9000, "activation_us.boosted.p50": 4000},
            {"activation_us.boosted.p95": 5000, "activation_us.boosted.p50": 4000},
        )
        for others in (1, 3)
    },
    ("uclamp/infinite-tasks-1", "uclamp-sum", "speed"): _HOG_ON_LITTLE,
    ("uclamp/infinite-tasks-2", "uclamp-sum", "speed"): _HOG_ON_LITTLE,
    ("uclamp/infinite-tasks-4", "uclamp-sum", "speed"): _HOG_ON_LITTLE,
    ("uclamp/infinite-tasks-10", "uclamp-sum", "speed"): _HOG_ON_LITTLE,
    ("uclamp/shared-boost-0", "mainline", "activation_us"): _SHARED,
    ("uclamp/shared-boost-1", "mainline", "activation_us"): _ALONE,
    ("uclamp/shared-boost-3", "mainline", "activation_us"): _ALONE,
    ("uclamp/hidden-overutilization-nice", "mainline", "top_opp"): (
        "as under uclamp-sum in uclamp/hidden-overutilization-pinned",
        {"top_opp.big": 0.0},
        {},
    ),
    ("uclamp/hidden-overutilization-nice", "uclamp-sum", "speed"): _HIDDEN,
    ("uclamp/hidden-overutilization-nice", "uclamp-sum-fixed", "speed"): _HIDDEN,
    ("uclamp/capped-background", "uclamp-sum", "speed"): _HIDDEN,
    ("uclamp/capped-background", "uclamp-sum-fixed", "speed"): _HIDDEN,
    ("uclamp/no-clamp-single", "uclamp-sum", "speed"): _WORK_ON_LITTLE,
    ("uclamp/no-clamp-multi", "uclamp-sum", "speed"): _WORK_ON_LITTLE,
    **{
        (f"eas/{name}", "feec-b", "throughput"): (
            "each wake-up costs a tenth more",
            {"throughput.pipe": 9000},
            {"throughput.pipe": 10_000},
        )
        for name in ("sched-pipe", "sched-pipe-perf", "sched-pipe-pinned")
    },
    **{
        (f"eas/{name}", variant, "energy_j.total > "): (
            "the same work is done by CPUs that need less for it",
            {"energy_j.total": 0.9},
            {"energy_j.total": 1.0},
        )
        for name in ("game", "video-playback")
        for variant in ("cas", "feec-b", "feec-c", "feec-d")
    },
    ("eas/stacked", "feec-b", "latency_us"): (
        "all small tasks are on one CPU",
        {"latency_us.small.p95": 9000},
        {"latency_us.small.p95": 4000},
    ),
    ("eas/sched-pipe-pinned", "uclamp-sum", "throughput"): (
        "each enqueue costs more",
        {"throughput.pipe": 9800},
        {"throughput.pipe": 10_000},
    ),
    ("eas/headroom-big", "feec-b", "mean_mhz"): (
        "the other big is chosen, and the OPP falls",
        {"mean_mhz.big": 610},
        {"mean_mhz.big": 640},
    ),
    ("eas/speedometer", "feec-d", "speed"): (
        "the page is on a little",
        {"speed.page": 0.3},
        {"speed.page": 0.6},
    ),
    ("eas/speedometer", "feec-d", "overutilized_share"): (
        "nothing is busy, as in eas/idle-screen",
        {"overutilized_share": 0.0},
        {},
    ),
    ("eas/stacked", "feec-b", "run_share"): (
        "the small tasks go to a big",
        {"run_share.small.little": 0.4},
        {},
    ),
    ("eas/video-playback", "cas", "missed_deadlines"): _STARVED,
    ("eas/video-playback", "mainline", "missed_deadlines"): _STARVED,
    **{
        (f"vm/{name}", "uclamp-sum", "speed"): _VCPU_ON_LITTLE
        for name in (
            *("uncontended-vcpus-single", "uncontended-vcpus-multi"),
            *("contended-vcpus-single-base", "contended-vcpus-multi-base"),
            *("contended-vcpus-single", "contended-vcpus-multi"),
        )
    },
}
SEEDS = 20
PLATFORM = load_platform("juno-r2")
ENTRIES = [(name, entry) for name in names() for entry in load_scenario(name, PLATFORM).expect]


def keys_of(name: str, entry: Expectation) -> list[tuple[str, str, str]]:
    """The states in which the statement fails."""
    return [key for key in STATES if key[:2] == (name, entry.variant) and key[2] in entry.statement]


def results(measures: dict[str, float], noise: float = 1e-3) -> dict[int, dict[str, object]]:
    """Twenty results with these measures, each a little otherwise."""
    made: dict[int, dict[str, object]] = {}
    for seed in range(SEEDS):
        made[seed] = {}
        for path, value in measures.items():
            here = made[seed]
            *above, last = path.split(".")
            for part in above:
                here = here.setdefault(part, {})  # type: ignore[assignment]
            here[last] = value * (1 + noise * (-1) ** seed * (1 + seed % 3))
    return made


def mentioned(entry: Expectation) -> Iterator[MeasurePath]:
    for measure in parse(entry.statement).measures:
        yield MeasurePath(measure.path, measure.variant or entry.variant)


@pytest.mark.parametrize(("name", "entry"), ENTRIES)
def test_a_statement_names_variants_that_must_fail_or_has_a_state(
    name: str, entry: Expectation
) -> None:
    known = load_catalogue()
    assert bool(entry.fails_under) + len(keys_of(name, entry)) == 1
    names = {variant.partition("@")[0] for variant in entry.fails_under}
    assert names <= {*known.variants, *known.planned}


def test_every_state_is_of_a_statement() -> None:
    assert set(STATES) == {key for name, entry in ENTRIES for key in keys_of(name, entry)}


@pytest.mark.parametrize(("name", "entry"), [each for each in ENTRIES if keys_of(*each)])
def test_a_statement_is_refuted_in_its_state(name: str, entry: Expectation) -> None:
    (key,) = keys_of(name, entry)
    words, own, mainline = STATES[key]
    assert words
    runs = {"mainline": results(mainline), entry.variant: results(own)}
    (verdict,) = judge([entry], runs)
    assert verdict.verdict == REFUTED, verdict.reason


@pytest.mark.parametrize(("name", "entry"), ENTRIES)
def test_a_statement_can_be_shown_and_refuted(name: str, entry: Expectation) -> None:
    """Neither answer is excluded by what its measures can be."""
    measures = list(dict.fromkeys(mentioned(entry)))
    answers = set()
    for number in range(400):
        runs: dict[str, dict[str, float]] = {}
        for place, measure in enumerate(measures):
            steps = (0.001, 0.3, 0.55, 0.7, 0.97, 0.995, 1.0, 2.0, 8.0, 60.0, 300.0)
            step = steps[number // len(steps) ** place % len(steps)]
            runs.setdefault(measure.variant, {})[".".join(measure.path)] = step
        made = {variant: results(values, 1e-6) for variant, values in runs.items()}
        answers.add(judge([entry], made)[0].verdict)
        if {SHOWN, REFUTED} <= answers:
            return
    raise AssertionError(f"{name}: {entry.statement}: only {answers}")
