# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of noise floors, and that comparisons under its conditions show it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from eascope.analysis import compare
from eascope.analysis.answer import answers
from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.compare_json import differences_json
from eascope.analysis.compare_text import text
from eascope.analysis.derive import Derived
from eascope.analysis.glance import glance
from eascope.analysis.known import noise
from eascope.analysis.known.noise import Noise
from eascope.analysis.known.origin import RUNS, Origin, digests_of
from eascope.analysis.null import Null, RecordedNull
from eascope.configs.platform import Platform
from eascope.experiments.renew import __main__ as command
from eascope.experiments.renew import noise as run
from eascope.experiments.renew.__main__ import main
from eascope.experiments.renew.noise import record_of
from eascope.experiments.runs import measure
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.request import Resolved
from tests.support.stated import stated

TODAY = Origin("before", RUNS, patches=digests_of(["base@6.12"]))


@pytest.fixture
def measured(juno: Platform) -> Comparison:
    """Mainline with ten seeds, and its double with ten others."""
    runs, again = ([stated("mainline", seed + more) for seed in range(10)] for more in (0, 10))
    return replace(comparison(juno, {"mainline": runs}), null=Null("mainline", runs, again))


@pytest.fixture
def record(measured: Comparison) -> Noise:
    return replace(record_of([measured], "make noise"), origin=TODAY)


def both(juno: Platform) -> Comparison:
    runs = {name: [stated(name, seed) for seed in range(20)] for name in ("mainline", "cas")}
    return comparison(juno, runs)


def test_the_record_has_every_measures_floor(record: Noise, measured: Comparison) -> None:
    (cell,) = record.cells
    assert (cell.platform, cell.scenario) == (measured.cell.platform, measured.cell.scenario)
    assert (cell.variant, cell.seeds) == ("mainline", 10)
    floor = measured.null.floor(measured.total.row) if isinstance(measured.null, Null) else None
    assert floor is not None
    assert cell.floors["energy_j.total"] == pytest.approx(floor / 1e3), "in J, the row in mJ"
    mean = measured.total.mean("mainline")
    assert mean is not None
    assert cell.percents["energy_j.total"] == pytest.approx(100 * floor / mean)
    assert cell.floors["energy_j.total / window_s"] > 0
    assert cell.floors["missed_deadlines"] == 0
    assert "missed_deadlines" not in cell.percents, "its mean is zero"


