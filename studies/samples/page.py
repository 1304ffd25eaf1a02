# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of all samples, and the section that each campaign's page has of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from analysis.results.campaigns import ENERGY, LATENCY, MISSED, WORK, CampaignResult
from analysis.results.origin import RESULTS
from analysis.results.samples import CampaignSamples, SampledCampaign, SampledCell
from analysis.statistics import ENOUGH
from host.proc import duration
from host.table import Table
from studies.campaigns import page as campaigns
from studies.drawing import Drawing
from studies.patches import origin_words
from studies.samples.plan import NAME, SINGLE, changed_words, differing

#: Digits of each measure in tables, and those of which engines are compared in per cent.
_DIGITS = {ENERGY: 3, LATENCY: 0, MISSED: 0, WORK: 1}
_IN_PERCENT = (ENERGY, LATENCY)
_HEADS = {ENERGY: "energy (mJ)", LATENCY: "latency (us)", MISSED: "missed", WORK: "work"}


@dataclass(frozen=True)
class EngineDifference:
    """A measure of a cell less that of its sample's base, in per cent of the base.

    :param changed: the axis and value in which the cell differs.
    :param fast: of the fast engine, seed by seed.
    """

    changed: str
    measure: str
    fast: tuple[float, ...]
    gem5: float

    @property
    def sign(self) -> int:
        """That of all seeds of the fast engine; 0 where they differ."""
        return int(min(self.fast) > 0) - int(max(self.fast) < 0)

    @property
    def alike(self) -> bool:
        """Whether gem5 has the sign of all seeds."""
        return self.sign * self.gem5 > 0


def committed(folder: Path = RESULTS) -> CampaignSamples | None:
    """The record of the samples, if there is one."""
    path = folder / f"{NAME}.json"
    return CampaignSamples.read(path) if path.is_file() else None


def differences(sample: SampledCampaign, measure: str) -> Iterator[EngineDifference]:
    """Each cell that has the measure, compared with the base."""
    bases = [cell for cell in sample.cells if not differing(cell.axes, sample.base)]
    for base in bases:
        for cell in sample.cells:
            if cell is base or not all(measure in each.gem5 for each in (base, cell)):
                continue
            if not all(measure in each.fast for each in (base, cell)):
                continue
            pairs = zip(base.fast[measure], cell.fast[measure], strict=True)
            yield EngineDifference(
                changed_words(cell.axes, sample.base),
                measure,
                tuple(_percent(*pair) for pair in pairs),
                _percent(base.gem5[measure], cell.gem5[measure]),
            )


def _percent(base: float, value: float) -> float:
    return 100 * (value / base - 1)


def _with_energy(cells: Sequence[SampledCell]) -> list[SampledCell]:
    return [cell for cell in cells if ENERGY in cell.fast and ENERGY in cell.gem5]


def _apart(cells: Sequence[SampledCell]) -> list[float]:
    """By how many percent the engines' energies differ with the same seed."""
    return [abs(_percent(cell.fast[ENERGY][0], cell.gem5[ENERGY])) for cell in cells]


def agreement_words(
    cells: Sequence[SampledCell], compared: Sequence[EngineDifference], seeds: int
) -> str:
    """How far the engines agree on the energies of ``cells`` and on differences of them."""
    known = _with_energy(cells)
    if not known:
        return "no cell has an energy on both engines"
    apart = _apart(known)
    within = sum(
        min(cell.fast[ENERGY]) <= cell.gem5[ENERGY] <= max(cell.fast[ENERGY]) for cell in known
    )
    signed = [each for each in compared if each.measure == ENERGY and each.sign]
    alike = sum(each.alike for each in signed)
    inside = [each for each in compared if each.measure == ENERGY]
    among = sum(min(each.fast) <= each.gem5 <= max(each.fast) for each in inside)
    signs = (
        f"; of the {len(signed)} differences that have one sign in all {seeds} seeds, gem5 has "
        f"it in {alike}"
        if signed
        else f"; no difference has one sign in all {seeds} seeds"
    )
    return (
        f"with the same seed the energies of the engines differ by at most {max(apart):.1f} % "
        f"(median {median(apart):.1f} %); gem5's lies within the range of the fast engine's "
        f"{seeds} seeds in {within} of {len(known)} cells, and its difference from the base within "
        f"theirs in {among} of {len(inside)}{signs}"
    )


