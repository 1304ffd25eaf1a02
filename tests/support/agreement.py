# SPDX-License-Identifier: GPL-2.0-or-later
"""A record of how engines agree, written down."""

from eascope.analysis.known.agreement import (
    Against,
    Agreement,
    AgreementCell,
    AgreementColumn,
    Sample,
)
from eascope.analysis.known.conditions import NO_CONTROLS, REPLICATES, Conditions
from eascope.analysis.known.origin import RUNS, Origin


def cell(scenario: str, atomic: float, detailed: float) -> AgreementCell:
    """A cell with ten seeds of gem5 on atomic CPUs, and one on detailed ones."""
    return AgreementCell(
        scenario,
        "mainline",
        {
            "fast": Sample(tuple(range(12)), -1.0, 1.0, 0.5),
            "elided": Sample(tuple(range(10)), -2.0, 2.0, 9.0),
            "elided-detailed": Sample((0,), None, None, 50.0),
        },
        {
            "elided": Against(atomic, -1.0, 4.0, 0.5, ()),
            "elided-detailed": Against(detailed, None, None, 3.0, ()),
        },
        {},
        {},
    )


#: Of the fast engine's runs.
CONDITIONS = Conditions(
    kernel="6.12.1",
    engine="qemu",
    duration="short",
    speeds="board",
    power="published",
    energy_model="published",
    seeds=REPLICATES,
    controls=NO_CONTROLS,
)
BILLING = "0123abcd"

MEASURED = Agreement(
    Origin("a test", RUNS),
    "juno-r2",
    "board",
    "published",
    "short",
    (
        AgreementColumn("fast", "qemu", "", {}, ""),
        AgreementColumn("elided", "gem5", "elided", {"little": "ArmAtomicSimpleCPU"}, "atomic"),
        AgreementColumn(
            "elided-detailed", "gem5", "elided-detailed", {"little": "ArmMinorCPU"}, "detailed"
        ),
    ),
    (cell("smoke", -3.04, 20.0), cell("eas/game", 1.26, 0.1), cell("eas/game", -0.2, 0.1)),
    {},
    CONDITIONS,
    BILLING,
)
