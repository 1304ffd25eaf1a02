# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on the cost of a wake-up: the parts for its notes."""

from __future__ import annotations

from analysis.results.wakeup_cost import VariantCost, WakeUpCost
from host.table import Table
from studies.authors import written_anew
from studies.drawing import Drawing
from studies.patches import origin_words
from studies.wakeup_cost.plan import NAME


def parts(record: WakeUpCost) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    short, long = record.round_trips
    heads = ["variant"]
    for form in record.forms:
        heads += [form, ""]
    return {
        "answer": _answer(record),
        "authors": written_anew(variant.name for variant in record.variants),
        "pinned": _largest_change(record),
        "conditions": "\n".join(
            [
                f"* Two threads ping-pong through pipes {short} and {long} times on "
                f"{record.platform}, fast engine, {record.seeds} seeds, without tracing.",
                *(f"* {form}: {meaning}." for form, meaning in record.forms.items()),
                f"* {origin_words(record.origin)}",
            ]
        ),
        "instructions": Table.of(heads, map(_row, record.variants)).markdown(),
        "lines": Table.of(
            ["queue", "added", "removed", "stated by its source: added, removed"],
            [
                [queue.name, str(queue.added), str(queue.removed), queue.stated]
                for queue in record.queues
            ],
        ).markdown(),
    }


def _answer(record: WakeUpCost) -> str:
    """Each variant's change where its threads may run anywhere (the last form)."""
    form = list(record.forms)[-1]
    changes = [
        f"{variant.name} {variant.change_percent[form]:+.1f} %"
        for variant in record.variants
        if form in variant.change_percent
    ]
    if not changes:
        return f"{record.variants[0].name} alone was measured"
    return f"{', '.join(changes)} of {record.variants[0].name}'s instructions"


def _largest_change(record: WakeUpCost) -> str:
    """The largest change of any variant where threads are pinned (the first form)."""
    form = next(iter(record.forms))
    changes = [variant.change_percent.get(form) for variant in record.variants]
    return f"{max((abs(change) for change in changes if change is not None), default=0):.1f} %"


def _row(variant: VariantCost) -> list[str]:
    row = [variant.name]
    for form, spread in variant.instructions.items():
        row.append(f"{spread.mean:.0f} ({spread.least:.0f}..{spread.most:.0f})")
        change = variant.change_percent.get(form)
        row.append("" if change is None else f"{change:+.1f} %")
    return row


DRAWINGS = {NAME: Drawing(WakeUpCost, parts)}
