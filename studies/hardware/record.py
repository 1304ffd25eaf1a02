# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the scoreboard, from the records of pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.claim import PERCENT, claim_of
from analysis.records.cell import Expectation
from analysis.records.verdict import REFUTED, UNDECIDED, Effect, Verdict
from analysis.results.comparisons import Comparisons, ScenarioResult
from analysis.results.findings import findings
from analysis.results.hardware import (
    FOUND,
    FOUND_ELSEWHERE,
    NOT_FOUND,
    EarlierCounts,
    Hardware,
    Measured,
    Mutant,
    NotCompared,
    Prediction,
    Quantified,
    Unsimulated,
    counts_of,
)
from analysis.results.origin import RESULTS, Origin
from analysis.statement import parse
from analysis.verdict_text import short
from experiments.sources import sources
from studies.hardware.plan import PAGES, PREDICTED, PREDICTED_ON, Stated, quantified
from studies.pages.conditions import conditions_of

#: By the name of a page.
Records = Mapping[str, Comparisons]


def records_of(folder: Path = RESULTS) -> dict[str, Comparisons]:
    """The records of pages that are there, in the order of pages.

    :raises EascopeError: one line, when one is damaged.
    """
    paths = {name: folder / f"{name}.json" for name in PAGES}
    return {name: Comparisons.read(path) for name, path in paths.items() if path.is_file()}


def record_of(
    records: Records,
    command: str,
    steps: Sequence[EarlierCounts] = (),
    stated: Iterable[Stated] | None = None,
) -> Hardware:
    """The scoreboard of some records.

    :param steps: counts of earlier records.
    :param stated: the statements; None: all that somebody measured.
    """
    compared, lacking = _compared(records, quantified() if stated is None else stated)
    return Hardware(
        origin=Origin(
            command, f"the records {', '.join(records)}", {"kernel": ", ".join(_kernels(records))}
        ),
        statements=tuple(sorted(compared, key=lambda each: each.badness, reverse=True)),
        not_compared=tuple(lacking),
        not_simulated=tuple(_not_simulated()),
        predictions=tuple(_predictions(records)),
        mutants=tuple(_mutants(records)),
        steps=tuple(steps),
    )


def _kernels(records: Records) -> list[str]:
    """Versions of the kernels of all runs."""
    known = [record.origin.versions.get("kernel", record.kernel) for record in records.values()]
    return sorted({version for versions in known for version in versions.split(", ")})


def step_of(name: str, commit: str, records: Records) -> EarlierCounts:
    """The counts of some earlier records."""
    compared, _ = _compared(records, quantified())
    return EarlierCounts(name, commit, counts_of(compared))


def _compared(
    records: Records, stated: Iterable[Stated]
) -> tuple[list[Quantified], list[NotCompared]]:
    compared: list[Quantified] = []
    lacking: list[NotCompared] = []
    for each in stated:
        measured = _measured(each.expectation.measured)
        if not measured.platform:
            lacking.append(_not_compared(each, measured, f"no platform is like {measured.board}"))
            continue
        best = _best(records, each, measured.platform)
        if best is None:
            why = f"no comparison on {measured.platform} has {each.expectation.variant}"
            lacking.append(_not_compared(each, measured, why))
            continue
        compared.append(_quantified(each, measured, best))
    return compared, lacking


@dataclass(frozen=True)
class _Found:
    """A verdict and its place."""

    page: str
    record: Comparisons
    result: ScenarioResult
    verdict: Verdict

    @property
    def finding(self) -> str:
        """Whether there is a finding on these runs."""
        known = findings(self.record.platform, self.result.scenario)
        finding = known.get((self.verdict.variant, self.verdict.statement))
        if finding is None:
            return NOT_FOUND
        of_runs = finding.conditions == conditions_of(self.record, self.result)
        return FOUND if of_runs else FOUND_ELSEWHERE


