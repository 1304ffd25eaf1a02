# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on two releases: the parts for its notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.records.verdict import Verdict
from analysis.results.releases import OnRelease, ReleaseComparison, VariantOnBoth
from analysis.verdict_text import counts, details
from host.table import Table
from studies.authors import written_anew
from studies.drawing import Drawing
from studies.pages.page import change_text, spread_text
from studies.patches import origin_words
from studies.releases.plan import NAME


def parts(record: ReleaseComparison) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    old, new = (boot.release for boot in record.boots)
    return {
        "answer": _answer(record),
        "conditions": "\n".join(f"* {line}" for line in _conditions(record)),
        "authors": written_anew(entry.variant for entry in record.scenarios),
        "boots": Table.of(
            ["release", "source", "agent ready (ms)"],
            [[boot.release, boot.kernel, spread_text(boot.ready_ms, 1)] for boot in record.boots],
            left=2,
        ).markdown(),
        "variants": _variants(record, old, new).markdown(),
        "effects": _effects(record, old, new).markdown(),
        "counts": "; ".join(
            f"on {release}: {counts([verdict for side in sides for verdict in side.verdicts])}"
            for release, sides in (
                (old, [entry.old for entry in record.scenarios]),
                (new, [entry.new for entry in record.scenarios]),
            )
        ),
        "verdicts": "\n".join(_verdicts(record, old, new)),
        "wake_ups": Table.of(
            ["variant", "threads", old, new, f"% of {old}'s"],
            [
                [
                    *(cost.variant, cost.form),
                    *(spread_text(side, 0) for side in (cost.old, cost.new)),
                    f"{cost.change_percent:+.1f}",
                ]
                for cost in record.wake_ups
            ],
            left=2,
        ).markdown(),
    }


def _answer(record: ReleaseComparison) -> str:
    """The numbers of energies and verdicts that differ."""
    old, new = (boot.release for boot in record.boots)
    changed = [entry for entry in record.scenarios if entry.change.excludes_zero]
    largest = max(record.scenarios, key=lambda entry: abs(entry.change.percent))
    pairs = [pair for entry in record.scenarios for pair in _pairs(entry)]
    same = sum(before.verdict == after.verdict for before, after in pairs)
    return (
        f"energy on {new} differs from {old}'s in {len(changed)} of {len(record.scenarios)} "
        f"cells, most in {largest.scenario} with {largest.variant}: "
        f"{change_text(largest.change)} %{_per(largest)}; "
        f"{same} of {len(pairs)} statements have the same verdict on both"
    )


def _pairs(entry: VariantOnBoth) -> Iterator[tuple[Verdict, Verdict]]:
    """A statement's verdict on each release, where both have one."""
    after = {verdict.statement: verdict for verdict in entry.new.verdicts}
    for before in entry.old.verdicts:
        if before.statement in after:
            yield before, after[before.statement]


def _conditions(record: ReleaseComparison) -> Sequence[str]:
    return (
        f"Platform {record.platform}, engine {record.engine} (busy loops elided), "
        f"{record.duration} windows, {record.seeds} seeds, energy from {record.power} power.",
        "Both releases run the same guest image, workload and draws of the seeds. After a mean "
        "over seeds, brackets have the least and the largest value, or the 95 % interval of a "
        "difference ([how it is made](../reference/measures.md#intervals)).",
        origin_words(record.origin),
        *(f"{remark}." for remark in record.origin.remarks),
    )


def _variants(record: ReleaseComparison, old: str, new: str) -> Table:
    heads = ["scenario", "variant", f"energy on {old} (mJ)", f"on {new}", f"% of {old}'s"]
    heads += ["task", f"wake-up p95 on {old} (us)", f"on {new}"]
    heads += [f"missed on {old}", f"on {new}", f"migrations on {old}", f"on {new}"]
    rows = [
        [
            *(entry.scenario, entry.variant),
            *(spread_text(side.energy_mj, 1) for side in (entry.old, entry.new)),
            change_text(entry.change) + _per(entry),
            entry.task or "-",
            *(spread_text(side.latency_p95_us, 0) for side in (entry.old, entry.new)),
            *(spread_text(side.missed_deadlines, 1) for side in (entry.old, entry.new)),
            *(spread_text(side.migrations, 1) for side in (entry.old, entry.new)),
        ]
        for entry in record.scenarios
    ]
    return Table.of(heads, rows, left=2)


def _effects(record: ReleaseComparison, old: str, new: str) -> Table:
    """The effects of a variant compared with mainline, on each release."""
    heads = ["scenario", "variant", f"energy on {old}, % of mainline's", f"on {new}"]
    rows = [
        [entry.scenario, entry.variant, *(_effect(entry, side) for side in (entry.old, entry.new))]
        for entry in record.scenarios
        if entry.old.energy_change is not None
    ]
    return Table.of(heads, rows, left=2)


def _effect(entry: VariantOnBoth, side: OnRelease) -> str:
    if side.energy_change is None:
        return "-"
    return change_text(side.energy_change) + _per(entry)


def _per(entry: VariantOnBoth) -> str:
    """The unit of work by which energies are compared, if work differs."""
    return f" per {entry.per}" if entry.per else ""


def _verdicts(record: ReleaseComparison, old: str, new: str) -> Iterator[str]:
    for entry in record.scenarios:
        for before, after in _pairs(entry):
            yield (
                f"* {entry.scenario}, {entry.variant}: `{before.statement}`: on {old} "
                f"**{before.verdict}**, {details(before)}; on {new} **{after.verdict}**, "
                f"{details(after)}."
            )


DRAWINGS = {NAME: Drawing(ReleaseComparison, parts)}
