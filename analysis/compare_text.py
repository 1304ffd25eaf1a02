# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison as text: an aligned table with differences, values by seed, expectations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import TextWrapper, wrap

from eascope.analysis.compare import Comparison, Line
from eascope.analysis.engine import engine_words, kernel_words
from eascope.analysis.ranges import possible_interval
from eascope.analysis.records.verdict import ENOUGH_FOR_VERDICT, LEVEL
from eascope.analysis.statistics import ENOUGH
from eascope.analysis.verdict_text import details, word
from eascope.host.table import Section, Table
from eascope.power.given import DEFAULT_MODEL

_INDENT = "  "
#: Where what belongs to an expectation stands, and how wide its sentences are.
_DEEP = " " * 6
_WIDTH = 118


def text(comparison: Comparison) -> str:
    """The table, as it is pasted into a mail."""
    return (
        "\n".join(
            [
                *(*head(comparison), "", *_parts(comparison), *_table(comparison)),
                *(*_seeds(comparison), *_expect(comparison)),
            ]
        )
        + "\n"
    )


def head(comparison: Comparison) -> list[str]:
    """The head: scenario, variants, engine, window, seeds, power, settings, kernels."""
    cell = comparison.cell
    variants = ", ".join(comparison.names)
    first = f"{cell.scenario} on {cell.platform}: {variants}"
    return [first, *conditions(comparison), *_kernels(comparison)]


def conditions(comparison: Comparison) -> list[str]:
    """How all variants were run: engine, window, seeds, power, settings."""
    cell = comparison.cell
    window = comparison.variants[comparison.baseline][0].result.window_s
    elided = "busy loops elided" if cell.elide else "busy loops executed"
    power = comparison.power_model.name
    given = cell.energy_model.words
    return [
        f"engine {engine_words(cell)} ({elided}), {cell.duration} window of {window:.3f} s, "
        f"{_ranges(comparison.seeds)}, power model: {power}",
        *([] if given == DEFAULT_MODEL.words else [f"kernel's energy model: {given}"]),
        *(
            [f"non-default settings: {comparison.non_default_settings}"]
            if comparison.non_default_settings
            else []
        ),
        *([comparison.against_source] if comparison.against_source else []),
    ]


def _kernels(comparison: Comparison) -> list[str]:
    """The kernel of each variant: its version and its source."""
    by_kernel: dict[str, list[str]] = {}
    for name, runs in comparison.variants.items():
        by_kernel.setdefault(kernel_words(runs[0].cell.kernel), []).append(name)
    return [f"kernel of {', '.join(names)}: {words}" for words, names in by_kernel.items()]


def parts_tables(comparison: Comparison) -> list[tuple[str, Table]]:
    """What each difference in energy is made of, with a head; per work first where that counts."""
    ways = (False,) if comparison.primary is comparison.total else (True, False)
    return [
        (f"{name} minus {comparison.baseline}, by component and cluster", parts.table)
        for name in comparison.names[1:]
        for per_work in ways
        if (parts := comparison.parts(name, per_work=per_work)) is not None
    ]


def _parts(comparison: Comparison) -> Iterator[str]:
    for title, parts in parts_tables(comparison):
        yield from (title, *(f"{_INDENT}{line}" for line in parts.text().splitlines()), "")


def _table(comparison: Comparison) -> list[str]:
    return table(comparison, comparison.lines).text().splitlines()


def table(comparison: Comparison, lines: Sequence[Line]) -> Table:
    """``lines`` as a table: means by variant, then differences of each further variant."""
    heads = ["", "unit", *comparison.names]
    confident = len(comparison.seeds) >= ENOUGH
    for name in comparison.names[1:]:
        lead = "" if len(comparison.names) == 2 else f"{name} "
        heads += [f"{lead}diff", "diff %"] + (["95 % interval"] if confident else [])
    heads += ["noise floor"] if comparison.noise else []
    rows: list[Sequence[str] | Section] = []
    group = ""
    for line in lines:
        if line.row.group != group:
            group = line.row.group
            rows.append(Section(group))
        rows.append(_cells(comparison, line, confident))
    return Table.of(heads, rows, left=2)


