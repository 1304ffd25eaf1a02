# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests that share a run: each gets what it would get in a folder of its own.

A simkey leaves out whatever does not change the simulation: names, the unit of work, frames,
expectations, billed powers. Two files that differ in one key are asked for in one folder, in both
orders, and each alone.
"""

import copy
import json
import os
import shutil
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from eascope.analysis import figures
from eascope.analysis.compare import comparison
from eascope.analysis.derive import Derived
from eascope.analysis.glance import everything
from eascope.analysis.records.cell import CELL
from eascope.configs.platform_file import PLATFORMS
from eascope.experiments.cli.main import main
from eascope.experiments.runs import pool
from eascope.experiments.runs.cell import Cell, prepare
from eascope.experiments.runs.finished import derived_for
from eascope.experiments.runs.request import Resolved, resolve
from eascope.experiments.scenario.names import ROOT
from eascope.experiments.sweeps import part
from eascope.experiments.sweeps.part import run_part
from eascope.host.cache import runs_root
from eascope.host.errors import EascopeError
from eascope.host.strict import toml_text
from eascope.kernels.variants import Declared
from tests.support.campaigns import StandInRuns, campaign, part_of, surveyed
from tests.support.cells import REQUEST, Artefacts, _WithFakes
from tests.support.command import json_inside, output_of, refused

Data = dict[str, Any]
Place = tuple[str | int, ...]

#: Files that have every key together; an own platform is a whole file under another name.
SCENARIOS = ("ui/jank", "smoke", "uclamp/frequency-spike", "programs/cyclictest-idle")
PLATFORMS_TRIED = ("pixel6", "juno-r2", "smp-24")
#: What cyclictest printed.
LOG = Path(__file__).parents[2] / "analysis" / "fixtures" / "programs" / "cyclictest-histogram.log"
#: A platform that differs from juno-r2 in what is billed alone.
CHEAP = 'base = "juno-r2"\nsummary = "cheap"\nidle.transition_share = 0.0\n'
#: Other values of keys that take one of some words.
WORDS: dict[str, tuple[Any, ...]] = {
    "background": ("none", "board"),
    "clock": ("exact", "timer", "vsync"),
    "policy": ("other", "idle"),
    "llc": ("cluster", "all"),
    "leakage": ("stated", "derived"),
    "default": ("published", "derived"),
    "offers": (["published", "derived", "profile"], ["published", "derived"]),
    "shared": ("included", "apart"),
    "power_state": ("clk_gated", "retention", "off"),
    "statement": ("migrations < 3",),
    "variant": ("cas", "mainline"),
    "counted": ("turns.heavy", "wake_ups.heavy", "turns.ui"),
    "paced_by": ("input", "render"),
    "drawn_by": ("ui",),
    "platform": ("juno-r2",),
    "cpus": ("big", "little"),
    "core": ("cortex-a53", "cortex-a72"),
    "until": ("programs-end",),
    "kernel": ("before-6.12", "6.12.0"),
    "speeds": ("measured", "board"),
    "dvfs": ("model",),
    "repeat": (2,),
    "khz": (738_000,),
}
#: Places of a key at which another value is tried: a list of OPPs has many.
MOST_PLACES = 5
#: Keys that have one value in a file of this name, or that no other key of the file allows to
#: change: each of them is in the script or the device tree.
FIXED = {
    *(("schema",), ("name",), ("image",), ("program", "run"), ("window", "until")),
    ("cluster", "name"),
    # There is one set of curves, and a cluster has the rows of its own policy.
    ("curves", "name"),
    *(("curves", "policies", name) for name in ("little", "mid", "big")),
    # Another cluster or OPP alone is none, or out of order.
    *(("clock_floors", key) for key in ("of", "on")),
    *(("clock_floors", "steps", key) for key in ("khz", "floor_khz")),
}


@pytest.fixture
def standing(artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch) -> Artefacts:
    """Cells without kernels, but with their engine's real settings, which are in the simkey."""
    monkeypatch.setattr(_WithFakes, "settings", lambda fake, m: fake._engine.settings(m))
    return artefacts


