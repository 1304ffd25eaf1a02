# SPDX-License-Identifier: GPL-2.0-or-later
"""Static placements: which there are, and when a search may end."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eascope.analysis.bound import Floor
from eascope.experiments.runs import placements
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.placements import Placement, Search, check_loads, fixed, placed
from eascope.experiments.runs.request import Request, Resolved, resolve
from eascope.host.errors import RequestError
from tests.support.command import json_inside, output_of


def names(scenario: str = "uclamp/capped-tasks-spread") -> Resolved:
    return resolve(Request(platform="juno-r2", variant="mainline", scenario=scenario))


def searched(of: Resolved) -> Search:
    return Search(of, None, None, BilledBy())  # type: ignore[arg-type]


def alike(placement: Placement, classes: Sequence[Sequence[int]]) -> object:
    """What is left of a placement without the numbers of equal CPUs and of equal threads."""
    return tuple(
        tuple(sorted(tuple(Counter(cpus)[cpu] for cpus in placement) for cpu in own))
        for own in classes
    )


@pytest.mark.parametrize("count", [1, 2, 4])
def test_every_placement_is_there_once(count: int) -> None:
    own = names()
    (task,) = own.scenario.tasks
    own = replace(own, scenario=replace(own.scenario, tasks=(replace(task, count=count),)))
    search = searched(own)
    found = [*search.folded()]
    every = {alike((cpus,), search.classes()) for cpus in product(range(6), repeat=count)}
    assert len(found) == len(every)
    assert {alike(placement, search.classes()) for placement in found} == every


def test_the_search_ends_where_no_floor_is_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    """Energies are floors plus a tenth: those with a floor below the best are run."""
    search = searched(names())
    order = sorted(search.folded())
    floors = {placement: 1.0 + 0.04 * at for at, placement in enumerate(order)}
    late = {order[0]}
    monkeypatch.setattr(Search, "floor", lambda _, placement: Floor(floors[placement], ()))
    monkeypatch.setattr(placements, "workers", lambda: 1)
    ran: list[Placement] = []

    def runs(_: Search, asked: Sequence[Resolved]) -> list[Any]:
        chosen = [tuple(task.cpus or () for task in each.scenario.tasks) for each in asked]
        ran.extend(chosen)
        return [
            SimpleNamespace(
                result=SimpleNamespace(
                    late=placement in late, energy_j=SimpleNamespace(total=floors[placement] + 0.1)
                )
            )
            for placement in chosen
        ]

    monkeypatch.setattr(Search, "_runs", runs)
    monkeypatch.setattr(Search, "same_work", lambda _, result: not result.late)
    found = search.found(100, 2, lambda _: None)
    assert found.best is not None
    assert found.best[0] == order[1]
    assert (found.complete, found.folded, found.ran) == (True, len(order), 4)
    assert ran[:4] == order[:4]
    found = search.found(3, 1, lambda _: None)
    assert (found.complete, found.ran) == (False, 3)


def test_a_placement_is_what_is_compiled() -> None:
    own = names()
    (task,) = placed(own, ((5, 0, 0, 1),)).scenario.tasks
    assert (task.pinned, task.cpus) == (True, (5, 0, 0, 1))


def test_what_cannot_be_placed_or_bounded() -> None:
    assert "changes its CPUs" in fixed(names("uclamp/frequency-spike").scenario.tasks[0])
    with pytest.raises(RequestError, match=r"eas/sched-pipe has programs.*allowed"):
        check_loads(names("eas/sched-pipe"))


PAIR = """\
summary = "Two that fit anywhere"
source = "a test"
loads = "a test's"
task = [{ name = "job", count = 2, phase = [{ run_us = 3_000, period_us = 16_000 }] }]
window = { warmup_ms = 200, short_ms = 400, full_ms = 1_000 }
"""


@pytest.mark.guest
def test_the_best_placement_repeated_by_its_lines_takes_its_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rt-app runs the file that a board would be given, in another window."""
    monkeypatch.setenv("EASCOPE_RUNS", str(tmp_path / "runs"))
    (tmp_path / "pair.toml").write_text(PAIR)
    board, where = tmp_path / "board.json", ("--platform", "juno-r2")
    asked = ("bound", str(tmp_path / "pair.toml"), *where, "--seeds", "1", "--out", str(board))
    found = json_inside(*asked)
    assert found["complete"]
    assert found["floor_mj"] < min(found["placement_mj"], found["mainline_mj"])
    assert sorted(found["placement"].values()) == [0, 1]
    output_of("scenario", "import", str(board), "--out", str(tmp_path / "board.toml"))
    words = ("--variant", "mainline", "--scenario", str(tmp_path / "board.toml"))
    again = json_inside("run", *where, *words)
    assert again["work_share"]["little"] > 0.99
    power_mw = 1e3 * again["energy_j"]["total"] / again["window_s"]
    assert power_mw == pytest.approx(found["placement_mj"] / 0.4, rel=0.05)
