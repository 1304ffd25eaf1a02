# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.draw``: the pages of ``docs/results``, from what a person wrote and records.

``research/NAME/page.md`` is a Jinja template. Its names are the study's records: ``record`` for
``record.json``, and those that ``[records]`` of ``study.toml`` names. A table of a record is
``{"columns": [...], "rows": [[...], ...]}``; a page sees it as a list of rows.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import jinja2

from eascope.analysis.known.origin import Origin, older
from eascope.analysis.records.verdict import REFUTED, SHOWN, UNDECIDED
from eascope.analysis.statement import parse
from eascope.configs.knobs import AXES
from eascope.configs.platform_file import load_platform
from eascope.engines.registry import DEFAULT_ENGINE
from eascope.experiments.controls import AS_IT_IS, Controls
from eascope.experiments.runs.request import Request
from eascope.experiments.scenario.conditions import conditions_of
from eascope.experiments.scenario.names import path_of
from eascope.experiments.scenario.sources import stated
from eascope.host.cache import digest_of, write_atomic
from eascope.host.errors import RequestError, check_names
from eascope.host.proc import Ending, say
from eascope.host.record import Record
from eascope.host.strict import shown_path

ROOT = Path(__file__).resolve().parents[1]
STUDIES = ROOT / "research"
PAGES = ROOT / "docs" / "results"
#: What a study has: its plan, its page, what was measured.
PLAN, PAGE, RECORD = "study.toml", "page.md", "record.json"
#: The page that lists all others.
INDEX = "README"
_INDEX_HEAD = (STUDIES / "index.md").read_text(encoding="utf-8")

#: In the place of a verdict on what no run of a record was asked.
NOT_YET = "not yet measured"
#: `Compared.conditions`.
SOURCE, USUAL = "source", "platform"

#: A row of a record's table.
Row = Mapping[str, Any]


def studies() -> list[str]:
    """The names of all studies, which are those of their pages."""
    return sorted(path.parent.name for path in STUDIES.glob(f"*/{PAGE}"))


@dataclass(frozen=True)
class Compared(Record):
    """Variants on scenarios; the first variant is the baseline of the others.

    :param conditions: `SOURCE` are those of a scenario's source, where it states some that this
        platform can have; `USUAL` are the platform's own.
    :param axes: model parameters whose values need runs of their own, and which are varied, too:
        those that the source leaves open.
    :param printed: measures that programs print, as ``hackbench.time_s``, or any other one.
    :param seeds: fewer than the study has, where a run takes minutes; 0: as many.
    :param engine: the same cells also run on this one, and only ``printed`` is recorded, of both
        engines; empty: on the default one alone, with everything that is measured.
    :param mode: of that engine; empty: its default.
    """

    platform: str
    scenarios: tuple[str, ...]
    variants: tuple[str, ...]
    conditions: tuple[str, ...] = (USUAL,)
    axes: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    seeds: int = 0
    engine: str = ""
    mode: str = ""


@dataclass(frozen=True)
class Study(Record):
    """A ``study.toml``.

    :param measured_by: the command that makes the record, where it is not `research.run`.
    :param seeds: of each variant of a comparison.
    :param records: further records of the page: file by name.
    """

    measured_by: str = ""
    seeds: int = 20
    records: Mapping[str, str] = field(default_factory=dict)
    comparison: tuple[Compared, ...] = ()


def plan_of(study: Path) -> Study:
    """The plan of a study.

    :raises RequestError: one line, when there is none or it is wrong.
    """
    return Study.decode(read_file(study / PLAN), study / PLAN)


@dataclass(frozen=True)
class StudyGroup:
    """A comparison of a plan on one scenario under one kind of conditions."""

    compared: Compared
    scenario: str
    conditions: str
    requests: Sequence[Request]

    @property
    def head(self) -> tuple[str, str, str]:
        """The first columns of its rows."""
        return (self.compared.platform, self.scenario, self.conditions)

    @property
    def release(self) -> str:
        """``@7.3`` where all variants are of that release: statements name variants without it."""
        releases = {name.partition("@")[2] for name in self.compared.variants}
        (only,) = releases if len(releases) == 1 else ("",)
        return f"@{only}" if only else ""


