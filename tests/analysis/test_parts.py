# SPDX-License-Identifier: GPL-2.0-or-later
"""What a difference is made of: known answers by hand, and sums that are exact."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.answer import answers, clock_caption
from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.compare_json import parts_json
from eascope.analysis.compare_text import parts_tables
from eascope.analysis.derive import Derived, derive
from eascope.analysis.energy import QUANTA
from eascope.analysis.glance import everything, glance
from eascope.analysis.parts import MOST_NAMED, Parts, parts_of
from eascope.analysis.records.result import Energy, Result
from eascope.analysis.report import page
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.runs.finished import BilledBy
from tests.support.records import result_record
from tests.support.stated import stated
from tests.support.synthetic import MS, Burst, Schedule, write_run

KHZ = {0: [(0, 450_000)], 1: [(0, 600_000)]}


def schedule(wakes: int, run_ms: int) -> Schedule:
    """CPU 4 wakes up so often in 1 s, each time for 1 ms of exit and then so long of work."""
    bursts = [Burst("work", (10 + 50 * n) * MS, 4, run_ms * MS, MS) for n in range(wakes)]
    return Schedule(1000 * MS, bursts, KHZ, exit_ns=MS)


def derived(
    root: Path, platform: Platform, activity: Activity, variant: str, of: Schedule, **by: int
) -> Derived:
    run = root / f"{variant}-{len(list(root.iterdir()))}"
    write_run(run, platform, of, variant=variant)
    model = BilledBy("published", transition_percent=by.get("percent"))
    return derive(run, platform, activity, model.model(platform, activity))


@pytest.mark.parametrize(("percent", "share"), [(None, 0.5), (0, 0.0), (100, 1.0)])
def test_parts_by_hand(
    tmp_path: Path, platform: Platform, activity: Activity, percent: int | None, share: float
) -> None:
    """Ten wake-ups less, 20 ms of work more; all of it on a big CPU at 600 MHz."""
    by = {} if percent is None else {"percent": percent}
    few, many = schedule(2, 16), schedule(12, 1)
    runs = {
        "mainline": [derived(tmp_path, platform, activity, "mainline", many, **by)],
        "cas": [derived(tmp_path, platform, activity, "cas", few, **by)],
    }
    parts = comparison(platform, runs).parts("cas")
    assert parts is not None
    busy_uw = platform.cluster("big").opp(600_000).power_uw
    joules = {name: float(value) for name, value in parts.kinds.items()}
    assert joules["busy"] == pytest.approx(20e-3 * busy_uw / 1e6)
    assert joules["leaving idle states"] == pytest.approx(-10e-3 * share * busy_uw / 1e6)
    assert joules["shared parts"] == joules["entering idle states"] == 0
    # 20 ms less of WFI for work, 10 ms more for exits that are not made.
    assert joules["idle"] < 0
    base, cas = (runs[name][0].result.energy_j for name in ("mainline", "cas"))
    idle = cas.component["idle_wfi"] - base.component["idle_wfi"]
    assert joules["idle"] == pytest.approx(idle)
    # Joules are apportioned to whole quanta.
    assert abs(parts.clusters["little"]) <= Fraction(2, QUANTA)
    assert parts.total == Fraction(cas.total) - Fraction(base.total)


def result_of(cells: dict[str, dict[str, float]], work: float | None = None) -> Result:
    """A result with these joules by cluster and component."""
    total = sum(sum(parts.values()) for parts in cells.values())
    energy = Energy(total, {}, {}, cells, {})
    per_work = total / work if work else None
    return result_record(energy_j=energy, work=work, energy_per_work_j=per_work)


def pair(platform: Platform, base: Result, cas: Result) -> Comparison:
    runs = {
        name: [replace(stated(name, 0), result=replace(stated(name, 0).result, **vars(part)))]
        for name, part in (("mainline", base), ("cas", cas))
    }
    return comparison(platform, runs)


QUARTER = 2**-10


#: Changes of little and big, in 2^-10 J.
LINES: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "one cluster": ({"active": -1, "shared": -1}, {"idle_exit": -30}),
    "clusters against each other": ({"active": -31}, {"active": 30}),
    "no main cluster": ({"active": 10}, {"idle_cluster_sleep_0": 10}),
    "unknown": ({"active": 1}, {"magic": 3}),
    "nothing": ({"active": 0}, {"active": 0}),
}


@pytest.mark.parametrize("case", LINES)
def test_the_line(platform: Platform, case: str, snapshot: SnapshotAssertion) -> None:
    cells = {
        name: {component: 1.0 + QUARTER * change for component, change in changes.items()}
        for name, changes in zip(("little", "big"), LINES[case], strict=True)
    }
    base = {name: dict.fromkeys(parts, 1.0) for name, parts in cells.items()}
    compared = pair(platform, result_of(base), result_of(cells))
    first, line = answers(compared)
    assert line == snapshot
    assert glance(compared).splitlines()[:2] == [first, line]
    assert everything(compared).splitlines()[:2] == [first, line]
    assert f"{line}." in page(compared, {}).replace("&#x27;", "'")


def random_result(random: Random, platform: Platform) -> Result:
    quanta = [random.randrange(2**34) for _ in range(10)]
    names = ("active", "idle_wfi", "idle_entry", "idle_exit", "shared")
    numbers = iter(quanta)
    cells = {
        cluster.name: {name: next(numbers) / QUANTA for name in names}
        for cluster in platform.clusters
    }
    return result_of(cells, random.uniform(0.1, 3))


@pytest.mark.parametrize("seeds", [1, 2, 3, 7])
@pytest.mark.parametrize("work_unit", ["", "s of work"])
def test_sums_are_exact(platform: Platform, seeds: int, work_unit: str) -> None:
    """Of fractions, of the JSON's floats and of the printed digits; by part and by cluster."""
    random = Random(seeds)
    for _ in range(20):
        pairs = [
            (random_result(random, platform), random_result(random, platform)) for _ in range(seeds)
        ]
        parts = parts_of(platform, pairs, work_unit)
        assert parts is not None
        exact = Fraction()
        for base, cas in pairs:
            for sign, result in ((-1, base), (1, cas)):
                of = Fraction(result.work or 0) if work_unit else 1
                exact += sign * Fraction(result.energy_j.total) / of / seeds
        assert parts.total == sum(parts.kinds.values()) == exact
        record = json.loads(json.dumps(parts.record()))
        by_part, by_cluster = record["by_part"], record["by_cluster"].values()
        assert sum(by_part.values()) == record["difference"]
        assert sum(sum(of.values()) for of in by_cluster) == record["difference"]
        assert abs(Fraction(record["difference"]) - exact) <= Fraction(1, 2 * QUANTA)
        total, *printed = numbers_of(parts)
        assert sum(printed) == total
        for name, value in zip([*parts.shown.kinds][:MOST_NAMED], printed, strict=False):
            assert abs(value / 1000 - parts.kinds[name]) <= Fraction(1, 1000 * 10**parts.digits)


