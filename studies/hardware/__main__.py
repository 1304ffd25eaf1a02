# SPDX-License-Identifier: GPL-2.0-or-later
"""``make hardware``: the scoreboard from the committed records, without any run."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from analysis.results.hardware import EarlierCounts, Hardware
from analysis.results.origin import RESULTS
from host.errors import EascopeError, RequestError
from host.proc import Ending, run, say
from studies.draw import save
from studies.hardware.plan import NAME, PAGES
from studies.hardware.record import record_of, records_of, step_of

_COMMAND = "make hardware"


def main(arguments: list[str] | None = None) -> int:
    """Compare the sources' figures with the committed records; keep the counts of earlier ones."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.hardware",
        description=main.__doc__,
        epilog="example: python -m studies.hardware --step 'before replicates=513baab'",
    )
    parser.add_argument(
        "--step",
        action="append",
        metavar="NAME=COMMIT",
        default=[],
        help="also count the records of a commit of this repository, and keep the counts",
    )
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        steps = [*_kept(), *(_step(text) for text in options.step)]
        latest = {step.name: step for step in steps}
        record = record_of(records_of(), _COMMAND, tuple(latest.values()))
        say(f"  {save(NAME, record, options.folder)}")
    return ending.code


def _kept() -> Sequence[EarlierCounts]:
    """The steps of the record that is there."""
    path = RESULTS / f"{NAME}.json"
    return Hardware.read(path).steps if path.is_file() else ()


def _step(text: str) -> EarlierCounts:
    """The counts of a commit's records.

    :raises RequestError: one line: no such form, a commit that has no readable records.
    """
    name, sign, commit = text.rpartition("=")
    if not sign or not name or not commit:
        raise RequestError(f"--step {text!r}: allowed: NAME=COMMIT")
    with tempfile.TemporaryDirectory() as folder:
        written = 0
        for page in PAGES:
            try:
                data = run(
                    ["git", "-C", RESULTS.parent, "show", f"{commit}:results/{page}.json"],
                    label="git",
                )
            except EascopeError:  # this commit has no such record
                continue
            (Path(folder) / f"{page}.json").write_bytes(data)
            written += 1
        if not written:
            raise RequestError(f"--step {text!r}: allowed: a commit with records of pages")
        return step_of(name, commit, records_of(Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
