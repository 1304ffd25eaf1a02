# SPDX-License-Identifier: GPL-2.0-or-later
"""Model axes: unknown quantities of a board, as named values at which comparisons are run.

A seed draws the differences between two runs on one device. An axis is a quantity that no run can
decide, such as the cost of an idle exit or the speed of the kernel's code. A comparison has one
value of each axis, by default the platform's. `AXES` and the platform's ``[axes]`` have the
alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from eascope.configs.billing import BILLED, DERIVED
from eascope.configs.source import source_text
from eascope.host.errors import names_allowed
from eascope.host.strict import StrictTable

#: What a value sets a key to.
Setting: TypeAlias = str | bool | int


@dataclass(frozen=True)
class AxisValue:
    """A value of an axis.

    :param sets: values of keys of `Axis.keys`; a key is a control's name, or names a way of
        billing.
    """

    name: str
    sets: Mapping[str, Setting]
    source: str


@dataclass(frozen=True)
class Axis:
    """An axis; its default is the value of the command line.

    :param keys: what a value must set, and how each is read from a table.
    :param common: values if a platform states none; the value of the command line is no
        alternative.
    :param elsewhere: the table of a platform file that selects from `common`.
    :param billing: whether a value changes only the billing, and no run.
    """

    summary: str
    keys: Mapping[str, Callable[[StrictTable, str], Setting]]
    common: tuple[AxisValue, ...] = ()
    billing: bool = False
    elsewhere: str = ""


def _integer(low: int, high: int, unit: str) -> Callable[[StrictTable, str], int]:
    return lambda table, key: table.integer(key, low, high, unit)


def _text(*choices: str) -> Callable[[StrictTable, str], str]:
    return lambda table, key: table.text(key, choices)


def _text_or(absent: str, *choices: str) -> Callable[[StrictTable, str], str]:
    return lambda table, key: table.text(key, choices) if table.has(key) else absent


def _switch(table: StrictTable, key: str) -> bool:
    return table.text(key, ("on", "off")) == "on"


#: Source of what the platform or the kernel has by itself.
_OWN = "published: what the platform's file or the kernel says"

#: The rates that the alternatives are of, by 0.351 and 0.539 of the default's one run.
_EIGHT_RUNS = "instructions per cycle of juno-r2 on gem5's cores, docs/results/characterisation.md"

#: How the source of each billed power begins.
_POWER = {name: "computed" if name == DERIVED else "published" for name in BILLED}

#: All axes, in the order of tables.
AXES: Mapping[str, Axis] = {
    "power": Axis(
        "the power by which energy is billed",
        {"power": _text()},
        tuple(
            AxisValue(name, {"power": name}, f"{_POWER[name]}: {meaning}")
            for name, meaning in BILLED.items()
        ),
        billing=True,
        elsewhere="[billing]",
    ),
    "shared_power": Axis(
        "the power billed for the shared part of a cluster",
        {"shared_power": _text("stated", "off", "zero")},
        (
            AxisValue("stated", {"shared_power": "stated"}, _OWN),
            AxisValue(
                "off",
                {"shared_power": "off"},
                "assumed: nothing is kept on while all its CPUs are in cluster-sleep",
            ),
            AxisValue(
                "zero",
                {"shared_power": "zero"},
                "assumed: the lower bound; no board publishes it apart from its CPUs' power",
            ),
        ),
        billing=True,
    ),
    "transition_power": Axis(
        "the power billed for entries into and exits from idle states",
        {"transition_percent": _integer(0, 100, "% of a busy CPU's power")},
        (
            AxisValue(
                "0%",
                {"transition_percent": 0},
                "assumed: the lower bound, as if the CPU were in the state already",
            ),
            AxisValue(
                "100%",
                {"transition_percent": 100},
                "assumed: the upper bound, as if the CPU were busy",
            ),
        ),
        billing=True,
    ),
    "idle_exit": Axis(
        "the time to leave an idle state",
        {"idle_exit_percent": _integer(0, 100, "% of the platform's exit times")},
        (
            AxisValue("100%", {"idle_exit_percent": 100}, _OWN),
            AxisValue(
                "25%",
                {"idle_exit_percent": 25},
                "assumed: a quarter; device trees state the worst case",
            ),
        ),
    ),
    "speeds": Axis(
        "the busy loop's ratio of core types",
        {"speeds": _text("board", "hardware", "measured")},
        (
            AxisValue("board", {"speeds": "board"}, _OWN),
            AxisValue(
                "hardware",
                {"speeds": "hardware"},
                "published: cycles of a turn of the busy loop on the board (configs/activity)",
            ),
            AxisValue(
                "measured",
                {"speeds": "measured"},
                "measured: rt-app's busy loop on gem5's models of the cores",
            ),
        ),
    ),
    "kernel_rate": Axis(
        "the kernel's instructions per cycle",
        {
            "kernel_rate_percent": _integer(10, 1000, "% of the platform's rate"),
            "kernel_rate_of": _text_or("all", "all", "in-order", "out-of-order"),
        },
        (
            AxisValue("100%", {"kernel_rate_percent": 100, "kernel_rate_of": "all"}, _OWN),
            AxisValue(
                "140% in-order",
                {"kernel_rate_percent": 140, "kernel_rate_of": "in-order"},
                f"measured: the most of eight runs with littles, 0.49; {_EIGHT_RUNS}",
            ),
            AxisValue(
                "93% out-of-order",
                {"kernel_rate_percent": 93, "kernel_rate_of": "out-of-order"},
                f"measured: the least of eight runs with bigs, 0.50; {_EIGHT_RUNS}",
            ),
            AxisValue(
                "108% out-of-order",
                {"kernel_rate_percent": 108, "kernel_rate_of": "out-of-order"},
                f"measured: the most of eight runs with bigs, 0.58; {_EIGHT_RUNS}",
            ),
        ),
    ),
    "dvfs": Axis(
        "how frequencies change: transition latency, rate limit, who requests them",
        {"dvfs": _text("model", "board")},
        (
            AxisValue("model", {"dvfs": "model"}, _OWN),
            AxisValue("board", {"dvfs": "board"}, "published: [dvfs.board] of the platform"),
        ),
        elsewhere="[dvfs.board]",
    ),
    "fast_switch": Axis(
        "whether the scheduler's context requests frequencies, or a thread of its own",
        {"fast_switch": _switch},
        (
            AxisValue("on", {"fast_switch": True}, _OWN),
            AxisValue(
                "off",
                {"fast_switch": False},
                "published: Linux, kernel/sched/cpufreq_schedutil.c; drivers that sleep need it",
            ),
        ),
    ),
    "llc": Axis(
        "which CPUs share the last-level cache, and so the scheduler's domain MC",
        {"llc": _text("cluster", "all")},
        (
            AxisValue("cluster", {"llc": "cluster"}, "assumed: each cluster has its own"),
            AxisValue("all", {"llc": "all"}, "assumed: one cache behind those of all clusters"),
        ),
    ),
    "delayed_dequeue": Axis(
        "EEVDF's delayed dequeue",
        {"delay_dequeue": _switch},
        (
            AxisValue("on", {"delay_dequeue": True}, _OWN),
            AxisValue(
                "off",
                {"delay_dequeue": False},
                "published: Linux, kernel/sched/features.h, DELAY_DEQUEUE; kernels before 6.12 "
                "do not have it",
            ),
        ),
    ),
}


def read_axes(table: StrictTable) -> dict[str, tuple[AxisValue, ...]]:
    """The ``[axes]`` of a platform file: alternatives by axis, instead of the common ones.

    :raises RequestError: one line: an unknown axis or key, a value that is not allowed.
    """
    axes = {}
    for name in table.data:
        if name not in AXES:
            raise table.error(name, f"an axis{names_allowed(name, AXES).replace(': allowed', '')}")
        if AXES[name].elsewhere:
            raise table.error(name, f"no such axis here: {AXES[name].elsewhere} states it")
        values = table.table(name)
        axes[name] = tuple(_value(AXES[name], values.table(each), each) for each in values.data)
    return axes


def _value(axis: Axis, table: StrictTable, name: str) -> AxisValue:
    sets = {key: read(table, key) for key, read in axis.keys.items()}
    value = AxisValue(name, sets, source_text(table))
    table.finish()
    return value
