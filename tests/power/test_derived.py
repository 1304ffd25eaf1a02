# SPDX-License-Identifier: GPL-2.0-or-later
"""McPAT's figures of the cores, as committed, and the law that scales them."""

import json
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.core import Core, list_cores, load_core
from eascope.host.errors import RequestError
from eascope.power.level import load_level
from eascope.power.mcpat import CYCLE, DERIVED, PARTS, g_of_t, load_derived
from tests.support.refusals import refusal


def changed(core: Core, inputs: dict[str, Any]) -> list[str]:
    """The figures in ``inputs`` that the present description has not."""
    known = {**core.structure, **core.parameters}
    present: dict[str, Any] = {"pipeline": core.pipeline}
    for name, cache in (("l1i", core.l1i), ("l1d", core.l1d), ("l2", core.l2)):
        assert cache is not None
        present[name] = {"size_kib": cache.size_kib, "ways": cache.ways}
    present["l2"] |= {"scope": core.l2_scope, "cpus": core.l2_cpus}
    figures = inputs["figures"]
    present["figures"] = {name: known[name].value for name in figures if name in known}
    wrong = [name for name in present if name != "figures" and present[name] != inputs[name]]
    return wrong + [name for name in figures if present["figures"].get(name) != figures[name]]


@pytest.mark.parametrize("core", list_cores())
def test_derived_from_the_present_description(core: str) -> None:
    """Every figure that McPAT's input was made from is the file's; other keys do not matter."""
    record = json.loads((DERIVED / f"{core}.json").read_text())
    assert changed(load_core(core), record["provenance"]["inputs"]) == [], "make power-models"
    for unit in ("core", "l2"):
        assert abs(float(record["linearity"][unit]["error"])) < 1e-4


@pytest.mark.parametrize("core", list_cores())
def test_parts_add_up_and_nothing_is_negative_but_a_miss(core: str) -> None:
    power = load_derived(core)
    for event in power.energy_pj:
        parts = power.pj_by_part(event)
        assert set(parts) <= set(PARTS)
        assert sum(parts.values()) == pytest.approx(power.pj(event))
        # An L2 read that misses does not read data: McPAT takes the read's energy back.
        assert power.pj(event) > 0 or event == "L2.read_misses"
    leaves = [
        power.leakage[path].subthreshold_w
        for path in ("Instruction Fetch Unit", "Load Store Unit", "Execution Unit")
    ]
    assert sum(leaves) < power.leakage["Core"].subthreshold_w < 2 * sum(leaves)


def test_published_figures_of_an_independent_derivation() -> None:
    """Figures that were derived by hand before this program was written (pJ at 1.0 V)."""
    a53 = load_derived("cortex-a53")
    expected = {
        "core.total_instructions": 20.3,
        "core.load_instructions": 40.989,
        "core.int_regfile_reads": 3.001,
        "core.ialu_accesses": 9.866,
        "core.cdb_mul_accesses": 37.6,
        "icache.read_misses": 110.4,
        "dcache.write_accesses": 34.772,
        "L2.read_accesses": 120.39,
        "L2.read_misses": -112.232,
    }
    for event, energy in expected.items():
        # The design supply is another: as near as the law is (tests/power/test_validation.py).
        at_one_volt = a53.pj(event) * a53.dynamic_scale(1.0)
        assert at_one_volt == pytest.approx(energy, rel=0.02), event


def test_the_law() -> None:
    power = load_derived("cortex-a53")
    sub, gate = power.leakage["Core"].subthreshold_w, power.leakage["Core"].gate_w
    celsius = power.temperature_k - 273.15
    volts = 0.9 * power.vdd_v
    assert power.dynamic_scale(volts) == pytest.approx(0.81)
    assert power.leakage_w("Core", power.vdd_v, celsius) == pytest.approx(sub + gate, rel=1e-6)
    assert power.leakage_w("Core", volts, celsius) == pytest.approx(sub * 0.729 + gate * 0.9)
    assert power.leakage_w("Core", volts, celsius, "clk_gated") == power.leakage_w(
        "Core", volts, celsius
    )
    assert power.leakage_w("Core", volts, celsius, "sram_retention") == pytest.approx(
        0.47 * sub * 0.729 + gate * 0.9
    )
    assert power.leakage_w("Core", volts, celsius, "off") == 0
    assert power.pj(CYCLE) > 0
    assert power.pj("core.no_such_event") == 0


def test_leakage_by_temperature() -> None:
    assert g_of_t(330 - 273.15) == pytest.approx(1, abs=1e-5)
    assert g_of_t(27) < g_of_t(57) < g_of_t(62) < g_of_t(66.85) < g_of_t(100)
    with pytest.raises(RequestError, match=r"temperature_c = 20: allowed: 26\.85\.\.126\.85"):
        g_of_t(20)


def test_unknown_core_and_broken_file(tmp_path: Path) -> None:
    for load, name, near in ((load_derived, "cortex-a5x", "a5"), (load_level, "cortex-x2", "x1")):
        assert f"did you mean cortex-{near}" in refusal(load, name)
    record = json.loads((DERIVED / "cortex-a53.json").read_text())
    del record["energy_pj"][CYCLE]
    (tmp_path / "cortex-a53.json").write_text(json.dumps(record))
    with pytest.raises(RequestError, match=r"cortex-a53\.json: energy_pj = \[\]: allowed"):
        load_derived("cortex-a53", tmp_path)
