# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's own power expressions against rows: which dump belongs to which kernel."""

from collections.abc import Mapping

import pytest

from eascope.configs.platform import Platform
from eascope.engines.records import START, STOP
from eascope.experiments.characterisation.guest import FIRST_MARK, KERNELS
from eascope.host.errors import EascopeError
from eascope.power.events import load_events
from eascope.power.mcpat import CYCLE
from research.power_expressions import compare, statistics

MODEL = "system.cluster_little.cpus.power_model.dynamicPower"
#: Kernel k runs for k + 1 us at 1 uJ/us by gem5, from 10 us on, with a pause of 1 us before it.
WATTS = 1.0


def _marks() -> dict[int, int]:
    marks, now = {START: 10_000}, 10_000
    for place in range(len(KERNELS)):
        first = FIRST_MARK + 2 * place
        marks[first], marks[first + 1] = now + 1000, now + 1000 * (place + 2)
        now = marks[first + 1]
    return {**marks, STOP: now + 500}


def _dumps(marks: Mapping[int, int]) -> list[dict[str, float]]:
    return [
        {MODEL: WATTS, "simTicks": (ns - marks[START]) * 1e3, "simFreq": 1e12}
        for number, ns in marks.items()
        if number != START
    ]


def test_each_kernel_has_its_own_share_of_the_sum(juno: Platform) -> None:
    cluster, marks = juno.clusters[0], _marks()
    power = load_events(cluster.core.name)
    rows = [
        {
            "cpu": 0,
            "t0_ns": marks[FIRST_MARK + 2 * place],
            "t1_ns": marks[FIRST_MARK + 2 * place + 1],
            "uv": 1_000_000,
            "instructions": 100.0,
            CYCLE: 10.0,
        }
        for place in range(len(KERNELS))
    ]
    kernels = compare(cluster, power, rows, marks, _dumps(marks))
    assert [kernel.kernel for kernel in kernels] == list(KERNELS)
    for place, kernel in enumerate(kernels):
        assert kernel.expression_pj == pytest.approx((place + 1) * 1e-6 * WATTS * 1e12 / 100)
        expected = 10 * power.energy_pj[CYCLE] * power.level.power.dynamic_scale(1.0) / 100
        assert kernel.rows_pj == pytest.approx(expected, rel=1e-5)
        ipc = 100 / ((place + 1) * 1e-6) / (cluster.max_khz * 1e3)
        assert kernel.ipc == pytest.approx(ipc, rel=1e-3)


def test_a_dump_too_few_is_an_error(juno: Platform) -> None:
    cluster, marks = juno.clusters[0], _marks()
    power = load_events(cluster.core.name)
    with pytest.raises(EascopeError, match="10 dumps of gem5 at 11 marks"):
        compare(cluster, power, [], marks, _dumps(marks)[1:])


def test_dumps_of_gem5s_text() -> None:
    text = "\n".join(
        f"---------- Begin Simulation Statistics ----------\nsimTicks  {ticks}  # ticks (Tick)\n"
        "a::b  nan  # none\n---------- End Simulation Statistics ----------\n"
        for ticks in (5, 1200)
    )
    assert statistics(text) == [{"simTicks": 5.0}, {"simTicks": 1200.0}]
