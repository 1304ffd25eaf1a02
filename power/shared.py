# SPDX-License-Identifier: GPL-2.0-or-later
"""Other ways to bill the shared parts of clusters and chip.

The power of L2 and cluster logic is the least certain of all: boards that publish it measured it
together with their CPUs. So a comparison can be billed without the power of shared parts in
cluster-sleep, or without shared parts.
"""

from __future__ import annotations

from dataclasses import replace

from eascope.configs.knobs import BILLINGS, SHARED_POWER, STATED
from eascope.configs.platform import Cluster
from eascope.host.cache import digest_of
from eascope.power.curves import CurvePower
from eascope.power.model import SHARED_PART, Energies, Interval, PowerModel


class OtherShared:
    """A power model with another shared part; see `power.model.PowerModel`."""

    def __init__(self, model: PowerModel, shared: str) -> None:
        self._model, self._shared = model, shared
        self.name = f"{model.name}, shared part {shared}"
        self.summary = f"{model.summary}; the shared part draws {SHARED_POWER[shared]}"
        self.notes = model.notes
        self.digest = digest_of({"model": model.digest, "shared": shared})

    def interval_fj(self, cluster: Cluster, interval: Interval) -> Energies:
        """Energy in fJ of one row of ``intervals``."""
        if interval.cpu != SHARED_PART:
            return self._model.interval_fj(cluster, interval)
        on = replace(interval, t1_ns=interval.t0_ns + interval.active_ns, idle_ns=())
        spent = self._model.interval_fj(cluster, on)
        return dict.fromkeys(spent, 0) if self._shared == "zero" else spent

    def depends(self, cluster: Cluster) -> bool:
        """See `power.model.PowerModel`."""
        return self._model.depends(cluster)

    def vote(self, cluster: Cluster, khz: int) -> tuple[int, object] | None:
        """See `power.model.PowerModel`."""
        return self._model.vote(cluster, khz)

    def early_ns(self, cluster: Cluster) -> tuple[int, int]:
        """See `power.model.PowerModel`."""
        return self._model.early_ns(cluster)

    def chip_fj(self, on_ns: int, off_ns: int) -> Energies:
        """Energy in fJ of the chip's shared part: one that is off draws nothing."""
        spent = self._model.chip_fj(on_ns, 0)
        return dict.fromkeys(spent, 0) if self._shared == "zero" else spent


def with_shared(model: PowerModel, shared: str) -> PowerModel:
    """``model`` with the shared part billed according to ``shared``.

    :raises RequestError: a name that is none of `SHARED_POWER`.
    """
    BILLINGS["shared_power"].check(shared)
    # By most curves, a shared part that is off draws nothing anyway.
    nothing = isinstance(model, CurvePower) and not model.draws_off
    same = shared == STATED or (shared == "off" and nothing)
    return model if same else OtherShared(model, shared)