def asked(plan: Study) -> Iterator[StudyGroup]:
    """Every group of a plan, in its order.

    :raises RequestError: one line, when the plan names what there is not.
    """
    for compared in plan.comparison:
        platform = _platform(compared.platform).name
        check_names("axis of the plan", compared.axes, AXES)
        for scenario in compared.scenarios:
            of_source = _of_source(scenario, platform)
            for conditions in compared.conditions:
                if conditions not in (SOURCE, USUAL):
                    raise RequestError(
                        f"{PLAN}: conditions {conditions!r}: allowed: {SOURCE}, {USUAL}"
                    )
                controls = of_source if conditions == SOURCE else AS_IT_IS
                if conditions == SOURCE and controls == AS_IT_IS:
                    continue
                for engine in filter(None, (DEFAULT_ENGINE, compared.engine)):
                    mode = compared.mode or None if engine == compared.engine else None
                    of = Request(
                        compared.platform, "", scenario, engine, controls=controls, mode=mode
                    )
                    requests = [replace(of, variant=variant) for variant in compared.variants]
                    yield StudyGroup(compared, scenario, conditions, requests)


@cache
def _of_source(scenario: str, platform: str) -> Controls:
    """The conditions of a scenario's source, if it states some that this platform can have."""
    if "source_conditions" not in _scenario(path_of(scenario)):
        return AS_IT_IS
    had = conditions_of(scenario)
    return had.controls if had.platform in ("", platform) else AS_IT_IS


_platform = cache(load_platform)


def records_of(study: Path) -> dict[str, Any]:
    """The study's records by name, as its page sees them.

    :raises RequestError: one line, when a file is missing or is no JSON.
    """
    plan = plan_of(study)
    files = {name: ROOT / file for name, file in plan.records.items()}
    if (study / RECORD).is_file():
        files["record"] = study / RECORD
    plans = {"record": plan}
    plans |= {
        name: plan_of(path.parent) for name, path in files.items() if path.parent.parent == STUDIES
    }
    return {name: as_stated(read(path), plans.get(name, Study())) for name, path in files.items()}


def as_stated(record: Any, plan: Study) -> Any:  # noqa: ANN401 - JSON
    """A record with the verdicts on what its plan's scenarios state today.

    Verdicts on other wordings are left out. Those that are not measured yet say so.
    """
    planned = list(planned_statements(plan))
    if not planned or not isinstance(record, dict):
        return record
    keys = ("platform", "scenario", "conditions", "variant", "statement")
    had = {tuple(each[key] for key in keys): each for each in record.get("verdicts", [])}
    none: dict[str, Any] = {
        "effect": None,
        "low": None,
        "high": None,
        "unit": "",
        "also_shown_of": [],
    }
    verdicts = []
    for head, release, entry in planned:
        key = (*head, entry["variant"] + release, entry["statement"])
        of = {**dict(zip(keys, key, strict=True)), **none, "verdict": NOT_YET, **had.get(key, {})}
        verdicts.append({**of, "source": entry["source"], "states": entry.get("states", 0)})
    return {**record, "verdicts": verdicts}


def planned_statements(
    plan: Study,
) -> Iterator[tuple[tuple[str, str, str], str, dict[str, Any]]]:
    """The statements whose variants a plan has, each once.

    :returns: platform, scenario and conditions; ``@7.3`` where all variants are of that release;
        the scenario's table.
    """
    seen = set()
    for group in asked(plan):
        if group.compared.engine:
            continue
        has = {name.removesuffix(group.release) for name in group.compared.variants}
        file = _scenario(ROOT / file_of("experiments/scenarios", group.scenario))
        for entry in file.get("expect", []):
            key = (*group.head, group.release, entry["variant"], entry["statement"])
            named = {entry["variant"], *parse(entry["statement"]).variants}
            if named <= has and key not in seen:
                seen.add(key)
                yield group.head, group.release, entry


def read(path: Path) -> Any:  # noqa: ANN401 - JSON
    """A file of JSON or TOML, with its tables as lists of rows."""
    return _seen(read_file(path))


def read_file(path: Path) -> Any:  # noqa: ANN401 - JSON
    """A file of JSON or TOML.

    :raises RequestError: one line, when it is missing or is neither.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise RequestError(f"{shown_path(path)}: {error.strerror}: allowed: a file") from error
    except ValueError as error:
        raise RequestError(f"{shown_path(path)}: {error}: allowed: JSON or TOML") from error


def _seen(value: Any) -> Any:  # noqa: ANN401 - JSON
    """``value`` with its tables as lists of rows."""
    if isinstance(value, list):
        return [_seen(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"columns", "rows"}:
        return [dict(zip(value["columns"], row, strict=True)) for row in value["rows"]]
    return {name: _seen(inner) for name, inner in value.items()}


def files_of(plan: Study) -> dict[str, str]:
    """Digests of a plan's platforms and scenarios, by file."""
    names = {("configs/platforms", each.platform) for each in plan.comparison}
    names |= {
        ("experiments/scenarios", name) for each in plan.comparison for name in each.scenarios
    }
    files = sorted(file_of(*name) for name in names)
    return {file: meaning((ROOT / file).read_text(encoding="utf-8")) for file in files}


