# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope table``: a campaign as one long table."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.experiments.cli.main import main
from eascope.experiments.sweeps.campaign_table import (
    against,
    differences,
    other_work,
    place_of,
    plain,
)
from eascope.experiments.sweeps.long_table import MeasuredCell
from eascope.experiments.sweeps.part import run_part
from tests.support.campaigns import StandInRuns, campaign, part_of, surveyed
from tests.support.cells import Artefacts
from tests.support.command import output_of, refused

ONE_OFF = ["--platform", "juno-r2", "--scenario", "smoke", "--variant", "mainline,cas"]


def table(lines: Iterable[str]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines))))


def test_a_line_for_each_cell_and_measure(artefacts: Artefacts, juno: Platform) -> None:
    plan = campaign(seeds=2, set={"little.cpus": [2, 4]})
    run_part(part_of(surveyed(plan)), StandInRuns())
    lines = table(plain(surveyed(plan), []).lines)
    assert list(lines[0]) == [
        *("platform", "little.cpus", "scenario", "variant"),
        *("seed", "run", "measure", "unit", "value"),
    ]
    cells = {(line["variant"], line["little.cpus"], line["seed"]) for line in lines}
    assert cells == {(v, n, s) for v in ("mainline", "cas") for n in "24" for s in "01"}
    keys = [(*list(line.values())[:5], line["measure"]) for line in lines]
    assert len(set(keys)) == len(keys)
    energies = table(plain(surveyed(plan), ["energy_j.total"]).lines)
    assert len(energies) == 8
    assert {line["unit"] for line in energies} == {"J"}
    assert all(float(line["value"]) > 0 for line in energies)


def test_what_is_not_done_is_missing_and_said(
    artefacts: Artefacts, juno: Platform, tmp_path: Path
) -> None:
    out = tmp_path / "table.csv"
    assert "no cell is done" in refused("table", *ONE_OFF, "--out", str(out))
    assert not out.exists()
    run_part(part_of(surveyed(campaign())), StandInRuns(fails=("cas",)))
    assert "lines of 1 of 2 cells" in output_of("table", *ONE_OFF, "--out", str(out), code=1)
    assert {line["variant"] for line in table([out.read_text()])} == {"mainline"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--measure", "energy_j.totl"], "totl (did you mean energy_j.total?): expected a measure"),
        (["--against", "seed"], "--against seed: expected an axis of"),
        (["--against", "platform"], "with more than one value: variant"),
        (["--figure", "f"], "--figure f works only with --against and one --measure"),
        (["--out", "nowhere/table.csv"], "--out 'nowhere/table.csv': expected a file in an"),
    ],
)
def test_bad_input(
    more: list[str],
    message: str,
    artefacts: Artefacts,
    juno: Platform,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_part(part_of(surveyed(campaign())), StandInRuns())
    capsys.readouterr()
    assert main(["table", *ONE_OFF, *more]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def cell(axes: tuple[str, ...], seed: int, value: float) -> MeasuredCell:
    return MeasuredCell(axes, seed, "run", "energy_j.total", "J", value)


def test_differences_are_along_one_axis_over_common_seeds() -> None:
    values = {("a", "x"): [1, 2, 3], ("b", "x"): [2, 4, 9], ("a", "y"): [5], ("b", "y"): [4]}
    cells = [cell(axes, seed, v) for axes, vs in values.items() for seed, v in enumerate(vs)]
    cells.append(cell(("b", "x"), 7, 1e9))  # "a" has no such seed
    cells.append(cell(("b", "z"), 0, 1e9))  # nor any "z"
    result = list(differences(cells, 0, "a"))
    assert [
        (d.axes, d.against, d.baseline, d.difference.absolute, d.difference.seeds) for d in result
    ] == [
        (("b", "x"), "a", 2.0, 3.0, 3),
        (("b", "y"), "a", 5.0, -1.0, 1),
    ]
    (along_y,) = [d for d in differences(cells, 1, "x") if d.axes == ("a", "y")]
    assert (along_y.baseline, along_y.difference.absolute) == (1.0, 4.0)


def test_platforms_are_compared_and_other_work_is_said(
    artefacts: Artefacts, juno: Platform, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = campaign(seeds=2, set={"little.cpus": [2, 4]})
    run_part(part_of(surveyed(plan)), StandInRuns())
    capsys.readouterr()
    made, rows = against(surveyed(plan), "little.cpus", ["energy_j.total"])
    assert "values of little.cpus may stand for different work" in capsys.readouterr().err
    read = table(made.lines)
    assert [(line["little.cpus"], line["against"], line["variant"]) for line in read] == [
        ("4", "2", "mainline"),
        ("4", "2", "cas"),
    ]
    assert [float(line["difference"]) for line in read] == [row.difference.absolute for row in rows]
    assert {line["low"] for line in read} == {""}, "two seeds have no interval"
    assert not other_work(plan, "variant")
    same = campaign(set={"little.cpus": [2, 4]}, reference="cortex-a72@1200")
    assert not other_work(same, "little.cpus")


def test_an_axis_has_the_name_that_set_it_and_that_of_its_column() -> None:
    plan = campaign(controls={"power": ["measured", "published"]})
    assert place_of(plan, "controls.power") == place_of(plan, "power")


def test_a_figure_is_not_drawn_twice(
    artefacts: Artefacts, juno: Platform, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_part(part_of(surveyed(campaign())), StandInRuns())
    name = tmp_path / "energy"
    command = ["table", *ONE_OFF, "--against", "variant", "--measure", "energy_j.total"]
    command += ["--figure", str(name), "--out", str(tmp_path / "table.csv")]
    output = []
    for number in range(3):
        if number == 2:
            (tmp_path / "energy.pdf").unlink()
        capsys.readouterr()
        assert main(command) == 0
        output.append(capsys.readouterr().err.strip().rpartition(": ")[2])
    assert output == ["drawn", "unchanged, not redrawn", "drawn"]
    assert (tmp_path / "energy.svg").read_text().startswith("<?xml")
