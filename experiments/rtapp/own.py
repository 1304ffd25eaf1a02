# SPDX-License-Identifier: GPL-2.0-or-later
"""rt-app's own file as a scenario: its tasks, the window, and what the guest's rt-app is given."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from eascope.analysis.records.cell import TaskRecord, UclampRange
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.rtapp.json_file import MOST_MS, read
from eascope.experiments.scenario.checks import not_admitted
from eascope.experiments.scenario.model import MOST_THREADS, Attributes, Phase, Scenario, Task
from eascope.experiments.scenario.others import STIR_MS, others
from eascope.experiments.scenario.reading import read_scenario
from eascope.experiments.scenario.replicate import replicate_record, task_start_us
from eascope.experiments.scenario.rtapp_grammar import POLICIES as POLICY_OF
from eascope.experiments.scenario.rtapp_grammar import WAITS, RtAppFile, RtAppTask, events, timers
from eascope.experiments.scenario.workload import (
    LOG,
    OTHERS_NAME,
    RT_APP_NAME,
    Workload,
    compact,
    deadline_us,
    document_of,
    is_endless,
    iterations_per_us,
)
from eascope.host.cache import digest_of
from eascope.host.errors import bad_input
from eascope.host.keys import Place
from eascope.host.strict import parse_toml, read_text, shown_path, toml_text

#: A window where the file has no duration and no end, in ms.
SHORT_MS, FULL_MS = 3_000, 60_000
#: Before the window, in which the stirring ends: it takes 0.3 s longer than its jobs (pixel6).
WARMUP_MS = 500
#: rt-app makes its threads one by one; those of its own file start so far apart at most.
APART_US = 200
#: How much later than a window's start threads of rt-app's own file begin: the agent takes some ms
#: for the counters in front of the window (pixel6: 6), and no work is to be before it.
BEGIN_MS = 10
#: Longer than any window, in s.
MOST_S = 1_000_000


def never_begin(file: RtAppFile, length_ms: int | None) -> Iterator[str]:
    """Of a window of this length (None: until all tasks end), a note on tasks that begin later."""
    delays = {task.name: task.says.get("delay", 0) // 1000 for task in file.tasks}
    late = [f"{name} (delay {ms} ms)" for name, ms in delays.items() if ms >= (length_ms or ms + 1)]
    if late:
        yield f"Never begin in the window of {length_ms} ms: {', '.join(late)}."


def text_of(path: Path) -> str:
    """The text of a scenario's file, or of a complete one; that of rt-app's JSON as a scenario.

    :raises RequestError: it cannot be read, or rt-app would refuse it.
    """
    if path.suffix != ".json":
        text = read_text(path, "a readable TOML file")
        whole = read_scenario(path).data
        return text if parse_toml(shown_path(path), text) == whole else toml_text(whole)
    text = read_text(path, "a readable JSON file")
    file = read(shown_path(path), text)
    full_ms = min(1000 * file.settings.get("duration", -1), MOST_MS)
    ends = not any(task.endless or task.waits for task in file.tasks)
    window = 'until = "tasks-end"'
    if full_ms > 0 or not ends:
        full_ms = full_ms if full_ms > 0 else FULL_MS
        window = f"short_ms = {min(SHORT_MS, full_ms)}\nfull_ms = {full_ms}"
    threads = sum(len(task.threads) for task in file.tasks)
    kept = f"'''\n{text}'''"
    if "'''" in text or not all(char.isprintable() or char in "\t\r\n" for char in text):
        kept = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    lines = {
        "summary": json.dumps(f"rt-app: {path.name}, {threads} threads"),
        "source": json.dumps(f"rt-app's JSON {path.name}"),
        "loads": json.dumps(" ".join(file.notes)),
        "rt_app": kept,
    }
    head = "\n".join(f"{key} = {value}" for key, value in lines.items())
    return f"{head}\n\n[window]\nwarmup_ms = {WARMUP_MS}\n{window}\n"


def read_own(top: Place, text: str, platform: Platform) -> RtAppFile:
    """rt-app's own file, which has all of a scenario's threads."""
    for key in ("task", "program", "group", "image", "recording"):
        if key in top.data:
            raise top.error(key, "not together with rt_app")
    file = read(top.file, text, len(platform.cpus))
    threads = sum(task.says.get("instance", 1) for task in file.tasks)
    if not 1 <= threads <= MOST_THREADS:
        raise bad_input(top.file, "tasks", f"{threads} threads", f"1 to {MOST_THREADS}")
    # All that begin with the file are there together, each in its first phase.
    wanted = Fraction(0)
    for task in file.tasks:
        first = task.reserved(file.default_policy)[0]
        wanted += task.says.get("instance", 1) * Fraction(first[0], first[2]) if first else 0
        if first and (allowed := not_admitted(platform, wanted, task.name)):
            raise bad_input(top.file, f"tasks.{task.name}.dl-runtime", first[0], allowed)
    return file


def task_of(task: RtAppTask, default_policy: str) -> Task:
    """A task of rt-app's own file: what of it decides rates, clamps, slices and records."""
    says = task.says
    policy = POLICY_OF[says.get("policy", default_policy)]
    low, high = (
        next((part[key] for part in (says, *task.parts) if part.get(key, -1) >= 0), None)
        for key in ("util_min", "util_max")
    )
    return Task(
        name=task.name,
        count=len(task.threads),
        cpus=tuple(sorted({*says["cpus"]})) if says.get("cpus") else None,
        pinned=False,
        repeat=None if task.endless else 1,
        attributes=Attributes(
            policy=policy,
            nice=says.get("priority", 0) if policy in ("other", "idle") else 0,
            priority=says.get("priority", 10),
            uclamp_min=low,
            uclamp_max=high,
        ),
        phases=tuple(map(_phase_of_rt_app, task.parts)),
        start_within_us=APART_US,
    )


