# SPDX-License-Identifier: GPL-2.0-or-later
"""An import as files: the scenario that replays it or models it, and what lies beside it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

from eascope.analysis.recordings.bursts import SATURATED_US, Work
from eascope.analysis.recordings.device import Device, DeviceCluster
from eascope.analysis.recordings.tables import RecordingError
from eascope.configs.platform import Cluster, Platform
from eascope.configs.platform_file import load_platform
from eascope.experiments.recordings.importing import (
    MODEL_BURSTS,
    MODEL_THREADS,
    MOSTLY,
    Imported,
    ThreadSummary,
    cv,
    spread,
)
from eascope.experiments.scenario.recorded import THINKING, Thread
from eascope.host.strict import read_toml

#: Tasks of a scenario with threads of its own name; the others are one task.
OWN_TASKS = 12
#: Wake-ups by one thread, of all, from which on a thread of a model waits for it.
CHAINED = 0.7
PERIODIC_CV = 0.15
#: Of work; below it, a job's work is taken to be always the same.
LEAST_CV = 0.05
WARMUP_MS = 300


def replay_toml(made: Imported, name: str) -> str:
    """The scenario that replays the recording as it was."""
    length_ms = max(1, made.recorded.length_us // 1000)
    lines = [
        *_head(made, name, "every burst as recorded; a seed draws only the machine's start"),
        f'recording = "{made.recorded.path.name}"',
        "",
        "[window]",
        f"warmup_ms = {WARMUP_MS}",
        f"short_ms = {length_ms}",
        f"full_ms = {length_ms}",
        *_limits(made),
    ]
    taken: set[str] = set()
    recorders = [of.thread.name for of in made.threads if of.recorder]
    own = [of for of in made.threads if not of.recorder][:OWN_TASKS]
    for of in own:
        task = _task_name(of.thread, taken)
        lines += _table(
            task, _words([of.thread.name]), f"{of.thread.comm} {of.thread.tid}: {of.loop}"
        )
    if recorders:
        lines += _table(
            "recorder", _words(recorders), "the recorder's; --drop-recorder leaves them out"
        )
    if len(made.recorded.threads) > len(own) + len(recorders):
        lines += _table("others", '"others"', "all other threads")
    return "\n".join(lines) + "\n"


def _limits(made: Imported) -> list[str]:
    """Clocks below which clusters never went, although idle: the device's limits, as conditions."""
    begin, end = made.bursts.begin_ns, made.bursts.end_ns
    work = Work(made.recording, made.device, begin, end)
    switches, first = [], 0
    for of in made.device.clusters:
        at, khz, _, _ = work.courses[of.cpus[0]]
        lowest = int(khz.min())
        time = np.diff(np.append(at, end))[khz == lowest].sum() / (end - begin)
        seen = made.recording.freq["cpu"].is_in(of.cpus).any()
        if seen and lowest > of.khz[0] and time >= MOSTLY:
            path = f"/sys/devices/system/cpu/cpufreq/policy{first}/scaling_min_freq"
            switches.append(f'    ["{path}", "{lowest}"],')
        first += len(of.cpus)
    if not switches:
        return []
    said = (
        "the recording: clocks below these do not occur in it, although the CPUs were mostly idle"
    )
    return ["", "[source_conditions]", f'source = "{said}"', "switches = [", *switches, "]"]


def _table(name: str, threads: str, comment: str) -> list[str]:
    return ["", f"# {comment}", "[[task]]", f'name = "{name}"', f"recorded = {threads}"]


