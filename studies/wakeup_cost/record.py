# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the cost of a wake-up and of the size of each queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.results.comparisons import Spread
from analysis.results.origin import RUNS, Origin
from analysis.results.wakeup_cost import Queue, VariantCost, WakeUpCost
from experiments.request import Request, resolve
from kernels.build import kernel
from kernels.queues import is_ported
from kernels.releases import DEFAULT
from kernels.variants import SERIES, load_kernels, load_variants
from studies.patches import patches_of
from studies.versions import versions
from studies.wakeup_cost.plan import COMPARABLE, FORMS, PLATFORM, ROUND_TRIPS, SEEDS, VARIANTS
from studies.wakeup_cost.run import CONTROLS, lines_changed, measure


def record_of(command: str, only: Sequence[str] | None = None) -> WakeUpCost:
    """The record, after measuring missing cells; ``only`` these of `VARIANTS`."""
    known = load_variants()
    there = [name for name in VARIANTS if name in known and name in (only or VARIANTS)]
    places = [(variant, form) for variant in there for form in FORMS]
    slopes = dict(zip(places, measure(places), strict=True))
    built = [kernel(name) for name in dict.fromkeys(known[variant].kernel for variant in there)]
    upstream = {made.provenance.upstream for made in built}
    identity = resolve(Request(PLATFORM, there[0], "smoke")).engine.identity()
    return WakeUpCost(
        origin=Origin(
            command,
            RUNS,
            versions((name, identity.engine, identity.version) for name in upstream),
            replicates=CONTROLS.noise,
            patches=patches_of(made.provenance for made in built),
        ),
        platform=PLATFORM,
        round_trips=ROUND_TRIPS,
        seeds=SEEDS,
        forms={name: form.meaning for name, form in FORMS.items()},
        variants=tuple(_variant(there[0], variant, slopes) for variant in there),
        queues=tuple(_queues()),
    )


def _variant(base: str, variant: str, slopes: Mapping[tuple[str, str], Spread]) -> VariantCost:
    changes = {
        form: 100 * (slopes[variant, form].mean / slopes[base, form].mean - 1) for form in FORMS
    }
    return VariantCost(
        variant,
        {form: slopes[variant, form] for form in FORMS},
        {} if variant == base else changes,
    )


def _queues() -> Iterator[Queue]:
    for name in dict.fromkeys(queue for spec in load_kernels().values() for queue in spec.series):
        if not is_ported(SERIES / name, DEFAULT):
            continue
        yield Queue(name, *lines_changed(name), "")
        if part := COMPARABLE.get(name):
            numbers = ", ".join(map(str, part.patches))
            label = f"{name}: patches {numbers}, without documentation"
            yield Queue(label, *lines_changed(name, part.patches), part.stated)
