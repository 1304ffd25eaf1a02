# SPDX-License-Identifier: GPL-2.0-or-later
"""The search for a patch: how many kernels and seeds it takes, and when it ends without one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eascope.analysis.records.verdict import HOLDS, REFUTED, UNDECIDED
from eascope.experiments.runs import bisect, ladder
from eascope.experiments.runs.bisect import (
    SKIPPED,
    decided,
    energy_statement,
    most_tests,
    search,
    seed_counts,
)
from eascope.experiments.runs.measure import Group
from eascope.experiments.runs.request import Resolved
from eascope.host.proc import CommandFailed
from tests.support.command import inside, json_inside, output_of, refused
from tests.support.refusals import refusal
from tests.support.series import numbered

MORE = "energy_per_work_j > 102% * energy_per_work_j[base]"


def found(last: int, word: Callable[[int], str]) -> tuple[tuple[int, int], list[int]]:
    """What a search returns, and the steps that it tests."""
    tested: list[int] = []

    def test(step: int, left: int) -> str:
        tested.append(step)
        return word(step)

    return search(last, test), tested


@pytest.mark.parametrize("defect", range(1, 13))
def test_a_defect_in_twelve_steps_takes_four_tests_at_most(defect: int) -> None:
    """After that of the last step: six builds with the base."""
    ends, tested = found(12, lambda step: HOLDS if step >= defect else REFUTED)
    assert ends == (defect - 1, defect)
    assert len(tested) <= most_tests(11) == 4
    assert len({*tested}) == len(tested)


def test_neighbours_of_steps_that_do_not_build_are_tested() -> None:
    def word(step: int) -> str:
        return SKIPPED if step in (5, 6, 7) else HOLDS if step >= 7 else UNDECIDED

    ends, tested = found(12, word)
    assert ends == (4, 8), "one of 5 to 8"
    assert {5, 6, 7} < {*tested}
    assert found(3, lambda _: SKIPPED) == ((0, 3), [2, 1])
    assert found(1, word) == ((0, 1), [])


def test_seeds_double_while_undecided() -> None:
    assert seed_counts(160) == [10, 20, 40, 80, 160]
    assert seed_counts(50) == [10, 20, 40, 50]
    assert seed_counts(10) == [10]
    asked: list[int] = []

    def results(seeds: int, spread: float, change: float = 3.0) -> Any:
        asked.append(seeds)
        energies = {name: 100.0 + change * (name == "patched") for name in ("base", "patched")}
        return {
            name: {
                seed: {"energy_per_work_j": energy + spread * (-1) ** (seed + (name == "base"))}
                for seed in range(seeds)
            }
            for name, energy in energies.items()
        }

    def word(spread: float, change: float = 3.0) -> str:
        asked.clear()
        counts, level = seed_counts(160), 0.99
        return decided(MORE, lambda seeds: results(seeds, spread, change), counts, level).verdict

    assert (word(0.1), asked) == (HOLDS, [10])
    assert (word(0.1, 0.0), asked) == (REFUTED, [10])
    assert (word(1.5), asked) == (HOLDS, [10, 20, 40])
    assert (word(50.0), asked) == (UNDECIDED, [10, 20, 40, 80, 160])


def test_a_change_of_energy_is_a_statement() -> None:
    statement = "energy_per_work_j[patched] > 102.5% * energy_per_work_j[base]"
    assert energy_statement("+2.5%") == statement
    assert energy_statement("-2%").split(" * ")[0] == "energy_per_work_j[patched] < 98%"
    for wrong in ("2%", "+2", "+0%", "-100%", "+x%"):
        assert f"--energy {wrong!r}: allowed: a change such as +2%" in refusal(
            energy_statement, wrong
        )


@dataclass
class World:
    """Kernels whose energy is known; ``command`` bisects 12 steps of them.

    :param energy: of each step, the base first.
    :param codes: of steps that have not a code of their own, by step.
    """

    energy: Sequence[float]
    command: Sequence[str]
    codes: dict[int, str] = field(default_factory=dict)
    broken: tuple[int, ...] = ()
    built: list[int] = field(default_factory=list)
    runs: set[tuple[int, int]] = field(default_factory=set)

    def step(self, resolved: Resolved) -> int:
        name = resolved.variant.name
        return 0 if name == "base" else int(name.partition("-")[2] or 12)

    def code(self, resolved: Resolved) -> str:
        step = self.step(resolved)
        self.built.append(step)
        if step in self.broken:
            raise CommandFailed(["make"], 2, f"fair.c:{step}: error: no", "kernel build")
        return self.codes.get(step, f"code {step}")

    def compare(self, groups: Sequence[Group]) -> list[Any]:
        (group,) = groups
        results: dict[str, dict[int, Any]] = {}
        for names in group.resolved:
            step, seed = self.step(names), names.request.seed
            self.runs.add((step, seed))
            value = {"energy_per_work_j": self.energy[step] * (1 + 0.001 * (seed % 3))}
            results.setdefault(names.variant.name, {})[seed] = value
        runs = {name: [SimpleNamespace(run=Path(f"/runs/{name}"))] for name in results}
        return [SimpleNamespace(results=results, variants=runs)]


@pytest.fixture
def world(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., World]:
    def made(*energy: float, more: Sequence[str] = ("--energy", "+2%"), **options: Any) -> World:
        where = ["--platform", "juno-r2", "--scenario", "smoke"]
        world = World(energy, ["bisect", str(tmp_path / "idea"), *where, *more], **options)
        for module in (bisect, ladder):
            monkeypatch.setattr(module, "kernel_code", world.code)
        monkeypatch.setattr(bisect, "compare", world.compare)
        return world

    numbered(tmp_path / "idea", 12)
    return made


PLANTED = [1.0] * 7 + [1.05] * 6


def test_the_planted_patch_is_named_with_the_two_runs(world: Callable[..., World]) -> None:
    """Six kernels and ten seeds of each, of which one has the code of another."""
    planted = world(*PLANTED, codes={8: "code 9"})
    done = inside(*planted.command)
    first, alone, _, statement, *tested, why = done.stdout.splitlines()
    assert first == "step 7 is the first with which it holds: Change 7"
    assert alone == "from step 6 to step 7: holds, +5.0 % (+5.0 .. +5.0), 10 seeds"
    assert statement.startswith("energy_per_work_j[patched] > 102% * energy_per_work_j[base]; ")
    assert [line.split()[:3] for line in tested] == [
        ["step", "6", "refuted,"],
        ["step", "7", "holds,"],
        ["step", "8", "holds,"],
        ["step", "9", "holds,"],
        ["step", "12", "holds,"],
    ]
    assert why == "why: eascope diff /runs/idea-6 /runs/idea-7"
    assert tested[2].endswith("10 seeds, same code as step 9  Change 8")
    assert len({*planted.built}) == 6
    assert len(planted.runs) == 50
    said = [line for line in done.stderr.splitlines() if "  patches " not in line]
    assert "12 steps: at most 6 builds, 60 to 960 runs, " in said[0]
    assert "step 6 of 12: refuted, 0.0 % (0.0 .. 0.0), 10 seeds; left: at most 3 builds" in said[2]


def test_what_does_not_build_is_said(world: Callable[..., World]) -> None:
    record = json_inside(*world(*PLANTED, broken=(6, 7), codes={5: "code 0"}).command)
    assert (record["below"], record["step"], record["patch"]) == (5, 8, "Change 8")
    assert record["answer"][1] == "it may also be one that does not build: 6, 7"
    tested = {each["step"]: (each["word"], each["why"]) for each in record["tested"]}
    assert tested[6] == (SKIPPED, "does not build: fair.c:6: error: no")
    assert tested[5] == (REFUTED, "same code as step 0")
    assert record["diff"] == "eascope diff /runs/base /runs/idea-8"
    done = inside(*world(*PLANTED, broken=(12,)).command)
    assert done.returncode == 1
    assert "step 12, the last one, does not build: fair.c:12: error: no" in done.stderr


def test_a_series_without_effect_says_what_would_have_been_seen(
    world: Callable[..., World],
) -> None:
    nothing = world(*[1.0] * 13)
    text = output_of(*nothing.command)
    assert text.startswith(
        "no step makes it hold; all 12 together: refuted, 0.0 % (0.0 .. 0.0), 10 seeds; "
        "> 2 % would hold\n"
    )
    assert "why:" not in text
    assert {*nothing.built} == {0, 12}
    same = world(*[1.0] * 13, codes={12: "code 0"})
    assert "all 12 together: same code as step 0" in output_of(*same.command)
    assert same.runs == set()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--statement", "energy_per_work_j < 5"], "also holds for the kernel below the series"),
        (["--statement", "energy_j.totl > 1"], "'energy_j.totl': allowed: a measure: no 'totl'"),
        (["--statement", "migrations[cas] > 1"], "variant 'cas': allowed: base, patched"),
        (["--statement", "migrations == 1"], "runs cannot decide == and !="),
        (["--statement", "migrations >"], "character 13: found its end"),
        (["--energy", "2"], "--energy '2': allowed: a change such as +2%"),
        (["--energy", "+2%", "--seeds", "5"], "'5': allowed: an integer from 10 to 1000"),
        ([], "one of the arguments --statement --energy is required"),
    ],
)
def test_what_cannot_be_bisected_is_one_line(
    world: Callable[..., World], more: list[str], words: str
) -> None:
    done = inside(*world(*PLANTED, more=more).command)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr.splitlines()[-1]


def test_unknown_series_are_one_line() -> None:
    where = ["--platform", "juno-r2", "--scenario", "smoke"]
    for command in (["ladder", "fec"], ["bisect", "fec", "--energy", "+2%"]):
        assert "'fec': no such series or file (did you mean feec?)" in refused(*command, *where)
