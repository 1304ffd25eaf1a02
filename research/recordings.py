# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.recordings FOLDER``: recordings of real devices beside their replays.

FOLDER has the recordings (`RECORDINGS`), which are not part of the repository.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eascope.analysis.recordings.device import device_of
from eascope.analysis.recordings.read import read_recording
from eascope.experiments.recordings.check import BAR, Beside, check
from eascope.experiments.recordings.importing import import_recording
from eascope.experiments.recordings.toml import write_import
from eascope.experiments.renew.origins import origin_of
from eascope.experiments.runs.finished import derived_for
from eascope.experiments.runs.measure import measured
from eascope.experiments.runs.request import Request, resolve
from eascope.host.proc import Ending
from research.draw import RECORD
from research.plan import STUDIES
from research.run import table, write

STUDY = STUDIES / "recordings"
#: Files of the folder; the first ones are replayed as models, too.
RECORDINGS = (
    *("galaxy-s20-near-idle.perfetto-trace", "juno-shell.trace-cmd-raw.txt"),
    *("pixel2-near-idle.systrace.html", "juno-r0-ramp.trace.dat.xz", "juno-r0-shell.trace.dat.xz"),
)
MODELS = 2
#: What the meters of the run of `nutshell.toml` showed (LISA, commit 49c990266, energy.json).
METERED_MJ = {"little": 5_530.5, "big": 2_019.3}
FIGURES = ("recording", "figure", "unit", "recorded", "simulated")
AGREEMENT = ("recording", "of", "error", "correlation")


def beside(path: Path, folder: Path, *, model: bool) -> Beside:
    """A recording's run, as recorded or as a model."""
    recording = read_recording(path)
    out = folder / f"{path.name.split('.')[0]}{'-model' if model else ''}.toml"
    made = import_recording(recording, device_of(recording), "", out.with_suffix(".bursts"), 400)
    return check(made, out, write_import(made, out, model=model))


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the missing runs and write the record."""
    parser = argparse.ArgumentParser(prog="python -m research.recordings", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    options = parser.parse_args(arguments)
    with Ending() as ending, tempfile.TemporaryDirectory(prefix="eascope-recordings-") as folder:
        found = {
            f"{file.partition('.')[0]}{', model' * model}": beside(
                options.folder / file, Path(folder), model=model
            )
            for model in (False, True)
            for file in RECORDINGS[: MODELS if model else None]
        }
        figures = [
            [name, key, row["unit"], row["recorded"], row["simulated"]]
            for name, each in found.items()
            for key, row in each.figures.items()
            if key != "agreement"
        ]
        agreement = [
            [name, key, row["error"], row["correlation"]]
            for name, each in found.items()
            for key, row in each.figures.get("agreement", {}).items()
        ]
        known = resolve(Request("juno-r2", "mainline", str(STUDY / "nutshell.toml")))
        ((run, result),) = measured([known], lambda cell, run: (run, derived_for(cell, run).result))
        figures += [
            [
                "juno-nutshell",
                f"energy, {name}",
                "mJ",
                metered,
                1000 * result.energy_j.cluster[name],
            ]
            for name, metered in METERED_MJ.items()
        ]
        runs = [*(each.run for each in found.values()), run]
        origin = origin_of(parser.prog, [each.cell for each in runs])
        write(
            STUDY / RECORD,
            {
                "origins": [origin.encode()],
                "figures": table(FIGURES, figures),
                "agreement": table(AGREEMENT, agreement),
                "published": dict(zip(AGREEMENT[2:], BAR, strict=True)),
            },
        )
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