def numbers_of(parts: Parts) -> list[Fraction]:
    """The total of the line, then its components."""
    head, _, tail = parts.line().partition("; by component: ")
    return [Fraction(head.split()[0]), *(Fraction(word.split()[-1]) for word in tail.split(", "))]


def test_a_seed_without_work_has_no_part_per_work(platform: Platform) -> None:
    cells = {"big": {"active": 1.0}}
    worked = (result_of(cells, 1.0), result_of({"big": {"active": 3.0}}, 2.0))
    idle = (result_of(cells, 0.0), result_of(cells, 1.0))
    both = parts_of(platform, [worked, idle], "frame")
    assert both is not None
    assert (both.total, both.unit) == (Fraction(1, 2), "mJ per frame")
    assert parts_of(platform, [idle], "frame") is None


def test_work_that_differs_gives_parts_of_both(
    platform: Platform, snapshot: SnapshotAssertion
) -> None:
    compared = pair(
        platform,
        result_of({"big": {"active": 1.0, "idle_exit": 0.5}}, 1.0),
        result_of({"big": {"active": 2.0, "idle_exit": 0.5}}, 2.0),
    )
    assert "\n".join(answers(compared)[1:]) == snapshot
    assert [entry["measure"] for entry in parts_json(compared)] == [
        *("energy_per_work_j", "energy_j.total")
    ]
    (_, table), _ = parts_tables(compared)
    assert table.text() == snapshot
    assert clock_caption(compared) == snapshot


def test_tables_are_narrow(platform: Platform) -> None:
    random = Random(1)
    parts = parts_of(platform, [(random_result(random, platform), random_result(random, platform))])
    assert parts is not None
    assert max(map(len, parts.table.text().splitlines())) <= 90
