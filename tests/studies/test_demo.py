# SPDX-License-Identifier: GPL-2.0-or-later
"""The figure at the README's top is what ``make demo`` draws, and its text what that prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from analysis.glance import glance_text
from analysis.records.verdict import ENOUGH_FOR_VERDICT
from analysis.results.demo import Demo
from analysis.results.origin import RESULTS
from studies.demo import plan
from tests.support.command import eascope

FIGURE = Path("docs/figures/frequency-spike.svg")
#: A page should not wait for its picture.
MOST_BYTES = 300_000


def demo(repo: Path) -> list[str]:
    """The arguments of ``eascope`` in the Makefile's demo."""
    (command,) = re.findall(r"^DEMO = \$\(EASCOPE\) (.+)$", (repo / "Makefile").read_text(), re.M)
    return shlex.split(command)


def content(svg: Path) -> tuple[list[str], dict[str, str]]:
    """The words of a figure, and the line of each variant's clock.

    How letters are drawn is left out: that is matplotlib's, which differs between its versions.
    """
    text = svg.read_text()
    lines = re.findall(r'<g id="clock-([\w-]+)">\s*<path d="([^"]+)"', text)
    return re.findall(r"<!-- (.+?) -->", text), dict(lines)


def committed() -> Demo:
    """The committed record."""
    return Demo.read(RESULTS / f"{plan.NAME}.json")


def test_the_record_is_of_the_demo(repo: Path) -> None:
    """The study compares what ``make demo`` does."""
    _, *variants = demo(repo)[: 1 + len(plan.GROUP.variants)]
    assert tuple(variants) == plan.GROUP.variants
    options = dict(zip(demo(repo)[3::2], demo(repo)[4::2], strict=True))
    assert options == {
        "--platform": plan.PAGE.platform,
        "--scenario": plan.GROUP.scenario,
        "--seeds": str(ENOUGH_FOR_VERDICT),
    }


def test_the_figure_says_what_the_record_says(repo: Path) -> None:
    """Changes of the OPP per second, by variant."""
    words, _ = content(repo / FIGURE)
    panels = [line for line in words if "per second" in line]
    assert len(panels) == len(committed().changes_per_s)
    for name, count in committed().changes_per_s.items():
        assert [line for line in panels if line.startswith(f"{name}: {count:.0f} change")]


def test_the_figure_is_small(repo: Path) -> None:
    assert (repo / FIGURE).stat().st_size < MOST_BYTES


def test_the_answer_is_visible(repo: Path) -> None:
    """Mainline's clock goes up and down; the other's is one line from side to side."""
    _, lines = content(repo / FIGURE)
    corners = {name: line.count("L") for name, line in lines.items()}
    assert set(corners) == {"mainline", "uclamp-sum"}
    assert corners["mainline"] > 50
    assert corners["uclamp-sum"] == 1


@pytest.mark.guest
@pytest.mark.kernels("sum")
def test_the_demo_draws_and_prints_what_is_committed(repo: Path, tmp_path: Path) -> None:
    done = eascope(*demo(repo), "--out", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stderr
    assert content(tmp_path / "demo" / "clock.svg") == content(repo / FIGURE), "run: make figures"
    lines = done.stdout.splitlines(keepends=True)
    printed = [line for line in lines if not line.startswith(("figures: ", "report: "))]
    assert "".join(printed) == glance_text(committed().glance), "run: make figures"
