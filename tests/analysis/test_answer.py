# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer in a sentence that respects its interval, verdicts that do, and the glance."""

import dataclasses
import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.answer import answers
from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.compare_text import text as text_of
from eascope.analysis.derive import Derived
from eascope.analysis.glance import LINES, Glance, everything, glance, glance_of, glance_text
from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.result import Deadlines
from eascope.analysis.records.verdict import ENOUGH_FOR_VERDICT
from eascope.analysis.statistics import ENOUGH
from eascope.configs.platform import Platform
from tests.support.records import kernel_record, task_record
from tests.support.stated import stated


def with_energy(run: Derived, total: float, **more: Any) -> Derived:
    energy = dataclasses.replace(run.result.energy_j, total=total)
    result = dataclasses.replace(run.result, energy_j=energy, **more)
    return dataclasses.replace(run, result=result)


def of_energies(platform: Platform, **totals: list[float]) -> Comparison:
    """Made-up runs with these energies in J by variant and seed."""
    runs = {
        name: [with_energy(stated(name, seed), total) for seed, total in enumerate(values)]
        for name, values in totals.items()
    }
    return comparison(platform, runs)


BASE = [0.2 + 0.001 * seed for seed in range(ENOUGH_FOR_VERDICT)]


MORE = [value * (1.1 if seed % 2 else 1.05) for seed, value in enumerate(BASE)]


ENERGIES = {
    "more": {"mainline": BASE, "cas": MORE},
    "less": {"cas": MORE, "mainline": BASE},
    "ten seeds": {"mainline": BASE[:ENOUGH], "cas": [1.1 * value for value in BASE[:ENOUGH]]},
    "the same": {"mainline": BASE, "cas": BASE},
    "zero in the interval": {
        "mainline": BASE,
        "cas": [value * (1.02 if n % 2 else 0.99) for n, value in enumerate(BASE)],
    },
    "one seed": {"mainline": BASE[:1], "cas": [2 * BASE[0]]},
    "too few seeds": {
        "mainline": BASE[: ENOUGH - 1],
        "cas": [2 * value for value in BASE[: ENOUGH - 1]],
    },
    "a third variant": {"mainline": BASE, "cas": BASE, "sum": [2 * value for value in BASE]},
}


@pytest.mark.parametrize("case", ENERGIES)
def test_the_answer(platform: Platform, case: str, snapshot: SnapshotAssertion) -> None:
    assert answers(of_energies(platform, **ENERGIES[case])) == snapshot


def test_an_answer_per_work_names_it(platform: Platform) -> None:
    """Energies that differ by as much as work: not those of the window are alike."""
    runs = {
        name: [
            with_energy(stated(name, seed), factor * total, work=factor, energy_per_work_j=total)
            for seed, total in enumerate(BASE)
        ]
        for name, factor in (("mainline", 1.0), ("cas", 1.1))
    }
    (words,) = answers(comparison(platform, runs))
    assert words.startswith("cas vs mainline: energy per s of work +0.0 % (")
    assert words.endswith("): no significant difference")


def test_a_run_alone(platform: Platform, snapshot: SnapshotAssertion) -> None:
    said: list[str] = []
    changes: list[dict[str, Any]] = [{"eas": True, "missed_deadlines": 0}, {"deadlines": {}}]
    for result in ({"eas": False}, *changes):
        run = with_energy(stated("cas", 0), 0.25, **result)
        said += answers(comparison(platform, {"cas": [run]}))
    assert said == snapshot


TASKS = [f"task{number}" for number in range(20)]


def crowded(name: str, seed: int, unfinished: int, **cell: Any) -> Derived:
    """A run of twenty tasks, of which so many miss all deadlines."""
    run = stated(name, seed)
    result = dataclasses.replace(
        run.result,
        latency_us=dict.fromkeys(TASKS, run.result.latency_us["decode"]),
        run_share={task: {"little": 1.0} for task in TASKS},
        deadlines=dict.fromkeys(TASKS[:unfinished], Deadlines(60, 60, 0, 60)),
    )
    of = dataclasses.replace(run.cell, tasks=tuple(map(task_record, TASKS)), **cell)
    return dataclasses.replace(run, cell=of, result=result)


