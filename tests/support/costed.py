# SPDX-License-Identifier: GPL-2.0-or-later
"""Derived runs with known results and costs, for the studies that compare engines."""

from dataclasses import replace
from typing import Any

from eascope.analysis.records.cell import (
    ClusterModel,
    EngineSettings,
    Expectation,
    IdentityRecord,
    MachineRecord,
    Settings,
)
from eascope.analysis.records.result import Busy, Energy, Judged, Percentiles
from eascope.engines.registry import get_engine
from eascope.experiments.renew.costed import CostedRun
from tests.support.records import cell_record, host_record, kernel_record, result_record


def costed(
    energy: float,
    fast_share: float,
    verdict: bool,
    parts: bool = True,
    variant: str = "cas",
    statement: str = "migrations > 1",
) -> CostedRun:
    """A run with so much energy (mJ) and share of the higher OPP.

    :param verdict: whether it has more than one migration.
    :param parts: whether it is gem5's, which says what each part of a run cost.
    """
    result = result_record(
        energy_j=Energy(energy / 1000, {"little": energy / 1000}, {}, {}, {}),
        residency={"little": {"450000": 1 - fast_share, "950000": fast_share}},
        opp_transitions_per_s={"little": 10.0},
        opp_requests_per_s={"little": 12.0},
        run_share={"light": {"little": 1.0}},
        cluster_busy={"little": Busy(0.1, 0.4)},
        migrations=3 if verdict else 0,
        latency_us={"light": Percentiles(5.0, 6.0, 7.0, 9.0, 10.0)},
        missed_deadlines=0,
        window_s=0.5,
        expect=(Judged("migrations > 1", 3, verdict),),
    )
    machine = MachineRecord((ClusterModel("little", "ArmAtomicSimpleCPU"),)) if parts else None
    cell = cell_record(
        engine="gem5" if parts else "qemu",
        mode="elided" if parts else "",
        settings=Settings(EngineSettings(machine), "", True, 1024),
        expect=(Expectation(variant, statement, "a test"),),
        kernel=kernel_record("base", "6.12.1"),
        engine_identity=IdentityRecord("gem5", "24.0") if parts else IdentityRecord("qemu", "10.0"),
        engine_traits=get_engine("gem5" if parts else "qemu").traits,
    )
    spent = {"boot": 100.0, "warmup": 6.0, "window": 10.0} if parts else {}
    host = host_record(host_s=9.0, cpu_s=2.0, parts_cpu_s=spent)
    return CostedRun(result, cell, host)


def changed(run: CostedRun, window_cpu_s: float | None = None, **result: Any) -> CostedRun:
    """``run`` with other measures, or another processor time of its window."""
    host = run.host
    if window_cpu_s is not None:
        host = replace(host, parts_cpu_s={**host.parts_cpu_s, "window": window_cpu_s})
    return CostedRun(replace(run.result, **result), run.cell, host)
