# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns of 100 000 cells: planning, and the commands status and sweep when all are done.

Bounds are on processor time; that of a command has Python's start in it.

The cells are those of kernels that every machine has built for tests; none of them is run. What is
finished is a listing of empty folders and a ledger: nothing opens them.
"""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from eascope.experiments.runs.cell import prepare
from eascope.experiments.sweeps.ledger import DONE, LedgerFile, LedgerLine, ledger_folder
from eascope.experiments.sweeps.resolver import cell_id
from eascope.experiments.sweeps.survey import Survey, cost_of
from eascope.host.cache import runs_root
from eascope.host.dry import nothing_built
from eascope.host.strict import toml_text
from tests.support.campaigns import campaign, surveyed
from tests.support.measuring import Keep, took

pytestmark = [pytest.mark.guest, pytest.mark.long]

CELLS = 100_000
#: Cells whose simkey is made, for comparison.
SIMKEYS = 50
#: Runs of a command, the fastest of which counts.
TRIES = 2
OF_ALL = {"platform": ["juno-r2"]}
#: 125 derived platforms.
TABLES = ["as is", "every 2nd", "4 even", "6 even", "8 even"]
AXES = {
    "variant": ["mainline", "cas", "cas-performance", "max-nospare0"],
    "scenario": [
        *("eas/video-playback", "eas/game", "smoke", "busy", "ui/jank", "eas/stacked"),
        *("uclamp/frequency-spike", "eas/headroom"),
    ],
    "set": {
        "big.opps": TABLES,
        "little.opps": TABLES,
        "dvfs.rate_limit_us": [500, 1000, 2000, 4000, 8000],
    },
    "seeds": 25,
}


def survey() -> Survey:
    with nothing_built():
        return surveyed(campaign("bench", **AXES), look_up=False)


def finish(of: Survey) -> None:
    """Folders and ledger of a campaign that is done, in files of 20 cells."""
    runs_root().mkdir(parents=True, exist_ok=True)
    number = 0
    for group in of.groups:
        ledger = LedgerFile(ledger_folder("bench") / f"{number}.jsonl")
        for seed in of.campaign.seeds:
            simkey = f"{number:064x}"
            (runs_root() / simkey).mkdir()
            cell = cell_id(group.group_id, seed)
            ledger.add(LedgerLine(cell, DONE, simkey, host_s=1.0, sim_s=5.0, mips=900.0))
            number += 1
        ledger.close()


def test_plan_and_status_of_a_hundred_thousand_cells(tmp_path: Path, keep: Keep) -> None:
    begin = time.process_time()
    first = survey()
    cost = cost_of(first)
    plan_s = time.process_time() - begin
    assert first.counts["missing"] == CELLS
    assert cost.core_s > 0
    finish(first)
    again = survey()
    assert again.counts["done"] == CELLS
    assert again.to_run(retry=True) == []
    names, begin = first.groups[0].resolved, time.process_time()
    for seed in range(SIMKEYS):
        prepare(names.with_seed(seed))
    simkey_s = (time.process_time() - begin) / SIMKEYS
    keep("plan", {"cells": CELLS, "plan_s": plan_s, "simkey_ms": 1e3 * simkey_s})
    file = tmp_path / "bench.toml"
    file.write_text(toml_text({"summary": "a bench", "axes": {**OF_ALL, **AXES}}))
    # A sweep fails where anything is missing, and a status that looks for runs takes longer.
    status_s, sweep_s = (
        min(took([verb, str(file)]).processor_s for _ in range(TRIES))
        for verb in ("status", "sweep")
    )
    keep("commands", {"cells": CELLS, "status_s": status_s, "sweep_s": sweep_s})
    assert plan_s < 10.0
    assert max(status_s, sweep_s) < 5.0


#: Prints the number of cells, and the KiB of this process at most: `getrusage` counts those of the
#: process that started it, too.
PLAN = """
from pathlib import Path
from tests.bench.test_campaigns import survey
cells = survey().cells
lines = Path("/proc/self/status").read_text().splitlines()
print(cells, next(line.split()[1] for line in lines if line.startswith("VmHWM:")))
"""


def test_memory_of_a_plan(keep: Keep) -> None:
    """In a process of its own, because the peak of this one is pytest's."""
    done = subprocess.run([sys.executable, "-c", PLAN], capture_output=True, check=True, text=True)
    cells, peak_kib = map(int, done.stdout.split())
    assert cells == CELLS
    keep("memory", {"cells": CELLS, "plan_mib": peak_kib / 1024})
    assert peak_kib < 500 * 1024
