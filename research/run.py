# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.run NAME``: a study's comparisons as its plan says; its record, its page.

Complete runs are never repeated, so an interrupted command continues where it was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from eascope.analysis.compare import Comparison, Line
from eascope.analysis.derive import Derived
from eascope.analysis.known.origin import record_bytes
from eascope.analysis.ranges import PERCENT_CHANGE, cut, ranges_of
from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.verdict import NOT_MEASURED, Verdict
from eascope.analysis.reply import Outcome
from eascope.analysis.robust import AtValue
from eascope.analysis.rows import PER_WORK, PROGRAM, WORK
from eascope.analysis.statement import parse
from eascope.configs.knobs import axis_words
from eascope.experiments.arguments import count
from eascope.experiments.renew.origins import origin_of, write_record
from eascope.experiments.runs import measure
from eascope.experiments.runs.axes import BILLING_AXES, cases_of
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.measure import Group, seeded
from eascope.experiments.runs.request import resolve
from eascope.host.errors import Again, RequestError, check_names
from eascope.host.proc import Ending, say
from research.draw import RECORD
from research.plan import (
    PLAN,
    STUDIES,
    Study,
    StudyGroup,
    asked,
    file_of,
    files_of,
    plan_of,
    read_file,
)

#: Digits of a record's numbers.
DIGITS = 6
#: Columns of a record's tables; `record_of` says what they are.
_HEAD = ("platform", "scenario", "conditions", "variant")
TABLES = {
    "cells": (
        *(*_HEAD, "baseline", "energy_mj", "per", "change", "low", "high"),
        *("assumed_low", "assumed_high", "assumed_by", "work"),
        *("latency_p95_us", "latency_of", "migrations", "missed", "overutilized", "checked"),
    ),
    "axes": (*_HEAD, "axis", "value", "energy_mj", "change", "low", "high"),
    "by_seed": (*_HEAD, "energy_mj"),
    "verdicts": (
        *(*_HEAD, "statement", "source", "verdict"),
        *("effect", "low", "high", "unit", "also_shown_of"),
    ),
    "printed": (*_HEAD, "measure", "mean", "change", "low", "high"),
    "engines": (*_HEAD[:3], "engine", "variant", "measure", "mean", "change", "low", "high"),
}


