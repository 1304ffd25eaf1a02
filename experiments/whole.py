# SPDX-License-Identifier: GPL-2.0-or-later
"""A quick check whether a run that is marked as done looks whole.

`eascope verify` reads every byte. Commands that only list thousands of runs make this check for
each. It reads ``done`` but does not check the files that it names, and takes 30 us.
"""

from __future__ import annotations

import json
from pathlib import Path

from eascope.analysis.records.cell import CELL
from eascope.experiments.inputs import FOLDER, MACHINE
from eascope.host.sealed import DONE


def flaw(run: Path) -> str:
    """Why a run with the file ``done`` cannot be used, in one line; empty if it can."""
    done = run / DONE
    try:
        sealed = json.loads(done.read_bytes())
    except (OSError, ValueError, RecursionError):
        return f"{done}: not readable as JSON"
    files = sealed.get("files") if isinstance(sealed, dict) else None
    if not isinstance(files, dict) or CELL not in files:
        return f"{done}: has no digests of the run's files"
    machine = run / FOLDER / MACHINE
    return "" if machine.is_file() else f"{machine}: is missing"
