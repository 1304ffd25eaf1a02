# SPDX-License-Identifier: GPL-2.0-or-later
"""The report: one self-contained HTML page of a comparison, or of two runs.

It loads nothing, and its Content-Security-Policy forbids that. Its scripts draw the timeline and
zoom figures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from eascope.analysis import choice, decisions, run_diff_text, timeline
from eascope.analysis.answer import answers, clock_caption
from eascope.analysis.choice import Judged
from eascope.analysis.compare import Comparison, Line
from eascope.analysis.compare_json import verdict_json
from eascope.analysis.compare_text import SPREAD, interval_words, parts_tables, table
from eascope.analysis.energy_models import EnergyModels
from eascope.analysis.engine import engine_words, error_words
from eascope.analysis.glance import leading_lines
from eascope.analysis.records.cell import TaskRecord
from eascope.analysis.robust_text import expectation_lines, robust_table
from eascope.analysis.run_diff import RunDiff
from eascope.analysis.tables.tasks import OTHER
from eascope.analysis.verdict_text import counts, details, word
from eascope.analysis.warnings import warnings
from eascope.host.cache import write_atomic
from eascope.host.table import Column, Row, Table, TableCell

_STYLE = Path(__file__).with_name("report.css")
_ZOOM = Path(__file__).with_name("figures.js")

#: What the page may load: only what is in it.
_ALLOWED = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
)

_CAPTIONS = {
    "energy": "Energy of the window by cluster and component; the parts sum to the total exactly.",
    "stack": "Parts of each cluster's energy. A part has the energy of its McPAT events. The clock "
    "is a separate part, because McPAT has no clock tree.",
    "placement": "Where each thread ran: a stretch of the timeline on every CPU, and each CPU's "
    "share of the whole window.",
    "clock": "Clock of the cluster whose clock changes most often, in a part of the window that is "
    "short enough to show each change.",
    "frequency": "Clock of each cluster over time, and the share of the whole window "
    "at each OPP (idle time included).",
    "axes": "Difference in energy and its 95 % interval at every value of the model axes.",
}


def write(
    comparison: Comparison,
    figures: Mapping[str, Sequence[Path]],
    path: Path,
    *,
    models: EnergyModels | None = None,
    decided: Mapping[str, pl.DataFrame] | None = None,
    judged: Mapping[str, Judged] | None = None,
    diff: RunDiff | None = None,
) -> Path:
    """Write the report to ``path``; ``figures`` is what :func:`analysis.figures.write` returned.

    :param models: the same under the usual energy model, when the kernel was given another one.
    :param decided: decisions of EAS by variant, where runs recorded them.
    :param judged: whether they were right.
    :param diff: of the two runs of which the report has the timeline.
    """
    write_atomic(path, page(comparison, figures, models, decided, judged, diff).encode())
    return path


def page(
    comparison: Comparison,
    figures: Mapping[str, Sequence[Path]],
    models: EnergyModels | None = None,
    decided: Mapping[str, pl.DataFrame] | None = None,
    judged: Mapping[str, Judged] | None = None,
    diff: RunDiff | None = None,
) -> str:
    """The report as text; the same comparison gives the same text."""
    cell = comparison.cell
    title = f"{cell.scenario} on {cell.platform}: {', '.join(comparison.names)}"
    sections = [
        ("expectations", "Expectations", _expectations(comparison)),
        ("parts", "What the difference is made of", _parts(comparison)),
        ("why", "Where the runs of the first seed part", _why(diff) if diff else ""),
        ("decisions", "Why EAS chose a CPU", _decisions(decided or {}, judged or {})),
        ("axes", "Model range", _axes(comparison, figures)),
        ("figures", "Figures", _drawings(figures, clock_caption(comparison))),
        ("measures", "Measures", _measures(comparison)),
        ("timeline", "Timeline of the first seed", timeline.section(diff) if diff else ""),
        ("model", "The kernel's energy model", _energy_model(comparison, models)),
        ("seeds", "Values by seed", _seeds(comparison)),
        ("variants", "Variants", _variants(comparison)),
        ("controls", "Parameters and workload", _controls(comparison)),
        ("energy", "How energy is computed", _energy_notes(comparison)),
        ("provenance", "Provenance", _provenance(comparison)),
    ]
    shown = [entry for entry in sections if entry[2]]
    links = "".join(f'<a href="#{name}">{escape(head)}</a>' for name, head, _ in shown)
    body = "\n".join(
        f'<section id="{name}"><h2>{escape(head)}</h2>\n{content}</section>'
        for name, head, content in shown
    )
    body += f'\n<script type="application/json" id="answer">{_island(comparison)}</script>'
    return document(title, f"{_lead(comparison)}\n<nav>{links}</nav>", body)


def _island(comparison: Comparison) -> str:
    """Answer, verdicts and provenance for programs."""
    cell = comparison.cell
    facts = {
        "answer": answers(comparison),
        "verdicts": [
            {"variant": each.variant, **verdict_json(each)} for each in comparison.verdicts
        ],
        **{"kernel": cell.kernel.encode(), "engine": cell.engine_identity.encode()},
        "runs": {
            name: [run.cell.simkey for run in runs] for name, runs in comparison.variants.items()
        },
    }
    return json.dumps(facts).replace("<", "\\u003c")


def diff_page(diff: RunDiff, command: str) -> str:
    """What `eascope diff` says of two runs, and their timeline; the same runs give the same text.

    :param command: what repeats it.
    """
    variants = " against ".join(side.derived.cell.variant for side in (diff.a, diff.b))
    title = f"{run_diff_text.cells(diff)}: {variants}"
    seen = f'<section id="timeline"><h2>Timeline</h2>\n{timeline.section(diff)}</section>'
    body = f"{_diff_text(diff, command)}\n{seen}"
    return document(title, "", body)


def _diff_text(diff: RunDiff, command: str) -> str:
    return f'<pre class="wide">{escape(run_diff_text.text(diff, command))}</pre>'


def _why(diff: RunDiff) -> str:
    runs = (side.derived.run.name[:12] for side in (diff.a, diff.b))
    return _diff_text(diff, " ".join(("eascope diff", *runs)))


def document(title: str, lead: str, body: str) -> str:
    """A page of a title, what is said first as HTML, and sections."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_ALLOWED}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE.read_text()}</style></head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>\n{lead}</header>\n"
        f"{body}\n</body></html>\n"
    )


