# SPDX-License-Identifier: GPL-2.0-or-later
"""Energies of counted events, and the same as expressions for gem5's power model."""

import re

import pytest

from eascope.configs.core import list_cores
from eascope.configs.platform import POWER_STATES, Platform
from eascope.engines.gem5.expressions import LEAKS, expressions, number, readable
from eascope.engines.gem5.inside import columns
from eascope.engines.gem5.inside.columns import EVENTS, L2, cpu_events
from eascope.engines.gem5.settings import machine_settings
from eascope.power.events import INTEGER_EVENTS, SHARED_WITH_INTEGER, STACK, group_of, load_events
from eascope.power.level import load_level
from eascope.power.mcpat import STATES


@pytest.mark.parametrize("core", list_cores())
def test_reference_activity_has_the_power_of_the_energy_model(core: str) -> None:
    """(a) = (c): the kernel's opp-microwatt and the sum over events."""
    level, power = load_level(core), load_events(core)
    hertz, volts, celsius = 1e9, 0.9, 57.0
    counts = {event: item * hertz for event, item in power.reference().items()}
    leakage = power.leakage_w_at_design("Core", celsius) * (volts / level.power.vdd_v) ** 3
    spent = power.dynamic_w(counts, 1.0, volts) + leakage
    assert spent == pytest.approx(sum(level.active_w(1000, volts, celsius).values()), rel=1e-12)


@pytest.mark.parametrize("core", list_cores())
def test_parts_are_the_energies(core: str) -> None:
    power = load_events(core)
    assert set(power.parts_pj["core.cycles"]) == {"clock"}
    for event, parts in power.parts_pj.items():
        assert set(parts) <= set(STACK)
        assert sum(parts.values()) == pytest.approx(power.energy_pj[event], rel=1e-12)
    stack = power.stack_pj(power.reference())
    assert set(stack) == {"clock", "front_end", "execution", "load_store", "l1"}
    assert sum(stack.values()) == pytest.approx(sum(power.level.dynamic_pj().values()), rel=1e-9)


@pytest.mark.parametrize("core", list_cores())
def test_events_outside_the_calibration_cost_nothing(core: str) -> None:
    power = load_events(core)
    for event in (*INTEGER_EVENTS, *SHARED_WITH_INTEGER):
        assert group_of(event) is None
        assert event not in power.energy_pj
    assert power.energy_pj["core.load_instructions"] > 0


def test_cluster_clock_is_that_of_the_energy_model() -> None:
    level, power = load_level("cortex-a53"), load_events("cortex-a53")
    wanted = level.shared_w(950, 1.0, 57)["cluster_clock"]
    clock_w = power.cluster_cycle_pj * 1e-12 * 950e6 * level.power.dynamic_scale(1.0)
    assert clock_w == pytest.approx(wanted)


def test_numbers_have_no_exponent() -> None:
    assert number(1e-9) == "0.000000001000"
    assert number(123456.5) == "123456.500000000000"


def test_expressions_read_no_part_of_a_vector() -> None:
    for model in EVENTS:
        columns = cpu_events(model)
        readable_columns = readable(columns)
        assert not any(term.parts for terms in readable_columns.values() for term in terms)
        others = {name for name in columns if name not in readable_columns}
        assert others <= {
            *(*INTEGER_EVENTS, *SHARED_WITH_INTEGER, "core.fpu_accesses", "core.cdb_fpu_accesses"),
            *("core.float_regfile_reads", "core.float_regfile_writes"),
        }
    assert readable(cpu_events("ArmO3CPU")) == cpu_events("ArmO3CPU")


def _evaluate(expression: str, values: dict[str, float]) -> float:
    """``expression`` by our own rules: names are looked up longest first."""
    assert re.fullmatch(r"[\w.*/+() -]+", expression)
    assert not re.search(r"\de|[-+*/(]-", expression), "gem5 misreads exponents and signs"
    names = re.findall(r"[a-z][\w.]*", expression)
    for name in sorted(set(names), key=len, reverse=True):
        expression = expression.replace(name, repr(values.get(name.split(".cpus0.")[-1], 0.0)))
    return float(eval(expression, {"__builtins__": {}}))


def test_an_expression_is_the_sum_over_events(juno: Platform) -> None:
    """For O3CPU, all of whose events are scalars: the expression's value is the rows' power."""
    settings = machine_settings(juno, "detailed")
    big = expressions(settings, juno.temperature_c)["big"]["cpus"][0]
    power = load_events("cortex-a72")
    stats = {
        term.stat: 1000.0 * (place + 1)
        for place, terms in enumerate(cpu_events("ArmO3CPU").values())
        for term in terms
    }
    counts = {
        event: sum(term.factor * stats[term.stat] for term in terms)
        for event, terms in cpu_events("ArmO3CPU").items()
    }
    values = {**stats, "voltage": 0.9, "simSeconds": 0.002}
    value = _evaluate(big["dynamic"], values)
    assert value == pytest.approx(power.dynamic_w(counts, 0.002, 0.9), rel=1e-6)
    leakage = power.level.leakage_w("Core", 0.9, juno.temperature_c)
    assert _evaluate(big["static"]["ON"], values) == pytest.approx(leakage, rel=1e-6)
    assert list(big["static"]) == ["ON", "CLK_GATED", "SRAM_RETENTION", "OFF"]


def test_power_states_have_the_same_names_everywhere() -> None:
    assert tuple(STATES) == ("on", *POWER_STATES)
    assert ("UNDEFINED", *LEAKS) == columns.POWER_STATES
    assert LEAKS["SRAM_RETENTION"] == STATES["sram_retention"][1] == 0.47


def test_shared_part_has_the_clock_and_the_accesses(juno: Platform) -> None:
    settings = machine_settings(juno, "detailed")
    shared = expressions(settings, juno.temperature_c)["big"]["shared"]
    power = load_events("cortex-a72")
    stats = {f"system.cluster_big.{term.stat}": 7e5 for terms in L2.values() for term in terms}
    values = {**stats, "voltage": 0.9, "simSeconds": 0.002, "clock_period": 1000.0}
    counts = {event: 7e5 * len(terms) for event, terms in L2.items()}
    clock_w = power.cluster_cycle_pj * 1e-3 * power.level.power.dynamic_scale(0.9)
    wanted = power.dynamic_w(counts, 0.002, 0.9) + clock_w
    assert _evaluate(shared["dynamic"], values) == pytest.approx(wanted, rel=1e-6)
