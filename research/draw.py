# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.draw``: the pages of ``docs/results``, from what a person wrote and records.

``research/NAME/page.md`` is a Jinja template. Its names are the study's records: ``record`` for
``record.json``, and those that ``[records]`` of ``study.toml`` names. A table of a record is
``{"columns": [...], "rows": [[...], ...]}``; a page sees it as a list of rows.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import jinja2

from eascope.analysis.known.origin import Origin, older
from eascope.analysis.records.verdict import HOLDS, NOT_CURRENT, REFUTED, UNDECIDED
from eascope.analysis.verdict_text import printed
from eascope.experiments.scenario.sources import stated
from eascope.host.cache import write_atomic
from eascope.host.errors import RequestError, check_names
from eascope.host.proc import Ending, say
from eascope.host.strict import shown_path
from research.plan import (
    ROOT,
    SOURCE,
    STUDIES,
    Study,
    file_of,
    files_of,
    meaning,
    plan_of,
    planned_statements,
    read_file,
    scenario_table,
)

PAGES = ROOT / "docs" / "results"
#: What a study has besides its plan: its page, and what was measured.
PAGE, RECORD = "page.md", "record.json"
#: The page that lists all others.
INDEX = "README"
_INDEX_HEAD = (STUDIES / "index.md").read_text(encoding="utf-8")

PRINTED = printed(HOLDS)
#: A row of a record's table.
Row = Mapping[str, Any]


def studies() -> list[str]:
    """The names of all studies, which are those of their pages."""
    return sorted(path.parent.name for path in STUDIES.glob(f"*/{PAGE}"))


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

    Verdicts on other wordings are left out. Those that are not measured yet, or not since their
    scenario's setup changed, or without the variant under which they must fail, say so.
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
    verdicts, setups = [], files_of(plan)
    origins = record.get("origins", ())
    ran = {file: made for one in origins for file, made in one.get("files", {}).items()}
    cells = {tuple(each[key] for key in keys[:4]) for each in record.get("cells", [])}
    for head, release, entry in planned:
        key = (*head, entry["variant"] + release, entry["statement"])
        file = file_of("experiments/scenarios", head[1])
        found = {"verdict": NOT_CURRENT, **had.get(key, {})}
        bad = {(*head, name + release) for name in entry.get("fails_under", ())}
        if ran.get(file, setups[file]) != setups[file] or not bad <= cells:
            found["verdict"] = NOT_CURRENT
        of = {**dict(zip(keys, key, strict=True)), **none, **found}
        verdicts.append({**of, "source": entry["source"], "states": entry.get("states", 0)})
    return {**record, "verdicts": verdicts}


def read(path: Path) -> Any:  # noqa: ANN401 - JSON
    """A file of JSON or TOML: its tables as lists of rows, verdicts as they are printed."""
    return _seen(read_file(path))


def _seen(value: Any) -> Any:  # noqa: ANN401 - JSON
    """``value`` with its tables as lists of rows."""
    if isinstance(value, list):
        return [_seen(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"columns", "rows"}:
        found = [dict(zip(value["columns"], row, strict=True)) for row in value["rows"]]
        return [row | {key: printed(row[key]) for key in row.keys() & {"verdict"}} for row in found]
    return {name: _seen(inner) for name, inner in value.items()}


def drawn(study: Path, records: Mapping[str, Any] | None = None) -> str:
    """The page of a study.

    :param records: in the place of those of the study.
    :raises RequestError: one line: what the page names and no record has.
    """
    try:
        text = template(PAGE, study).render(records or records_of(study))
    except jinja2.TemplateSyntaxError as error:
        where = f"{shown_path(study / PAGE)}, line {error.lineno}"
        raise RequestError(f"{where}: not a Jinja template: {error.message}") from error
    except (jinja2.UndefinedError, KeyError) as error:
        raise RequestError(
            f"{shown_path(study / PAGE)}: {error}; expected names of its records"
        ) from error
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def template(name: str, *folders: Path) -> jinja2.Template:
    """A template of a study's folder or of this one, with the filters of this file."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, STUDIES]),
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
    return environment.get_template(name)


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
    for entry in scenario_table(file).get("expect", []):
        of = (verdict["variant"].partition("@")[0], verdict["statement"])
        if (entry["variant"], entry["statement"]) == of and entry.get("size_of", 1) == 1:
            found: float | None = entry.get("size_percent", entry.get("size"))
            return found
    return None


def of_sources(document: str, *verdicts: Sequence[Row]) -> dict[str, int]:
    """How many sentences of a document there are, and what runs say of them.

    A sentence holds where all of its statements do, and is refuted where one is: under the
    conditions of its source, where it has runs under these.
    """
    found: dict[str, int] = dict.fromkeys((PRINTED, REFUTED, UNDECIDED, NOT_CURRENT, "untested"), 0)
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
    if not words or NOT_CURRENT in words:
        return NOT_CURRENT
    return PRINTED if words == {PRINTED} else UNDECIDED


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
    if all_series := older(known.patches):
        words += f" These results predate the current revision of: {', '.join(all_series)}."
    elif not known.patches and "kernel" in known.versions:
        words += " Their patches are not known."
    changed = [
        Path(file).stem
        for file, digest in known.files.items()
        if not (ROOT / file).is_file() or meaning(ROOT / file) != digest
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
