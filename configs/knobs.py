# SPDX-License-Identifier: GPL-2.0-or-later
"""Knobs: what a person may set otherwise of a run, or of the power that it is billed by.

A field of `ControlKnobs` or `BillingKnobs` declares a knob. All else follows from this line: the
option of the command line, the axis of campaigns, the key of a scenario's ``[source_conditions]``,
the model axis of ``compare --robust`` and of a platform's ``[axes]``, the words in reports and in
names of folders, the entry in ``cell.json``, and ``docs/reference/controls.md``.

A seed draws the differences between two runs on one device. A model axis is a quantity that no run
can decide, such as the cost of an idle exit or the speed of the kernel's code. A comparison has one
value of each axis, by default the platform's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, ClassVar, TypeAlias, get_args, get_origin, get_type_hints

from eascope.configs.billing import BILLED
from eascope.configs.core import PIPELINES
from eascope.configs.source import SOURCE
from eascope.host.errors import unknown
from eascope.host.keys import Entry, Key, Placed, form_of, key, maybe

#: What a knob is set to.
Setting: TypeAlias = str | bool | int

#: What a knob changes.
PLATFORM, ACTIVITY, KERNEL = "the platform", "the activity", "the kernel"
WORKLOAD, RECORDING, BILLING = "the workload", "what is recorded", "energy accounting"

MODEL, BOARD = "model", "board"
DVFS = {
    MODEL: "[dvfs] of the platform: the same times on every board, without a kthread",
    BOARD: "[dvfs.board]: the board's own times, and schedutil's kthread if it needs one",
}
HARDWARE = "hardware"
SPEEDS = {
    BOARD: "in the ratio of the device tree's capacities",
    "measured": "gem5's IPC; the capacities follow",
    HARDWARE: "measured on the board; the capacities stay",
}
TAKEN, TOLD = "taken", "told"
IDLE_EXIT = {
    TAKEN: "what the hardware takes",
    TOLD: "the device tree's, which is a firmware's worst case",
}
LLC_CLUSTER, LLC_ALL = "cluster", "all"
#: The kernel makes its scheduling domain MC of the CPUs that share the cache.
LLC = {LLC_CLUSTER: "those of one cluster", LLC_ALL: "all of the chip"}
#: Cores of any kind; the others are kinds of pipelines.
ALL_CORES = "all"
STATED = "stated"
SHARED_POWER = {
    STATED: "from the power model",
    "off": "0 while all its CPUs are in cluster-sleep",
    "zero": "always 0",
}


#: What a knob without choices may be.
_VALUES = {bool: "true or false", str: "a text", tuple: "a list"}


@dataclass(frozen=True)
class Knob:
    """A knob.

    :param kind: ``bool``, ``int``, ``str``, or ``tuple`` for a list with a reader of its own.
    :param default: None: what the platform or the kernel has.
    :param summary: what it is; of a switch with an option: what the option does.
    :param span: of an integer: the least, the most, the unit.
    :param choices: names with their meanings.
    :param called: in a message about another name.
    :param word: its value in a name of a folder, with ``{}`` for the value, or a function of the
        whole table; by default that of its name, such as ``no-noise``, ``rate-limit-500-us``.
    :param feature: the scheduler's feature that it switches off.
    :param option: whether the command line has it; ``metavar`` stands for its value there.
    :param swept: whether a campaign may vary it.
    :param conditions: whether a scenario's ``[source_conditions]`` may state it.
    :param axis: the model axis of which it is a key.
    :param others: values of that axis where a platform states none, with their sources; of an axis
        with several keys, a tuple has a value of each.
    :param elsewhere: the table of a platform file that selects from ``others``.
    """

    name: str
    kind: type
    default: Any
    changes: str
    summary: str
    span: tuple[int, int, str] = (0, 0, "")
    choices: Mapping[str, str] = field(default_factory=dict)
    called: str = ""
    word: str | Callable[[Any], Iterable[str]] = ""
    feature: str = ""
    option: bool = True
    metavar: str = ""
    swept: bool = True
    conditions: bool = False
    axis: str = ""
    others: Mapping[Setting | tuple[Setting, ...], str] = field(default_factory=dict)
    elsewhere: str = ""

    @property
    def values(self) -> str:
        """What it may be set to, in words."""
        if self.kind is int:
            low, high, unit = self.span
            return f"{low}..{high} ({unit})"
        return ", ".join(self.choices) or _VALUES[self.kind]

    @property
    def flag(self) -> str:
        """The option; that of a switch sets the value that is not its default."""
        off = "no-" if self.kind is bool and self.default is not False else ""
        return f"--{off}{self.name.replace('_', '-')}"

    @property
    def place(self) -> str:
        """What stands for a value of the option."""
        if self.kind is int:
            return "US" if self.span[2] == "us" else "N"
        return self.metavar or self.name[0].upper()

    @property
    def meaning(self) -> str:
        """What it is, with the meaning of its choices."""
        if not self.choices:
            return self.summary
        shown = (f"{name} ({words})" if words else name for name, words in self.choices.items())
        return f"{self.summary}: {', '.join(shown)}"

    @property
    def help(self) -> str:
        """The text of the option."""
        if self.kind is bool or self.kind is tuple or "(default" in self.summary:
            return self.meaning
        default = "the platform's" if self.default is None else self.default
        return f"{self.meaning} (default: {default})"

    @property
    def entry(self) -> Entry:
        """The key of a file that sets it."""
        span, unit = self.span[:2] if self.kind is int else None, self.span[2]
        return Entry(self.name, self.kind, Key(self.summary, span, unit, self.choices))

    def check(self, value: object) -> None:
        """Refuse a name that is no choice.

        :raises RequestError: naming the nearest.
        """
        if self.choices and value is not None and value not in self.choices:
            raise unknown(self.called or self.name, str(value), self.choices)


def knob(default: Any, changes: str, summary: str, **more: Any) -> Any:  # noqa: ANN401 - of any type
    """A field of a table of knobs; ``more``: further fields of a `Knob`."""
    declared = {"changes": changes, "summary": summary, **more}
    return field(default=default, metadata={"knob": declared})


def _kernel_rate(of: ControlKnobs) -> list[str]:
    cores = "" if of.kernel_rate_of == ALL_CORES else f"-{of.kernel_rate_of}"
    return [f"kernel-rate-{of.kernel_rate_percent}-percent{cores}"]


#: Source of what the platform or the kernel has by itself.
_OWN = "published: what the platform's file or the kernel says"
#: The rates that the alternatives are of, by 0.351 and 0.539 of the default's one run.
_RUNS = (
    "runs with {}; instructions per cycle of juno-r2 on gem5's cores, "
    "docs/results/characterisation.md"
)
#: How the source of each billed power begins.


@dataclass(frozen=True)
class ControlKnobs:
    """Settings that a comparison holds fixed for all variants; words are in this order.

    A control at its default changes no key.
    """

    dvfs: str = knob(
        MODEL,
        PLATFORM,
        "how OPPs change",
        choices=DVFS,
        word="{}-dvfs",
        conditions=True,
        axis="dvfs",
        others={MODEL: _OWN, BOARD: "published: [dvfs.board] of the platform"},
        elsewhere="[dvfs.board]",
    )
    rate_limit_us: int | None = knob(
        None,
        PLATFORM,
        "least time between two frequency requests (schedutil's rate_limit_us)",
        span=(1, 100_000, "us"),
        conditions=True,
    )
    transition_latency_us: int | None = knob(
        None,
        PLATFORM,
        "duration of an OPP change",
        span=(1, 100_000, "us"),
        word="transition-{}-us",
        conditions=True,
    )
    fast_switch: bool | None = knob(
        None,
        PLATFORM,
        "request frequencies from schedutil's kthread, which waits until each is in force, as on "
        "boards whose driver may sleep",
        conditions=True,
        axis="fast_switch",
        others={
            True: _OWN,
            False: "published: Linux, kernel/sched/cpufreq_schedutil.c; drivers that sleep need it",
        },
    )
    clock_floors: bool = knob(
        True,
        PLATFORM,
        "ignore the platform's frequency floors between clusters",
        conditions=True,
    )
    llc: str | None = knob(
        None,
        PLATFORM,
        "which CPUs share the last-level cache",
        choices=LLC,
        called="last-level cache",
        word="llc-{}",
        axis="llc",
        others={
            LLC_CLUSTER: "assumed: each cluster has its own",
            LLC_ALL: "assumed: one cache behind those of all clusters",
        },
    )
    delay_dequeue: bool = knob(
        True,
        KERNEL,
        "disable EEVDF's delayed dequeue (NO_DELAY_DEQUEUE)",
        feature="DELAY_DEQUEUE",
        conditions=True,
        axis="delayed_dequeue",
        others={
            True: _OWN,
            False: "published: Linux, kernel/sched/features.h, DELAY_DEQUEUE; kernels before 6.12 "
            "do not have it",
        },
    )
    fair_server: bool = knob(
        True,
        KERNEL,
        "disable the fair server, whose bandwidth is a floor of schedutil's frequency; deadline "
        "tasks then pass no admission test, and fair tasks starve next to a real-time task that "
        "never sleeps",
        conditions=True,
        axis="fair_server",
        others={
            True: _OWN,
            False: "published: Linux, kernel/sched/deadline.c, fair_server_init(); kernels before "
            "6.12 do not have it, and a phone's kernel with backports may not",
        },
    )
    idle_governor: str = knob(
        "menu",
        KERNEL,
        "cpuidle governor",
        choices=dict.fromkeys(("menu", "teo"), ""),
        called="idle governor",
        word="idle-{}",
        conditions=True,
    )
    decisions: bool = knob(
        False,
        RECORDING,
        "record and report why EAS chose each CPU (candidates, energies); recording takes guest "
        "time, so such runs are separate from those without",
    )
    #: As `experiments.runs.trace_events.read_events` gives them.
    events: tuple[str, ...] = knob(
        (),
        RECORDING,
        "record more trace events, by name or group (eas, pelt, uclamp, cpufreq), for trace-cmd, "
        "KernelShark and LISA; such runs are separate, too",
        metavar="E[,E]",
        word=lambda of: [f"event-{event.rpartition(':')[2]}" for event in of.events],
        swept=False,
    )
    speeds: str = knob(
        BOARD,
        ACTIVITY,
        "speed of rt-app's busy loop on each core",
        choices=SPEEDS,
        word="{}-speeds",
        conditions=True,
        axis="speeds",
        others={
            BOARD: _OWN,
            HARDWARE: "published: cycles of a turn of the busy loop on the board "
            "(configs/activity)",
            "measured": "measured: rt-app's busy loop on gem5's models of the cores",
        },
    )
    idle_exit: str = knob(
        TAKEN,
        PLATFORM,
        "entry and exit times of idle states deeper than WFI",
        choices=IDLE_EXIT,
        word="idle-exit-{}",
        axis="idle_exit",
        others={
            (
                TAKEN,
                None,
            ): "published: takes of the platform's idle states, each with its own source",
            (
                TOLD,
                None,
            ): "published: entry_us and exit_us of the platform's idle states, a worst case",
        },
    )
    idle_exit_percent: int | None = knob(
        None,
        PLATFORM,
        "the same in percent of the device tree's times: 100 is --idle-exit told (default: as "
        "--idle-exit says)",
        span=(0, 100, "% of what the kernel is told"),
        axis="idle_exit",
    )
    kernel_rate_percent: int = knob(
        100,
        ACTIVITY,
        "IPC of all code except the busy loop, in percent of the platform's, on an engine that "
        "does not simulate pipelines",
        span=(10, 1000, "% of the platform's rate"),
        word=_kernel_rate,
        axis="kernel_rate",
        others={
            (100, ALL_CORES): _OWN,
            (140, PIPELINES[0]): f"measured: the most of eight {_RUNS.format('littles, 0.49')}",
            (93, PIPELINES[1]): f"measured: the least of eight {_RUNS.format('bigs, 0.50')}",
            (108, PIPELINES[1]): f"measured: the most of eight {_RUNS.format('bigs, 0.58')}",
        },
    )
    kernel_rate_of: str = knob(
        ALL_CORES,
        ACTIVITY,
        "the cores that --kernel-rate-percent applies to",
        choices=dict.fromkeys((ALL_CORES, *PIPELINES), ""),
        called="cores",
        axis="kernel_rate",
    )
    noise: bool = knob(
        True,
        WORKLOAD,
        "randomise only the start times of threads, within 16 ms",
    )
    #: Tracing takes the guest's time; without it, no measures are derived from the run.
    traced: bool = knob(
        True,
        RECORDING,
        "whether the run is traced, and not only counted",
        word=lambda of: ["untraced"],
        option=False,
        swept=False,
    )
    calibration_ns: int | None = knob(
        None,
        WORKLOAD,
        "what an iteration of the busy loop took in rt-app's calibration on the source's board",
        span=(1, 1_000_000, "ns"),
        option=False,
        swept=False,
        conditions=True,
    )
    #: As `experiments.controls` reads it.
    reference: str | None = knob(
        None,
        WORKLOAD,
        "express work in microseconds of this core, such as cortex-a72@1200 (default: the "
        "platform's largest CPU at its top OPP)",
        metavar="CORE@MHZ",
        word=lambda of: [f"reference-{of.reference.replace('@', '-')}-mhz"],
        swept=False,
    )
    #: Lines of the kernel's table, PID ACTIVATION CPU of fixed width, separated by commas; empty:
    #: activations are counted, and nothing is forced.
    forced: str | None = knob(
        None,
        KERNEL,
        "wake-ups whose CPU is forced, for `eascope diff --counterfactual`",
        word=lambda of: ["counted", *(["forced"] if of.forced else [])],
        option=False,
        swept=False,
    )
    #: (path, value) pairs, which are written before the variant's.
    switches: tuple[tuple[str, str], ...] = knob(
        (),
        KERNEL,
        "switches besides the variant's, which are written after these",
        option=False,
        swept=False,
        conditions=True,
    )


@dataclass(frozen=True)
class BillingKnobs:
    """The powers by which energies are computed; None: as the platform states."""

    power: str | None = knob(
        None,
        BILLING,
        "power model that energy is computed with, of those that a platform has (eascope list "
        "platforms)",
        choices=dict.fromkeys(BILLED, ""),
        called="power model",
        word="{}-power",
        metavar="M",
        axis="power",
        others={name: f"{kind.evidence}: {kind.meaning}" for name, kind in BILLED.items()},
        elsewhere="[billing]",
    )
    shared_power: str = knob(
        STATED,
        BILLING,
        "power of the shared part of a cluster (L2, cluster logic)",
        choices=SHARED_POWER,
        called="shared power",
        word="shared-{}",
        axis="shared_power",
        others={
            STATED: _OWN,
            "off": "assumed: nothing is kept on while all its CPUs are in cluster-sleep",
            "zero": "assumed: the lower bound; no board publishes it apart from its CPUs' power",
        },
    )
    transition_percent: int | None = knob(
        None,
        BILLING,
        "power while a CPU enters and exits idle states",
        span=(0, 100, "% of a busy CPU's power"),
        option=False,
        axis="transition_power",
        others={
            0: "assumed: the lower bound, as if the CPU were in the state already",
            100: "assumed: the upper bound, as if the CPU were busy",
        },
    )


def _knobs_of(table: type) -> dict[str, Knob]:
    hints = get_type_hints(table)
    return {
        entry.name: Knob(
            entry.name, _kind(hints[entry.name]), entry.default, **entry.metadata["knob"]
        )
        for entry in fields(table)
    }


def _kind(hint: Any) -> type:  # noqa: ANN401 - a type as Python has it
    if get_origin(hint) is tuple:
        return tuple
    kind: type = next(choice for choice in (get_args(hint) or (hint,)) if choice is not type(None))
    return kind


#: All knobs, by name.
BILLINGS: Mapping[str, Knob] = _knobs_of(BillingKnobs)
CONTROLS: Mapping[str, Knob] = _knobs_of(ControlKnobs)
KNOBS: Mapping[str, Knob] = {**BILLINGS, **CONTROLS}


def words(table: ControlKnobs | BillingKnobs) -> list[str]:
    """The differences of ``table`` from the defaults, for names of folders and for people."""
    chosen: list[str] = []
    for name, value in vars(table).items():
        item = KNOBS[name]
        if value == item.default:
            continue
        if callable(item.word):
            chosen += item.word(table)
        elif item.word:
            chosen.append(item.word.format(value))
        elif item.kind is bool:
            chosen.append(("" if value else "no-") + name.replace("_", "-"))
        elif item.kind is int:
            stem, _, unit = name.replace("_", "-").rpartition("-")
            chosen.append(f"{stem}-{value}-{unit}")
    return chosen


def setting_words(word: str) -> str:
    """An item of ``words`` of controls or switches as people know it.

    ``dvfs=board``, ``rate_limit_us=500``, ``NO_NI_RANDOM`` for a feature of the scheduler.
    """
    for item in CONTROLS.values():
        stem, _, unit = item.name.replace("_", "-").rpartition("-")
        pattern = item.word or (f"{stem}-{{}}-{unit}" if item.kind is int else "")
        if isinstance(pattern, str) and pattern:
            head, _, tail = pattern.partition("{}")
            value = word.removeprefix(head).removesuffix(tail)
            known = value.isdigit() if item.kind is int else value in item.choices
            if known and word == f"{head}{value}{tail}":
                return f"{item.name}={value}"
        elif item.kind is bool and not item.feature:
            name = item.name.replace("_", "-")
            if word in (name, f"no-{name}"):
                return f"{item.name}={'true' if word == name else 'false'}"
    feature = word.startswith("no-")
    return word.replace("-", "_").upper() if feature else word.replace("-", " ")


@dataclass(frozen=True)
class AxisValue:
    """A value of a model axis: what it sets its keys to, by name of a knob, and why."""

    name: str
    sets: Mapping[str, Setting]
    source: str


@dataclass(frozen=True)
class Axis:
    """A model axis; its default is the value of the command line.

    :param common: values if a platform states none; the value of the command line is no
        alternative.
    """

    knobs: tuple[Knob, ...]
    common: tuple[AxisValue, ...]

    @property
    def billing(self) -> bool:
        """True if a value changes only the billing, and no run."""
        return self.knobs[0].changes == BILLING

    @property
    def elsewhere(self) -> str:
        """The table of a platform file that selects from `common`."""
        return self.knobs[0].elsewhere


def _axis(keys: tuple[Knob, ...]) -> Axis:
    common = []
    for value, source in keys[0].others.items():
        settings = value if isinstance(value, tuple) else (value,)
        sets = {key.name: setting for key, setting in zip(keys, settings, strict=True)}
        shown = (
            _shown(key, setting)
            for key, setting in zip(keys, settings, strict=True)
            if key is keys[0] or setting != key.default
        )
        common.append(AxisValue(" ".join(shown), sets, source))
    return Axis(keys, tuple(common))


def _shown(key: Knob, value: Setting) -> str:
    if key.kind is bool:
        return "on" if value else "off"
    return f"{value}{key.span[2][:1]}"


#: All model axes, in the order of tables.
AXES: Mapping[str, Axis] = {
    name: _axis(tuple(entry for entry in KNOBS.values() if entry.axis == name))
    for name in dict.fromkeys(item.axis for item in KNOBS.values() if item.axis)
}


def axis_words(axis: str) -> str:
    """The name of a model axis for people."""
    named = {"power": "power model", "transition_power": "idle entry/exit power"}
    return named.get(axis, axis.replace("_", " "))


@dataclass(frozen=True, kw_only=True)
class AxisFile(Placed):
    """A value of an axis in a platform file; its other keys are the axis's."""

    axis: ClassVar[Axis]

    source: str = key("the source itself, not a name of one", form=SOURCE)

    def check(self) -> None:
        """The first key is stated, or another one that says the same."""
        first, *others = self.axis.knobs
        if not any(knob.default is None and knob.name in self.place.data for knob in others):
            self.need(first.name)

    def value(self, name: str) -> AxisValue:
        """The value under its name; a switch is on or off."""
        sets = {knob.name: knob.default for knob in self.axis.knobs}
        for knob in (knob for knob in self.axis.knobs if knob.name in self.place.data):
            stated = getattr(self, knob.name)
            sets[knob.name] = stated == "on" if knob.kind is bool else stated
        return AxisValue(name, sets, self.source)


def _key(knob: Knob) -> tuple[str, Any, Any]:
    if knob.kind is int:
        return knob.name, int, maybe(knob.summary, *knob.span)
    choices = ("on", "off") if knob.kind is bool else knob.choices
    return knob.name, str, maybe(knob.summary, choices=choices)


def _axis_key(name: str, axis: Axis) -> tuple[str, Any, Any]:
    if axis.elsewhere:
        none = form_of(lambda _: False, f"no such axis here: {axis.elsewhere} states it", enum=[])
        return name, str, maybe(f"in {axis.elsewhere}", form=none)
    more: dict[str, Any] = {"namespace": {"axis": axis}, "frozen": True, "kw_only": True}
    value: Any = make_dataclass("Value", map(_key, axis.knobs), bases=(AxisFile,), **more)
    return name, Mapping[str, value], key("values, by name", default={})


#: The ``[axes]`` of a platform file: alternatives by axis, instead of the common ones.
AXES_FILE: Any = make_dataclass("AxesFile", (_axis_key(*item) for item in AXES.items()))
