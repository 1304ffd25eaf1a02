# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.phone_levels``: the loads of Jankbench and UIBench, by their rule.

A load is a factor k of all work, and a cycle of n s. Of k 0.5 to 0.8 and n 6, 8, 10, 12 the rule
takes those that leave the smallest of the largest differences from the three rails under mainline
on pixel6, conditions of the source, seed 0. The command prints every pair, the best one last. What
`file_with` makes of the scenario for that pair is the scenario's new file.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from eascope.experiments.runs.finished import derived_for
from eascope.experiments.runs.measure import measured
from eascope.experiments.runs.request import Request, resolve
from eascope.host.proc import Ending, say
from research.plan import ROOT

#: Whose work and cycle are set; UIBench's scenario is this one with another pair.
SCENARIO = "ui/jank-calibrated"
#: mW of the rails under mainline, by the source.
RAILS = {
    "ui/jank-calibrated": {"little": 92, "mid": 19, "big": 55},
    "ui/uibench": {"little": 94, "mid": 25, "big": 90},
}
GRID = [*product((0.5, 0.6, 0.7, 0.8), (6, 8, 10, 12))]
#: Units of 1024 of a largest CPU before the factor, and the period in us: of a frame's threads, and
#: of all others.
FRAME_US = 16_667
PIPELINE = {"ui": 45, "render": 50, "sf": 35, "hwc": 20, "display": 6}
OTHERS = {
    **dict.fromkeys(("binder0", "binder1"), (3, FRAME_US)),
    **dict.fromkeys(("binder2", "binder3"), (4, FRAME_US)),
    **{"input": (4, 8_333), "audio": (6, 10_000)},
    **{"small": (1, 16_000), "worker": (2, 40_000), "pool": (3, 25_000), "timed": (5, 33_000)},
}
#: The least work of a job, us.
LEAST_US = 10
_FRAMES = 60


def file_with(text: str, k: float, n: int) -> str:
    """The scenario ``text`` with the work and the cycle of ``k`` and ``n``."""
    head, *tasks = text.split("[[task]]\n")
    made = [_task(task, k, n) for task in tasks]
    lengths = {"warmup": 1, "short": 2, "full": 6}
    for name, cycles in lengths.items():
        made[-1] = re.sub(rf"{name}_ms = [\d_]+", f"{name}_ms = {cycles * n * 1000:_}", made[-1])
    return "[[task]]\n".join([head, *made])


def _task(text: str, k: float, n: int) -> str:
    (name,) = re.findall(r'^name = "(\w+)"', text)
    if name in PIPELINE:
        share = PIPELINE[name] / 1024 * FRAME_US * k
        work, loops = iter((share * n, share / 10)), iter((_FRAMES, _FRAMES * (n - 1)))
        text = re.sub(r"loops = \d+", lambda _: f"loops = {next(loops)}", text)
    else:
        units, period_us = OTHERS[name]
        work = iter((units / 1024 * period_us * k,))
    return re.sub(
        r"run_us = [\d_]+", lambda _: f"run_us = {max(LEAST_US, round(next(work))):_}", text
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the grid of both stand-ins and print it, the best pair last."""
    parser = argparse.ArgumentParser(prog="python -m research.phone_levels", description=__doc__)
    parser.parse_args(arguments)
    with Ending() as ending, tempfile.TemporaryDirectory(prefix="eascope-phone-") as folder:
        names = []
        text = (ROOT / f"experiments/scenarios/{SCENARIO}.toml").read_text(encoding="utf-8")
        for k, n in GRID:
            path = Path(folder) / f"phone-{round(10 * k)}-{n}.toml"
            path.write_text(file_with(text, k, n), encoding="utf-8")
            asked = Request("pixel6", "mainline", str(path), source_conditions=True)
            names.append(resolve(asked))
        done = measured(names, derived_for)
        for scenario, theirs in RAILS.items():
            rows = []
            for (k, n), run in zip(GRID, done, strict=True):
                mw = {name: 1000 * run.result.more["power_w"][name] for name in theirs}
                off = max(abs(mw[name] / level - 1) for name, level in theirs.items())
                rows.append((off, k, n, mw))
            for off, k, n, mw in sorted(rows, key=lambda row: -row[0]):
                rails = ", ".join(f"{name} {value:.0f}" for name, value in mw.items())
                say(f"{scenario}: k {k}, n {n}: {rails} mW, at most {100 * off:.0f} % off")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
