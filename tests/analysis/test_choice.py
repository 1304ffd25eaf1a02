# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether decisions were right: known answers, sums, and the energies of a platform's powers."""

from dataclasses import asdict, replace
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eascope.analysis.bound import Machine
from eascope.analysis.choice import Choice, Judged, Option, choices, domains, judge, text
from eascope.analysis.derive import derive
from eascope.analysis.energies import Load
from eascope.configs.activity import load_activity
from eascope.configs.platform import Platform
from eascope.power.choice import power_model
from tests.analysis.test_run_diff import write

#: CPUs 0 and 1 are a cluster, 2 is another.
CLUSTERS = {0: 0, 1: 0, 2: 1}
S = 10**9


def told(platform: Platform) -> dict[str, dict[str, int]]:
    """What the kernel is told of each cluster's OPPs."""
    return {
        cluster.name: {str(opp.khz): opp.power_uw for opp in cluster.opps}
        for cluster in platform.clusters
    }


def options(*each: tuple[int, float, float]) -> tuple[Option, ...]:
    return tuple(Option(*one) for one in each)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        # The CPU with the least estimate takes least.
        (Choice(S, 0, options((0, 5, 1e6), (2, 6, 2e6))), Judged(1, 1)),
        # The estimate is least on CPU 0, the energy on CPU 2: 1 W more for 1 s.
        (Choice(S, 0, options((0, 5, 2e6), (2, 6, 1e6))), Judged(1, 0, 1, 1000.0)),
        # The estimate is right, and another CPU was chosen.
        (Choice(S, 2, options((0, 5, 1e6), (2, 6, 3e6))), Judged(1, 0, 0, 0.0, 1, 2000.0)),
        # A rule mends what the model has wrong.
        (Choice(S, 2, options((0, 5, 2e6), (2, 6, 1e6))), Judged(1, 1, 1, 1000.0, 1, -1000.0)),
        # Of equal estimates none is wrong, whichever was taken.
        (Choice(S, 1, options((0, 5, 1e6), (1, 5, 1e6), (2, 6, 2e6))), Judged(1, 1)),
        # A whole cluster was not compared.
        (Choice(S, 0, options((0, 5, 1e6), (1, 6, 2e6))), Judged(1, 1, partly=1)),
        # A CPU takes 2 W less that was not looked at, beside what the rule costs.
        (
            Choice(S, 2, options((0, 5, 3e6), (2, 6, 4e6)), 1e6),
            Judged(1, 0, 0, 0.0, 1, 1000.0, search=1, search_mj=2000.0),
        ),
        # The search leaves out what takes no less.
        (Choice(S, 0, options((0, 5, 1e6), (2, 6, 2e6)), 1e6), Judged(1, 1)),
        # It went to no candidate.
        (Choice(S, 1, options((0, 5, 1e6))), Judged(outside=1)),
        (Choice(S, -1, ()), Judged(outside=1)),
    ],
)
def test_known_choices(choice: Choice, expected: Judged) -> None:
    assert asdict(judge([choice], CLUSTERS)) == pytest.approx(asdict(expected))


MADE = st.builds(
    lambda ns, values, at, missed: Choice(
        ns, at, options(*((cpu, *v) for cpu, v in enumerate(values))), missed
    ),
    st.integers(0, S),
    st.lists(st.tuples(st.integers(1, 5), st.floats(1.0, 1e6)), min_size=3, max_size=3),
    st.integers(0, 2),
    st.none() | st.floats(1.0, 1e6),
)


@given(st.lists(MADE, max_size=8))
def test_the_costs_of_model_rule_and_search_are_all_that_choices_cost(made: list[Choice]) -> None:
    """And neither is below 0 together; what is judged apart sums to what is judged at once."""
    found = judge(made, CLUSTERS)
    whole = sum(
        (each.options[each.cpu].added_uw - min(o.added_uw for o in each.options)) * each.ns
        + max(0.0, min(o.added_uw for o in each.options) - (each.missed_uw or inf)) * each.ns
        for each in made
    )
    assert found.model_mj + found.rule_mj + found.search_mj == pytest.approx(
        whole * 1e-12, abs=1e-9
    )
    assert found.model_mj >= 0
    assert found.search_mj >= 0
    apart = [judge([each], CLUSTERS) for each in made]
    assert found.decisions == sum(each.decisions for each in apart) == len(made)
    assert found.rule_mj == pytest.approx(sum(each.rule_mj for each in apart), abs=1e-9)


