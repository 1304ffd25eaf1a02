# SPDX-License-Identifier: GPL-2.0-or-later
"""Controls: settings that a comparison holds fixed, and that a person may change to see an effect.

The platform has the controls of frequency changes, exit times and speeds. The kernel has delayed
dequeue. The project has the work of a scenario's microsecond, and the recorded events. A control
without an option keeps its default and changes no key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from eascope.analysis.records.cell import NO_NOISE, speeds_control
from eascope.configs.activity import (
    ALL_CORES,
    HARDWARE,
    SPEEDS,
    Activity,
    at_hardware_speeds,
    at_kernel_rate,
    at_measured_speeds,
)
from eascope.configs.inherit import activity_of
from eascope.configs.platform import LLC_ALL, LLC_CLUSTER, Cluster, Platform
from eascope.configs.platform_file import load_platform
from eascope.experiments.reference import reference_turn_ns
from eascope.host.cache import digest_of
from eascope.host.errors import RequestError, unknown
from eascope.kernels.guest_files import FEATURES
from eascope.kernels.switches import Switches
from eascope.kernels.variants import Variant

NO_DELAY_DEQUEUE = (FEATURES, "NO_DELAY_DEQUEUE")

MODEL, BOARD = "model", "board"
#: How frequencies change: what `Controls.dvfs` may be.
DVFS = {
    MODEL: "as the platform's [dvfs] says: the same times on every board, without a thread",
    BOARD: "as the platform's [dvfs.board] says of the board itself",
}
#: Fields of a platform that the controls of the same names, and `DVFS`, set.
_DVFS_FIELDS = ("rate_limit_us", "transition_latency_us", "fast_switch")


@dataclass(frozen=True)
class Controls:
    """The controls; ``None`` stands for the default of the platform or the kernel."""

    #: How frequencies change: one of `DVFS`; the three after it set a part of that.
    dvfs: str = MODEL
    rate_limit_us: int | None = None
    transition_latency_us: int | None = None
    #: Whether schedutil requests frequencies from the scheduler's context; else a thread does.
    fast_switch: bool | None = None
    #: Who shares the last-level cache: `configs.platform.LLC_CLUSTER` or `LLC_ALL`.
    llc: str | None = None
    delay_dequeue: bool = True
    #: Record each decision of EAS with its candidates; it takes some of the guest's time.
    decisions: bool = False
    #: Trace events that are recorded besides those of every run; likewise.
    events: tuple[str, ...] = ()
    #: Which speeds core types have: one of `configs.activity.SPEEDS`.
    speeds: str = "board"
    #: Exit times of idle states in percent of the platform's, for the kernel and the machine.
    idle_exit_percent: int = 100
    #: Instructions per cycle of all but the busy loop, as percent of the platform's.
    kernel_rate_percent: int = 100
    #: On which cores: `configs.activity.ALL_CORES`, or a kind of pipeline.
    kernel_rate_of: str = ALL_CORES
    #: Whether a seed draws all that differs between two runs on a device, or starts alone.
    noise: bool = True
    #: Whether the run is traced. Tracing takes the guest's time; without it, a run has its counters
    #: alone, and no measures are derived from it.
    traced: bool = True
    #: What rt-app's calibration was for the scenario's source: ns of an iteration of its busy loop.
    calibration_ns: int | None = None
    #: Core and MHz whose microseconds a scenario's work is counted in (`experiments.reference`).
    reference: str | None = None
    #: Switches of the kernel besides the variant's, which are written after these.
    switches: Switches = ()

    @property
    def words(self) -> list[str]:
        """The differences from the defaults, for names of folders and for people; may be empty."""
        words = []
        if self.dvfs != MODEL:
            words.append(f"{self.dvfs}-dvfs")
        if self.rate_limit_us is not None:
            words.append(f"rate-limit-{self.rate_limit_us}-us")
        if self.transition_latency_us is not None:
            words.append(f"transition-{self.transition_latency_us}-us")
        if self.fast_switch is not None:
            words.append("fast-switch" if self.fast_switch else "no-fast-switch")
        if self.llc is not None:
            words.append(f"llc-{self.llc}")
        if not self.delay_dequeue:
            words.append("no-delay-dequeue")
        if self.decisions:
            words.append("decisions")
        words += [f"event-{event.rpartition(':')[2]}" for event in self.events]
        if self.speeds != "board":
            words.append(speeds_control(self.speeds))
        if self.idle_exit_percent != 100:
            words.append(f"idle-exit-{self.idle_exit_percent}-percent")
        if self.kernel_rate_percent != 100:
            of = "" if self.kernel_rate_of == ALL_CORES else f"-{self.kernel_rate_of}"
            words.append(f"kernel-rate-{self.kernel_rate_percent}-percent{of}")
        if not self.noise:
            words.append(NO_NOISE)
        if not self.traced:
            words.append("untraced")
        if self.calibration_ns is not None:
            words.append(f"calibration-{self.calibration_ns}-ns")
        if self.reference is not None:
            words.append(f"reference-{self.reference.replace('@', '-')}-mhz")
        words += [_switch_word(path, value) for path, value in self.switches]
        return words

    def turn_ns(self) -> Fraction | None:
        """Time of an iteration by which work is counted; None: that of the largest CPU.

        :raises RequestError: two units of work, or an unknown reference.
        """
        if self.reference is None:
            return None if self.calibration_ns is None else Fraction(self.calibration_ns)
        if self.calibration_ns is not None:
            raise RequestError(
                f"--reference {self.reference}: the source's conditions count work in turns of "
                f"{self.calibration_ns} ns: allowed: one of the two"
            )
        return reference_turn_ns(self.reference)

    def load(self, name: str) -> tuple[Platform, Activity]:
        """The platform ``name`` and its activity with the controls in place.

        :raises RequestError: as `load_platform` and `applied` do.
        """
        return self.applied(load_platform(name))

    def applied(self, platform: Platform) -> tuple[Platform, Activity]:
        """``platform`` and its activity with the controls in place.

        :raises RequestError: as `activity_of` and `of_platform` do, and for unknown speeds.
        """
        platform = self.of_platform(platform)
        activity = activity_of(platform)
        if self.speeds not in SPEEDS:
            raise unknown("speeds", self.speeds, SPEEDS)
        if self.speeds == HARDWARE:
            activity = at_hardware_speeds(activity)
        elif self.speeds != "board":
            platform, activity = at_measured_speeds(platform, activity)
        if self.kernel_rate_percent != 100:
            activity = at_kernel_rate(
                platform, activity, self.kernel_rate_percent, self.kernel_rate_of
            )
        return platform, activity

    def of_platform(self, platform: Platform) -> Platform:
        """``platform`` with the controls in place, under a digest of its own.

        :raises RequestError: when a request would be replaced before it is done, or when the
            platform has no ``[dvfs.board]``.
        """
        changed: dict[str, Any] = self._dvfs_of(platform)
        changed |= {key: value for key in _DVFS_FIELDS if (value := getattr(self, key)) is not None}
        if self.llc is not None:
            if self.llc not in (LLC_CLUSTER, LLC_ALL):
                raise unknown("last-level cache", self.llc, (LLC_CLUSTER, LLC_ALL))
            changed["llc"] = self.llc
        if self.idle_exit_percent != 100:
            changed["clusters"] = _at_idle_exit(platform, self.idle_exit_percent)
        if not changed:
            return platform
        said = {**changed, "clusters": self.idle_exit_percent} if "clusters" in changed else changed
        resolved = replace(
            platform, **changed, digest=digest_of({"platform": platform.digest, **said})
        )
        if resolved.rate_limit_us < resolved.transition_latency_us:
            raise RequestError(
                f"rate limit {resolved.rate_limit_us} us: allowed: at least the transition latency "
                f"({resolved.transition_latency_us} us), or a cluster may never change its OPP"
            )
        return resolved

    def _dvfs_of(self, platform: Platform) -> dict[str, Any]:
        """The changes of `dvfs` to the platform."""
        if self.dvfs not in DVFS:
            raise unknown("dvfs", self.dvfs, DVFS)
        if self.dvfs == MODEL:
            return {}
        if platform.board_dvfs is None:
            raise RequestError(
                f"--dvfs {self.dvfs}: {platform.name} has no [dvfs.board]: allowed: {MODEL}, or "
                "a platform that has it"
            )
        return {key: getattr(platform.board_dvfs, key) for key in _DVFS_FIELDS}

    def of_variant(self, variant: Variant) -> Variant:
        """``variant`` with its own switches and those of the controls."""
        own = variant.switches
        first = tuple(switch for switch in self.switches if switch not in own)
        last = () if self.delay_dequeue or NO_DELAY_DEQUEUE in own else (NO_DELAY_DEQUEUE,)
        return replace(variant, switches=(*first, *own, *last)) if first or last else variant


def _switch_word(path: str, value: str) -> str:
    """``no-preempt-short`` of a feature, ``file-value`` of another switch."""
    name = value if path == FEATURES else f"{path.rpartition('/')[2]}-{value}"
    return name.lower().replace("_", "-")


def _at_idle_exit(platform: Platform, percent: int) -> tuple[Cluster, ...]:
    """The clusters with other exit times of idle states, in whole us."""
    return tuple(
        replace(
            cluster,
            idle_states=tuple(
                # WFI has none: its microsecond is the kernel's own figure.
                state
                if number == 0
                else replace(state, exit_us=round(state.exit_us * percent / 100))
                for number, state in enumerate(cluster.idle_states)
            ),
        )
        for cluster in platform.clusters
    )


#: Nothing set otherwise.
AS_IT_IS = Controls()
