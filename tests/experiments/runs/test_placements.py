# SPDX-License-Identifier: GPL-2.0-or-later
"""Static placements: which there are, and when a search may end."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from eascope.analysis.bound import Floor
from eascope.experiments.runs import placements
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.placements import Placement, Search, check_loads, fixed, placed
from eascope.experiments.runs.request import Request, Resolved, resolve
from eascope.host.errors import RequestError


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
