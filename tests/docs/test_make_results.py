# SPDX-License-Identifier: GPL-2.0-or-later
"""``make results`` as its recipe prints it, typed in: one page, with fewer seeds and variants."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import changed
from tests.support.markdown import ROOT
from tests.support.waiting import call

pytestmark = pytest.mark.guest

RECIPE = ROOT / "docs/recipes/results.md"
PAGE = "uclamp"
SCENARIOS = 5


def make(words: list[str], runs: Path) -> subprocess.CompletedProcess[str]:
    """A target of the Makefile, in the environment of the tests instead of one that it makes."""
    command = [*words[:1], "-C", str(ROOT), "-o", "setup", f"PYTHON={sys.executable}", *words[1:]]
    return call(command, {**os.environ, "EASCOPE_RUNS": str(runs)})


def test_a_page_of_results_is_made(tmp_path: Path) -> None:
    line = rf'^    (make results RESULTS="{PAGE} --seeds \d+")'
    (printed,) = re.findall(line, RECIPE.read_text(), re.MULTILINE)
    *words, assigned = shlex.split(printed)
    results = changed(assigned.split(), "--seeds", "1")
    folder, runs = tmp_path / "mine", tmp_path / "runs"
    more = ["--variants", "mainline", "--sourced", "--folder", str(folder)]
    words += [" ".join([*results, *more])]
    before = (ROOT / "results" / f"{PAGE}.json").read_bytes()
    done = make(words, runs)
    assert done.returncode == 0, done.stderr
    assert (ROOT / "results" / f"{PAGE}.json").read_bytes() == before
    record = json.loads((folder / f"{PAGE}.json").read_text())
    assert record["origin"]["command"] == (
        f"python -m studies.pages {PAGE} --seeds 1 --variants mainline --sourced"
    )
    assert len(record["scenarios"]) == SCENARIOS
    assert (folder / f"{PAGE}.md").read_text().startswith("# ")
    simulated = [each for each in runs.iterdir() if re.fullmatch("[0-9a-f]{64}", each.name)]
    assert len(simulated) == SCENARIOS
    # The same again runs nothing.
    again = make(words, runs)
    assert again.returncode == 0, again.stderr
    assert "seed 0:" not in again.stderr