def section(sample: SampledCampaign, record: CampaignSamples) -> Iterator[str]:
    """The part of a campaign's page: both engines next to each other, and what it says."""
    compared = [each for name in _IN_PERCENT for each in differences(sample, name)]
    others = [cell for cell in sample.cells if differing(cell.axes, sample.base)]
    words = "; ".join(changed_words(cell.axes, sample.base) for cell in others)
    base = ", ".join(sample.base.values())
    not_run = f" Not run yet: {'; '.join(sample.lacking)}." if sample.lacking else ""
    yield "### A sample on gem5"
    yield (
        f"{len(sample.cells)} of the {sample.cells_in_all} combinations were also run on "
        f"{record.gem5}, with seed {record.seed}: the base ({base}), and what differs from it in "
        f"one axis ({words}). [All samples](campaign-samples.md) has the rule by which they were "
        f"chosen, before any result.{not_run}"
    )
    yield (
        f"{_meaning(sample)} The first figure of each pair is engine {record.fast}'s for the same "
        f"seed; *seeds* are the least and the most of {_range_words(record)}."
    )
    yield _cells_table(sample).markdown()
    if compared:
        yield "Differences from the base in per cent, on each engine by itself:"
        yield _differences_table(compared).markdown()
    seeds = len(record.fast_seeds)
    text = agreement_words(sample.cells, compared, seeds)
    yield f"{text[:1].upper()}{text[1:]}. {says(record)}"


def says(record: CampaignSamples) -> str:
    """What samples can and cannot say."""
    seeds = len(record.fast_seeds)
    return (
        f"If both engines drew from one distribution, about {_expected(seeds)} % of gem5's figures "
        f"would lie within the range of {seeds} seeds. One seed of gem5 in each cell can show an "
        "error that is larger than this range. It can neither confirm nor refute a smaller "
        f"difference or an interval: that takes {ENOUGH} seeds of gem5 in each cell."
    )


def _expected(seeds: int) -> int:
    """Per cent of further draws within the range of so many."""
    return round(100 * (seeds - 1) / (seeds + 1))


def _range_words(record: CampaignSamples) -> str:
    seeds = record.fast_seeds
    return f"its seeds {seeds[0]} to {seeds[-1]}"


def _meaning(sample: SampledCampaign) -> str:
    words = [f"Energy is for a unit of work: {sample.work_unit}"]
    words += [f"latency: {sample.latency}"] if sample.latency else []
    words += [f"missed: {sample.missed}"] if sample.missed else []
    return "; ".join(words) + "."


def _cells_table(sample: SampledCampaign) -> Table:
    names = [
        name
        for name in sample.base
        if name not in SINGLE and len({cell.axes[name] for cell in sample.cells}) > 1
    ] or ["variant"]
    measures = [name for name in _DIGITS if any(name in cell.gem5 for cell in sample.cells)]
    heads = list(names)
    for measure in measures:
        heads += [_HEADS[measure], "gem5"]
        heads += ["%", "seeds"] if measure in _IN_PERCENT else []
    rows = [
        [
            *(cell.axes[name] for name in names),
            *(text for name in measures for text in _both(cell, name)),
        ]
        for cell in sample.cells
    ]
    return Table.of(heads, rows, left=len(names))


def _both(cell: SampledCell, measure: str) -> list[str]:
    """The fast engine's figure and gem5's, and what sets them into relation."""
    more = measure in _IN_PERCENT
    if measure not in cell.fast or measure not in cell.gem5:
        return ["-"] * (4 if more else 2)
    digits, fast, gem5 = _DIGITS[measure], cell.fast[measure], cell.gem5[measure]
    row = [f"{fast[0]:.{digits}f}", f"{gem5:.{digits}f}"]
    if more:
        row += [f"{_percent(fast[0], gem5):+.1f}"]
        row += [f"{min(fast):.{digits}f} to {max(fast):.{digits}f}"]
    return row


