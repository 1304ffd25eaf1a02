"""What gem5's own power expressions miss on MinorCPU, whose instruction mix they cannot read.

An expression reads no part of a vector: loads and stores are taken from accesses to the data
cache, floating point is left out (`configs.gem5.power`). The rows have it all and are what runs are
billed by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from configs.activity import load_activity
from configs.gem5.columns import cpu_events
from configs.gem5.power import readable
from configs.platform import Platform
from configs.power.derived import CYCLE
from configs.power.events import EventPower, load_events

MODEL = "ArmMinorCPU"
#: Events that stand in for a part of a vector.
PROXIES = {
    "core.load_instructions": "dcache.read_accesses",
    "core.store_instructions": "dcache.write_accesses",
}


@dataclass(frozen=True)
class Reduced:
    """One workload kernel: dynamic energy of an instruction in pJ, and the expression's error."""

    core: str
    kernel: str
    ipc: float
    picojoules: float
    error: float


def reduced_errors(platform: Platform) -> list[Reduced]:
    """Every measured kernel of the platform's in-order cores, at the fastest OPP."""
    found = []
    for cluster in platform.clusters:
        if cluster.core.pipeline != "in-order":
            continue
        power = load_events(cluster.core.name)
        for one in load_activity(platform).measured:
            if one.cluster == cluster.name:
                ipc = one.ipc[cluster.max_khz]
                whole, read = _energies(power, one.events, ipc)
                found.append(Reduced(cluster.core.name, one.kernel, ipc, whole, read / whole - 1))
    return found


def _energies(power: EventPower, events: Mapping[str, float], ipc: float) -> tuple[float, float]:
    """Dynamic energy of an instruction in pJ: from all events, and from those that are readable."""
    columns = cpu_events(MODEL)
    kept = readable(columns)
    clock = power.energy_pj[CYCLE] / ipc
    whole = read = clock
    for event in columns:
        if event == CYCLE:
            continue
        energy = power.energy_pj.get(event, 0.0)
        whole += energy * events.get(event, 0.0)
        if event in kept:
            read += energy * events.get(PROXIES.get(event, event), 0.0)
    return whole, read
