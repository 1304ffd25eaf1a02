# SPDX-License-Identifier: GPL-2.0-or-later
"""What is in a folder of runs that only a mount namespace sees, as JSON."""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from eascope.experiments.runs.store import SIMKEY, Run, check
from tests.support.reliability.campaign import half_written, tables


@dataclass(frozen=True)
class Inside:
    """Bytes of runs, how many are done, which are half-written, what is wrong with done ones."""

    tables: dict[str, str]
    done: int
    half: list[str]
    wrong: list[str]


def read(path: Path) -> Inside:
    """What a process inside has printed."""
    return Inside(**json.loads(path.read_bytes()))


def look(runs: Path) -> Inside:
    """Look at ``runs``; failed runs are whole: they say why."""
    if not runs.is_dir():
        return Inside({}, 0, [], [])
    folders = [path for path in runs.iterdir() if SIMKEY.fullmatch(path.name)]
    done = [Run(path) for path in folders if (path / "done").is_file()]
    half = [name for name in half_written(runs) if Run(runs / name).state == "broken"]
    return Inside(tables(runs), len(done), half, [line for run in done for line in check(run)])


if __name__ == "__main__":
    json.dump(asdict(look(Path(sys.argv[1]))), sys.stdout)