def _differences_table(compared: Sequence[EngineDifference]) -> Table:
    rows = [
        [
            each.changed,
            each.measure,
            f"{each.fast[0]:+.1f}",
            f"{each.gem5:+.1f}",
            f"{min(each.fast):+.1f} to {max(each.fast):+.1f}",
            _sign_words(each),
        ]
        for each in compared
    ]
    heads = ["what differs", "of", "fast engine", "gem5", "seeds", "sign"]
    return Table.of(heads, rows, left=2)


def _sign_words(each: EngineDifference) -> str:
    if not each.sign:
        return "seeds differ"
    return "the same" if each.alike else "differs"


def parts(record: CampaignSamples) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    cells, compared = _unique(record)
    return {
        "cells": str(len(cells)),
        "answer": agreement_words(cells, compared, len(record.fast_seeds)),
        "conditions": "\n".join(f"* {line}" for line in _conditions(record)),
        "summary": _summary(record).markdown(),
        "says": says(record),
    }


def _unique(record: CampaignSamples) -> tuple[list[SampledCell], list[EngineDifference]]:
    """Cells and differences of all samples; what several have counts once."""
    cells = {cell.gem5_run: cell for each in record.campaigns for cell in each.cells}
    compared: dict[object, EngineDifference] = {}
    for sample in record.campaigns:
        for measure in _IN_PERCENT:
            for each in differences(sample, measure):
                compared.setdefault((measure, each.fast, each.gem5), each)
    return list(cells.values()), list(compared.values())


def _conditions(record: CampaignSamples) -> Iterator[str]:
    yield (
        f"Engine {record.fast} with {len(record.fast_seeds)} seeds, {record.gem5} with seed "
        f"{record.seed}; {record.duration} windows, energy from {record.power} power, Linux "
        f"{record.kernel}."
    )
    yield (
        f"{record.gem5_runs} different runs on gem5 took {duration(record.gem5_cpu_s)} of "
        "processor time, boots aside. Campaigns share the cells of the board as it is."
    )
    for sample in record.campaigns:
        if sample.lacking:
            yield f"Not run yet of {sample.campaign}: {'; '.join(sample.lacking)}."
    yield "The digests of every run's files were checked before the record was written."
    yield origin_words(record.origin)


def _summary(record: CampaignSamples) -> Table:
    return Table.of(
        ["campaign", "cell", "energy (mJ)", "gem5", "%", "seeds", "difference, %", "gem5", "seeds"],
        [row for sample in record.campaigns for row in _rows(sample)],
        left=2,
    )


def _rows(sample: SampledCampaign) -> Iterator[list[str]]:
    compared: Mapping[str, EngineDifference] = {
        each.changed: each for each in differences(sample, ENERGY)
    }
    for cell in sample.cells:
        changed = changed_words(cell.axes, sample.base)
        each = compared.get(changed)
        row = [sample.campaign, changed or ", ".join(sample.base.values())]
        row += _both(cell, ENERGY)
        if each is None:
            yield [*row, "", "", ""]
        else:
            ends = f"{min(each.fast):+.1f} to {max(each.fast):+.1f}"
            yield [*row, f"{each.fast[0]:+.1f}", f"{each.gem5:+.1f}", ends]


def campaign_parts(record: CampaignResult) -> dict[str, str]:
    """The parts of a campaign's page, with the cells that gem5 ran, if there are any."""
    samples = committed()
    sample = samples.of(record.campaign) if samples else None
    if not sample or not samples:
        return campaigns.parts(record)
    return campaigns.parts(record, [*section(sample, samples)], _of_single_seeds(sample))


def _of_single_seeds(sample: SampledCampaign) -> str:
    """How the sample's differences relate to those of means that a campaign's page states."""
    words = "These errors are of means over seeds; single seeds may differ by more"
    apart = _apart(_with_energy(sample.cells))
    return f"{words}, in the sample by up to {max(apart):.1f} %." if apart else f"{words}."


DRAWINGS = {NAME: Drawing(CampaignSamples, parts)}
#: The pages of campaigns, with their samples.
CAMPAIGNS = {
    name: replace(drawing, parts=campaign_parts) for name, drawing in campaigns.DRAWINGS.items()
}
