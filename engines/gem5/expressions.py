# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's own power model over the same energies: expressions for its MathExprPowerModel.

gem5 evaluates an expression over statistics whenever it prints them. The rows of
`engines.gem5.inside.rows` do not need expressions. Both compute the same energy in two ways, and on
a run at one OPP both must agree.

gem5's parser limits expressions. Numbers have a fixed point, because the parser reads "1e-9" as 1e
minus 9. No term is a vector. The dynamic expression is the same in every power state, because gem5
weighs each state's expression by its share of the time.
"""

from __future__ import annotations

from eascope.engines.gem5.inside.columns import L2, Columns, Term, cpu_events
from eascope.engines.gem5.inside.request import ClusterPower, MachineSettings
from eascope.power.events import EventPower, load_events
from eascope.power.mcpat import STATES

#: MinorCPU's mix of committed instructions is a vector, which an expression cannot read. Loads and
#: stores are taken from accesses to the data cache; floating point (Arm's is a part of SIMD) from
#: what the second fetch stage has decoded, wrong paths included.
_DECODED = ("fetch2.vecInstructions", "fetch2.fpInstructions")
MINOR_PROXIES: Columns = {
    "core.load_instructions": (Term("dcache.ReadReq.accesses"),),
    "core.store_instructions": (Term("dcache.WriteReq.accesses"),),
    "core.fpu_accesses": tuple(Term(stat) for stat in _DECODED),
    "core.cdb_fpu_accesses": tuple(Term(stat) for stat in _DECODED),
    "core.float_regfile_reads": tuple(Term(stat, factor=2.0) for stat in _DECODED),
    "core.float_regfile_writes": tuple(Term(stat) for stat in _DECODED),
}
#: Share of sub-threshold leakage that stays in each of gem5's power states, in the order in which
#: gem5 wants their models.
LEAKS = {state.upper(): leaks for state, (_, leaks, _) in STATES.items()}


def number(value: float) -> str:
    """``value`` as gem5's parser reads it: no exponent."""
    return f"{value:.12f}"


def readable(columns: Columns) -> Columns:
    """Columns without those that need a part of a vector; `MINOR_PROXIES` stand in."""
    return {
        name: MINOR_PROXIES.get(name, terms) if any(term.parts for term in terms) else terms
        for name, terms in columns.items()
        if name in MINOR_PROXIES or not any(term.parts for term in terms)
    }


def dynamic(columns: Columns, power: EventPower, path: str) -> str:
    """Mean dynamic power in W since the last reset of statistics, over those below ``path``."""
    terms = ""
    for event, parts in columns.items():
        for term in parts:
            energy = power.energy_pj.get(event, 0.0) * term.factor
            # A minus stands between two terms: after an operator gem5 would misread it.
            if energy:
                sign = "-" if energy < 0 else "+"
                terms += f"{sign if terms else ''}{number(abs(energy))}*{path}.{term.stat}"
    scale = number(1 / power.level.power.vdd_v**2)
    return f"({terms})*{scale}*voltage*voltage/1000000000000/simSeconds"


def static(power: EventPower, unit: str, celsius: float) -> dict[str, str]:
    """Leakage in W by power state."""
    design = power.leakage_w_at_design(unit, celsius) / power.level.power.vdd_v**3
    return {
        state: f"{number(keep * design)}*voltage*voltage*voltage" for state, keep in LEAKS.items()
    }


def expressions(settings: MachineSettings, celsius: float) -> dict[str, ClusterPower]:
    """For each cluster the expressions of its CPUs (a list) and of its shared part.

    :param settings: as of `engines.gem5.settings.machine_settings`, of a detailed mode.
    """
    by_cluster: dict[str, ClusterPower] = {}
    for described in settings["clusters"]:
        power = load_events(described["core"])
        path = f"system.cluster_{described['name'].replace('-', '_')}"
        count = len(described["cpus"])
        columns = readable(cpu_events(described["model"]))
        cpus = [f"{path}.cpus{place}" if count > 1 else f"{path}.cpus" for place in range(count)]
        scale = number(power.cluster_cycle_pj / power.level.power.vdd_v**2)
        clock = f"{scale}*voltage*voltage/clock_period"  # a period is in ps
        by_cluster[described["name"]] = {
            "cpus": [
                {"dynamic": dynamic(columns, power, cpu), "static": static(power, "Core", celsius)}
                for cpu in cpus
            ],
            "shared": {
                "dynamic": f"{dynamic(L2, power, path)}+{clock}",
                "static": static(power, "L2", celsius),
            },
        }
    return by_cluster