def compare(plan: Study) -> list[tuple[StudyGroup, Comparison]]:
    """Every group of a plan with its comparison; executes missing runs.

    Each is compared at every value of the model axes that need no run, too.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    groups = list(asked(plan))
    if not groups:
        raise RequestError(f"{PLAN}: no [[comparison]]")
    while True:
        try:
            done = measure.compare([_group(each, plan) for each in groups])
            return list(zip(groups, done, strict=True))
        except Again as again:  # a trace did not fit; now its cell has larger buffers
            say(f"  {again}")


def _group(group: StudyGroup, plan: Study) -> Group:
    firsts, billing = [resolve(request) for request in group.requests], BilledBy()
    expect = firsts[0].scenario.expect
    return Group(
        seeded(firsts, min(group.compared.seeds or plan.seeds, plan.seeds)),
        billing,
        cases_of(firsts, billing, (*BILLING_AXES, *group.compared.robust), named=False),
        rename=partial(without_release, release=group.release, expect=expect),
    )


def without_release(run: Derived, release: str, expect: Sequence[Expectation]) -> Derived:
    """A run of a release under its variant's name, with the statements that name it so.

    :param expect: the scenario's statements, which are of every release.
    """
    if not release:
        return run
    variant = run.cell.variant.removesuffix(release)
    stated = tuple(statement for statement in expect if statement.variant == variant)
    return replace(run, cell=replace(run.cell, variant=variant, expect=stated))


def record_of(done: Sequence[tuple[StudyGroup, Comparison]], command: str) -> dict[str, Any]:
    """The record: its origin and its tables.

    ``cells`` has a variant's means over seeds. ``change`` is that of its energy from the
    baseline's, in percent with its 95 % interval; where variants did other work, of the energy of a
    unit of work, which ``per`` names. ``assumed_low`` and ``assumed_high`` are its range over the
    model axes that need no run, and ``assumed_by`` the axes at the ends; ``checked`` is the row of
    ``eascope check`` from the energy on, and its notes. ``axes`` has the change at each value of
    the plan's own axes. ``by_seed`` has the energy of each seed. ``engines`` has the
    printed measures of comparisons that ran on two of them.
    """
    rows: dict[str, list[list[Any]]] = {name: [] for name in TABLES}
    for group, result in done:
        head, release, printed = group.head, group.release, group.compared.printed
        if group.compared.engine:
            rows["engines"] += [
                [*head, result.cell.engine, *row] for row in _printed(result, printed)
            ]
            continue
        for name in result.names:
            cell = [*head, name + release, result.baseline + release, *_cell(result, name)]
            energies = [*head, name + release, list(result.total.values[name].values())]
            rows["cells"] += [cell] if cell not in rows["cells"] else []
            rows["by_seed"] += [energies] if energies not in rows["by_seed"] else []
            for at in result.assumed:
                if isinstance(at, AtValue) and at.axis in group.compared.robust:
                    where = [*head, name + release, axis_words(at.axis), at.value]
                    rows["axes"] += [[*where, *_energy(at.compared, name)]]
        for verdict in map(verdict_row, filter(partial(_ran, result), result.verdicts)):
            row = [*head, verdict[0] + release, *verdict[1:]]
            rows["verdicts"] += [row] if row not in rows["verdicts"] else []
        rows["printed"] += [[*head, *row] for row in _printed(result, printed)]
    runs = [run for _, result in done for some in result.variants.values() for run in some]
    first = done[0][1]
    record = {
        "origins": [origin_of(command, [run.cell for run in runs]).encode()],
        "seeds": max(len(result.seeds) for _, result in done),
        "duration": first.cell.duration,
        "power": {result.cell.platform: result.power_model.name for _, result in done},
    }
    return record | {name: table(TABLES[name], some) for name, some in rows.items() if some}


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """A table of a record, with numbers of `DIGITS` digits."""
    return {"columns": list(columns), "rows": [_rounded(list(row)) for row in rows]}


def _rounded(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _cell(result: Comparison, name: str) -> Iterator[Any]:
    """The columns of ``cells`` after variant and baseline."""
    energy, *change = _energy(result, name)
    yield energy
    yield result.cell.work.unit if result.primary is not result.total else ""
    yield from change
    ends = None if name == result.baseline else result.span(name)
    yield from (end.percent for end in ends) if ends else (None, None)
    yield [end.axis for end in ends or ()]
    yield _change(result.line(*WORK), result, name)[0]
    latencies = {
        task: value
        for task in result.tasks
        if (value := _mean(result.line("latency_us", task, "p95"), name)) is not None
    }
    worst = max(latencies, key=lambda task: latencies[task], default="")
    yield latencies.get(worst)
    yield worst
    yield _mean(result.line("migrations"), name)
    yield _mean(result.line("missed_deadlines"), name)
    yield _mean(result.line("overutilized_share"), name)
    row = None if name == result.baseline else Outcome(result, name)
    yield row and [*row.cells()[1:], *row.notes]


def _energy(result: Comparison, name: str) -> tuple[float | None, ...]:
    """A variant's mean, and its change: of the energy of a unit of work where work differs."""
    per_work = result.primary is not result.total
    line = result.line(*PER_WORK) if per_work else result.total
    return (result.total.mean(name), *_change(line, result, name))


def _mean(line: Line | None, name: str) -> float | None:
    return None if line is None or not line.values.get(name) else line.mean(name)


def _change(line: Line | None, result: Comparison, name: str) -> tuple[float | None, ...]:
    """The difference from the baseline in percent and its interval."""
    diff = None if line is None or name == result.baseline else line.differences.get(name)
    if diff is None or diff.percent is None:
        return (None, None, None)
    ends = diff.in_percent()
    return (diff.percent, *([cut(end, PERCENT_CHANGE) for end in ends] if ends else (None, None)))


def _ran(result: Comparison, verdict: Verdict) -> bool:
    """True if all variants of a statement ran."""
    return {verdict.variant, *parse(verdict.statement).variants} <= {*result.names}


def verdict_row(verdict: Verdict) -> list[Any]:
    """The columns of ``verdicts`` after the conditions; the ends are possible ones.

    The effect is that of the comparison that decides.

    A statement on what its runs did not measure says so in the place of a verdict.
    """
    numbers: list[float | str | None] = [None, None, None, ""]
    at = slice(verdict.decisive, verdict.decisive + 1)
    for effect, possible in zip(verdict.effects[at], ranges_of(verdict)[at], strict=True):
        ends = (None if end is None else cut(end, possible) for end in (effect.low, effect.high))
        numbers = [effect.value, *ends, effect.unit]
    return [
        *(verdict.variant, verdict.statement, verdict.source),
        *(NOT_MEASURED if verdict.met is None else _word(verdict), *numbers),
        list(verdict.also_shown_of),
    ]


def _word(verdict: Verdict) -> str:
    """The verdict, with the model axes on which it depends."""
    return " ".join([verdict.verdict, " and ".join(map(axis_words, verdict.depends_on))]).rstrip()


def _printed(result: Comparison, measures: Sequence[str]) -> Iterator[list[Any]]:
    for line in result.lines:
        measure = ".".join(line.row.path).removeprefix(f"{PROGRAM}.")
        if measure in measures and not line.row.per_second:
            for name in result.names:
                if line.values.get(name):
                    mean = line.mean(name)
                    yield [name, measure, mean, *_change(line, result, name)]


