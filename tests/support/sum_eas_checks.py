# SPDX-License-Identifier: GPL-2.0-or-later
"""What sums of clamps do together with what places tasks again that never sleep, in a guest.

juno-r2's CPUs 0 to 3 are little, 4 and 5 are big.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.naming import variant_named
from eascope.kernels.switches import FEATURES
from tests.support import guest_cases
from tests.support.guest_cases import Found

#: The variant that has both, and the one with the sums alone, by kernel.
TOGETHER = {
    "sum-feec": ("sum-feec-d", "sum-feec-a"),
    "sum-push@7.3": ("sum-push@7.3", "sum-push-off@7.3"),
}


@dataclass(frozen=True)
class Fifty:
    """Fifty tasks with a cap of 20 that begin on a big CPU and never sleep."""

    variant: str
    program: str = "stuck 50 4 0x3f 1500"
    cap: str = "1.96"

    @property
    def switch_lines(self) -> list[str]:
        """See `guest_cases.GuestCase`."""
        return [f"write {path} {value}" for path, value in variant_named(self.variant)[1].switches]


def run_fifty(kernel: KernelArtefact, platform: Platform, folder: Path) -> dict[str, Found]:
    """What becomes of them with both, and with sums alone.

    The kernel checks its sums at each tick, while tasks move that wait and that run.
    """
    together, alone = TOGETHER[kernel.name]
    cases = {"alone": Fifty(alone), "together": Fifty(together)}
    checks = [f"write {FEATURES} UCLAMP_CHECK"]
    return guest_cases.run(kernel, platform, cases, folder, checks)


def check_fifty(found: Mapping[str, Found]) -> None:
    """They are 250 on each of four littles of 383, where 19 of 20 fit, by their sums alone."""
    assert sum(cpu >= 4 for cpu in found["alone"].cpus) > 15, found["alone"].cpus
    littles = [found["together"].cpus.count(cpu) for cpu in range(4)]
    assert sum(littles) >= 40, found["together"].cpus
    assert max(littles) <= 19, littles
    counted = found["together"].counted
    assert counted["push_moved"] > 0
    assert counted["uclamp_checked"] > 0
    assert counted["uclamp_broken"] == 0
