# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts: a job's cells one after another; failures that do not stop the rest."""

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.engines.records import Failure
from eascope.experiments.runs.cell import Cell
from eascope.experiments.runs.store import Run
from eascope.experiments.sweeps.ledger import DONE, FAILED, read_ledger
from eascope.experiments.sweeps.part import SweepPart, run_part, split
from eascope.experiments.sweeps.session import part_size, progress_words
from eascope.experiments.sweeps.survey import totals_of
from eascope.host.cache import runs_root
from eascope.host.errors import Again, EascopeError
from tests.support.campaigns import StandInRuns, campaign, part_of, surveyed
from tests.support.cells import Artefacts


def test_every_cell_gets_a_run_and_a_line(artefacts: Artefacts, juno: Platform) -> None:
    result, executed = campaign(seeds=2), StandInRuns()
    assert run_part(part_of(surveyed(result)), executed) == 0
    assert executed.cells == [("mainline", 0), ("mainline", 1), ("cas", 0), ("cas", 1)]
    lines = read_ledger(result.name)
    assert len(lines) == 4
    for line in lines.values():
        assert line.state == DONE
        assert Run(runs_root() / line.simkey).state == "done"
        assert line.host_s > 0
        assert line.peak_mib > 0
        assert line.disk_kib > 0
    assert surveyed(result, look_up=False).counts == {"done": 4, "failed": 0, "missing": 0}


def test_a_failure_does_not_stop_the_rest(artefacts: Artefacts, juno: Platform) -> None:
    result, executed = campaign(seeds=2), StandInRuns(fails=("mainline",))
    assert run_part(part_of(surveyed(result)), executed) == 2
    assert len(executed.cells) == 4
    states = [line.state for line in read_ledger(result.name).values()]
    assert states == [FAILED, FAILED, DONE, DONE]
    assert {line.cause for line in read_ledger(result.name).values()} == {"mainline fails here", ""}


def test_a_cell_that_begins_again_has_one_line(artefacts: Artefacts, juno: Platform) -> None:
    result, executed = campaign(), StandInRuns()
    begun: list[Cell] = []

    def twice(cell: Cell) -> Run:
        begun.append(cell)
        if len(begun) % 2:
            raise Again("with larger buffers")
        return executed(cell)

    assert run_part(part_of(surveyed(result)), twice) == 0
    assert [line.state for line in read_ledger(result.name).values()] == [DONE, DONE]


def test_what_has_failed_is_run_again_when_asked_for(artefacts: Artefacts, juno: Platform) -> None:
    plan = campaign()
    run_part(part_of(surveyed(plan)), StandInRuns(fails=("mainline",)))
    survey = surveyed(plan, look_up=False)
    assert survey.counts == {"done": 1, "failed": 1, "missing": 0}
    assert survey.to_run(retry=False) == []
    executed = StandInRuns()
    assert run_part(part_of(survey, "j-1", retry=True), executed) == 0
    assert executed.cells == [("mainline", 0)]
    assert surveyed(plan, look_up=False).counts["done"] == 2


def test_what_was_ended_from_outside_is_tried_again_by_the_same_command(
    artefacts: Artefacts, juno: Platform
) -> None:
    result, cause = (
        campaign(),
        "QEMU was killed by signal 9 (Killed): the host may be out of memory",
    )

    def killed(cell: Cell) -> Run:
        folder = runs_root() / cell.simkey
        folder.mkdir(parents=True)
        Failure(cause=cause).write(folder / "failed.json")
        raise EascopeError(cause)

    assert run_part(part_of(surveyed(result)), killed) == 2
    for survey in (surveyed(result, look_up=False), surveyed(campaign("another"))):
        assert survey.counts == {"done": 0, "failed": 0, "missing": 2}
    survey = surveyed(result, look_up=False)
    assert [cause.text for cause in totals_of(survey).causes] == [cause], "status says why"
    assert run_part(part_of(survey, "j-1"), StandInRuns()) == 0


def test_what_is_there_is_not_run_again(artefacts: Artefacts, juno: Platform) -> None:
    result, executed = campaign(), StandInRuns()
    part = part_of(surveyed(result))
    run_part(part, executed)
    run_part(part, executed)
    assert len(executed.cells) == 2


def test_runs_of_other_commands_count(artefacts: Artefacts, juno: Platform) -> None:
    """They have no line: a campaign of another name has run them."""
    run_part(part_of(surveyed(campaign("first"))), StandInRuns())
    survey = surveyed(campaign("second"))
    assert survey.counts["done"] == 2
    assert surveyed(campaign("second"), look_up=False).counts["missing"] == 2


def test_a_run_that_is_gone_is_missing(artefacts: Artefacts, juno: Platform) -> None:
    plan = campaign()
    run_part(part_of(surveyed(plan)), StandInRuns())
    line = next(iter(read_ledger(plan.name).values()))
    (runs_root() / line.simkey).rename(runs_root() / "elsewhere")
    assert surveyed(plan).counts == {"done": 1, "failed": 0, "missing": 1}


def test_a_part_is_read_as_it_was_written(artefacts: Artefacts, tmp_path: Path) -> None:
    part = part_of(surveyed(campaign(set={"little.cpus": [2, 4]}, controls={"speeds": "measured"})))
    part.write(tmp_path / "0.json")
    assert SweepPart.read(tmp_path / "0.json") == part


def test_parts_have_one_machine_and_are_of_equal_size() -> None:
    points = campaign(seeds=1).checked_points()
    groups = [("a", points[0], range(21)), ("b", points[1], range(3)), ("a", points[1], range(2))]
    parts = split(groups, 10)
    sizes = [sum(len(group.seeds) for group in part) for part in parts]
    assert sizes == [7, 8, 8, 3]
    seeds = [(g.point.variant, seed) for part in parts[:3] for g in part for seed in g.seeds]
    assert seeds == [("mainline", n) for n in range(21)] + [("cas", n) for n in range(2)]


@pytest.mark.parametrize(
    ("cells", "jobs", "size"), [(16, 2, 4), (1000, 2, 20), (80, 2, 20), (3, 8, 4), (40, 2, 10)]
)
def test_size_of_parts(cells: int, jobs: int, size: int) -> None:
    assert part_size(cells, jobs) == size


@pytest.mark.parametrize(
    ("done", "failed", "spent_s", "words"),
    [
        (0, 0, 10.0, "[0/40] about 90 s left"),  # of the plan's 100 s
        (4, 0, 10.0, "[4/40] about 90 s left"),
        (9, 1, 50.0, "[10/40] 1 failed, about 2 min 30 s left"),  # by what has been done
        (1, 0, 200.0, "[1/40] about 2 h 10 min left"),  # the estimate was wrong
        (0, 0, 101.0, "[0/40] longer than was expected"),  # and nothing tells by how much
        (38, 2, 90.0, "[40/40] 2 failed, in 90 s"),
    ],
)
def test_what_is_left(done: int, failed: int, spent_s: float, words: str) -> None:
    assert progress_words(40, done, failed, spent_s, 100.0) == words
