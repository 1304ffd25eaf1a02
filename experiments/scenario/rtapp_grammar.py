# SPDX-License-Identifier: GPL-2.0-or-later
"""rt-app's JSON: its keys and events, the text as rt-app and its ``workgen`` read it, its tasks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eascope.host.errors import RequestError

#: Kinds of events by the beginning of their key, in rt-app's order, with the type of their value.
EVENTS: dict[str, type | None] = {
    **{"runtime": int, "run": int, "sleep": int, "mem": int, "iorun": int},
    **{"lock": str, "unlock": str, "signal": str, "broad": str, "wait": dict, "sync": dict},
    **{"barrier": str, "timer": dict, "resume": str, "suspend": str, "yield": None, "fork": str},
}
WAITS = ("wait", "sync", "barrier", "suspend")
RESOURCES = ("mutex", "signal", "wait", "broadcast", "sync", "sleep", "run", "timer")
#: Later than the rt-app of the guest, which would take them for something else.
LATER = ("memrun", "sem_post", "sem_wait")
POLICIES = {
    **{"SCHED_OTHER": "other", "SCHED_IDLE": "idle", "SCHED_FIFO": "fifo", "SCHED_RR": "rr"},
    "SCHED_DEADLINE": "deadline",
}
#: Keys by object that are no events, with the types of their values.
Types = tuple[type, ...]
SETTINGS: dict[str, Types] = {
    **{"policy": (str,), "priority": (int,), "cpus": (list,), "loop": (int,), "taskgroup": (str,)},
    **{"util_min": (int,), "util_max": (int,), "nodes_membind": (list,)},
    **{"dl-runtime": (int,), "dl-period": (int,), "dl-deadline": (int,)},
}
TASK: dict[str, Types] = {
    **SETTINGS,
    **{"delay": (int,), "instance": (int,), "phases": (dict,)},
    **{"runtime": (int,), "period": (int,), "deadline": (int,)},
}
OPERANDS: dict[str, Types] = {"ref": (str,), "mutex": (str,), "mode": (str,), "period": (int,)}
GLOBAL: dict[str, Types] = {
    **{"duration": (int,), "calibration": (int, str), "default_policy": (str,)},
    **{"pi_enabled": (bool,), "lock_pages": (bool,), "cumulative_slack": (bool,)},
    **{"logdir": (str,), "log_basename": (str,), "log_size": (int, str), "gnuplot": (bool,)},
    **{"ftrace": (bool, str), "io_device": (str,), "mem_buffer_size": (int,)},
}
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*|\s+|.', re.DOTALL)


@dataclass(frozen=True)
class RtAppTask:
    """A task of a file.

    :param name: in measures; ``key`` is rt-app's, as short as a thread's name has to be.
    :param own_timer: whether no other thread moves a timer of it on.
    """

    name: str
    key: str
    threads: tuple[str, ...]
    says: dict[str, Any] = field(hash=False)
    own_timer: bool = True

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Its phases; the task itself where it has none."""
        return parts(self.says)

    @property
    def endless(self) -> bool:
        """True if it goes on for ever: without phases, ``loop`` is that of its only phase."""
        return self.says.get("loop", -1) == -1 or any(
            part.get("loop", 1) < 1 for part in self.parts
        )

    @property
    def waits(self) -> bool:
        """True if it waits for others."""
        return any(events(part, *WAITS) for part in self.parts)

    @property
    def rest_us(self) -> int:
        """Its longest rest in a phase."""
        rests = [[*events(part, "sleep"), *timers(part)] for part in self.parts]
        return max(map(sum, rests))

    @property
    def period_us(self) -> int | None:
        """The period of its jobs, where each phase has one timer with the same, of its own."""
        periods = {tuple(timers(part)) for part in self.parts}
        one = next(iter(periods)) if len(periods) == 1 and len(timer_names(self.says)) == 1 else ()
        return one[0] or None if len(one) == 1 and self.own_timer else None

    def reserved(self, default_policy: str) -> list[tuple[int, int, int] | None]:
        """Runtime, deadline and period by phase, None of one with another policy."""
        stated = [{"policy": default_policy} | self.says | part for part in self.parts]
        return [reservation(p) if p["policy"] == "SCHED_DEADLINE" else None for p in stated]

    def deadlines(self, default_policy: str) -> set[int | None]:
        """Deadlines of its policies, by phase; None: of another one."""
        return {each and (each[1] or None) for each in self.reserved(default_policy)}

    @property
    def absolute(self) -> bool:
        """True if its timers keep their grid after an overrun, so that jobs have deadlines."""
        every = [timer for part in self.parts for timer in events(part, "timer")]
        return any(timer.get("mode") == "absolute" for timer in every)


