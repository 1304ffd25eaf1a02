# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of the 50 ms around the first difference."""

from pathlib import Path

import pytest

from eascope.analysis.figures import style
from eascope.analysis.figures.divergence import draw
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.cli.main import main
from tests.analysis.test_run_diff import diff, write
from tests.support.synthetic import MS


@pytest.fixture
def runs(platform: Platform, tmp_path: Path) -> list[Path]:
    """The fourth wake-up, at 70 ms, goes to another CPU."""
    places = {"a": [0] * 9, "b": [0, 0, 0, 4, 0, 0, 0, 0, 0]}
    return [write(tmp_path / name, platform, cpus) for name, cpus in places.items()]


def test_both_runs_stand_on_one_axis_around_the_difference(
    runs: list[Path], platform: Platform, activity: Activity
) -> None:
    found = diff(platform, activity, *runs)
    with style.styled():
        panels = draw(found).axes
    assert len(panels) == 6
    assert {axes.get_xlim() for axes in panels} == {(60, 110)}
    for side, lanes, clocks, power in zip((found.a, found.b), *(panels[n::3] for n in range(3))):  # noqa: B905
        marks = {line.get_gid(): list(line.get_ydata()) for line in lanes.lines}
        assert marks["chosen"] == [0 if side is found.a else 4]
        assert [line.get_xdata()[0] for line in power.lines if line.get_gid() == "first"] == [70]
        assert len(clocks.lines) == len(platform.clusters) + 1
        # Bars and steps are of what the run did: three jobs, and all of its energy.
        boxes = [len(each.get_paths()) for each in lanes.collections]
        assert boxes == [0, 2]
        at, mw = (list(data) for data in power.lines[0].get_data())
        mj = sum(each * (b - a) / 1e3 for each, a, b in zip(mw, at, at[1:], strict=False))
        begin, end = side.energy.until([60 * MS, 110 * MS])
        assert mj == pytest.approx((end - begin) / 1e9 / 1e3, rel=1e-6)


def test_the_file_is_the_same_vectors_each_time(
    runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / f"{n}.svg" for n in (1, 2)]
    for file in files:
        assert main(["diff", *map(str, runs), "--svg", str(file)]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    text = files[0].read_text()
    assert text.startswith("<?xml")
    assert "<image" not in text
    capsys.readouterr()
    assert main(["diff", str(runs[0]), str(runs[0]), "--svg", str(tmp_path / "no.svg")]) == 2
    assert "--svg: no decision differs between the two runs" in capsys.readouterr().err
    assert not (tmp_path / "no.svg").exists()
