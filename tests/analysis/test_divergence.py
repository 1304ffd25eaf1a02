# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of the 50 ms around the first difference."""

from pathlib import Path

import pytest

from eascope.analysis.figures import divergence, style
from eascope.analysis.figures.divergence import BEFORE_NS, draw
from eascope.analysis.report import diff_page
from eascope.analysis.run_diff import RunDiff, decided
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.cli.main import main
from eascope.host.errors import RequestError
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


def test_without_a_difference_the_answer_and_the_other_files_are_written(
    runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: tmp_path / f"no.{name}" for name in ("html", "perfetto", "svg")}
    words = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    assert main(["diff", str(runs[0]), str(runs[0]), *words]) == 0
    told = capsys.readouterr()
    assert "no difference" in told.out
    assert f"warning: {files['svg']} was not written: no decision differs" in told.err
    assert [name for name, file in files.items() if file.exists()] == ["html", "perfetto"]


def test_no_file_is_written_where_one_cannot_be_made(
    runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> str:
        raise RequestError("no picture")

    monkeypatch.setattr(divergence, "svg", fails)
    page, picture = tmp_path / "x.html", tmp_path / "x.svg"
    words = ["diff", *map(str, runs), "--html", str(page), "--svg", str(picture)]
    assert main(words) == 2
    assert not page.exists()
    assert not picture.exists()


def test_each_option_needs_its_own_file(
    runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    paths = str(tmp_path / "x"), str(tmp_path / "in" / ".." / "x")
    assert main(["diff", *map(str, runs), "--html", paths[0], "--svg", paths[1]]) == 2
    assert "--html and --svg: both would write " in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_run_that_ends_before_the_difference_has_no_power_there(
    platform: Platform, activity: Activity, tmp_path: Path
) -> None:
    a = write(tmp_path / "a", platform, [0] * 9)
    b = write(tmp_path / "b", platform, [0] * 3, ms=60)
    found = diff(platform, activity, a, b)
    assert decided(found.firsts[0]).t_ns - BEFORE_NS >= found.b.window.ns
    with style.styled():
        panels = draw(found).axes
    dashed = [[line.get_gid() for line in axes.lines] for axes in panels[2::3]]
    assert [len(gids) for gids in dashed] == [2, 1]


def test_the_caption_names_what_differs_of_both_runs(
    platform: Platform, activity: Activity, tmp_path: Path
) -> None:
    runs = [write(tmp_path / str(seed), platform, [0, 4 * seed], seed) for seed in (0, 1)]
    found = diff(platform, activity, *runs)
    with style.styled():
        figure = draw(found)
    (scenario,) = {side.derived.cell.scenario for side in (found.a, found.b)}
    both = f"{scenario} on juno-r2, seed 0 (A) and {scenario} on juno-r2, seed 1 (B)"
    told = " ".join(" ".join(text.get_text().split()) for text in figure.texts)
    assert f"{both}. Engine: " in told
    assert told.count("(A)") == 1
    assert f"<h1>{both}: " in diff_page(found, "eascope diff")
    assert f"<h1>{scenario} on juno-r2, seed 0: " in diff_page(
        RunDiff(platform, found.a, found.a), ""
    )
