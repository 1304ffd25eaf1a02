# SPDX-License-Identifier: GPL-2.0-or-later
"""rt-app's own JSON as a scenario: what rt-app and its ``workgen`` accept, and what it means here.

rt-app itself runs the file in the guest. So this reads it as rt-app does (`rt-app_parse_config.c`,
at LISA 3.1.0's version), refuses what rt-app refuses, and sets only what depends on the machine.
As ``workgen`` does, keys that stand twice are numbered, and a bare ``"suspend"`` gets the task's
name; comments and commas before a closing bracket are json-c's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Any

from eascope.experiments.scenario.rtapp_grammar import (
    EVENTS,
    GLOBAL,
    LATER,
    OPERANDS,
    POLICIES,
    RESOURCES,
    SETTINGS,
    TASK,
    Numbered,
    RtAppFile,
    RtAppTask,
    Types,
    events,
    kind_of,
    parse,
    parts,
    reservation,
    timer_names,
)
from eascope.experiments.scenario.tasks import (
    LEAST_PERIOD_US,
    LEAST_RUNTIME_US,
    MOST_PERIOD_US,
)
from eascope.host.errors import bad_input, missing_key

#: What of it says how rt-app logs; the trace has all of that.
LOGS = ("gnuplot", "logdir", "log_basename", "log_size", "ftrace")
#: What events and settings mean here, if something else than on a board.
SAID = {
    "mem": "executed at the rate of other code; caches and DRAM are gem5's alone",
    "iorun": "writes to io_device, in memory: the guest has no storage",
    "taskgroup": "a cgroup of version 1, as rt-app wants it; reports have no energy by it",
    "nodes_membind": "rt-app finds no NUMA here, and goes on without it",
    "fork": "threads that one task forks are known by name, those of several count for no task",
}
WORDS = {int: "an integer", str: "a text", dict: "an object", list: "a list", bool: "true or false"}
#: The longest window, in ms.
MOST_MS = 3_000_000
#: A thread's name has 15 characters; rt-app appends ``-NN``, and ``-NNNN`` where it is forked.
ROOM, ROOM_FORKED = 12, 7
#: Of a task's name in measures.
MOST_CHARACTERS = 24
#: Forks of which each thread is known by its name.
MOST_FORKS = 64


def _shared_timers(
    tasks: Mapping[str, dict[str, Any]], threads: Mapping[str, tuple[str, ...]]
) -> dict[str, list[str]]:
    """The timers that several threads move on, with their tasks; all forked threads count."""
    users: dict[str, list[str]] = {}
    for name, task in tasks.items():
        for timer in timer_names(task):
            users.setdefault(timer, []).extend([name] * max(1, len(threads[name])))
    return {
        timer: list(dict.fromkeys(names))
        for timer, names in users.items()
        if len(names) > 1 and not timer.startswith("unique")
    }


def read(file: str, text: str, cpus: int | None = None) -> RtAppFile:
    """The content of ``text``, of the file ``file``.

    :param cpus: how many the machine has; None: not known.
    :raises RequestError: one line: file, key, value, what is allowed.
    """
    reader = _Reader(file, cpus)
    document: Any = parse(file, text)
    reader.check("", document, dict)
    if not document.get("tasks"):
        raise missing_key(file, "tasks", "an object with a task")
    settings, resources, tasks = (document.get(key, {}) for key in ("global", "resources", "tasks"))
    for key, value in (("global", settings), ("resources", resources), ("tasks", tasks)):
        reader.check(key, value, dict)
    for name, resource in resources.items():
        reader.resource(f"resources.{name}", resource)
    reader.settings(settings)
    for name, task in tasks.items():
        reader.task(name, task, settings.get("default_policy", "SCHED_OTHER"))
    forked = {
        target for task in tasks.values() for part in parts(task) for target in events(part, "fork")
    }
    for target in sorted(forked - {*tasks}):
        raise bad_input(file, "fork", target, f"a task: {', '.join(tasks)}")
    texts = {name: re.sub(r"[^!-~]", "_", name) or "task" for name in tasks}
    rooms = {name: ROOM_FORKED if name in forked else ROOM for name in tasks}
    keys = _unique({name: (text, rooms[name]) for name, text in texts.items()})
    measured = {name: re.sub(r"\W", "_", text.lower()) for name, text in texts.items()}
    measured = {name: re.sub(r"^(?![a-z])", "t_", text) for name, text in measured.items()}
    names = _unique({name: (text, MOST_CHARACTERS) for name, text in measured.items()})
    threads = _threads(tasks, keys)
    shared = _shared_timers(tasks, threads)
    for task in tasks.values():
        for part in parts(task):
            part.update({key: keys[part[key]] for key in part if kind_of(key) == "fork"})
    return RtAppFile(
        settings,
        resources,
        tuple(
            RtAppTask(
                *(names[name], keys[name], threads[name], says),
                own_timer=not timer_names(says) & {*shared},
            )
            for name, says in tasks.items()
        ),
        (
            *reader.notes(settings, {name: keys[name] for name in tasks if keys[name] != name}),
            *(
                f"timer {timer} is moved on by several threads ({', '.join(users)}): no lateness, "
                "response times and deadlines of these."
                for timer, users in shared.items()
            ),
        ),
    )


def _unique(wanted: Mapping[str, tuple[str, int]]) -> dict[str, str]:
    """Names of so many characters, each another one: the wanted ones, or their beginnings."""
    made: dict[str, str] = {}
    for name, (want, room) in wanted.items():
        short, end, number = want, "", 2
        if len(want) > room:  # a number at its end is what tells it from others
            end = "".join(re.findall(r"\d+$", want))[-room:]
            short = want[: room - len(end)] + end
        while short in made.values():
            short, number = f"{want[: room - len(str(number))]}{number}", number + 1
        made[name] = short
    return made


def _threads(tasks: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The names of each task's threads; those that several threads fork are not known."""
    threads: dict[str, tuple[str, ...]] = {}
    place = 0
    for name, task in tasks.items():
        number = task.get("instance", 1)
        threads[name] = tuple(f"{keys[name]}-{place + index}" for index in range(number))
        place += number
    targets = {
        name: {target for part in parts(task) for target in events(part, "fork")}
        for name, task in tasks.items()
    }
    forking = [name for name in tasks if targets[name]]
    if (
        len(forking) == 1
        and len(threads[forking[0]]) == 1
        and forking[0] not in targets[forking[0]]
    ):
        made: Counter[str] = Counter()
        for target in islice(_forks(tasks[forking[0]]), MOST_FORKS):
            threads[target] += (f"{keys[target]}-{place}-{made[target]:04}",)
            made[target] += 1
            place += 1
    return threads