def _phase_of_rt_app(part: Mapping[str, Any]) -> Phase:
    """A phase by its sums, which say how often its jobs come."""
    return Phase(
        loops=loops if (loops := part.get("loop", 1)) > 0 else None,
        wait="another" if events(part, *WAITS) else None,
        run_us=sum(events(part, "run", "runtime")) or None,
        sleep_us=sum(events(part, "sleep")) or None,
        period_us=sum(timers(part)) or None,
        cpus=tuple(part["cpus"]) if part.get("cpus") else None,
    )


def compile_own(
    scenario: Scenario,
    file: RtAppFile,
    platform: Platform,
    activity: Activity,
    seed: int,
    noise: bool,
    iteration_ns: Fraction | None,
) -> Workload:
    """rt-app's own file: all of it but its log, its duration, its calibration and its delays.

    rt-app calibrates to whole ns per iteration. Here these are a CPU's at its top OPP.
    """
    ns = file.settings.get("calibration", "CPU0") or "CPU0"
    if isinstance(ns, str):
        cpu = int(re.findall(r"\d+", ns)[0])
        cluster = next(cluster for cluster in platform.clusters if cpu in cluster.cpus)
        ns = round(iteration_ns or 1000 / iterations_per_us(platform, activity, cluster))
    # With a duration, rt-app goes on when all of its threads have ended: it is ended from outside.
    alive_s = -1 if scenario.window.until else MOST_S
    stir_ms = STIR_MS if noise else 0
    begin_us = 1000 * (stir_ms + scenario.window.warmup_ms + BEGIN_MS)
    tasks = {task.name: task for task in scenario.tasks}
    starts = {name: task_start_us(task, seed, name) if noise else 0 for name, task in tasks.items()}
    entries = {
        task.key: {
            **task.says,
            "delay": begin_us + starts.get(task.name, 0) + task.says.get("delay", 0),
        }
        for task in file.tasks
    }
    own: dict[str, object] = {
        "global": {**file.settings, **LOG, "duration": alive_s, "calibration": ns},
        "tasks": entries,
    }
    if file.resources:
        own["resources"] = file.resources
    background = others(scenario.background, platform, activity, seed) if noise else {}
    besides = {key: thread.entry() for key, thread in background.items()}
    documents = {RT_APP_NAME: f"{compact(own)}\n".encode()}
    documents |= {OTHERS_NAME: document_of(besides)} if besides else {}
    us_of_iteration = Fraction(1) / iterations_per_us(platform, activity)
    return Workload(
        documents=documents,
        endless=(RT_APP_NAME, *([OTHERS_NAME] if any(map(is_endless, besides.values())) else [])),
        tasks=tuple(
            _record_of_file(task, tasks[task.name], ns, us_of_iteration, file.default_policy)
            for task in file.measured
        ),
        replicate=replicate_record(
            scenario,
            seed,
            noise=noise,
            starts=starts,
            order=[*entries, *besides],
            others=[f"{key}-{place}" for place, key in enumerate(besides)],
            threads_sha256=digest_of(own),
        ),
        own=(RT_APP_NAME,),
    )


def _record_of_file(
    task: RtAppTask, known: Task, ns: int, us_of_iteration: Fraction, default_policy: str
) -> TaskRecord:
    """The record of a task of rt-app's own file.

    :param ns: of an iteration of the busy loop, as rt-app counts.
    :param us_of_iteration: what an iteration takes on the largest CPU, in us.
    """
    iterations = [sum(us * 1000 // ns for us in events(part, "run")) for part in task.parts]
    period_us = task.period_us
    return TaskRecord(
        name=task.name,
        threads=task.threads,
        period_us=period_us,
        deadline_us=deadline_us(period_us, task.deadlines(default_policy))
        if task.absolute
        else None,
        work_us=round(iterations[0] * us_of_iteration) if len({*iterations}) == 1 else None,
        turns=tuple(iterations),
        uclamp=UclampRange(known.attributes.uclamp_min, known.attributes.uclamp_max),
        cpus=known.cpus,
        waits=task.waits,
        rest_us=task.rest_us,
    )


def notes_on(
    file: RtAppFile, platform: Platform, activity: Activity, length_ms: int | None
) -> Iterator[str]:
    """What rt-app's own file is on a platform and in a window, beside the file's own notes."""
    calibration = file.settings.get("calibration")
    if calibration and isinstance(calibration, int):
        us = round(1_000_000 // calibration / iterations_per_us(platform, activity))
        yield (
            f"calibration: here run: 1000 is {us} us of {platform.name}'s largest CPU at its top "
            "OPP."
        )
    yield from never_begin(file, length_ms)