def _lead(comparison: Comparison) -> str:
    cell = comparison.cell
    window = comparison.variants[comparison.baseline][0].result.window_s
    seeds = len(comparison.seeds)
    elided = "busy loops elided" if cell.elide else "busy loops executed"
    lines = "<br>\n".join(f"{escape(line)}." for line in answers(comparison))
    lead = f'<p class="lead">{lines}</p>\n'
    if noted := warnings(comparison):
        items = "".join(f"<li>{escape(line)}.</li>" for line in noted)
        lead += f'<ul class="warnings">{items}</ul>\n'
    return lead + (
        f'<p class="note">Engine <b>{escape(engine_words(cell))}</b> '
        f"({escape(error_words(comparison.variants[comparison.baseline][0]))}; {elided}). "
        f"{escape(cell.duration).capitalize()} window of {window:.3f} s, "
        f"{seeds} seed{'s' if seeds != 1 else ''}. {_non_default_settings(comparison)}"
        f"{_spread_note(comparison)}</p>"
    )


def _non_default_settings(comparison: Comparison) -> str:
    words, source = comparison.non_default_settings, comparison.against_source
    text = f"Non-default settings: <b>{escape(words)}</b>. " if words else ""
    return text + (f"{escape(source[:1].upper() + source[1:])}. " if source else "")


def _spread_note(comparison: Comparison) -> str:
    seeds = len(comparison.seeds)
    if seeds < 2:
        return "Values only, no test."
    return f"{SPREAD} {interval_words(comparison)}"


def _parts(comparison: Comparison) -> str:
    return "".join(f"<p>{escape(head)}</p>{_wide(of)}" for head, of in parts_tables(comparison))


def _measures(comparison: Comparison) -> str:
    """Those that come first and those that differ; the others are folded."""
    first = leading_lines(comparison)
    names = comparison.names[1:]

    def seen(line: Line) -> bool:
        return line in first or any(comparison.starred(line, name) for name in names)

    shown = [line for line in comparison.lines if seen(line)]
    rest = [line for line in comparison.lines if not seen(line)]
    folded = _wide(table(comparison, rest))
    return (
        f"{_wide(table(comparison, shown))}<details><summary>{len(rest)} other measures, without a "
        f"significant difference</summary>{folded}</details>"
    )


def _expectations(comparison: Comparison) -> str:
    rows = []
    for verdict in comparison.verdicts:
        rows.append(
            (
                *(
                    TableCell(word(verdict), verdict.verdict),
                    verdict.variant,
                    TableCell(verdict.statement, "code"),
                ),
                *(details(verdict), TableCell(verdict.source, "note")),
            )
        )
    if not rows:
        return ""
    note = (
        f'<p class="note">Claims of the scenario\'s sources, tested with these runs. '
        f"{counts(comparison.verdicts)}.</p>"
    )
    return note + _words(("", "variant", "claim", "measured", "source"), rows)


