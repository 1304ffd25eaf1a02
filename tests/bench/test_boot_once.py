# SPDX-License-Identifier: GPL-2.0-or-later
"""What one boot for many runs saves: in a part of a campaign, and in the demo's command.

Figures in processor seconds are those of the command and all processes that it starts, Python
included. Wall seconds say something only on a quiet host, so no bound is on them.
"""

from pathlib import Path
from typing import Any

import pytest

from eascope.experiments.sweeps.part import MOST_CELLS, disk_kib
from eascope.host.sealed import files_of
from tests.support.campaigns import campaign, part_of, surveyed
from tests.support.measuring import EASCOPE, Keep, Took, took

pytestmark = [pytest.mark.guest, pytest.mark.long]

#: A part of a large campaign has so many cells.
CELLS = MOST_CELLS
#: What one boot must save in cells of `smoke`, the shortest scenario: longer ones gain less.
LEAST = 1.8
#: Processor seconds of a part, at most.
MOST_PART_S = 24.0
#: Parts with two variants: the demo's are the second.
TWO = {
    "video": ("eas/video-playback", ["mainline", "cas"]),
    "spike": ("uclamp/frequency-spike", ["mainline", "uclamp-sum"]),
}
#: As `make demo`, with half of its seeds: the goal is about twenty runs.
DEMO = ["compare", "mainline", "uclamp-sum", "--platform", "juno-r2"]
DEMO += ["--scenario", "uclamp/frequency-spike", "--seeds", "10"]
DEMO_RUNS = 20
ALONE = f"""
from eascope.engines.qemu import engine
engine.run_shared = lambda key, asked: engine.run_alone(asked)
{EASCOPE}
"""


def into_empty(
    arguments: list[str], runs: Path, cells: int, program: str = EASCOPE
) -> tuple[Took, list[Path]]:
    """Run a command into an empty folder of runs; what it took, and the finished runs."""
    runs.mkdir()
    spent = took(arguments, program, runs)
    finished = [folder for folder in runs.iterdir() if (folder / "done").is_file()]
    assert len(finished) == cells
    return spent, finished


def part_file(folder: Path, name: str, **axes: Any) -> list[str]:
    """The command that runs a part with all cells of these axes."""
    part = folder / f"{name}.json"
    part_of(surveyed(campaign(name, **axes), look_up=False)).write(part)
    return ["part", str(part)]


def test_cells_of_one_machine_share_its_boot(tmp_path: Path, keep: Keep) -> None:
    part = part_file(tmp_path, "boots", variant=["mainline"], seeds=CELLS)
    shared = into_empty(part, tmp_path / "shared", CELLS)[0].processor_s
    alone = into_empty(part, tmp_path / "alone", CELLS, ALONE)[0].processor_s
    keep("boot", {"cells": CELLS, "shared_s": shared, "alone_s": alone})
    assert alone / shared >= LEAST


def test_part_of_one_cell(tmp_path: Path, keep: Keep) -> None:
    part = part_file(tmp_path, "single", variant=["mainline"], seeds=1)
    spent, (run,) = into_empty(part, tmp_path / "runs", 1)
    keep("part", {"cells": 1, "shared_s": spent.processor_s})
    files = files_of(run).values()
    folders = {run, *(path for path in run.rglob("*") if path.is_dir())}
    keep("run", {"files": len(files), "folders": len(folders), "kib": disk_kib(run)})


@pytest.mark.parametrize("name", TWO)
def test_part_of_two_variants(name: str, tmp_path: Path, keep: Keep) -> None:
    scenario, variants = TWO[name]
    part = part_file(tmp_path, name, scenario=[scenario], variant=variants, seeds=CELLS // 2)
    shared = into_empty(part, tmp_path / "shared", CELLS)[0].processor_s
    keep(name, {"cells": CELLS, "variants": len(variants), "shared_s": shared})
    assert shared <= MOST_PART_S


def test_demo_is_faster_with_one_boot(tmp_path: Path, keep: Keep) -> None:
    """The whole command: Python, boots, runs, tables, drawings and report; the cache is warm."""
    shared = into_empty(DEMO, tmp_path / "shared", DEMO_RUNS)[0]
    alone = into_empty(DEMO, tmp_path / "alone", DEMO_RUNS, ALONE)[0]
    print(
        f"the demo took {shared.wall_s:.1f} s of wall time, {alone.wall_s:.1f} s with a boot each"
    )
    figures = {"shared_s": shared.processor_s, "alone_s": alone.processor_s}
    keep("demo", {"runs": DEMO_RUNS, **figures})
    assert shared.processor_s < alone.processor_s
