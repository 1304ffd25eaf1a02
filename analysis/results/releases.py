# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of variants on two releases of Linux: ``results/releases.json``."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.records.verdict import Verdict
from analysis.results.comparisons import Change, Spread
from analysis.results.origin import ResultRecord
from host.record import Record


@dataclass(frozen=True)
class OnRelease(Record):
    """A variant on a scenario, on one release; None where a measure does not exist.

    :param energy_change: from mainline on the same release, by `VariantOnBoth.per`; None for
        mainline.
    :param latency_p95_us: of the page's task, see `VariantOnBoth.task`.
    :param verdicts: on the statements about this variant.
    """

    energy_mj: Spread
    energy_change: Change | None
    latency_p95_us: Spread | None
    missed_deadlines: Spread | None
    migrations: Spread | None
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class VariantOnBoth(Record):
    """A variant on a scenario, on the older and on the newer release.

    :param task: whose wake-up latency is stated: the one with the largest 95th percentile on the
        older release; empty where no task has any.
    :param per: the unit of work that energies are compared by; empty where all variants did the
        same work on both releases.
    :param change: of the energy, from the older release.
    """

    scenario: str
    variant: str
    task: str
    per: str
    old: OnRelease
    new: OnRelease
    change: Change


@dataclass(frozen=True)
class ReleaseBoot(Record):
    """A release, and the time at which its guest agent is ready.

    :param kernel: the source's version.
    :param ready_ms: since power-on, in simulated time, of mainline on the first scenario.
    """

    release: str
    kernel: str
    ready_ms: Spread


@dataclass(frozen=True)
class WakeUpOnBoth(Record):
    """Instructions per wake-up of a variant in one form, on the older and on the newer release.

    :param change_percent: from the older release.
    """

    variant: str
    form: str
    old: Spread
    new: Spread
    change_percent: float


@dataclass(frozen=True)
class ReleaseComparison(ResultRecord):
    """Variants on two releases; ``seeds`` is how many each variant has.

    :param boots: the older release, then the newer one.
    """

    platform: str
    engine: str
    power: str
    duration: str
    seeds: int
    boots: tuple[ReleaseBoot, ReleaseBoot]
    scenarios: tuple[VariantOnBoth, ...]
    wake_ups: tuple[WakeUpOnBoth, ...]