def _energy_model(comparison: Comparison, models: EnergyModels | None) -> str:
    """The kernel's energy model, and the verdicts compared with those under the usual model."""
    given = comparison.cell.energy_model
    rows = [
        (
            *(cluster, f"{int(khz) / 1000:g}", f"{power / 1000:.1f}"),
            f"{comparison.platform.cluster(cluster).opp(int(khz)).power_uw / 1000:.1f}",
        )
        for cluster, by_khz in given.opp_microwatt.items()
        for khz, power in sorted(by_khz.items(), key=lambda item: int(item[0]))
    ]
    heads = ("cluster", "MHz", "given (mW of a busy CPU)", "published")
    table = _wide(Table.of(heads, rows))
    if models is None:
        return f"<details><summary>{escape(given.words)}</summary>{table}</details>"
    note = (
        f'<p class="note">The kernels of this report were given <b>{escape(models.words[1])}</b>; '
        "the energy of a run does not depend on it: it is computed with the same power.</p>"
    )
    return f"{note}{_wide(models.table)}<br>{table}"


def _axes(comparison: Comparison, figures: Mapping[str, Sequence[Path]]) -> str:
    """Differences and verdicts at every value of the model axes."""
    if not comparison.assumed:
        return ""
    note = (
        '<p class="note">The board\'s values on these model axes are unknown, so each axis is '
        "varied by itself. A claim holds only if it holds at every value. Extra runs are runs that "
        "only this value needs; a value that changes only energy accounting needs none.</p>"
    )
    lines = [*expectation_lines(comparison)]
    lines += [f"Not varied: {line}" for line in comparison.not_varied]
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    sources = [(at.axis, at.value, at.source) for at in comparison.assumed]
    return (
        f"{note}{_wide(robust_table(comparison))}<ul>{items}</ul>"
        f"{_figures([name for name in figures if name == 'axes'], figures)}"
        f"<details><summary>Sources of the values</summary>"
        f"{_words(('model axis', 'value', 'source'), sources)}</details>"
    )


def _decisions(decided: Mapping[str, pl.DataFrame], judged: Mapping[str, Judged]) -> str:
    """The number of decisions by criterion, whether they were right, and decisions one by one."""
    if not decided:
        return ""
    note = (
        '<p class="note">First seed. For each task EAS compares candidate CPUs. The reason is the '
        "first criterion by which the chosen CPU differs from the others. A candidate has its CPU, "
        "the kernel's estimate of the task's energy there (unit: cost times utilization), and its "
        "runnable tasks.</p>"
    )
    short, long = _wide(decisions.summary(decided)), _wide(decisions.listing(decided))
    head = f"The first {decisions.LISTED} of each variant about the scenario's tasks"
    right = (
        '<p class="note">Whether the choice was right, by the power model: how often the least '
        "estimate is not the least energy, how often another rule chose, and what each cost in "
        f"busy CPUs.</p>{_wide(choice.table(judged))}"
    )
    return f"{note}{short}{right}<details><summary>{head}</summary>{long}</details>"


def _drawings(figures: Mapping[str, Sequence[Path]], clock: str) -> str:
    drawn = _figures([name for name in figures if name != "axes"], figures, clock)
    if not drawn:
        return ""
    note = "A drag or + enlarges a part of a figure, a double click or Esc ends that."
    return f'<p class="note">{note}</p>{drawn}\n<script>\n{_ZOOM.read_text()}</script>'


def _figures(names: Sequence[str], figures: Mapping[str, Sequence[Path]], clock: str = "") -> str:
    """Those of ``names``, in the order of their captions.

    :param clock: what the caption of the clock says besides.
    """
    order = [name for name in _CAPTIONS if name in names]
    order += [name for name in names if name not in _CAPTIONS]
    parts = []
    for name in order:
        svg = next(path for path in figures[name] if path.suffix == ".svg")
        caption = _CAPTIONS.get(name, "") + (f" {clock}" if clock and name == "clock" else "")
        parts.append(
            f"<figure>{inline_svg(svg.read_text(), name)}"
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )
    return "\n".join(parts)


def inline_svg(text: str, name: str) -> str:
    """An SVG file as an element of a page: no prologue, no metadata, identifiers of its own."""
    body = text[text.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'href="#', f'href="#{name}-', body)
    body = re.sub(r"url\(#", f"url(#{name}-", body)
    return body.replace("<svg ", f'<svg role="img" aria-label="{escape(name)}" ', 1).rstrip()