def _words(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _task_name(thread: Thread, taken: set[str]) -> str:
    plain = re.sub(r"[^a-z0-9]+", "_", thread.comm.lower()).strip("_")
    plain = plain if re.match(r"[a-z]", plain) else f"t{plain}"
    reserved = re.fullmatch(r"(bg|stir|others|recorder)\d*", plain)
    name = plain[:9] if reserved is None else f"t_{plain[:7]}"
    number = 1
    while name in taken:
        number += 1
        name = f"{plain[:8]}_{number}"
    taken.add(name)
    return name


def _head(made: Imported, name: str, how: str) -> list[str]:
    recording, window = made.recording, made.bursts
    first = (window.begin_ns - recording.begin_ns) / 1e9
    last = (window.end_ns - recording.begin_ns) / 1e9
    said = f"{recording.path.name}, {recording.form}, {first:.3f} to {last:.3f} s"
    notes = [f"# {note}" for note in made.notes]
    return [
        "# SPDX-License-Identifier: GPL-2.0-or-later",
        *notes,
        "",
        f"summary = {_text(f'{name}: recorded on {made.device.name}')}",
        f"source = {_text(said)}",
        f"loads = {_text(f'work is time x capacity ({made.device.source}); {how}')}",
    ]


def _text(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', "'") + '"'


def model_toml(made: Imported, name: str) -> str:
    """The scenario with a task for each thread, fitted: its period, its work and how both vary."""
    total = sum(of.work_share for of in made.threads) + made.merged_work
    able = [of for of in made.threads if len(of.thread.bursts) >= MODEL_BURSTS or _saturates(of)]
    kept = able[:MODEL_THREADS]
    taken: set[str] = set()
    names = {of.thread.name: _task_name(of.thread, taken) for of in kept}
    share = sum(of.work_share for of in kept) / total
    left = 1 - share
    length_us = made.recorded.length_us
    lines = _head(made, name, "a model of each thread; seeds draw its replicates")
    lines += [
        "",
        "[window]",
        f"warmup_ms = {WARMUP_MS}",
        f"short_ms = {max(1000, length_us // 1000)}",
        f"full_ms = {max(10_000, length_us // 1000)}",
        *_limits(made),
    ]
    chains = _chains(kept)
    for of in kept:
        lines += _model(of, names, chains)
    if left > 0.001 and made.recorded.threads:
        work_us = left * sum(thread.work for thread in made.recorded.threads)
        period = max(1_000, min(100_000, length_us // 20))
        run = max(1, round(work_us * period / length_us))
        lines += [
            "",
            f"# all other threads: {100 * left:.1f} % of the work",
            *("[[task]]", 'name = "merged"', 'clock = "exponential"', "work_cv = 1.0"),
            *("[[task.phase]]", f"run_us = {run}", f"period_us = {period}"),
        ]
    return "\n".join(lines) + "\n"


def _saturates(of: ThreadSummary) -> bool:
    return any(burst.work >= SATURATED_US / 4 for burst in of.thread.bursts)


def _model(of: ThreadSummary, names: dict[str, str], chains: dict[str, str]) -> list[str]:
    """One task, with a comment that says what was fitted."""
    thread = of.thread
    works = np.array([burst.work for burst in thread.bursts])
    varies = min(2.0, cv(works))
    run = max(1, round(float(works.mean())))
    said, keys, rest = _pace(of, names, chains)
    head = ["[[task]]", f'name = "{names[thread.name]}"']
    if thread.policy == "other":
        head += [f"nice = {thread.priority}"] if thread.priority else []
    else:
        head += [f'policy = "{thread.policy}"', f"priority = {thread.priority}"]
    head += [f"work_cv = {varies:.2f}"] if varies >= LEAST_CV else []
    comment = (
        f"# {thread.comm} {thread.tid}: {said}; work {run} us, cv {varies:.2f}, "
        f"{len(thread.bursts)} bursts"
    )
    body = [rest, f"run_us = {run}"] if rest.startswith("wait") else [f"run_us = {run}", rest]
    return ["", comment, *head, *keys, "[[task.phase]]", *body]


def _pace(
    of: ThreadSummary, names: dict[str, str], chains: dict[str, str]
) -> tuple[str, list[str], str]:
    """What wakes a thread of a model: in words, as keys of the task, as a key of its phase."""
    thread, bursts = of.thread, of.thread.bursts
    waker = chains.get(thread.name)
    if waker:
        count = sum(burst.waker == waker for burst in bursts)
        said = f"closed: waits for {waker} ({count} of {len(bursts)} wake-ups)"
        return said, [], f'wait = "{names[waker]}"'
    rests = np.array([burst.rest for burst in bursts[1:]])
    # One that is active in a part of the window alone would be in all of it.
    active = bursts[-1].begin - bursts[0].begin >= of.length_us / 2
    if thread.rests == THINKING and active:
        said = f"closed: think time, median {median(rests):.0f} us, cv {cv(rests):.2f}"
        return said, [], f"sleep_us = {max(1, round(float(rests.mean())))}"
    mean = of.length_us / len(bursts)
    rest = f"period_us = {max(100, round(mean))}"
    if len(bursts) < MODEL_BURSTS:
        return "saturated: its demand is hidden; the recorded share of the time", [], rest
    between = np.diff(np.array([burst.begin for burst in bursts]))
    middle = float(np.median(between))
    if spread(between) <= PERIODIC_CV and abs(middle - mean) <= PERIODIC_CV * mean:
        said = f"open: period {middle:.0f} us, cv {cv(between):.2f}"
        return said, [], f"period_us = {max(100, round(middle))}"
    said = f"open: at random, mean {mean:.0f} us, cv {cv(between):.2f} of the times between"
    return said, ['clock = "exponential"'], rest


def _chains(kept: Sequence[ThreadSummary]) -> dict[str, str]:
    """For each thread that waits for another one in a model: that one, which wakes it most often.

    Either has about as many bursts, and nobody waits for itself by others.
    """
    sizes = {of.thread.name: len(of.thread.bursts) for of in kept}
    chains: dict[str, str] = {}
    for of in kept:
        bursts = of.thread.bursts
        wakers = Counter(burst.waker for burst in bursts if burst.waker in sizes)
        for waker, count in wakers.most_common(1):
            end = waker
            while end in chains:
                end = chains[end]
            alike = count >= CHAINED * max(len(bursts), sizes[waker])
            if alike and end != of.thread.name:
                chains[of.thread.name] = waker
    return chains


def write_import(made: Imported, out: Path, *, model: bool = False, again: bool = False) -> str:
    """Write the scenario ``out`` and what it needs, beside it.

    Returns the platform that is the device's: one of ours, or a draft that is written, too.

    :param again: whether files may be there that are the same.
    :raises RecordingError: a file is there; nothing is written then.
    """
    texts = {out: (model_toml if model else replay_toml)(made, out.stem)}
    if not model:
        texts[made.recorded.path] = made.recorded.text()
    draft = out.with_name(f"{out.stem}-platform.toml")
    if not made.device.platform:
        texts[draft] = draft_of(made.device)
    for path, text in texts.items():
        if path.exists() and not (again and path.read_bytes() == text.encode()):
            differs = " and differs from a fresh import" if again else ""
            edited = f", or --platform {draft} and another --out" if again and path == draft else ""
            raise RecordingError(
                f"--out {out}: {path} already exists{differs}; choose another name{edited}"
            )
    for path, text in texts.items():
        path.write_text(text)
    return made.device.platform or str(draft)


#: A supply falls by so much, at most, below that of the base's lowest OPP.
LOWER = 0.2


def draft_of(device: Device) -> str:
    """The text of a platform file: CPUs, clocks, capacities of the device; the rest of its base.

    Voltages and powers are those of the base's cluster at the same share of its top clock. Below
    the lowest one of the base the supply falls with the clock.
    """
    base = load_platform(device.base)
    given = read_toml(base.path).data
    kept = {cluster.name for cluster in device.clusters}
    removed = [
        key for key in ("clock_floors", "curves", "billing", "package_budget") if key in given
    ]
    removed += [
        f"cluster.{of.name}.busy"
        for of in device.clusters
        if any("busy" in cluster and cluster["name"] == of.like for cluster in given["cluster"])
    ]
    removed += [f"cluster.{of.name}" for of in base.clusters if of.name not in kept]
    lines = [
        "# SPDX-License-Identifier: GPL-2.0-or-later",
        f"# A draft of {device.name}, from a recording.",
        "# Unknown, so borrowed from the base: cores, caches, voltages, powers, idle states, DVFS.",
        *(f"# {gap}" for gap in device.gaps),
        "",
        f'base = "{device.base}"',
        f'summary = "draft: {device.name}"',
        "remove = [" + ", ".join(f'"{key}"' for key in removed) + "]",
        "",
        "[sources]",
        f'device = "{_origin(device)}"',
        f'scaled = "borrowed from {device.base}: voltage, power at this share of the top clock"',
    ]
    largest = max(of.dmips for of in device.clusters)
    for of in device.clusters:
        lines += _cluster(of, base.cluster(of.like), base, largest)
    return "\n".join(lines) + "\n"


def _origin(device: Device) -> str:
    known = device.source.startswith("published")
    return device.source if known else "assumed: from a recording, see the top of this file"


def _cluster(of: DeviceCluster, like: Cluster, base: Platform, largest: float) -> list[str]:
    dmips = round(of.dmips * max(c.capacity_dmips_mhz for c in base.clusters) / largest)
    shares = np.array([opp.khz / like.max_khz for opp in like.opps])
    rows = []
    for khz in of.khz:
        share = khz / of.top_khz
        uv, power, shared = (
            float(np.interp(share, shares, [getattr(opp, key) for opp in like.opps]))
            for key in ("uv", "power_uw", "shared_uw")
        )
        # Below the base's lowest OPP: else the kernel would take these for inefficient.
        below = min(1.0, share / shares[0])
        supply = 1 - LOWER * (1 - below)
        uv, power = uv * supply, power * below * supply**2
        powers = f"power_uw = {power:.0f}, shared_uw = {shared:.0f}"
        rows.append(f"    {{ khz = {khz}, uv = {uv:.0f}, {powers} }},")
    return [
        "",
        f"[cluster.{of.name}]",
        *([f'like = "{like.name}"'] if of.name != like.name else []),
        f"cpus = {len(of.cpus)}",
        f"capacity_dmips_mhz = {dmips}",
        'capacity_source = "device"',
        "opp_sources = { "
        'khz = "device", uv = "scaled", power_uw = "scaled", shared_uw = "scaled" }',
        "opps = [",
        *rows,
        "]",
    ]
