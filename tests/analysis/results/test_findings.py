# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings belong to one platform and to an expectation that exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.results.findings import FINDINGS, findings
from configs.platform_file import load_platform
from experiments.scenario import load_scenario
from host.errors import RequestError

FILES = sorted(FINDINGS.rglob("*.toml"))


def write(folder: Path, text: str) -> None:
    path = folder / "juno-r2" / "ui" / "jank.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)


ONE = '[[finding]]\nvariant = "cas"\nstatement = "migrations > 1"\ntext = "the trace says why"\n'


def test_a_finding_is_that_of_its_platform(tmp_path: Path) -> None:
    write(tmp_path, ONE)
    key = "cas", "migrations > 1"
    assert findings("juno-r2", "ui/jank", tmp_path) == {key: "the trace says why"}
    assert findings("pixel6", "ui/jank", tmp_path) == {}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (ONE.replace("text", "txt"), r"finding\[0\].text is missing"),
        (ONE + "seed = 1\n", r"finding\[0\].seed = 1: allowed: no such key"),
        (ONE + ONE, r"finding\[1\].statement = .*: allowed: one finding for each expectation"),
        ("", "finding is missing"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, text: str, line: str) -> None:
    write(tmp_path, text)
    with pytest.raises(RequestError, match=line):
        findings("juno-r2", "ui/jank", tmp_path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FINDINGS)))
def test_every_finding_is_about_an_expectation(path: Path) -> None:
    platform, *scenario = path.relative_to(FINDINGS).with_suffix("").parts
    expected = load_scenario("/".join(scenario), load_platform(platform)).expect
    known = {(one.variant, one.statement) for one in expected}
    assert set(findings(platform, "/".join(scenario))) <= known


def test_there_are_findings_of_both_boards() -> None:
    assert {path.relative_to(FINDINGS).parts[0] for path in FILES} == {"juno-r2", "pixel6"}