def _forks(task: dict[str, Any]) -> Iterator[str]:
    """The tasks that a thread forks, in order, without an end where it has none."""
    rounds = task.get("loop", -1) if "phases" in task else 1 if "loop" in task else -1
    forking = [(part.get("loop", 1), events(part, "fork")) for part in parts(task)]
    for _ in count() if rounds == -1 else range(rounds):
        if not any(targets for _, targets in forking):
            return
        for loops, targets in forking:
            if loops < 1 and not targets:
                return
            for _ in count() if loops < 1 else range(loops if targets else 0):
                yield from targets


class _Reader:
    """Checks of rt-app's own, and what is said of a file; ``cpus`` as `read` has it."""

    def __init__(self, file: str, cpus: int | None) -> None:
        self._file = file
        self._cpus = cpus
        self._ignored: list[str] = []
        self._numbered: list[str] = []
        self._seen: set[str] = set()
        self._slices: list[str] = []

    def check(self, key: str, value: object, *types: type) -> None:
        """Refuse a value of another type; true and false are no integers."""
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            words = " or ".join(WORDS[kind] for kind in types)
            raise bad_input(self._file, key or "the file", value, words)

    def _range(self, key: str, value: int, low: int, high: int = 2**31 - 1) -> None:
        self.check(key, value, int)
        if not low <= value <= high:
            raise bad_input(self._file, key, value, f"an integer in {low}..{high}")

    def resource(self, where: str, resource: object) -> None:
        """One of the object ``resources``."""
        type_ = resource.get("type", "mutex") if isinstance(resource, dict) else "mutex"
        if type_ not in RESOURCES:
            raise bad_input(self._file, f"{where}.type", type_, f"one of {', '.join(RESOURCES)}")

    def _policy(self, key: str, policy: str) -> None:
        if policy not in POLICIES:
            raise bad_input(self._file, key, policy, f"one of {', '.join(POLICIES)}")

    def settings(self, settings: Mapping[str, Any]) -> None:
        """The object ``global``."""
        self._known("global", settings, GLOBAL)
        self._policy("global.default_policy", settings.get("default_policy", "SCHED_OTHER"))
        calibration = settings.get("calibration", "CPU0")
        if isinstance(calibration, int):
            self._range("global.calibration", calibration, 0)
            return
        number = re.match(r"CPU(\d+)", calibration)
        last = 1023 if self._cpus is None else self._cpus - 1
        if not number or int(number[1]) > last:
            allowed = f"ns of an iteration of rt-app's loop, or CPU0 to CPU{last}"
            raise bad_input(self._file, "global.calibration", calibration, allowed)

    def _known(self, where: str, values: Mapping[str, Any], known: Mapping[str, Types]) -> None:
        for key, value in values.items():
            if key in known:
                self.check(f"{where}.{key}", value, *known[key])
                self._seen.add(key)
            else:
                ignored = self._numbered if isinstance(key, Numbered) else self._ignored
                ignored.append(f"{where}.{key}")

    def task(self, name: str, task: dict[str, Any], default_policy: str) -> None:
        """A task and its phases."""
        where = f"tasks.{name}"
        self.check(where, task, dict)
        phases = task.get("phases")
        if phases is not None:
            self.check(f"{where}.phases", phases, dict)
            if not phases:
                raise bad_input(self._file, f"{where}.phases", phases, "an object with a phase")
        self._settings(where, task, TASK, phases is None)
        for key in ("instance", "delay"):
            self._range(f"{where}.{key}", task.get(key, 0), 0)
        policy = task.get("policy", default_policy)
        clamps = self._clamps(where, task, {})
        self._of_policy(where, task, policy)
        if phases is None:
            self._reservation(name, where, task, policy)
            self._events(name, where, task)
        for key, phase in (phases or {}).items():
            place = f"{where}.phases.{key}"
            self.check(place, phase, dict)
            self._settings(place, phase, SETTINGS, True)
            policy = phase.get("policy", policy)
            clamps = self._clamps(place, phase, clamps)
            self._of_policy(place, phase, policy)
            self._reservation(name, place, {**task, **phase}, policy)
            self._events(name, place, phase)

    def _settings(
        self, where: str, part: Mapping[str, Any], known: Mapping[str, Types], with_events: bool
    ) -> None:
        """Whatever is no event."""
        self._known(
            where, {k: v for k, v in part.items() if not (with_events and kind_of(k))}, known
        )
        self._policy(f"{where}.policy", part.get("policy", "SCHED_OTHER"))
        for key in ("util_min", "util_max"):
            self._range(f"{where}.{key}", part.get(key, -1), -1, 1024)
        if part.get("cpus") == []:
            raise bad_input(self._file, f"{where}.cpus", [], "a list with a CPU")
        for cpu in part.get("cpus", ()):
            self._range(f"{where}.cpus", cpu, 0, 1023 if self._cpus is None else self._cpus - 1)

    def _clamps(
        self, where: str, part: Mapping[str, Any], before: Mapping[str, int]
    ) -> dict[str, int]:
        """The clamps of a thread from this part on, of which the kernel takes no minimum above."""
        stated = {key: part[key] for key in ("util_min", "util_max") if key in part}
        clamps = {**before, **stated}
        low, high = clamps.get("util_min", -1), clamps.get("util_max", -1)
        if stated and low > high >= 0:
            key, value = next(iter(stated.items()))
            allowed = f"util_min up to util_max, which are {low} and {high} here"
            raise bad_input(self._file, f"{where}.{key}", value, allowed)
        return clamps

    def _of_policy(self, where: str, part: Mapping[str, Any], policy: str) -> None:
        """What a policy allows."""
        urgent = policy in ("SCHED_FIFO", "SCHED_RR")
        if "priority" in part and policy != "SCHED_DEADLINE":
            low, high = (1, 99) if urgent else (-20, 19)
            self._range(f"{where}.priority", part["priority"], low, high)
        group = part.get("taskgroup", "/")
        if not group.startswith("/"):
            raise bad_input(self._file, f"{where}.taskgroup", group, "a path that begins with /")
        if "taskgroup" in part and (urgent or policy == "SCHED_DEADLINE"):
            raise bad_input(self._file, f"{where}.taskgroup", group, f"none with {policy}")

    def _reservation(self, task: str, where: str, part: Mapping[str, Any], policy: str) -> None:
        """What ``__checkparam_dl()`` takes of a deadline task, which is to run on all CPUs."""
        if policy == "SCHED_OTHER" and "dl-runtime" in part and task not in self._slices:
            self._slices.append(task)
        if policy != "SCHED_DEADLINE":
            return
        runtime, deadline, period = reservation(part)
        self._range(f"{where}.dl-period", period, LEAST_PERIOD_US, MOST_PERIOD_US)
        self._range(f"{where}.dl-deadline", deadline, LEAST_RUNTIME_US, period)
        self._range(f"{where}.dl-runtime", runtime, LEAST_RUNTIME_US, deadline)
        cpus = part.get("cpus", ())
        if cpus and self._cpus is not None and len({*cpus}) < self._cpus:
            allowed = "all CPUs with SCHED_DEADLINE: the kernel wants no fewer for it"
            raise bad_input(self._file, f"{where}.cpus", cpus, allowed)

    def _events(self, task: str, where: str, part: dict[str, Any]) -> None:
        for key, value in part.items():
            kind, place = kind_of(key), f"{where}.{key}"
            if later := next((name for name in LATER if key.startswith(name)), ""):
                allowed = f"no {later}: the guest's rt-app, LISA 3.1.0's, is older"
                raise bad_input(self._file, place, value, allowed)
            if kind == "suspend" and value is None:  # bare
                part[key] = task
            elif EVENTS.get(kind) is int:
                self._range(place, value, 0)
            elif EVENTS.get(kind) is dict:
                part[key] = value if isinstance(value, dict) else {}  # rt-app's defaults
                self._known(place, part[key], OPERANDS)
            elif EVENTS.get(kind) is str:
                self.check(place, value, str)
            self._seen.add(kind)
        if not any(map(kind_of, part)):
            raise bad_input(self._file, where, [*part], f"one event or more: {', '.join(EVENTS)}")

    def notes(self, settings: Mapping[str, Any], renamed: Mapping[str, str]) -> Iterator[str]:
        """What is meant otherwise here than on a board."""
        yield "rt-app runs the file itself; its threads begin with the window."
        if settings.get("duration", -1) > 0:
            yield f"duration: the full window has {min(settings['duration'], MOST_MS // 1000)} s."
        calibration = settings.get("calibration", "CPU0") or "CPU0"
        if isinstance(calibration, int):
            iterations = 1_000_000 // calibration
            yield (
                f"calibration: run: 1000 is {iterations} iterations of the loop; on the board, "
                "whose calibration it is, 1000 us of the CPU that was calibrated."
            )
        else:
            yield f"calibration: run: 1000 is 1 ms of {calibration} at its top OPP."
        if set_here := [key for key in LOGS if key in settings]:
            yield f"Set by eascope: {', '.join(set_here)}."
        for key, words in SAID.items():
            if key in self._seen:
                yield f"{key}: {words}."
        if self._slices:
            names = ", ".join(self._slices)
            yield (
                f"dl-runtime: ignored of SCHED_OTHER ({names}), as by rt-app before March 2025 "
                "(a slice since then)."
            )
        if renamed:
            names = ", ".join(f"{old} is {new}" for old, new in renamed.items())
            yield f"A thread's name has 15 characters: {names}."
        if self._ignored:
            yield f"Ignored, as by rt-app: {', '.join(self._ignored)}."
        if self._numbered:
            names = ", ".join(self._numbered)
            words = "Ignored, as after workgen, since the key stands twice"
            yield f"{words}: {names}; rt-app alone takes the last."