def _best(records: Records, stated: Stated, platform: str) -> _Found | None:
    """The comparison on ``platform`` with most seeds; of those the first, as the source had it."""
    entry = stated.expectation
    every = [
        _Found(page, record, result, verdict)
        for page, record in records.items()
        if record.platform == platform
        for result in record.scenarios
        if result.scenario == stated.scenario
        for verdict in result.judged
        if (verdict.variant, verdict.statement) == (entry.variant, entry.statement)
    ]
    return max(every, key=lambda each: each.verdict.seeds, default=None)


def _measured(name: str) -> Measured:
    entry = sources().measured[name]
    url = entry.url or sources().documents[entry.document].url
    platform = entry.platform or entry.stand_in
    return Measured(
        name=name,
        who=entry.who,
        url=url,
        board=entry.board,
        platform=platform,
        stand_in=bool(entry.stand_in),
    )


def _not_compared(stated: Stated, measured: Measured, why: str) -> NotCompared:
    entry = stated.expectation
    return NotCompared(
        *(stated.scenario, entry.variant, entry.statement, entry.source), measured, why
    )


def _quantified(stated: Stated, measured: Measured, compared: _Found) -> Quantified:
    entry, verdict = stated.expectation, compared.verdict
    effect = verdict.effects[entry.size_of - 1] if verdict.effects else None
    # What is shown of a variant that must fail says nothing.
    idle = bool(verdict.also_shown_of)
    made = Quantified(
        scenario=stated.scenario,
        variant=entry.variant,
        statement=entry.statement,
        source=entry.source,
        measured=measured,
        theirs=stated.theirs,
        theirs_unit=_unit(entry, effect),
        page=compared.page,
        conditions=compared.result.controls,
        seeds=verdict.seeds,
        verdict=UNDECIDED if idle else verdict.verdict,
        reason=f"shown of {', '.join(verdict.also_shown_of)}, too" if idle else verdict.reason,
        met=bool(verdict.met),
        kind=_kind(entry),
        finding=compared.finding,
        refuted_under=tuple(name for name, word in _known_bad(verdict).items() if word == REFUTED),
    )
    if effect is None:
        return made
    return replace(
        made,
        ours=effect.value,
        low=effect.low,
        high=effect.high,
        unit=effect.unit,
        relative=effect.relative,
    )


def _kind(entry: Expectation) -> str:
    """Of the comparison that the size is of."""
    claim = claim_of(parse(entry.statement).parts[entry.size_of - 1], lambda _: True)
    if claim is None:
        raise ValueError("a statement with neither a direction nor a margin")
    return claim.kind


def _known_bad(verdict: Verdict) -> dict[str, str]:
    """The verdicts under known-bad variants.

    In records of older scenarios, runs of the statement's own reference may meet themselves.
    """
    own = parse(verdict.statement).variants
    return {name: word for name, word in verdict.known_bad.items() if name not in own}


def _unit(entry: Expectation, effect: Effect | None) -> str:
    """Of the source's figure: percent, or that of the comparison."""
    if entry.size_percent is not None or effect is None:
        return PERCENT
    return effect.unit


def _not_simulated() -> Iterator[Unsimulated]:
    for each in sources().not_simulated:
        measured = sources().measured[each.measured]
        yield Unsimulated(measured.who, measured.board, each.states, each.missing)


def _mutants(records: Records) -> Iterator[Mutant]:
    for record in records.values():
        for result in record.scenarios:
            for verdict in result.judged:
                for known_bad, word in _known_bad(verdict).items():
                    yield Mutant(
                        *(result.scenario, record.platform, verdict.variant, verdict.statement),
                        *(known_bad, word),
                    )


def _predictions(records: Records) -> Iterator[Prediction]:
    record = records.get(PREDICTED_ON)
    if record is None:
        return
    for result in record.scenarios:
        if result.scenario not in PREDICTED:
            continue
        for variant in result.variants:
            yield Prediction(
                scenario=result.scenario,
                platform=record.platform,
                variant=variant.name,
                label=f"energy per {result.work_unit}" if result.other_work else "energy",
                change=variant.per_work_change if result.other_work else variant.energy_change,
                statements=tuple(
                    f"`{verdict.statement}`: {short(verdict)}"
                    for verdict in result.judged
                    if verdict.variant == variant.name
                ),
            )
