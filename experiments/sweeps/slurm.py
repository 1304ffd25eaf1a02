# SPDX-License-Identifier: GPL-2.0-or-later
"""Options and environment for Snakemake's Slurm plugin, in addition to its profile."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

#: The executor's name in a profile.
SLURM = "slurm"
#: Where the plugin has what a job said before its part began, below a session's folder.
JOB_LOGS = ".snakemake/slurm_logs/**/*.log"
#: Snakemake's plugin asks sacct by default, which a Slurm without accounting does not have.
_SQUEUE = ["--slurm-status-command", "squeue"]
#: The plugin starts a part by srun, and drops all that begins with SLURM_ from its environment.
#: Where the cluster is named by one of these, its srun would not find it.
_NAMES_CLUSTER = ("SLURM_CONF", "SLURM_CONF_SERVER")


def slurm_options() -> list[str]:
    """Options for Snakemake that the Slurm here needs."""
    return _SQUEUE if _no_accounting() else []


def slurm_environment(folder: Path) -> dict[str, str]:
    """Additions to Snakemake's environment.

    :param folder: of the session; gets a ``srun`` that knows the cluster.
    """
    named = {key: value for key, value in os.environ.items() if key in _NAMES_CLUSTER}
    srun = shutil.which("srun")
    if not named or srun is None:
        return {}
    given = " ".join(f"{key}={shlex.quote(value)}" for key, value in named.items())
    own = folder / "bin" / "srun"
    own.parent.mkdir(exist_ok=True)
    own.write_text(f'#!/bin/sh\n{given} exec {shlex.quote(srun)} "$@"\n')
    own.chmod(0o755)
    return {"PATH": f"{own.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def _no_accounting() -> bool:
    """Whether the Slurm here reports that it keeps no accounts."""
    try:
        done = subprocess.run(
            ["scontrol", "show", "config"], capture_output=True, check=False, text=True
        )
    except FileNotFoundError:  # Snakemake says it in its own words
        return False
    return bool(re.search(r"^AccountingStorageType\s*=.*none$", done.stdout, re.MULTILINE))
