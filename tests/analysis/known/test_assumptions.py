# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded values of model axes: they answer as the comparisons of which they were made."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from eascope.analysis.answer import answers
from eascope.analysis.compare import Comparison
from eascope.analysis.known import assumptions
from eascope.analysis.known.assumptions import Assumptions, inputs_of
from eascope.analysis.robust import AtValue
from eascope.analysis.robust_text import expectation_lines, robust_json, robust_table
from eascope.configs.platform import Platform
from eascope.experiments.renew import __main__ as command
from eascope.experiments.renew import assumptions as renew
from eascope.experiments.renew.__main__ import main
from eascope.experiments.renew.assumptions import Compared, compared_of, merged, record_of
from eascope.experiments.runs import measure
from tests.support.varied import at

OF = Compared("juno-r2", "eas/video-playback", ("mainline", "cas"))


def varied(platform: Platform, work: float | None = None) -> Comparison:
    values = [
        AtValue("speeds", "measured", "assumed: x", 40, at(platform, 0.6, work=work)),
        AtValue("idle_exit", "25%", "assumed: y", 40, at(platform, 1.1, work=work)),
    ]
    return replace(at(platform, 1.0, work=1.0 if work else None), assumed=values)


@pytest.fixture
def known(
    platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Comparison], Comparison]:
    """Gives a comparison without values those that were recorded."""
    file = tmp_path / "assumptions.json"
    record_of(varied(platform), OF, "a command").write(file)

    def with_known(compared: Comparison, *live: AtValue) -> Comparison:
        monkeypatch.setattr(measure, "recorded", partial(assumptions.recorded, file=file))
        return measure.with_recorded(replace(compared, assumed=live))

    return with_known


@pytest.mark.parametrize("work", [None, 2.0])
def test_a_recorded_value_answers_as_a_compared_one(
    platform: Platform, tmp_path: Path, work: float | None
) -> None:
    live = varied(platform, work)
    record_of(live, OF, "a command").write(tmp_path / "a.json")
    (cell,) = Assumptions.read(tmp_path / "a.json").cells
    kept = replace(live, assumed=cell.values)
    assert answers(kept) == answers(live)
    assert kept.verdicts == live.verdicts
    assert robust_table(kept) == robust_table(live)
    assert expectation_lines(kept) == expectation_lines(live)
    for now, then in zip(*(robust_json(of)["values"] for of in (live, kept)), strict=True):
        assert then["recorded"]
        (first,), (second,) = now["differences"], then["differences"]
        for key in ("difference", "percent", "confidence_95", "seeds"):
            assert first[key] == second[key]


def test_what_is_recorded_stands_in_an_answer(
    platform: Platform, known: Callable[..., Comparison]
) -> None:
    plain = at(platform, 1.0)
    (answer,) = answers(known(plain))
    words = "sign unknown: more as configured, less with speeds measured"
    assert answer.startswith("cas vs mainline: energy +22.6 % (95 % CI +")
    assert answer.endswith(f"; model range -26.5 (speeds) .. +34.8 (idle exit); 20 seeds); {words}")
    # What is varied now counts instead.
    live = AtValue("speeds", "measured", "assumed: x", 40, at(platform, 1.0))
    assert [at_.axis for at_ in known(plain, live).assumed] == ["speeds", "idle_exit"]
    assert "model range +22.6 .. +34.8 (idle exit); " in answers(known(plain, live))[0]
    # Too few seeds give no word, but the range.
    few = at(platform, 1.0, seeds=2)
    assert "(model range -26.5 (speeds) .. +34.8 (idle exit); 2 seeds" in answers(known(few))[0]
    assert known(few).verdicts == few.verdicts


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ({"scenario": "smoke"}, None),
        ({"set_otherwise": ("measured-speeds",)}, None),
        ({"inputs": {"scenario": "another"}}, "scenario"),
        ({"kernel": {"series_sha256": "another"}}, "kernel of mainline, kernel of cas"),
        ({"kernel": {"compiler": "another", "package_version": "6.12.200-1"}}, ""),
    ],
    ids=["scenario", "conditions", "file", "patches", "compiler"],
)
def test_it_is_valid_for_the_same_alone(
    platform: Platform,
    known: Callable[[Comparison], Comparison],
    cell: dict[str, Any],
    line: str | None,
) -> None:
    """None: nothing is recorded of such a comparison; a text: it is no longer valid for it."""

    def changed(of: Any) -> Any:
        changes = {
            name: replace(getattr(of, name), **value) if isinstance(value, dict) else value
            for name, value in cell.items()
        }
        return replace(of, **changes)

    plain = at(platform, 1.0)
    runs = {
        name: [replace(run, cell=changed(run.cell)) for run in some]
        for name, some in plain.variants.items()
    }
    result = known(replace(plain, variants=runs))
    assert len(result.assumed) == (2 if line == "" else 0)
    lines = [f"recorded ranges (of another {line})"] if line else []
    assert list(result.not_varied) == lines


def test_other_variants_have_none(
    platform: Platform, known: Callable[[Comparison], Comparison]
) -> None:
    plain = at(platform, 1.0)
    first, second = plain.variants.items()
    third = ("third", [replace(r, cell=replace(r.cell, variant="third")) for r in second[1]])
    for runs in ([second, first], [first, third], [first, second, third]):
        assert known(replace(plain, variants=dict(runs))).assumed == []


def test_kernels_of_ones_own_are_others(platform: Platform) -> None:
    cells = [runs[0].cell for runs in at(platform, 1.0).variants.values()]
    own = replace(cells[1], kernel=replace(cells[1].kernel, source="KERNEL_SRC"))
    before, after = inputs_of(cells), inputs_of([cells[0], own])
    assert {name for name in before if before[name] != after[name]} == {"kernel of cas"}


def test_the_command_measures_what_is_named_or_recorded(
    platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells that are measured again stay where they are; all others keep their origin."""
    file = tmp_path / "assumptions.json"
    asked: list[Compared] = []

    def compared(of: Compared, seeds: int) -> Comparison:
        asked.append(of)
        return varied(platform)

    monkeypatch.setattr(command, "RANGES", file)
    monkeypatch.setattr(command, "DATA", tmp_path)
    monkeypatch.setattr(renew, "measure", compared)
    other = replace(OF, scenario="smoke", source_conditions=True)
    first = ["assumptions", "mainline", "cas", "--scenario", "eas/video-playback"]
    assert main(first) == 0
    named = ["assumptions", "mainline", "cas", "--scenario", "smoke", "--source-conditions"]
    assert main(named) == 0
    assert main(["assumptions"]) == 0
    assert asked == [OF, other, OF, other]
    record = Assumptions.read(file)
    assert [compared_of(cell) for cell in record.cells] == [OF, other]
    again = merged(record, record_of(varied(platform), OF, "again"))
    assert [again.origin_of(cell).command for cell in again.cells] == [
        *("again", "python -m eascope.experiments.renew assumptions")
    ]