def _cells(comparison: Comparison, line: Line, confident: bool) -> list[str]:
    """The texts of one line: label, unit, means, and differences per further variant."""
    digits = line.row.digits
    counts = digits == 0 and len(comparison.seeds) > 1
    cells = [line.row.label, line.row.unit]
    shown = 1 if counts else digits
    cells += [number(line.mean(name), shown) for name in comparison.names]
    for name in comparison.names[1:]:
        difference = line.differences.get(name)
        if difference is None:
            cells += ["-", "-"] + (["-"] if confident else [])
            continue
        # Percent of a percentage misleads: shares are compared in points only.
        percent = None if line.row.unit == "%" else difference.percent
        cells += [signed(difference.absolute, shown), signed(percent, 1)]
        if confident:
            mark = " *" if comparison.starred(line, name) else "  "
            ends = possible_interval(line.row, difference)
            cells.append(
                "-" if ends is None else f"{' .. '.join(signed(end, shown) for end in ends)}{mark}"
            )
    if comparison.noise:
        cells.append(floor_words(comparison.noise.floor(line.row), shown))
    return cells


def floor_words(floor: float | None, digits: int) -> str:
    """``+-1.2``: the size that a difference must exceed to be more than noise; ``-`` if unknown."""
    return "-" if floor is None else f"+-{floor:.{digits}f}"


def _seeds(comparison: Comparison) -> list[str]:
    """Every seed's values of the leading measures, and the meaning of the spread."""
    if len(comparison.seeds) < 2:
        if len(comparison.names) < 2:
            return []
        few = f"One seed: values only, no test. --seeds {ENOUGH_FOR_VERDICT} gives verdicts."
        return ["", few]
    shown = [
        line
        for line in comparison.lines
        if line.row.path in (("energy_j", "total"), ("missed_deadlines",))
        and not line.row.per_second
    ]
    heads = ["by seed", "", *(str(seed) for seed in comparison.seeds)]
    rows = []
    for line in shown:
        unit = f" ({line.row.unit})" if line.row.unit else ""
        for name in comparison.names:
            values = line.values[name]
            cells = [number(values.get(seed), line.row.digits) for seed in comparison.seeds]
            label = f"{_INDENT}{line.row.group}, {line.row.label}{unit}"
            rows.append([label, name, *cells])
    notes = [SPREAD, *wrap(interval_words(comparison), width=_WIDTH)]
    return ["", *Table.of(heads, rows, left=2).text().splitlines(), "", *notes]


#: What the spread over seeds is.
SPREAD = "Runs are deterministic; all variation comes from the seeds."


def interval_words(comparison: Comparison) -> str:
    """The method of intervals and verdicts, or the reason why there are none."""
    seeds = len(comparison.seeds)
    null = _null_note(comparison)
    if seeds < ENOUGH:
        return f"Fewer than {ENOUGH} seeds: values only, no test.{null}"
    few = f"; a verdict needs {ENOUGH_FOR_VERDICT} seeds" if seeds < ENOUGH_FOR_VERDICT else ""
    differences = [
        difference for line in comparison.lines for difference in line.differences.values()
    ]
    pairs = [difference.paired for difference in differences if difference.correlation is not None]
    paired = f"; {sum(pairs)} of {len(pairs)} differences paired by seed" if pairs else ""
    return (
        f"{100 * LEVEL:.0f} % intervals over seeds (the wider of t and BCa bootstrap{paired}). "
        f"* significant at a false discovery rate of {100 * (1 - LEVEL):.0f} %{few}.{null}"
    )


def _null_note(comparison: Comparison) -> str:
    if comparison.noise is None:
        return ""
    variant, seeds = comparison.noise.variant, comparison.noise.seeds_words
    return (
        f" Noise floor: A/A test of {variant} (equal code, {seeds}); "
        "differences below it are not distinguishable from noise."
    )


def _expect(comparison: Comparison) -> list[str]:
    if not comparison.verdicts:
        return []
    wrapped = TextWrapper(_WIDTH, initial_indent=_DEEP, subsequent_indent=_DEEP + _INDENT).wrap
    lines = [""]
    for verdict in comparison.verdicts:
        lines.append(f"claim ({verdict.variant}): {verdict.statement} -- {word(verdict)}")
        lines += wrapped(details(verdict))
        if verdict.source:
            lines.append(f"{_DEEP}source: {verdict.source}")
    return lines


def number(value: float | None, digits: int) -> str:
    """``value`` with ``digits`` after the point, ``-`` for none."""
    return "-" if value is None else f"{value:.{digits}f}"


def signed(value: float | None, digits: int) -> str:
    """``value`` with its sign, zero without one, ``-`` for none."""
    if value is None:
        return "-"
    text = f"{value:+.{digits}f}"
    return text if float(text) != 0 else f"{0:.{digits}f}"


def _ranges(seeds: Sequence[int]) -> str:
    """``seed 3``, ``seeds 0-9`` or ``seeds 0, 2, 5``."""
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"seeds {seeds[0]}-{seeds[-1]}"
    return "seeds " + ", ".join(map(str, seeds))
