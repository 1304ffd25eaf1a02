"""Controls: what a comparison holds fixed, and a person may set otherwise to see if it matters.

The rate limit and the transition latency are the platform's, delayed dequeue is the kernel's, and
what is traced is ours. A control that is not given stays as it is and changes no key.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from configs.host.cache import digest_of
from configs.host.errors import RequestError
from configs.platform import Platform
from kernels.variants import SCHED_DEBUG, Variant

NO_DELAY_DEQUEUE = (f"{SCHED_DEBUG}/features", "NO_DELAY_DEQUEUE")


@dataclass(frozen=True)
class Controls:
    """``None``: as the platform and the kernel have it."""

    rate_limit_us: int | None = None
    transition_latency_us: int | None = None
    delay_dequeue: bool = True
    #: Record each decision of EAS with its candidates; it takes some of the guest's time.
    decisions: bool = False

    @property
    def words(self) -> list[str]:
        """What differs, for names of folders and for people; empty when nothing does."""
        found = []
        if self.rate_limit_us is not None:
            found.append(f"rate-limit-{self.rate_limit_us}-us")
        if self.transition_latency_us is not None:
            found.append(f"transition-{self.transition_latency_us}-us")
        if not self.delay_dequeue:
            found.append("no-delay-dequeue")
        if self.decisions:
            found.append("decisions")
        return found

    def of_platform(self, platform: Platform) -> Platform:
        """``platform`` with the controls in place, under a digest of its own.

        :raises RequestError: when a request would be replaced before it is done.
        """
        changed: dict[str, Any] = {
            key: value
            for key, value in asdict(self).items()
            if key not in ("delay_dequeue", "decisions") and value is not None
        }
        if not changed:
            return platform
        found = replace(
            platform, **changed, digest=digest_of({"platform": platform.digest, **changed})
        )
        if found.rate_limit_us < found.transition_latency_us:
            raise RequestError(
                f"rate limit {found.rate_limit_us} us: allowed: at least the transition latency "
                f"({found.transition_latency_us} us), or a cluster may never change its OPP"
            )
        return found

    def of_variant(self, variant: Variant) -> Variant:
        """``variant`` with its switches, and delayed dequeue off where that is asked for."""
        if self.delay_dequeue or NO_DELAY_DEQUEUE in variant.switches:
            return variant
        return replace(variant, switches=(*variant.switches, NO_DELAY_DEQUEUE))


#: Nothing set otherwise.
AS_IT_IS = Controls()