def _seeds(comparison: Comparison) -> str:
    if len(comparison.seeds) < 2:
        return ""
    columns = (Column("measure", "left"), Column("variant", "left"))
    seeds = tuple(Column(str(seed)) for seed in comparison.seeds)
    rows = []
    for line in comparison.lines:
        unit = f" ({line.row.unit})" if line.row.unit else ""
        for name in comparison.names:
            values = [line.values[name].get(seed) for seed in comparison.seeds]
            cells = ["-" if value is None else f"{value:.{line.row.digits}f}" for value in values]
            rows.append((f"{line.row.group}: {line.row.label}{unit}", name, *cells))
    table = _wide(Table((*columns, *seeds), tuple(rows)))
    return f"<details><summary>{len(rows)} rows</summary>{table}</details>"


def _variants(comparison: Comparison) -> str:
    rows = []
    for name in comparison.names:
        run = comparison.variants[name][0]
        proven = {True: "on (read back)", False: "off (read back)", None: "-"}
        eas = proven[run.result.eas]
        switches = "; ".join(f"{path} = {value}" for path, value in run.cell.switches) or "none"
        built = run.cell.kernel
        kernel = "; ".join([f"{built.name} {built.version}", *built.options])
        rows.append((name, kernel, _plain(run.cell.declares), eas, switches))
    heads = ("variant", "kernel", "declared state", "energy-aware scheduling", "switches")
    return _words(heads, rows)


def _controls(comparison: Comparison) -> str:
    cell = comparison.cell
    rows = [(key, _plain(value)) for key, value in sorted(cell.controls.encode().items())]
    rows += [(f"window: {key}", _plain(value)) for key, value in cell.window.encode().items()]
    controls = _words(("parameter", "value"), rows)
    tasks = [(task.name, ", ".join(task.threads), _plain(_work(task))) for task in cell.tasks]
    return f"{controls}<br>{_words(('task', 'threads', 'work'), tasks)}"


def _work(task: TaskRecord) -> dict[str, Any]:
    """The settings of a task, without its names and without settings left open."""
    left_open: tuple[Any, ...] = (None, {"min": None, "max": None})
    return {
        key: value
        for key, value in sorted(task.encode().items())
        if key not in ("name", "threads") and value not in left_open
    }


def _energy_notes(comparison: Comparison) -> str:
    model = comparison.power_model
    cell = comparison.cell
    parts = [
        f"<p>Energy from <b>{escape(model.name)}</b> power: {escape(model.summary)}. "
        "A CPU uses its active time times the power of its OPP, plus its time in each idle state "
        "times the power of that state. Entries into and exits from idle states are separate "
        "components, and so are the shared parts of clusters and chip. A task's energy is its "
        "share of the active energy of the intervals in which it ran. Active energy of other "
        f"threads, and active energy that no thread covers, is <code>{OTHER}</code>.</p>"
    ]
    notes = [f"<li>{escape(line)}</li>" for line in model.notes]
    if notes:
        parts.append(f"<ul>{''.join(notes)}</ul>")
    for head, lines in (("Borrowed values", cell.borrowed), ("Assumed values", cell.assumed)):
        if lines:
            items = "".join(f"<li>{escape(line)}</li>" for line in lines)
            parts.append(f"<p><b>{head}</b></p><ul>{items}</ul>")
    return "".join(parts)


def _provenance(comparison: Comparison) -> str:
    cell = comparison.cell
    facts = [
        (name.format(key), _plain(value))
        for name, record in (
            ("kernel {}", cell.kernel.encode()),
            ("{} (input)", cell.inputs.encode()),
            ("engine {}", cell.engine_identity.encode()),
            ("guest {}", cell.initramfs.encode()),
        )
        for key, value in sorted(record.items())
    ]
    runs = [
        (
            *(name, str(run.cell.seed)),
            *(TableCell(run.cell.simkey, "code"), TableCell(run.path.name, "code")),
        )
        for name in comparison.names
        for run in comparison.variants[name]
    ]
    table = _words(("variant", "seed", "run (simkey)", "derived (akey)"), runs)
    inputs = _words(("", ""), facts)
    return f"{table}<details><summary>Inputs</summary>{inputs}</details>"


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_plain(part)}" for key, part in value.items()) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(_plain(part) for part in value) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)


def _words(heads: Sequence[str], rows: Sequence[Row]) -> str:
    return _wide(Table.of(heads, rows, left=len(heads)))


def _wide(table: Table) -> str:
    """A table that scrolls where the page is too narrow."""
    return f'<div class="wide">{table.html()}</div>\n'
