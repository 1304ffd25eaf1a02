# SPDX-License-Identifier: GPL-2.0-or-later
"""A Slurm script that runs the parts of a sweep as an array, without Snakemake."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from eascope.experiments.sweeps.session import SweepSession
from eascope.host.cache import cache_root, runs_root, write_atomic
from eascope.host.writing import writing_into

#: Tasks of an array, at most: what Slurm takes where a cluster sets no other MaxArraySize.
MOST_TASKS = 1000
#: Hours that a part may take.
PART_HOURS = 4

TEXT = Path(__file__).with_name("array.sh.in")


def write_array(session: SweepSession, script: Path, jobs: int) -> None:
    """Write ``script``.

    :param jobs: tasks that run at a time.
    :raises EascopeError: when it cannot be written.
    """
    parts = len(session.parts)
    tasks = min(parts, MOST_TASKS)
    text = TEXT.read_text().format(
        cells=session.cells,
        name=session.campaign.name,
        parts=parts,
        tasks=tasks,
        script=script.name,
        last=tasks - 1,
        jobs=jobs,
        hours=PART_HOURS * -(-parts // tasks),
        folder=shlex.quote(str(session.folder)),
        runs=shlex.quote(str(runs_root())),
        cache=shlex.quote(str(cache_root())),
        python=shlex.quote(sys.executable),
    )
    with writing_into(script.parent):
        write_atomic(script, text.encode())
    script.chmod(0o755)
