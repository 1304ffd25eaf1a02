# SPDX-License-Identifier: GPL-2.0-or-later
"""Controls: what a comparison holds fixed, and a person may set otherwise to see if it matters.

The rate limit, the transition latency and the relative speeds of core types are the platform's,
delayed dequeue is the kernel's, and what is traced is ours. A control that is not given stays as it
is and changes no key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from analysis.records.cell import NO_NOISE, speeds_control
from configs.activity import SPEEDS, Activity, at_measured_speeds
from configs.guest import FEATURES
from configs.inherit import activity_of
from configs.platform import Platform
from configs.platform_file import load_platform
from host.cache import digest_of
from host.errors import RequestError, unknown
from kernels.variants import Variant

NO_DELAY_DEQUEUE = (FEATURES, "NO_DELAY_DEQUEUE")


@dataclass(frozen=True)
class Controls:
    """``None``: as the platform and the kernel have it."""

    rate_limit_us: int | None = None
    transition_latency_us: int | None = None
    #: Whether schedutil requests frequencies from the scheduler's context; else a thread does.
    fast_switch: bool | None = None
    delay_dequeue: bool = True
    #: Record each decision of EAS with its candidates; it takes some of the guest's time.
    decisions: bool = False
    #: Which speeds core types have: one of `configs.activity.SPEEDS`.
    speeds: str = "board"
    #: Whether a seed draws all that differs between two runs on a device, or starts alone.
    noise: bool = True

    @property
    def words(self) -> list[str]:
        """What differs, for names of folders and for people; empty when nothing does."""
        words = []
        if self.rate_limit_us is not None:
            words.append(f"rate-limit-{self.rate_limit_us}-us")
        if self.transition_latency_us is not None:
            words.append(f"transition-{self.transition_latency_us}-us")
        if self.fast_switch is not None:
            words.append("fast-switch" if self.fast_switch else "no-fast-switch")
        if not self.delay_dequeue:
            words.append("no-delay-dequeue")
        if self.decisions:
            words.append("decisions")
        if self.speeds != "board":
            words.append(speeds_control(self.speeds))
        if not self.noise:
            words.append(NO_NOISE)
        return words

    def load(self, name: str) -> tuple[Platform, Activity]:
        """The platform ``name`` and its activity with the controls in place.

        :raises RequestError: as `load_platform`, `activity_of` and `of_platform` do, and for
            speeds that there are not.
        """
        platform = self.of_platform(load_platform(name))
        activity = activity_of(platform)
        if self.speeds not in SPEEDS:
            raise unknown("speeds", self.speeds, SPEEDS)
        return (
            (platform, activity)
            if self.speeds == "board"
            else at_measured_speeds(platform, activity)
        )

    def of_platform(self, platform: Platform) -> Platform:
        """``platform`` with the controls in place, under a digest of its own.

        :raises RequestError: when a request would be replaced before it is done.
        """
        changed: dict[str, Any] = {
            key: value
            for key in ("rate_limit_us", "transition_latency_us", "fast_switch")
            if (value := getattr(self, key)) is not None
        }
        if not changed:
            return platform
        resolved = replace(
            platform, **changed, digest=digest_of({"platform": platform.digest, **changed})
        )
        if resolved.rate_limit_us < resolved.transition_latency_us:
            raise RequestError(
                f"rate limit {resolved.rate_limit_us} us: allowed: at least the transition latency "
                f"({resolved.transition_latency_us} us), or a cluster may never change its OPP"
            )
        return resolved

    def of_variant(self, variant: Variant) -> Variant:
        """``variant`` with its switches, and delayed dequeue off where that is asked for."""
        if self.delay_dequeue or NO_DELAY_DEQUEUE in variant.switches:
            return variant
        return replace(variant, switches=(*variant.switches, NO_DELAY_DEQUEUE))


#: Nothing set otherwise.
AS_IT_IS = Controls()