def test_energies_are_of_the_opp_that_suffices(juno: Platform) -> None:
    """A higher OPP for all that is busy; a load beyond the top OPP is at the top OPP."""
    activity = load_activity(juno)
    machine = Machine(juno, activity, power_model(None, juno, activity))
    little = domains(machine, told(juno))[juno.cluster("little").cpus[0]]
    cluster = juno.cluster("little")
    capacity = juno.capacities[cluster.cpus[0]]
    top = cluster.max_khz
    assert little.uw(Load(capacity, capacity)) == pytest.approx(machine.busy_uw(cluster, top))
    assert little.uw(Load(2 * capacity, 50)) == little.uw(Load(capacity, 50))
    first = cluster.opps[0].khz
    low = capacity * first // top
    assert little.uw(Load(low, low)) == pytest.approx(machine.busy_uw(cluster, first))
    assert little.uw(Load(low + 1, 50)) > little.uw(Load(low, 50))
    # The kernel's cost of a unit of utilization names the OPP.
    cost = cluster.opps[-1].power_uw * 10 / capacity
    assert little.of_cost_uw(cost, 50 * cost) == pytest.approx(little.uw(Load(capacity, 50)))


def test_the_table_has_a_line_for_each_variant_that_decided() -> None:
    judged = {"mainline": Judged(8, 6, 2, 1.5, 1, 0.25, 4, 0, 2, 3.5), "cas": Judged(outside=3)}
    lines = text(judged).splitlines()
    assert lines[-1].split() == [
        *("mainline", "8", "75%", "25%", "1.50", "12%", "0.25", "25%", "3.50"),
    ]
    assert max(map(len, lines)) <= 90
    assert text({"cas": Judged()}) == ""


def test_a_search_errs_where_an_idle_cpu_with_room_takes_less(
    juno: Platform, tmp_path: Path
) -> None:
    """EAS compared CPU 4 alone: a little was idle, and its clock is low."""
    activity = load_activity(juno)
    machine = Machine(juno, activity, power_model(None, juno, activity))
    run = write(tmp_path / "a", juno, [4, 4, 4], decided="4:1:30:0:3000")
    derived = derive(run, juno, activity)
    model = replace(derived.cell.energy_model, opp_microwatt=told(juno))
    cell = replace(derived.cell, energy_model=model)
    made = choices(replace(derived, cell=cell), machine)
    little = domains(machine, told(juno))[0]
    assert [each.missed_uw for each in made] == [little.alone_uw(450_000, 100)] * 3
    found = judge(made, {cpu: c.index for c in juno.clusters for cpu in c.cpus})
    assert found.search == found.least == found.partly == 3
    assert found.search_mj > 0
    # What seems to add nothing is left out, here of CPU 5.
    for name, more, least in (
        ("one", "4:1:30:0:3000 5:1:30:0:0", little.alone_uw(450_000, 100)),
        ("all", "4:1:30:0:0", None),
    ):
        again = derive(write(tmp_path / name, juno, [4, 4, 4], decided=more), juno, activity)
        judged = choices(replace(again, cell=cell), machine)
        assert [each.missed_uw for each in judged] == [least] * 3
    # Not where the task may not run there, nor where it does not fit.
    pinned = tuple(replace(task, cpus=(4, 5)) for task in cell.tasks)
    apart = replace(derived, cell=replace(cell, tasks=pinned))
    assert {each.missed_uw for each in choices(apart, machine)} == {None}
    assert little.alone_uw(450_000, juno.capacities[0]) is None
