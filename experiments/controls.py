# SPDX-License-Identifier: GPL-2.0-or-later
"""Controls: settings that a comparison holds fixed, and that a person may change to see an effect.

`configs.knobs` declares them. A control that is a field of a platform, or a feature of the kernel's
scheduler, needs no more than that; what the others do stands here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from typing import Any

from eascope.configs.activity import (
    Activity,
    at_hardware_speeds,
    at_kernel_rate,
    at_measured_speeds,
)
from eascope.configs.inherit import activity_of
from eascope.configs.knobs import (
    BOARD,
    CONTROLS,
    HARDWARE,
    MODEL,
    TOLD,
    ControlKnobs,
    Setting,
    words,
)
from eascope.configs.platform import Cluster, IdleState, Platform, Takes
from eascope.configs.platform_file import list_platforms, load_platform
from eascope.host.cache import digest_of
from eascope.host.errors import RequestError, names_allowed
from eascope.kernels.switches import FAIR_SERVER, FEATURES, IDLE_GOVERNOR
from eascope.kernels.trees import tree_source
from eascope.kernels.variants import Kernel, Variant

#: Controls that set the platform's field of the same name.
_OF_PLATFORM = tuple(item.name for item in fields(Platform) if item.name in CONTROLS)

#: A root domain that was built again does not count its CPUs' fair servers, so the admission test
#: of a smaller runtime of one of them finds less than nothing, which it takes for too much (EBUSY).
NO_ADMISSION = ("/proc/sys/kernel/sched_rt_runtime_us", "-1")


@dataclass(frozen=True)
class Controls(ControlKnobs):
    """The controls; ``None`` stands for the default of the platform or the kernel."""

    @property
    def words(self) -> list[str]:
        """The differences from the defaults, for names of folders and for people; may be empty."""
        return [*words(self), *(_switch_word(path, value) for path, value in self.switches)]

    @property
    def values(self) -> dict[str, Setting]:
        """The differences from the defaults, by name, for records."""
        return {
            name: value
            for name, value in vars(self).items()
            if value != CONTROLS[name].default and CONTROLS[name].kind is not tuple
        }

    def iteration_ns(self) -> Fraction | None:
        """Time of an iteration by which work is counted; None: that of the largest CPU.

        :raises RequestError: two units of work, or an unknown reference.
        """
        if self.reference is None:
            return None if self.calibration_ns is None else Fraction(self.calibration_ns)
        if self.calibration_ns is not None:
            raise RequestError(
                f"--reference {self.reference} cannot be combined with the source's conditions, "
                f"which count work in loops of {self.calibration_ns} ns"
            )
        return reference_iteration_ns(self.reference)

    def load(self, name: str) -> tuple[Platform, Activity]:
        """The platform ``name`` and its activity with the controls in place.

        :raises RequestError: as `load_platform` and `applied` do.
        """
        return self.applied(load_platform(name))

    def applied(self, platform: Platform) -> tuple[Platform, Activity]:
        """``platform`` and its activity with the controls in place.

        :raises RequestError: as `activity_of` and `of_platform` do.
        """
        platform = self.of_platform(platform)
        activity = activity_of(platform)
        if self.speeds == HARDWARE:
            activity = at_hardware_speeds(activity)
        elif self.speeds != BOARD:
            platform, activity = at_measured_speeds(platform, activity)
        if self.kernel_rate_percent != 100:
            activity = at_kernel_rate(
                platform, activity, self.kernel_rate_percent, self.kernel_rate_of
            )
        return platform, activity

    def of_platform(self, platform: Platform) -> Platform:
        """``platform`` with the controls in place, under a digest of its own.

        :raises RequestError: for a name that is no choice, when a request would be replaced before
            it is done, or when the platform has no ``[dvfs.board]``.
        """
        for name, value in vars(self).items():
            CONTROLS[name].check(value)
        changed: dict[str, Any] = self._dvfs_of(platform)
        changed |= {key: value for key in _OF_PLATFORM if (value := getattr(self, key)) is not None}
        if not self.clock_floors and platform.floors:  # else the platform is so already
            changed["floors"] = ()
        stated = dict(changed)
        percent = 100 if self.idle_exit == TOLD else None
        percent = percent if self.idle_exit_percent is None else self.idle_exit_percent
        if percent is not None:
            changed["clusters"] = _as_told(platform, percent)
            stated["clusters"] = percent
        if not changed:
            return platform
        resolved = replace(
            platform, **changed, digest=digest_of({"platform": platform.digest, **stated})
        )
        if resolved.rate_limit_us < resolved.transition_latency_us:
            raise RequestError(
                f"rate limit {resolved.rate_limit_us} us is below the transition latency "
                f"({resolved.transition_latency_us} us): a cluster might never change its OPP"
            )
        return resolved

    def _dvfs_of(self, platform: Platform) -> dict[str, Any]:
        """The changes of `dvfs` to the platform."""
        if self.dvfs == MODEL:
            return {}
        if platform.board_dvfs is None:
            raise RequestError(
                f"--dvfs {self.dvfs}: {platform.name} has no [dvfs.board]; use {MODEL}, or a "
                "platform that has it"
            )
        return {key: value for key, value in vars(platform.board_dvfs).items() if key in CONTROLS}

    def check_kernel(self, kernel: Kernel, variant: Variant, platform: Platform) -> None:
        """Refuse a control or a source's condition that a person's tree of Linux cannot have.

        :param variant: without the controls' switches.
        :raises RequestError: one line.
        """
        asked = self.of_variant(replace(variant, switches=()), platform).switches
        if kernel.tree and (lacks := tree_source(kernel.tree).lacking(asked)):
            raise RequestError(
                f"{kernel.tree.words}: has no {lacks}, which a control or the scenario's "
                "[source_conditions] needs; use a tree that has it, another --scenario, or neither "
                "--source-conditions nor that control"
            )

    def of_variant(self, variant: Variant, platform: Platform) -> Variant:
        """``variant`` with its own switches and those of the controls, on ``platform``."""
        own = variant.switches
        first = tuple(switch for switch in self.switches if switch not in own)
        off = (
            (FEATURES, f"NO_{item.feature}")
            for name, item in CONTROLS.items()
            if item.feature and not getattr(self, name)
        )
        idle = [(IDLE_GOVERNOR, self.idle_governor)] * (self.idle_governor != "menu")
        servers = [] if self.fair_server else [NO_ADMISSION]
        servers += [
            (f"{FAIR_SERVER}/cpu{cpu}/runtime", "0")
            for cpu in (() if self.fair_server else platform.cpus)
        ]
        last = tuple(switch for switch in (*off, *idle, *servers) if switch not in own)
        written = dict(own)
        for path, value in (*idle, *servers):
            if written.get(path, value) != value:
                raise RequestError(
                    f"{path} = {value!r} as a control sets it, but {variant.name} sets "
                    f"{written[path]!r}; drop one of the two"
                )
        return replace(variant, switches=(*first, *own, *last)) if first or last else variant


def _switch_word(path: str, value: str) -> str:
    """``no-preempt-short`` of a feature, ``file-value`` of another switch."""
    name = value if path == FEATURES else f"{path.rpartition('/')[2]}-{value}"
    return name.lower().replace("_", "-")


def _as_told(platform: Platform, percent: int) -> tuple[Cluster, ...]:
    """The clusters with idle states that take ``percent`` of what the kernel is told."""

    def takes(state: IdleState) -> Takes:
        entry, exit_ = (round(us * percent / 100) for us in (state.entry_us, state.exit_us))
        share = "" if percent == 100 else f"assumed: {percent} % of it; "
        return Takes(entry_us=entry, exit_us=exit_, source=share + state.source).meaning()

    return tuple(
        replace(
            cluster,
            idle_states=(
                cluster.idle_states[0],  # WFI takes what the kernel's instructions take
                *(replace(state, takes=takes(state)) for state in cluster.idle_states[1:]),
            ),
        )
        for cluster in platform.clusters
    )


#: Every control at its default.
DEFAULT_CONTROLS = Controls()


_REFERENCE = re.compile(r"([a-z0-9-]+)@([1-9]\d{0,4})")


@cache
def reference_iteration_ns(text: str) -> Fraction:
    """Duration in ns of an iteration of rt-app's busy loop on the reference ``text``.

    A scenario's ``run_us`` is work that takes that time on the platform's largest CPU at its top
    OPP, so on another platform it is another amount. With a reference it is what the named core
    does in that time at that frequency (MHz). The core's speed is that of the first shipped
    platform that has it, at the board's speeds.

    :raises RequestError: another form, or a core that no shipped platform has.
    """
    match = _REFERENCE.fullmatch(text)
    if match is None:
        raise RequestError(f"reference {text!r}: allowed: CORE@MHZ, such as cortex-a72@1200")
    rates: dict[str, Fraction] = {}
    for name, summary in list_platforms():
        if isinstance(summary, RequestError):
            continue
        platform = load_platform(name)
        activity = activity_of(platform)
        for cluster in platform.clusters:
            rate = Fraction(str(activity.ipc(cluster))) / activity.iteration_instructions
            rates.setdefault(cluster.core.name, rate)
    if match[1] not in rates:
        raise RequestError(f"reference {text!r}: core {match[1]!r}{names_allowed(match[1], rates)}")
    return Fraction(1000) / (rates[match[1]] * int(match[2]))
