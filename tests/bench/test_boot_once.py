# SPDX-License-Identifier: GPL-2.0-or-later
"""What one boot for many runs saves: a part of a campaign with it and without it.

Both ways run the same 20 cells in ``eascope part``. The figures are processor seconds of the
command and all processes that it starts, Python included.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.sweeps.part import MOST_CELLS
from tests.support.campaigns import campaign, part_of, surveyed
from tests.support.repo import REPO

pytestmark = [pytest.mark.guest, pytest.mark.long]

#: A large campaign has parts of so many cells, so its cells save what these save.
CELLS = MOST_CELLS
LEAST = 1.8
#: Scenario and variants of twenty cells with a goal: `make demo`'s are the second.
TWENTY = {
    "eas/video-playback": ["mainline", "cas"],
    "uclamp/frequency-spike": ["mainline", "uclamp-sum"],
}
#: 12 s on two cores.
MOST_TWENTY_S = 24.0
SHARED = "import sys; from experiments.cli.main import main; sys.exit(main(sys.argv[1:]))"
ALONE = f"""
from engines.qemu import engine
engine.run_shared = lambda key, asked: engine.run_alone(asked)
{SHARED}
"""


def processor_s(program: str, part: Path, runs: Path) -> float:
    """Processor seconds of ``eascope part``, run by ``program`` into an empty folder of runs."""
    runs.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", program, "part", str(part)],
        cwd=REPO,
        env={**os.environ, "EASCOPE_RUNS": str(runs)},
        stdout=subprocess.DEVNULL,
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    finished = [folder for folder in runs.iterdir() if (folder / "done").is_file()]
    assert len(finished) == CELLS
    return usage.ru_utime + usage.ru_stime


def test_cells_of_one_machine_share_its_boot(tmp_path: Path) -> None:
    of = campaign("boots", variant=["mainline"], seeds=CELLS)
    part = tmp_path / "part.json"
    part_of(surveyed(of, look_up=False)).write(part)
    shared = processor_s(SHARED, part, tmp_path / "shared")
    alone = processor_s(ALONE, part, tmp_path / "alone")
    print(
        f"{CELLS} cells of smoke: {alone:.1f} s with a boot each, {shared:.1f} s with one boot, "
        f"{alone / shared:.2f} times faster"
    )
    assert alone / shared >= LEAST


@pytest.mark.parametrize("scenario", TWENTY)
def test_twenty_cells_of_two_variants(scenario: str, tmp_path: Path) -> None:
    variants = TWENTY[scenario]
    of = campaign("twenty", scenario=[scenario], variant=variants, seeds=CELLS // len(variants))
    part = tmp_path / "part.json"
    part_of(surveyed(of, look_up=False)).write(part)
    shared = processor_s(SHARED, part, tmp_path / "shared")
    print(f"{CELLS} cells of {scenario}: {shared:.1f} s, on two cores {shared / 2:.1f} s each")
    assert shared <= MOST_TWENTY_S