def file_of(room: str, name: str) -> str:
    """The file of a platform or scenario, which ``name`` is itself where it is a person's own."""
    return name if name.endswith(".toml") else f"{room}/{name}.toml"


def meaning(text: str) -> str:
    """A digest of what a TOML file has but descriptions, sources and statements."""
    return digest_of({"file": _without_words(tomllib.loads(text))})[:16]


def _without_words(value: Any) -> Any:  # noqa: ANN401 - TOML
    if isinstance(value, list):
        return [_without_words(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    words = re.compile(r"(.*_)?sources?|summary|loads|expect")
    return {key: _without_words(inner) for key, inner in value.items() if not words.fullmatch(key)}


def drawn(study: Path, records: Mapping[str, Any] | None = None) -> str:
    """The page of a study.

    :param records: in the place of those of the study.
    :raises RequestError: one line: what the page names and no record has.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([study, STUDIES]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    filters = (fixed, signed, change, verb, effect, size, rows, row, values, worst, median, origin)
    environment.filters |= {function.__name__: function for function in filters}
    environment.globals["of_sources"] = of_sources
    environment.tests["ours"] = lambda source: source.startswith("ours")
    try:
        text = environment.get_template(PAGE).render(records or records_of(study))
    except jinja2.TemplateSyntaxError as error:
        where = f"{shown_path(study / PAGE)}, line {error.lineno}"
        raise RequestError(f"{where}: {error.message}: allowed: a Jinja template") from error
    except (jinja2.UndefinedError, KeyError) as error:
        raise RequestError(
            f"{shown_path(study / PAGE)}: {error}: allowed: names of its records"
        ) from error
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def fixed(value: float, digits: int = 1) -> str:
    """``value`` with so many digits after the point; without a minus before zeros."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def signed(value: float, digits: int = 1) -> str:
    """The same with its sign."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def change(cell: Row | None, digits: int = 1) -> str:
    """``-9.6 (-9.8..-9.4)``: a row's ``change`` in percent with its interval, if there is one."""
    if cell is None or cell["change"] is None:
        return ""
    ends = (cell["low"], cell["high"])
    known = "" if None in ends else f" ({'..'.join(signed(end, digits) for end in ends)})"
    return signed(cell["change"], digits) + known


def verb(of: Row | float | str, down: str = "falls", up: str = "rises") -> str:
    """``falls by 56.2 % (-58.0..-54.2)``, of a row or a percentage; ``rises 27-fold`` above 3.

    Where the interval has zero in it, ``does not change clearly (-2.1 %, -5.0..+0.7)``.
    """
    cell: Row = of if isinstance(of, Mapping) else {"change": float(of), "low": None, "high": None}
    percent = cell["change"]
    word, times = down if percent < 0 else up, 1 + percent / 100
    if times > 3:
        return f"{word} {times:.{0 if times > 10 else 1}f}-fold"
    if cell["low"] is not None and cell["high"] is not None and cell["low"] <= 0 <= cell["high"]:
        return f"does not change clearly ({change(cell).replace(' (', ' %, ')}"
    interval = change(cell).removeprefix(signed(percent))
    return f"{word} by {fixed(abs(percent))} %{interval}"


def effect(verdict: Row) -> str:
    """The effect of a statement with its interval and unit."""
    if verdict["effect"] is None:
        return ""
    ends = (verdict["low"], verdict["high"])
    known = "" if None in ends else f" ({'..'.join(fixed(end) for end in ends)})"
    return f"{fixed(verdict['effect'])}{known} {verdict['unit']}".rstrip()


def size(verdict: Row) -> float | None:
    """The size that a statement's source measured, in the unit of its effect; none if unstated."""
    file = ROOT / file_of("experiments/scenarios", verdict["scenario"])
    for entry in _scenario(file).get("expect", []):
        of = (verdict["variant"].partition("@")[0], verdict["statement"])
        if (entry["variant"], entry["statement"]) == of and entry.get("size_of", 1) == 1:
            found: float | None = entry.get("size_percent", entry.get("size"))
            return found
    return None


@cache
def _scenario(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def of_sources(document: str, *verdicts: Sequence[Row]) -> dict[str, int]:
    """How many sentences of a document there are, and what runs say of them.

    A sentence is shown where all of its statements are, and refuted where one is: under the
    conditions of its source, where it has runs under these.
    """
    found: dict[str, int] = dict.fromkeys((SHOWN, REFUTED, UNDECIDED, NOT_YET, "untested"), 0)
    for number, sentence in stated().items():
        if sentence.document == document:
            every = [row for table in verdicts for row in table if row.get("states") == number]
            under = [row for row in every if row["conditions"] == SOURCE] or every
            found["untested" if sentence.untested else _together(under)] += 1
    return {"all": sum(found.values()), **found}


def _together(verdicts: Sequence[Row]) -> str:
    words = {UNDECIDED if row["also_shown_of"] else row["verdict"] for row in verdicts}
    if REFUTED in words:
        return REFUTED
    if not words or NOT_YET in words:
        return NOT_YET
    return SHOWN if words == {SHOWN} else UNDECIDED


def rows(table: Iterable[Row], **where: object) -> list[Row]:
    """The rows that have these values."""
    return [item for item in table if all(item[name] == value for name, value in where.items())]


def row(table: Iterable[Row], **where: object) -> Row:
    """The only row that has these values.

    :raises RequestError: there is none, or more than one.
    """
    fitting = rows(table, **where)
    if len(fitting) != 1:
        raise RequestError(f"{len(fitting)} rows have {where}; expected one")
    return fitting[0]


def values(table: Iterable[Row], *keys: str) -> list[Any]:
    """What each row has below these keys; rows that lack one are left out."""
    inner: list[Any] = list(table)
    for key in keys:
        inner = [entry[key] for entry in inner if key in entry]
    return inner


def worst(numbers: Iterable[float | None]) -> float:
    """The size of the largest of these numbers, whatever its sign."""
    return max(abs(number) for number in numbers if number is not None)


def origin(origin_record: Mapping[str, Any]) -> str:
    """The origin of a record in words."""
    known = Origin.decode(origin_record, RECORD)
    versions = ", ".join(f"{name} {version}" for name, version in known.versions.items())
    words = f"Made by `{known.command}`, from {known.made_from}"
    words += f" ({versions})." if versions else "."
    if queues := older(known.patches):
        words += f" These results predate the current revision of: {', '.join(queues)}."
    elif not known.patches and "kernel" in known.versions:
        words += " Their patches are not known."
    changed = [
        Path(file).stem
        for file, digest in known.files.items()
        if not (ROOT / file).is_file() or meaning((ROOT / file).read_text()) != digest
    ]
    if changed:
        words += f" Changed since then: {', '.join(changed)}."
    return " ".join(
        [words, *(f"{remark[:1].upper()}{remark[1:].rstrip('.')}." for remark in known.remarks)]
    )


def section(page: str, title: str) -> str:
    """The first paragraph of a section, in one line."""
    text = re.search(rf"^## {title}\n\n(.*?)(?:\n\n|\Z)", page, re.MULTILINE | re.DOTALL)
    if text is None:
        raise RequestError(f"a page without a section {title!r}; Question and Answer come first")
    return " ".join(text[1].split())


def index(pages: Mapping[str, str]) -> str:
    """The list of pages: question, answer, page."""
    lines = [_INDEX_HEAD.rstrip("\n"), "", "| question | answer | page |", "|---|---|---|"]
    for name, text in pages.items():
        title = text.partition("\n")[0].removeprefix("# ")
        answers = [section(text, heading) for heading in ("Question", "Answer")]
        lines.append(f"| {' | '.join(answers)} | [{title}]({name}.md) |")
    return "\n".join(lines) + "\n"


def every_page() -> dict[str, str]:
    """All pages of ``docs/results``, by name."""
    pages = {name: drawn(STUDIES / name) for name in studies()}
    return {**pages, INDEX: index(pages)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the named pages (default: all)."""
    parser = argparse.ArgumentParser(
        prog="python -m research.draw",
        description=main.__doc__,
        epilog="example: python -m research.draw uclamp",
    )
    parser.add_argument("page", nargs="*", help=", ".join([*studies(), INDEX]))
    options = parser.parse_args(arguments)
    with Ending() as ending:
        check_names("page", options.page, [*studies(), INDEX])
        for name, text in every_page().items():
            if not options.page or name in options.page:
                write_atomic(PAGES / f"{name}.md", text.encode())
                say(f"  {shown_path(PAGES / name)}.md")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