def test_a_comparison_shows_the_floor_that_was_recorded_for_its_conditions(
    record: Noise, juno: Platform, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record.write(tmp_path / "noise.json")

    monkeypatch.setattr(compare, "recorded", partial(noise.recorded, file=tmp_path / "noise.json"))
    compared = both(juno)
    assert isinstance(compared.noise, RecordedNull)
    floor = compared.noise.floor(compared.total.row)
    assert floor == pytest.approx(1e3 * record.cells[0].floors["energy_j.total"])
    rows = [line for line in text(compared).splitlines() if line.startswith("  total")]
    assert rows[0].endswith(f" +-{floor:.2f}")
    energy = next(line for line in glance(compared).splitlines() if line.startswith("energy, tot"))
    assert energy.endswith(f" +-{floor:.2f}")
    (total,) = (e for e in differences_json(compared) if e["measure"] == "energy_j.total")
    assert total["noise_floor"] == pytest.approx(record.cells[0].floors["energy_j.total"])
    percent = record.cells[0].percents["energy_j.total"]
    assert answers(compared)[-1] == (
        f"noise floor, mainline against itself: +-{percent:.1f} % (recorded in noise.json, "
        "10 other seeds)"
    )
    own = replace(compared, null=Null("mainline", *([[]] * 2)))
    assert own.noise is own.null, "what was measured with the comparison counts"
    (cell,) = record.cells
    other = {**cell.conditions, "controls": "another"}
    Noise(record.origin, (replace(cell, conditions=other),)).write(tmp_path / "noise.json")
    noise._read.cache_clear()
    assert both(juno).noise is None, "of other conditions"
    for patches in ({}, {"base@6.12": "0" * 64}):
        Noise(Origin("ago", RUNS, patches=patches), (cell,)).write(tmp_path / "noise.json")
        noise._read.cache_clear()
        assert both(juno).noise is None, "of other patches, or unknown ones"
    noise._read.cache_clear()


def test_mainline_and_its_double_have_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare(resolved: Resolved, identity: object) -> SimpleNamespace:
        request = resolved.request
        record = replace(stated("mainline", request.seed).cell, variant=request.variant)
        key = f"{request.variant} {request.seed}"
        return SimpleNamespace(resolved=resolved, record=record, simkey=key, asked=key)

    def ran(
        cells: Sequence[SimpleNamespace], read: object, *, at_once: bool
    ) -> list[dict[BilledBy, Derived]]:
        seeds = [replace(stated("mainline", cell.record.seed), cell=cell.record) for cell in cells]
        return [{BilledBy(): each} for each in seeds]

    for name, stand_in in (("identity_of", str), ("prepare", prepare), ("run_all", ran)):
        monkeypatch.setattr(measure, name, stand_in)
    (compared,) = run.measure([("juno-r2", "smoke")], 10)
    assert isinstance(compared.null, Null)
    assert [item.cell.seed for item in compared.null.runs] == [*range(10)]
    assert [item.cell.seed for item in compared.null.again] == [*range(10, 20)]
    assert {item.cell.variant for item in compared.null.again} == {"null"}
    # Energies of these runs rise by 0.5 mJ with each seed.
    (cell,) = record_of([compared], "").cells
    assert cell.floors["energy_j.total"] > 0.005


def test_a_floor_is_found_by_its_conditions_among_several(record: Noise, tmp_path: Path) -> None:
    (cell,) = record.cells
    other = replace(cell, conditions={**cell.conditions, "controls": "another"}, seeds=20)
    file = tmp_path / "noise.json"
    Noise(record.origin, (other, cell)).write(file)
    floors = [
        noise.recorded(cell.platform, cell.scenario, c, file)
        for c in (cell.conditions, dict[str, str]())
    ]
    assert floors == [cell, None]


def test_floors_of_other_patches_are_dropped_when_others_are_measured(record: Noise) -> None:
    """One that is measured again takes the place of its own; those of today are kept."""
    (cell,) = record.cells
    ago = Origin("long ago", RUNS, patches={"base@6.12": "0" * 64})
    kept, stale, again = (
        replace(cell, scenario=name, origin=origin)
        for name, origin in (("a", None), ("b", ago), ("c", ago))
    )
    more = Noise(Origin("now", RUNS), (replace(again, origin=None),))
    result = run.merged(Noise(TODAY, (kept, stale, again)), more)
    assert [(of.scenario, result.origin_of(of).command) for of in result.cells] == [
        ("a", "before"),
        ("c", "now"),
    ]
    assert run.merged(None, more) == more


NAMED = "give --scenario and two variants or more, or neither"
ASSUMED = ["assumptions", "mainline", "cas", "--scenario", "smoke"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["noise", "--seeds", "9"], "--seeds 9: allowed: at least 10"),
        (["noise", "eas/vdeo"], "unknown scenario"),
        (["noise"], "it has nothing yet: name scenarios"),
        (["assumptions", "mainline"], NAMED),
        (["assumptions", "--scenario", "smoke"], NAMED),
        ([*ASSUMED, "--seeds", "19"], "allowed: at least 20"),
        (["assumptions"], "it has nothing yet"),
    ],
)
def test_a_wrong_request_is_one_line(
    arguments: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command, "FILE", tmp_path / "none.json")
    monkeypatch.setattr(command, "RANGES", tmp_path / "none.json")
    assert main(arguments) == 2
    assert words in capsys.readouterr().err