@pytest.mark.parametrize("unfinished", [0, 20])
def test_a_glance_has_at_most_its_lines(platform: Platform, unfinished: int) -> None:
    """However much there is to say; two lines are left for the caller's."""
    expect = tuple(Expectation("cas", f"energy_j.total > {n}", "s") for n in range(20))
    source = {"source": "KERNEL_SRC", "source_sha256": "ab" * 32}
    kernel = kernel_record("base", "6.12.1", **source)
    other = kernel_record("sum", "6.12.1", **source)

    def run(name: str, seed: int) -> Derived:
        return crowded(
            *(name, seed, unfinished),
            expect=expect if name == "cas" else (),
            set_otherwise=("measured-speeds",),
            kernel=kernel if name == "mainline" or not unfinished else other,
        )

    large = comparison(
        platform, {n: [run(n, seed) for seed in range(10)] for n in ("mainline", "cas")}
    )
    lines = glance(large).splitlines()
    assert len(lines) == LINES - 2
    assert lines[0] == answers(large)[0]
    whose = "mainline" if unfinished else "mainline, cas"
    assert f"kernel of {whose}: 6.12.1-eascope-base from KERNEL_SRC, digest abababababab" in lines
    shown = 2
    assert sum(line.startswith("wake-up latency of task") for line in lines) == shown
    assert f"every measure and {20 - shown} more tasks and " in lines[-1]
    noted = [line for line in lines if "deadlines under" in line]
    assert bool(noted) is bool(unfinished)
    if unfinished:
        assert f"{40 - len(noted)} more warnings: see --all" in lines
    small = comparison(
        platform, {n: [stated(n, seed) for seed in range(10)] for n in ("mainline", "cas")}
    )
    text = glance(small)
    assert "--all prints every measure;" in text
    assert "wake-up latency of decode, p50/p95/p99  us    12.5/40.2/99.0" in text
    assert "claim (cas): missed_deadlines < 1 -- undecided: 3 (3 .. 3), only 10 of the" in text
    assert everything(small) == f"{answers(small)[0]}\n\n{text_of(small)}"
    # As a record keeps it, it prints the same.
    kept = Glance.decode(json.loads(glance_of(small).to_bytes()), "kept")
    assert glance_text(kept) == text


@pytest.mark.parametrize("count", [3, 6, 12])
@pytest.mark.parametrize("unfinished", [0, 20])
def test_a_glance_of_many_variants_has_no_more_lines(
    platform: Platform, count: int, unfinished: int
) -> None:
    def run(name: str, seed: int) -> Derived:
        expect = (Expectation(name, "energy_j.total > 1", "s"),)
        return crowded(name, seed, unfinished, expect=expect)

    names = ["mainline", *(f"v{number}" for number in range(1, count))]
    many = comparison(platform, {name: [run(name, seed) for seed in range(10)] for name in names})
    lines = glance(many).splitlines()
    assert len(lines) <= LINES - 2
    assert lines[0] == answers(many)[0]
    shown = sum(line in answers(many) for line in lines)
    more = count - 1 - shown
    assert (f"{more} more variants: see --all" in lines) is (more > 0)
    assert set(answers(many)) <= set(everything(many).splitlines())


def test_no_star_stands_at_a_zero(juno: Platform) -> None:
    def moved(variant: str, seed: int) -> Derived:
        run_record = stated(variant, seed)
        share = 0.500001 if variant == "cas" else 0.5
        work = {"little": 1.0 - share, "big": share}
        return dataclasses.replace(
            run_record, result=dataclasses.replace(run_record.result, work_share=work)
        )

    shown = comparison(
        juno, {n: [moved(n, seed) for seed in range(10)] for n in ("mainline", "cas")}
    )
    [line] = [line for line in glance(shown).splitlines() if line.startswith("work on big")]
    assert line.split()[-1] == "0.0"