def leaves(value: Any, place: Place = ()) -> Iterator[Place]:
    """Places of all values."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*place, key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, item in enumerate(value):
            yield from leaves(item, (*place, number))
    else:
        yield place


def key_of(place: Place) -> tuple[str, ...]:
    """The key at a place; texts of [sources] have one, as a file may call them what it likes."""
    key = tuple(str(step) for step in place if not isinstance(step, int))
    return ("sources",) if key[0] == "sources" else key


def others(key: str, value: Any) -> Iterator[Any]:
    """Other values of a key, the likely ones first."""
    yield from (word for word in WORDS.get(key, ()) if word != value)
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, value + 1000, value * 2, value // 2)
    elif isinstance(value, float):
        yield from (value * 1.01, value / 2)
    elif isinstance(value, str):
        yield from (f"{value}x", f"{value} and more")
    elif isinstance(value, list):
        yield value[1:]


def renamed(value: Any, old: Any, new: Any) -> Any:
    """``value`` with ``new`` wherever it has ``old``: a name stands where it is referred to."""
    if isinstance(value, dict):
        return {key: renamed(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, old, new) for item in value]
    return new if type(value) is type(old) and value == old else value


def changed(data: Data, place: Place, value: Any) -> Data:
    new = copy.deepcopy(data)
    holder: Any = new
    for step in place[:-1]:
        holder = holder[step]
    if value is None:
        del holder[place[-1]]
    else:
        holder[place[-1]] = value
    return new


def _at(data: Any, place: Place) -> Any:
    for step in place:
        data = data[step]
    return data


def names_a_text(data: Data, place: Place) -> bool:
    """Whether the value is the name of a text below [sources], which is tried itself."""
    value = _at(data, place)
    return isinstance(value, str) and value in data.get("sources", {})


@dataclass(frozen=True)
class Pair:
    """Two requests whose files differ in one key."""

    key: str
    first: Resolved
    second: Resolved


#: Writes a file below a folder of this name, and gives the request that names it.
Write = Callable[[str, Data], Resolved]


def pairs_of(data: Data, write: Write, known: set[tuple[str, ...]]) -> Iterator[Pair]:
    """A pair for each key of a file: with another value, and without the key.

    :param known: keys that earlier files had; those of this file are added.
    """
    first = write("first", data)
    tried: set[tuple[tuple[str, ...], bool]] = set()
    places: Counter[tuple[str, ...]] = Counter()
    for number, place in enumerate(leaves(data)):
        key, now = key_of(place), _at(data, place)
        if key in known or names_a_text(data, place) or places[key] == MOST_PLACES:
            continue
        places[key] += 1
        edits = [changed(data, place, value) for value in others(key[-1], now)]
        edits += [renamed(data, now, value) for value in others(key[-1], now)]
        for absent, contents in ((False, edits), (True, [changed(data, place, None)])):
            if (key, absent) not in tried and (second := _first_sound(write, number, contents)):
                tried.add((key, absent))
                yield Pair(".".join(key) + (" (absent)" if absent else ""), first, second)
    known |= {key for key, absent in tried if not absent}


def _first_sound(write: Write, number: int, contents: list[Data]) -> Resolved | None:
    for attempt, content in enumerate(contents):
        with suppress(EascopeError):
            return write(f"{number}-{attempt}", content)
    return None


def pairs(
    tmp_path: Path, folder: Path, files: Sequence[str], option: str, scenario: str
) -> tuple[list[Pair], list[str]]:
    """All pairs of shipped files, and the keys for which no other value was found."""
    result: list[Pair] = []
    known: set[tuple[str, ...]] = set(FIXED)
    every: set[tuple[str, ...]] = set()
    for name in files:
        data = tomllib.loads((folder / f"{name}.toml").read_text())
        every |= {key_of(place) for place in leaves(data) if not names_a_text(data, place)}

        def write(below: str, content: Data, of: str = name) -> Resolved:
            path = tmp_path / of / below / f"{of.rpartition('/')[2]}.toml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(toml_text(content))
            asked: dict[str, Any] = {"scenario": scenario, option: str(path)}
            return resolve(replace(REQUEST, **asked))

        result += pairs_of(data, write, known)
    return result, sorted(".".join(key) for key in every - known)


class Folder:
    """A folder of runs, in which requests are asked for one after another."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path, self._patch = path, monkeypatch
        self._made: dict[str, Derived] = {}

    def ask(self, cell: Cell) -> tuple[Derived, str, dict[str, bytes]]:
        """What the request gets: the derivation, its text, its files."""
        self._patch.setenv("EASCOPE_RUNS", str(self._path))
        run = StandInRuns()(cell)
        for program in cell.record.programs:
            shutil.copy(LOG, run.path / program.log)
        derived = derived_for(cell, run)
        text = everything(comparison(cell.resolved.platform, {cell.record.variant: [derived]}))
        files = {path.name: path.read_bytes() for path in derived.path.iterdir()}
        for name in ("done", "key.json", CELL):  # digests and names of all the others
            files.pop(name, None)
        return derived, text, files


