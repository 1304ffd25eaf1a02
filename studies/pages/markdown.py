# SPDX-License-Identifier: GPL-2.0-or-later
"""A page's text from its comparisons: tables, spread, verdicts. Same runs, same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.compare import Comparison, Line, verdict_values
from analysis.expect import Verdict
from analysis.statistics import ENOUGH
from experiments.scenario import Scenario
from host.table import Table
from studies.pages.pages import Group, Page


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table; the first column is text, the others are figures."""
    return Table.of(head, rows).markdown().splitlines()


def page_text(page: Page, found: Sequence[tuple[Group, Scenario, Comparison]], command: str) -> str:
    """The whole page."""
    first = found[0][2]
    lines = [
        f"# {page.title}",
        "",
        f"Made by `{command}`; do not edit. {page.about}",
        "",
        *_conditions(first),
        "",
    ]
    last = ""
    for group, scenario, compared in found:
        if group.scenario != last:
            lines += [f"## {group.scenario}", "", f"{scenario.summary}.", "", scenario.source, ""]
            last = group.scenario
        if page.name == "controls":
            lines += [f"### {group.words}", ""]
        lines += [*_figures(compared), "", *_verdicts(compared.verdicts), ""]
    return "\n".join(lines).rstrip() + "\n"


def _conditions(compared: Comparison) -> list[str]:
    cell = compared.cell
    controls, kernel = cell["controls"], cell["kernel"]
    return [
        f"Platform {cell['platform']}, engine {cell['engine']} (busy loops elided), "
        f"{cell['duration']} windows, {len(compared.seeds)} start offsets; Linux "
        f"{kernel['upstream']}, HZ {controls['hz']}, schedutil with a rate limit of "
        f"{controls['rate_limit_us']} us, transitions of {controls['transition_latency_us']} us, "
        "delayed dequeue on, tracing on. The spread over start offsets is phase sensitivity, not "
        "noise: means stand before brackets with the least and the largest. "
        + (
            "Differences from the first variant carry a 95 % interval (paired bootstrap)."
            if len(compared.seeds) >= ENOUGH
            else f"Fewer than {ENOUGH} start offsets: no test is made."
        ),
    ]


def _line(compared: Comparison, *path: str, per_second: bool = False) -> Line | None:
    for line in compared.lines:
        if line.row.path == path and line.row.per_second == per_second:
            return line
    return None


def _spread(line: Line | None, variant: str, digits: int) -> str:
    if line is None or not line.values.get(variant):
        return "-"
    values = list(line.values[variant].values())
    mean = sum(values) / len(values)
    if max(values) - min(values) < 0.5 * 10**-digits:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ({min(values):.{digits}f}..{max(values):.{digits}f})"


def _percent(line: Line | None, variant: str, baseline: str) -> str:
    if line is None or variant == baseline:
        return ""
    one = line.differences.get(variant)
    base = line.mean(baseline)
    if one is None or one.percent is None or not base:
        return "-"
    if one.low is None or one.high is None:
        return f"{one.percent:+.1f}"
    low, high = 100 * one.low / abs(base), 100 * one.high / abs(base)
    return f"{one.percent:+.1f} ({low:+.1f}..{high:+.1f})"


def _latency(compared: Comparison, variant: str) -> str:
    """The largest of the tasks' 95th percentiles of wake-up latency, and whose it is."""
    worst: tuple[float, str] | None = None
    for task in compared.tasks:
        line = _line(compared, "latency_us", task, "p95")
        mean = None if line is None else line.mean(variant)
        if mean is not None and (worst is None or mean > worst[0]):
            worst = mean, task
    if worst is None:
        return "-"
    return f"{_spread(_line(compared, 'latency_us', worst[1], 'p95'), variant, 0)} {worst[1]}"


def _figures(compared: Comparison) -> list[str]:
    """Energy, and what placement and frequency did: a table each."""
    base = compared.baseline
    energy = _line(compared, "energy_j", "total")
    rate = next((line for line in compared.lines if line.row.path[0] == "throughput"), None)
    head = ["variant", "energy (mJ)", f"% of {base}'s", "latency p95 (us)", "missed", "migrations"]
    head += ["overutilized (%)"] + ([f"{rate.row.path[1]} (1/s)", "%"] if rate else [])
    rows = []
    for name in compared.names:
        cells = [
            name,
            _spread(energy, name, 1),
            _percent(energy, name, base),
            _latency(compared, name),
            _spread(_line(compared, "missed_deadlines"), name, 1),
            _spread(_line(compared, "migrations"), name, 1),
            _spread(_line(compared, "overutilized_share"), name, 1),
        ]
        if rate:
            cells += [_spread(rate, name, 0), _percent(rate, name, base)]
        rows.append(cells)
    clusters = [cluster.name for cluster in compared.platform.clusters]
    wide = ["variant"]
    for cluster in clusters:
        wide += [f"work on {cluster} (%)", f"{cluster} (MHz)", f"{cluster} transitions (1/s)"]
    where = []
    for name in compared.names:
        cells = [name]
        for cluster in clusters:
            cells.append(_spread(_line(compared, "work_share", cluster), name, 1))
            cells.append(_spread(_line(compared, "mean_mhz", cluster), name, 0))
            cells.append(_spread(_line(compared, "opp_transitions_per_s", cluster), name, 1))
        where.append(cells)
    return [*table(head, rows), "", *table(wide, where)]


def _verdicts(verdicts: Sequence[Verdict]) -> list[str]:
    """What the source says against what came out; where they disagree, the scenario's finding."""
    lines = []
    for one in verdicts:
        if one.holds is None:
            continue
        kind = "agrees" if one.holds else "**disagrees**"
        lines.append(
            f"* {kind}: {one.variant}: `{one.statement}`: {verdict_values(one)}. Source: "
            f"{one.source}."
        )
        if one.explained:
            lines.append(f"  Finding: {one.explained}")
        elif not one.holds:
            lines.append("  Finding: none yet.")
    return lines