def only(plan: Study, words: Sequence[str]) -> Study:
    """The comparisons of a plan that have one of these scenarios on the fast engine, or engines.

    :raises RequestError: one line, for a word that is neither.
    """
    known = [
        *(c.engine for c in plan.comparison),
        *(s for c in plan.comparison for s in c.scenarios),
    ]
    check_names("scenario or engine of the plan", words, sorted({*known} - {""}))
    chosen = (
        replace(c, scenarios=tuple(s for s in c.scenarios if (c.engine or s) in words))
        for c in plan.comparison
    )
    return replace(plan, comparison=tuple(c for c in chosen if c.scenarios))


def _scenarios(made: Mapping[str, Any]) -> set[str]:
    """The scenario files of an origin."""
    return {file for file in made.get("files", {}) if "/scenarios/" in file}


def renewed(old: Mapping[str, Any], new: Mapping[str, Any], plan: Study) -> dict[str, Any]:
    """``old`` with what ``new`` has of ``plan`` in the place of its own, and the origins of both.

    :raises RequestError: one line, when ``old`` has columns that there are no more.
    """
    heads = dict.fromkeys(group.head for group in asked(plan))
    order = {head: place for place, head in enumerate(heads)}
    command = new["origins"][0]["command"]
    tables: dict[str, Any] = {}
    still: set[str] = set()
    for name, columns in TABLES.items():
        made = [*new.get(name, {}).get("rows", [])]
        had = old.get(name, {"columns": [], "rows": []})
        if unknown := {*had["columns"]} - {*columns}:
            named = ", ".join(sorted(unknown))
            raise RequestError(f"{RECORD}: {name}: {named}: old columns; run it without --only")
        # What the old rows do not say is empty.
        named_rows = (dict(zip(had["columns"], row, strict=True)) for row in had["rows"])
        kept: list[list[Any]] = [[row.get(column) for column in columns] for row in named_rows]
        of = name if name == "engines" else "cells"
        fresh = {tuple(row[:3]) for row in new.get(of, {}).get("rows", [])}
        rows = [row for row in kept if tuple(row[:3]) in order.keys() - fresh]
        still |= {str(row[1]) for row in rows}
        if rows := rows + made:
            rows.sort(key=lambda row: order[tuple(row[:3])])
            tables[name] = table(columns, rows)
    # An old origin keeps a file, and stays, as long as it has rows of that file's, or of any.
    kept_files = {file_of("experiments/scenarios", scenario) for scenario in still}
    again = _scenarios(new["origins"][0]) - kept_files
    origins = [
        {**made, "files": {f: d for f, d in made.get("files", {}).items() if f not in again}}
        for made in old["origins"]
        if made["command"] != command and (not _scenarios(made) or _scenarios(made) & kept_files)
    ]
    return {
        **{"origins": origins + new["origins"], "seeds": max(old["seeds"], new["seeds"])},
        **{"duration": new["duration"], "power": old.get("power", {}) | new["power"]},
        **tables,
    }


def write(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record of a study."""
    data, versions = record_bytes(record), record["origins"][0]["versions"]
    write_record(path, data, versions, path.parent.name, "draw its page: make generate")


def study_command(
    name: str,
    measure: Callable[[str], Mapping[str, Any]],
    arguments: Sequence[str] | None,
    path: Path | None = None,
) -> int:
    """``python -m research.NAME``: write the record that ``measure`` gives; the exit code.

    :param path: of the record, where it is not that of the study of this name.
    """
    prog = f"python -m research.{name}"
    argparse.ArgumentParser(prog=prog, description=measure.__doc__).parse_args(arguments)
    with Ending() as ending:
        write(path or STUDIES / name.replace("_", "-") / RECORD, measure(prog))
    return ending.code


def main(arguments: list[str] | None = None) -> int:
    """Execute a study's missing runs and write its record."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(
        prog="python -m research.run",
        description=main.__doc__,
        epilog="example: python -m research.run uclamp --seeds 3",
    )
    parser.add_argument("study", help="a folder of research/, or any folder with a study.toml")
    parser.add_argument("--seeds", type=count, metavar="N", help="seeds 0..N-1 of each variant")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="WORD",
        help="comparisons of these scenarios, or on these engines; all others keep their rows",
    )
    options = parser.parse_args(given)
    with Ending() as ending:
        study = STUDIES / options.study
        study = study if study.is_dir() else Path(options.study)
        plan = plan_of(study)
        if plan.measured_by:
            raise RequestError(f"{options.study}: measured by: {plan.measured_by}")
        command = " ".join([parser.prog, *given])
        plan = replace(plan, seeds=options.seeds or plan.seeds)
        chosen = only(plan, options.only) if options.only else plan
        record = record_of(compare(chosen), command)
        record["origins"][0]["files"] = files_of(chosen)
        if options.only:
            record = renewed(read_file(study / RECORD), record, plan)
        write(study / RECORD, record)
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