@dataclass(frozen=True)
class RtAppFile:
    """A file of rt-app, checked.

    :param notes: what is meant otherwise here than on a board, a sentence each.
    """

    settings: Mapping[str, Any] = field(hash=False)
    resources: Mapping[str, Any] = field(hash=False)
    tasks: tuple[RtAppTask, ...]
    notes: tuple[str, ...]

    @property
    def default_policy(self) -> str:
        """That of tasks which state none."""
        policy: str = self.settings.get("default_policy", "SCHED_OTHER")
        return policy

    @property
    def in_groups(self) -> bool:
        """True if rt-app makes groups."""
        return any("taskgroup" in part for task in self.tasks for part in (task.says, *task.parts))

    @property
    def measured(self) -> list[RtAppTask]:
        """The tasks with threads whose names are known."""
        return [task for task in self.tasks if task.threads]


def parse(file: str, text: str) -> object:
    """The content of ``text``, in which keys that stand twice are numbered as by ``workgen``.

    :raises RequestError: it is no JSON of rt-app's.
    """
    whole = _TOKEN.findall(text)
    tokens = ["\n" * part.count("\n") + " " if part[:2] in ("/*", "//") else part for part in whole]
    said = [place for place, token in enumerate(tokens) if not token.isspace()]
    for before, place, after in zip(said, said[1:], said[2:], strict=False):
        follows = tokens[after]
        if tokens[place] == "," and follows in ("}", "]"):
            tokens[place] = " "
        bare = tokens[place].startswith('"suspend') and tokens[before] in ("{", ",")
        if bare and follows in (",", "}"):
            tokens[place] += ": null"
    try:
        return json.loads("".join(tokens), object_pairs_hook=_numbered)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise RequestError(
            f"{file}: expected JSON as rt-app reads it: {error.msg} ({where})"
        ) from error
    except RecursionError as error:
        raise RequestError(f"{file}: nested too deeply: allowed: rt-app's JSON") from error


class Numbered(str):
    """A key that stood before in its object, with its number."""

    __slots__ = ()


def _numbered(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are unique; rt-app knows an event by the beginning of its key."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        number, unique = 1, key
        while unique in made:
            unique, number = Numbered(f"{key}{number}"), number + 1
        made[unique] = value
    return made


def parts(task: dict[str, Any]) -> list[dict[str, Any]]:
    """The phases of a task; the task itself where it has none."""
    return list(task["phases"].values()) if "phases" in task else [task]


def reservation(part: Mapping[str, Any]) -> tuple[int, int, int]:
    """Runtime, deadline and period in us, as rt-app completes them."""
    runtime: int = part.get("dl-runtime", 0)
    period: int = part.get("dl-period") or runtime
    return runtime, part.get("dl-deadline") or period, period


def kind_of(key: str) -> str:
    """The kind of event that rt-app takes ``key`` for; empty: none."""
    return next((kind for kind in EVENTS if key.startswith(kind)), "")


def events(part: Mapping[str, Any], *kinds: str) -> list[Any]:
    """The values of a phase's events of these kinds."""
    return [value for key, value in part.items() if kind_of(key) in kinds]


def timers(part: Mapping[str, Any]) -> list[int]:
    """The periods of a phase's timers, in us."""
    return [timer.get("period", 0) for timer in events(part, "timer")]


def timer_names(task: dict[str, Any]) -> set[str]:
    """Names of a task's timers; one whose name begins with ``unique`` is each thread's own."""
    every = [timer for part in parts(task) for timer in events(part, "timer")]
    return {timer.get("ref", "unknown") for timer in every}
