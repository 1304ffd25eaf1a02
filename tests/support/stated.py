# SPDX-License-Identifier: GPL-2.0-or-later
"""A derived run whose result is written down."""

from pathlib import Path

from eascope.analysis.derive import Derived
from eascope.analysis.records.result import Deadlines, Energy, Percentiles
from tests.support.records import cell_record, result_record, task_record
from tests.support.synthetic import EXPECT


def stated(variant: str, seed: int) -> Derived:
    """A derived run whose result is written down here, so that no other file moves the text."""
    cas = variant == "cas"
    total = (0.25 if cas else 0.2) + (0.001 * (seed % 3) if cas else 0.0005 * seed)
    parts = {"active": total - 0.05, "idle_wfi": 0.03, "idle_exit": 0.0001, "shared": 0.0199}
    result = result_record(
        energy_j=Energy(
            total=total,
            cluster={"little": 0.1, "big": total - 0.1},
            component=parts,
            cluster_component={},
            task={"decode": total - 0.06, "(other)": 0.01},
        ),
        window_s=2.0,
        latency_us={"decode": Percentiles(12.5, 30.0, 40.25 + cas, 99.0, 1234.5)},
        run_share={"decode": {"little": 1.0 - 0.5 * cas, "big": 0.5 * cas}},
        missed_deadlines=3 * cas,
        deadlines={"decode": Deadlines(60, 3 * cas)},
        residency={
            "little": {"450000": 0.75, "800000": 0.25, "950000": 0.0},
            "big": {"600000": 1.0 - 0.5 * cas, "1000000": 0.0, "1200000": 0.5 * cas},
        },
        mean_mhz={"little": 537.5, "big": 600.0 + 300 * cas},
        opp_transitions_per_s={"little": 10.0, "big": 0.0 + cas},
        cpu_busy=(0.3, 0.2, 0.1, 0.0, 0.25 * cas, 0.0),
        work_share={"little": 1.0 - 0.5 * cas, "big": 0.5 * cas},
        migrations=12 + 100 * cas + seed,
        overutilized_share=None if cas else 0.0125,
    )
    cell = cell_record(
        scenario="eas/video-playback",
        variant=variant,
        seed=seed,
        tasks=(task_record("decode", "decode-0", period_us=33_333),),
        expect=tuple(entry for entry in EXPECT if entry.variant == variant),
    )
    return Derived(Path("runs/key/derived/key"), result, cell, Path("runs/key"))
