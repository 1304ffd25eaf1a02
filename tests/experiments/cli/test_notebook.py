# SPDX-License-Identifier: GPL-2.0-or-later
"""The package in Python: what the recipe prints, and errors as exceptions."""

import re
import textwrap
from pathlib import Path

import pytest

import eascope
from eascope.host.errors import RequestError
from tests.support.repo import REPO

RECIPE = REPO / "docs" / "recipes" / "notebook.md"


@pytest.mark.guest
def test_the_recipe_can_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EASCOPE_RUNS", str(tmp_path))
    block = re.search(r"(?:^    .*\n|^\n)+", RECIPE.read_text().partition("would print.")[2], re.M)
    assert block is not None
    exec(compile(textwrap.dedent(block[0]), str(RECIPE), "exec"), {})
    printed = capsys.readouterr().out
    assert re.match(r"0\.\d+ J\n", printed)
    assert "Difference(" in printed
    assert printed.endswith(" J by the derived power\n")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"variant": "mainlin"}, r"unknown variant 'mainlin' \(did you mean mainline\?\)"),
        ({"sed": 1}, "no such option or argument: --sed=1"),
        ({"seed": "one"}, "--seed"),
        ({"power": "watson"}, r"power.*'watson'.*did you mean wattson"),
        ({"no_elide": "yes"}, "no-elide"),
        ({"see": 1}, "no such option or argument: --see=1"),
        ({"dry_run": True}, "dry_run: available only on the command line"),
    ],
)
def test_what_is_wrong_is_raised(options: dict[str, object], line: str) -> None:
    asked = {"platform": "juno-r2", "variant": "mainline", "scenario": "smoke"} | options
    with pytest.raises(RequestError, match=line):
        eascope.run(**asked)  # type: ignore[arg-type]


def test_names_are_few() -> None:
    with pytest.raises(RequestError, match="two variants or more"):
        eascope.compare("juno-r2", ["mainline"], "smoke")
    with pytest.raises(RequestError, match="two variants or more, got mainline"):
        eascope.compare("juno-r2", "mainline", "smoke")
    with pytest.raises(RequestError, match="no run"):
        eascope.open("0000")
