# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of programs, without gem5: the script, and rows to events."""

from typing import Any

import polars as pl
import pytest

from eascope.configs.platform import Platform
from eascope.experiments.characterisation.program_events import (
    FIRST_US,
    LEVEL_US,
    WARMUP_US,
    Guest,
    evaluate,
    script,
)
from eascope.host.errors import EascopeError
from eascope.power.model import SHARED_PART

LOADS, ACCESSES = "core.load_instructions", "L2.read_accesses"


def test_programs_start_at_the_fastest_opps_and_all_opps_are_gone_through(juno: Platform) -> None:
    files = {"/tmp/a": b"\0two\nlines"}
    text = script(juno, Guest(files, ("spawn chmod x",)), ["/bin/one", "/bin/two"])
    head, _, rest = text.partition(b"\0two\nlines\n")
    assert head == b"eascope-script 1\nfile /tmp/a 10\n"
    lines = rest.decode().splitlines()
    assert lines[0] == "spawn chmod x"
    spawned = lines.index("spawn little /bin/one")
    assert lines[spawned + 1 : spawned + 5] == [
        "spawn big /bin/two",
        f"sleep-us {WARMUP_US}",
        "barrier",
        "start",
    ]
    assert lines[spawned + 5] == f"sleep-us {FIRST_US}"
    set_ = [line.rpartition(" ")[2] for line in lines if "scaling_setspeed" in line]
    sweep = ["450000", "600000", "800000", "1000000", "950000", "1200000"]
    assert set_ == ["950000", "1200000", *sweep]
    assert lines.count(f"sleep-us {LEVEL_US}") == 3
    assert lines[-2:] == ["stop", "exit"]


def _rows(**changed: float) -> pl.DataFrame:
    """Rows of the littles: a first one at the fastest OPP, then one at each OPP.

    An instruction takes two cycles and a ns; a load is a fifth of them, and an access of the L2 a
    tenth at the slowest OPP and a twentieth at the others.
    """
    rows = []
    at = 0.0
    for khz in (950_000, 450_000, 800_000, 950_000):
        count = 1000.0 if at else 1e6
        ns = count * (2e6 / khz + 1)
        row: dict[str, Any] = {"cluster": 0.0, "t0_ns": at, "t1_ns": at + ns, "khz": float(khz)}
        row |= dict.fromkeys(("instructions", "on_ns", "uv", LOADS, ACCESSES), 0.0)
        accesses = count * (0.1 if khz == 450_000 else 0.05)
        busy = {"cpu": 0.0, "instructions": count, "on_ns": ns, LOADS: 0.2 * count}
        rows += [
            row | busy | changed,
            row | {"cpu": 1.0, "instructions": 5000.0, LOADS: 4000.0},
            row | {"cpu": float(SHARED_PART), ACCESSES: accesses},
        ]
        at += ns
    return pl.DataFrame(rows)


def test_events_are_those_of_the_program_and_its_l2_without_the_first_row(juno: Platform) -> None:
    found = evaluate("hash", juno.clusters[0], _rows())
    assert (found.program, found.name) == ("hash", "little")
    assert [opp.khz for opp in found.opps] == [450_000, 800_000, 950_000]
    assert [opp.instructions for opp in found.opps] == [1000] * 3
    assert [opp.events for opp in found.opps] == [
        {LOADS: 0.2, ACCESSES: 0.1},
        {LOADS: 0.2, ACCESSES: 0.05},
        {LOADS: 0.2, ACCESSES: 0.05},
    ]
    assert (found.cycles, found.memory_ns) == pytest.approx((2.0, 1.0), rel=1e-4)


def test_a_program_that_waits_has_no_figures(juno: Platform) -> None:
    with pytest.raises(EascopeError, match="little: its program waited"):
        evaluate("hash", juno.clusters[0], _rows(on_ns=1000.0))


def test_how_far_the_time_is_from_the_fit_is_known(juno: Platform) -> None:
    assert evaluate("hash", juno.clusters[0], _rows()).residual < 1e-4
    slower = pl.when((pl.col("khz") == 800_000) & (pl.col("cpu") == 0)).then(1.3).otherwise(1.0)
    rows = _rows().with_columns(pl.col("instructions") / slower)
    assert 0.1 < evaluate("hash", juno.clusters[0], rows).residual < 0.3


def test_an_opp_without_a_row_is_an_error(juno: Platform) -> None:
    rows = _rows().filter(pl.col("khz") != 800_000)
    with pytest.raises(EascopeError, match="little: no row at 800000 kHz"):
        evaluate("hash", juno.clusters[0], rows)
