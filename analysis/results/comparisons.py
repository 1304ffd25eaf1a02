# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of variants compared on scenarios, such as ``results/uclamp.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analysis.records.verdict import Verdict
from analysis.results.origin import ResultRecord
from configs.billing import PUBLISHED
from host.record import Record

#: What states the rate of a program's own code: figures of its own, or those of system code.
OWN_RATE, KERNELS_RATE = "own", "kernel's"


@dataclass(frozen=True)
class Spread(Record):
    """A measure over seeds."""

    mean: float
    least: float
    most: float


@dataclass(frozen=True)
class Change(Record):
    """A difference from the baseline in per cent of it, paired over seeds.

    :param low: lower end of the 95 % interval; None with too few seeds.
    """

    percent: float
    low: float | None
    high: float | None

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval, and zero is not in it."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True)
class Latency(Record):
    """The task with the largest 95th percentile of wake-up latency, and that percentile."""

    task: str
    p95_us: Spread


@dataclass(frozen=True)
class ClusterResult(Record):
    """Results of a cluster: share of the work, mean clock, OPP changes. None: not measured."""

    work_percent: Spread | None
    mhz: Spread | None
    transitions_per_s: Spread | None


@dataclass(frozen=True)
class Printed(Record):
    """A measure that a program prints, with its difference from the first variant."""

    values: Spread
    change: Change | None


@dataclass(frozen=True)
class VariantResult(Record):
    """One variant on one scenario; None where a measure does not exist.

    :param energy_change: from the first variant; None for that one.
    :param throughput_per_s: of the scenario's program, where it has one.
    :param energy_per_work_mj: of one unit of the scenario's work.
    :param per_work_change: of that energy, from the first variant; None for that one.
    :param work_change: of the work done, from the first variant; None for that one.
    :param energy_mj_by_seed: in the order of seeds; empty in converted records.
    :param printed: by program and measure, as ``latency.p99_us``; those that have a unit.
    """

    name: str
    energy_mj: Spread
    energy_change: Change | None
    latency: Latency | None
    missed_deadlines: Spread | None
    migrations: Spread | None
    overutilized_percent: Spread | None
    throughput_per_s: Spread | None
    throughput_change: Change | None
    clusters: Mapping[str, ClusterResult]
    energy_mj_by_seed: tuple[float, ...] = ()
    energy_per_work_mj: Spread | None = None
    per_work_change: Change | None = None
    work_change: Change | None = None
    printed: Mapping[str, Printed] = field(default_factory=dict)


@dataclass(frozen=True)
class ScenarioResult(Record):
    """Variants on one scenario under one set of controls.

    :param controls: controls that are not the platform's, in words; may be empty.
    :param speeds: of core types.
    :param energy_model: that the kernel was given, in words.
    :param set_otherwise: all other controls that are not the platform's.
    :param throughput: name of the program that throughput is of; empty where there is none.
    :param work_unit: what the scenario counts as work.
    :param other_work: whether variants' work differs, so that they are compared by energy per work.
    :param replicates: whether seeds drew more than starts.
    :param source_had: who states these controls for the scenario's source; empty: it had others.
    :param rate_limit_us: schedutil's, and ``transition_latency_us`` of an OPP change; None: those
        of the record.
    :param programs: kinds of the scenario's programs, with the name of what states their rate:
        `OWN_RATE` or `KERNELS_RATE`; empty on an engine whose cores have a model.
    """

    scenario: str
    summary: str
    source: str
    controls: str
    throughput: str
    variants: tuple[VariantResult, ...]
    judged: tuple[Verdict, ...]
    speeds: str = "board"
    energy_model: str = PUBLISHED
    set_otherwise: tuple[str, ...] = ()
    replicates: bool = False
    work_unit: str = ""
    other_work: bool = False
    source_had: str = ""
    rate_limit_us: int | None = None
    transition_latency_us: int | None = None
    programs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparisons(ResultRecord):
    """All scenarios of a page.

    :param seeds: how many each variant has.
    :param rate_limit_us: schedutil's, and ``transition_latency_us`` of an OPP change, of one of the
        scenarios: at the platform's defaults, if there is one.
    """

    platform: str
    engine: str
    power: str
    duration: str
    seeds: int
    kernel: str
    hz: int
    rate_limit_us: int
    transition_latency_us: int
    scenarios: tuple[ScenarioResult, ...]

    @property
    def replicates(self) -> bool:
        """Whether seeds drew more than starts in every scenario."""
        return all(result.replicates for result in self.scenarios)