def check_apart(pairs: Sequence[Pair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Check each pair in one folder, in both orders; returns how many shared a run."""
    alone: dict[str, tuple[Derived, str, dict[str, bytes]]] = {}
    shared = 0
    for number, pair in enumerate(pairs):
        first, second = prepare(pair.first), prepare(pair.second)
        if first.simkey != second.simkey:
            continue
        shared += 1
        if first.asked not in alone:
            alone[first.asked] = Folder(tmp_path / f"{number}-alone", monkeypatch).ask(first)
        forth, back = (Folder(tmp_path / f"{number}-{n}", monkeypatch) for n in "fb")
        after = forth.ask(first), forth.ask(second)
        before = back.ask(second), back.ask(first)
        # `before[0]` was alone in its folder until then, as `alone` is.
        assert after[1][1:] == before[0][1:], f"{pair.key}: the second file after the first"
        assert before[1][1:] == alone[first.asked][1:], f"{pair.key}: the first after the second"
        for cell, asked in ((first, before[1][0]), (second, after[1][0])):
            assert asked.cell == cell.record, pair.key
    return shared


def test_scenarios_that_differ_in_one_key(
    standing: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, lacking = pairs(tmp_path / "files", ROOT, SCENARIOS, "scenario", "")
    assert not lacking, lacking
    assert check_apart(result, tmp_path, monkeypatch) > 20


def test_platforms_that_differ_in_one_key(
    standing: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, lacking = pairs(
        tmp_path / "files", PLATFORMS, PLATFORMS_TRIED, "platform", "eas/video-playback"
    )
    assert not lacking, lacking
    assert check_apart(result, tmp_path, monkeypatch) > 20


VARIANT_KEYS: dict[str, Any] = {
    "name": "other",
    "summary": "other",
    "source": "other",
    "deviations": ("other",),
    "boot": "threadirqs",
    "switches": (("/proc/sys/kernel/sched_energy_aware", "0"),),
    "declares": Declared(eas=False, governor="schedutil"),
    "releases": ("6.12",),
    "kernel": "sum",
    "dtb": "nocap",
    "own": True,
    "added": ("threadirqs",),
}


def test_variants_that_differ_in_one_key(
    standing: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = resolve(REQUEST)
    assert set(VARIANT_KEYS) == {entry.name for entry in fields(names.variant)}
    result = [
        Pair(key, names, replace(names, variant=replace(names.variant, **{key: value})))
        for key, value in VARIANT_KEYS.items()
    ]
    assert check_apart(result, tmp_path, monkeypatch) == 7


@pytest.fixture
def here(standing: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a person's own files; commands execute runs of a short schedule."""
    monkeypatch.setattr(pool, "execute", lambda cell, *_: StandInRuns()(cell))
    monkeypatch.setattr(figures, "write", lambda *_: {})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compared(scenario: str, platform: str, runs: str) -> Data:
    """What ``compare --json`` prints, but for its own folder and drawings."""
    os.environ["EASCOPE_RUNS"] = runs  # put back by the fixture that keeps the environment
    command = ["compare", "mainline", "cas", "--platform", platform, "--scenario", scenario]
    result: Data = json.loads(output_of(*command, "--json").replace(runs, "runs"))
    return {
        key: value for key, value in result.items() if key not in ("folder", "report", "figures")
    }


def test_a_copy_of_a_scenario_and_a_platform_that_is_billed_otherwise(here: Path) -> None:
    """Each of three requests is answered as if it were alone, whoever asked first."""
    shutil.copy(ROOT / "smoke.toml", here / "mine.toml")
    (here / "share.toml").write_text(CHEAP)
    asked = [("smoke", "juno-r2"), ("./mine.toml", "juno-r2"), ("smoke", "./share.toml")]
    alone = [compared(*item, str(here / f"alone-{number}")) for number, item in enumerate(asked)]
    for item, own in zip([*asked, *asked], [*alone, *alone], strict=True):
        assert compared(*item, str(here / "shared")) == own
    energies = [item["differences"][0]["value"] for item in alone]
    assert energies[0] == energies[1] > energies[2]
    listed = output_of("status")
    assert "2 runs in" in listed
    for words in (["juno-r2", "smoke"], ["juno-r2", "mine"], ["share", "smoke"]):
        lines = [line.split() for line in listed.splitlines()]
        assert sum({*words} <= {*line} for line in lines) == 2, words


def test_a_unit_of_work_that_is_added_later(here: Path) -> None:
    own = here / "my.toml"
    shutil.copy(ROOT / "smoke.toml", own)
    command = ["run", "--platform", "juno-r2", "--variant", "mainline", "--scenario", str(own)]
    assert main(command) == 0
    own.write_text(own.read_text() + '\n[work]\nunit = "turn"\ncounted = "turns.heavy"\n')
    runs = os.environ["EASCOPE_RUNS"]
    rows = {row["measure"]: row for row in compared(str(own), "juno-r2", runs)["differences"]}
    total, per_turn = rows["energy_j.total"], rows["energy_per_work_j"]
    assert per_turn["label"] == "energy: per turn"
    for side in ("baseline_value", "value"):  # the stand-in's heavy task has ten turns
        assert per_turn[side] == pytest.approx(total[side] / 10)


def swept(axes: Data, names: Sequence[str]) -> list[float]:
    """Energies that ``table`` prints for the values of an axis, in this order."""
    options = [word for key, value in axes.items() for word in (f"--{key}", value)]
    command = ["table", *options, "--scenario", "smoke", "--variant", "mainline"]
    rows = json_inside(*command, "--measure", "energy_j.total")["table"]
    return [next(row["value"] for row in rows if name in row.values()) for name in names]


@pytest.mark.parametrize("order", [("juno-r2", "./cheap.toml"), ("./cheap.toml", "juno-r2")])
def test_a_table_of_platforms_that_are_billed_otherwise(here: Path, order: tuple[str, str]) -> None:
    (here / "cheap.toml").write_text(CHEAP)
    plan = campaign(platform=list(order), variant="mainline")
    assert run_part(part_of(surveyed(plan)), StandInRuns()) == 0
    energies = swept({"platform": ",".join(order)}, ["juno-r2", "cheap"])
    assert energies[0] > energies[1]
    for platform, energy in zip(("juno-r2", "./cheap.toml"), energies, strict=True):
        command = ["run", "--platform", platform, "--variant", "mainline", "--scenario", "smoke"]
        assert json_inside(*command)["energy_j"]["total"] == energy


SHARE = "idle.transition_share"


def test_a_table_of_a_figure_that_is_billed(here: Path) -> None:
    plan = campaign(variant="mainline", set={SHARE: [0.25, 0.75]})
    assert run_part(part_of(surveyed(plan)), StandInRuns()) == 0
    energies = swept({"platform": "juno-r2", "set": f"{SHARE}=0.25,0.75"}, ["0.25", "0.75"])
    assert energies[0] < energies[1]


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--variant", "mainline"],
        ["compare", "mainline", "cas"],
        ["plan", "--variant", "mainline"],
    ],
)
def test_a_temperature_without_a_leakage_is_refused_before_the_run(
    here: Path, command: list[str]
) -> None:
    (here / "cold.toml").write_text(
        'base = "juno-r2"\nsummary = "cold"\ntemperature_c = 20\nidle.leakage = "derived"\n'
    )
    output = refused(*command, "--platform", "./cold.toml", "--scenario", "smoke")
    assert "temperature_c = 20: allowed: 26.85..126.85" in output
    assert "cold" in output
    assert not (runs_root()).exists()


def test_a_cell_that_cannot_be_derived_has_failed_in_every_count(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise EascopeError("no figures")

    monkeypatch.setattr(part, "derived_for", broken)
    plan = campaign(variant="mainline")
    assert run_part(part_of(surveyed(plan)), StandInRuns()) == 1
    assert surveyed(plan).counts == {"done": 0, "failed": 1, "missing": 0}
