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

TEXT = """#!/bin/sh
# Runs {cells} cells of the campaign {name} in {parts} parts as {tasks} tasks: sbatch {script}
# Afterwards: eascope status {name}
#SBATCH --job-name=eascope-{name}
#SBATCH --array=0-{last}%{jobs}
#SBATCH --cpus-per-task=1
#SBATCH --mem=1500
#SBATCH --time={hours}:00:00
#SBATCH --output={folder}/log/%a.txt
export EASCOPE_RUNS={runs}
export EASCOPE_CACHE={cache}
part=$SLURM_ARRAY_TASK_ID
code=0
while [ "$part" -lt {parts} ]; do
	{python} -m eascope.experiments.cli.main part {folder}/parts/"$part".json || code=$?
	part=$((part + {tasks}))
done
exit $code
"""


def write_array(session: SweepSession, script: Path, jobs: int) -> None:
    """Write ``script``.

    :param jobs: tasks that run at a time.
    :raises EascopeError: when it cannot be written.
    """
    parts = len(session.parts)
    tasks = min(parts, MOST_TASKS)
    text = TEXT.format(
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
