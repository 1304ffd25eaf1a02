# SPDX-License-Identifier: GPL-2.0-or-later
"""The exceptions that messages of patches make ("for fair tasks alone", "or ends"), in a guest.

juno-r2's littles are the CPUs 0 to 3; 4 and 5 are big.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.experiments.runs.script import UCLAMP_IN_USE
from eascope.kernels.build import KernelArtefact
from eascope.kernels.switches import FEATURES, SCHED_DEBUG, STATS
from tests.support import feec_checks, latnice_checks
from tests.support.schedmc_checks import slow
from tests.support.stress import checked
from tests.support.sum_checks import BIG_KHZ, GROUPS, Guest, group, share, within

TRACING = "/sys/kernel/tracing"
FILES = f"{SCHED_DEBUG}/eascope"
CPUFREQ = "/sys/devices/system/cpu/cpufreq"
EVENT = re.compile(r" ([\d.]+): (\w+): (.*)$", re.MULTILINE)


def events(trace: str) -> Iterator[tuple[float, str, dict[str, str]]]:
    """Time in s, name and fields of each line of a trace."""
    for at, name, fields in EVENT.findall(trace):
        yield float(at), name, dict(re.findall(r"(\w+)=(\S+)", fields))


def check_overrun_paid(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """A deadline task that comes back before what it overran is made up for has that much less.

    Of 2000 us. A tick throttles it in some turns, while it is in its class.
    """
    script = [
        # At its capacity and its greatest clock, so that runtime is time.
        *(f"write /sys/devices/system/cpu/cpu{cpu}/online 0" for cpu in range(4)),
        f"write {CPUFREQ}/policy4/scaling_governor performance",
        "spawn returns /bin/returns",
        "wait returns 10000",
        "collect /tmp/returns.log log",
    ]
    done = checked(kernel.image, platform, script, folder, "returns")
    turns = [map(int, turn) for turn in re.findall(r"(\d+) (-?\d+) back", done.text("log"))]
    paid = [ran + left for ran, left in turns if 2500 < ran < 4000]
    assert len(paid) >= 8, done.text("log")
    # The system calls take part.
    assert all(3700 < us < 4050 for us in paid), paid


def check_filter_rt(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """Beside a hog capped to 200, an RT task lifts the cap however shortly it runs."""
    script = [
        *(f"write {path} {value}" for path, value in UCLAMP_IN_USE),
        f"write {FEATURES} UCLAMP_MAX_FILTER",
        # So that the request at an enqueue has the clamps of who is enqueued.
        f"write {FEATURES} UCLAMP_INC_FIRST",
        "spawn capped /bin/hog -c 4 -M 200",
        "trace-setup 4096 sched:sched_wakeup eascope:sched_cpufreq_req",
        f"write {TRACING}/tracing_on 1",
        "spawn urgent /bin/hog -c 4 -f -m 0 -r 1 -p 3300",
        "sleep-ms 150",
        f"write {TRACING}/tracing_on 0",
        f"collect {TRACING}/trace trace.txt",
    ]
    done = checked(kernel.image, platform, script, folder, "hog")
    caps, asked, asked_at = [], "", 0.0
    for at, name, fields in events(done.text("trace.txt")):
        if name == "sched_cpufreq_req" and fields["cpu"] == "4":
            # The rate limit may swallow it.
            asked, asked_at = fields["max"], at if fields["limited"] == "0" else 0.0
        # It comes some us after the request.
        if name == "sched_wakeup" and fields["prio"] == "98" and at - asked_at < 2e-5:
            caps.append(asked)
    assert len(caps) > 20, caps
    assert set(caps) == {"1024"}, caps


def check_floor_below_turbo(kernel: KernelArtefact, _: Platform, folder: Path) -> None:
    """A floor at a turbo OPP holds the fastest other one, whether the switch is on or off."""
    pixel6 = load_platform("pixel6")
    little = pixel6.clusters[0]
    opps = tuple(replace(opp, turbo=opp.khz > 1_328_000) for opp in little.opps)
    clusters = (replace(little, opps=opps), *pixel6.clusters[1:])
    lines = [f"write {CPUFREQ}/policy{policy}/scaling_governor powersave" for policy in (0, 4)]
    for boost in (0, 1):
        lines += [f"write {CPUFREQ}/boost {boost}"]
        for governor, khz in (("powersave", 300_000), ("performance", 1_328_000)):
            lines += [f"write {CPUFREQ}/policy6/scaling_governor {governor}", "sleep-ms 20"]
            lines += [f"collect {CPUFREQ}/policy0/cpuinfo_cur_freq {boost}-{khz}"]
    done = checked(kernel.image, replace(pixel6, clusters=clusters), lines, folder)
    for boost in (0, 1):
        for khz in (300_000, 1_328_000):
            assert done.text(f"{boost}-{khz}") == f"{khz}\n"


def check_rt_alternates(guest: Guest) -> None:
    """An RT task that sleeps on CPU 4 and wakes up on CPU 5 counts on CPU 4 no more.

    It uses some 400. Another task makes requests there.
    """
    moves = [line for to in 10 * (5, 4) for line in (f"affinity hog {to}", "sleep-ms 33")]
    asks = "spawn asks /bin/busybox taskset 10 /bin/sample /proc/uptime 2000 1000"
    lines = [
        f"write {FEATURES} UCLAMP_RT_SUM",
        asks,
        "spawn rt /bin/hog -c 4 -f -m 0 -r 8000 -p 20000",
        "sleep-ms 300",
    ]
    shown = "sched:sched_migrate_task sched:sched_switch eascope:sched_cpufreq_req"
    trace = guest.traced(lines, shown, moves, ms=10, mark=": sched_")
    elsewhere, asleep, left_at, asked = False, False, 0.0, []
    for at, name, fields in events("\n".join(trace)):
        if name == "sched_switch" and "hog" in (fields["prev_comm"], fields["next_comm"]):
            asleep = fields["prev_comm"] == "hog" and fields["prev_state"] == "S"
        elif name == "sched_migrate_task" and fields["comm"] == "hog":
            # Where it moves while it runs there is nothing to take along.
            elsewhere, left_at = fields["dest_cpu"] == "5" and asleep, at
        elif name == "sched_cpufreq_req" and (fields["cpu"], fields["limited"]) == ("4", "0"):
            asked += [int(fields["perf"])] if elsewhere and 1e-3 < at - left_at < 15e-3 else []
    assert len(asked) > 20, asked
    # A kworker may begin there, which counts with a new task's utilization for some 20 ms.
    assert sum(perf > 200 for perf in asked) < 0.1 * len(asked), asked


def check_forked(guest: Guest, kind: str) -> None:
    """The child of a task that is capped to 100 is not, if it is in another group, or reset."""
    forks = {
        "reset": ["spawn forks /bin/forks -"],
        "group": [
            *group("capped", uclamp__max="10"),
            *within("capped", f"spawn forks /bin/forks {GROUPS}"),
        ],
    }[kind]
    lines = [*forks, "sleep-ms 300"]
    assert share(guest.khz(lines, cpu=4, ms=400), BIG_KHZ[2]) >= 0.98


def by_cpu(text: str, name: str) -> list[int]:
    """The counter ``name`` of each CPU."""
    (row,) = re.findall(rf"^{name} (.*)$", text, re.MULTILINE)
    return [int(word) for word in row.split()]


def check_gate_ends(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """A CPU is held back from deep idle states until the task moves away or ends.

    On the CPUs 2 and 3 another one, which does not mind to wait, wakes up every 40 ms.
    """
    moves = {
        "there": ["spawn idles /bin/idles 3 30 -1"],
        "moved": ["affinity idles 2"],
        "ended": ["wait idles 5000"],
    }
    script = [f"write {FILES}/latnice_idle shallow"]
    script += [f"spawn light{cpu} /bin/hog -c {cpu} -r 200 -p 40000" for cpu in (2, 3)]
    for when, lines in moves.items():
        script += [*lines, "sleep-ms 100", f"write {STATS} 0", "sleep-ms 400"]
        script += [f"collect {STATS} {when}"]
    done = checked(kernel.image, platform, script, folder, "hog", "idles")
    gated = {when: by_cpu(done.text(when), "idle_gated") for when in moves}
    assert [cpu for cpu, times in enumerate(gated["there"]) if times] == [3], gated
    assert [cpu for cpu, times in enumerate(gated["moved"]) if times] == [2], gated
    assert not any(gated["ended"]), gated


def check_search_unfit(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """A task that minds to wait searches where it does not fit: it finds the idle CPU 3.

    For its boost, or for what it runs: after 100 ms at least 339 of a little CPU's 383.
    """
    searching = latnice_checks.CASES["search-skip"]
    cases = {
        name: replace(
            searching, program=f"searching {program}", switches={"latnice_search": search}
        )
        for name, search, program in (
            ("skip", "skip", "40 -1 800"),
            ("boosted", "proportional", "40 -20 800"),
            ("large", "proportional", "10 -20 0 100"),
        )
    }
    for name, found in latnice_checks.run(kernel, platform, cases, folder).items():
        (cpus,) = found.lines
        assert cpus[3] >= 0.875 * sum(cpus), (name, cpus)
        assert max(found.counted[of] for of in ("latnice_skip", "latnice_short")) <= 5, name


def check_pack_beside(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """No small task is packed where one runs that minds to wait, though that CPU is the fullest."""
    script = [
        f"write {FILES}/latnice_pack 16",
        "spawn sensitive /bin/latnice -1 /bin/hog -c 0 -r 4000 -p 8000",
        "sleep-ms 300",
        "trace-setup 4096 sched:sched_switch eascope:sched_latnice_place",
        f"write {TRACING}/tracing_on 1",
        "spawn packed /bin/packed 8 16",
        "wait packed 20000",
        f"collect {TRACING}/trace trace.txt",
    ]
    done = checked(kernel.image, platform, script, folder, "hog", "packed")
    runs, beside = False, []
    for _, name, fields in events(done.text("trace.txt")):
        if name == "sched_switch" and "hog" in (fields["prev_comm"], fields["next_comm"]):
            runs = fields["next_comm"] == "hog"
        elif name == "sched_latnice_place" and fields["use"] == "pack" and runs:
            beside.append(fields["dst_cpu"])
    assert len(beside) > 100, beside
    assert beside.count("0") <= len(beside) / 50, beside


def check_pack_apart(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """A task in a partition of two CPUs is packed there, though CPU 4, of another one, wakes it."""
    root, apart = "/sys/fs/cgroup", "/sys/fs/cgroup/apart"
    writes = "while :; do usleep 8000; echo; done"
    joins = f"echo 0 >{apart}/cgroup.procs && exec cat >/dev/null"
    pipe = (
        f"taskset 10 /bin/busybox sh -c '{writes}' | /bin/latnice 19 /bin/busybox sh -c '{joins}'"
    )
    script = [
        f"write {FILES}/latnice_pack 16",
        f"write {root}/cgroup.subtree_control +cpuset",
        f"mkdir {apart}",
        f"write {apart}/cpuset.cpus 0-1",
        f"write {apart}/cpuset.cpus.partition root",
        f"word {apart}/cpuset.cpus.partition root",
        f"file /tmp/pipe {len(pipe)}",
        pipe,
        "spawn pipe /bin/busybox sh /tmp/pipe",
        # It is small once its first utilization has decayed.
        "sleep-ms 500",
        f"write {STATS} 0",
        "sleep-ms 400",
        f"collect {STATS} stats",
        "kill pipe",
    ]
    done = checked(kernel.image, platform, script, folder)
    hits, misses = (by_cpu(done.text("stats"), f"pack_{name}") for name in ("hit", "miss"))
    assert hits[4] >= 30, (hits, misses)
    assert sum(misses) <= sum(hits) / 10, (hits, misses)


def check_guard_of_domain(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """The OPP that another CPU asks for keeps the distance, whatever the CPU itself asks for.

    CPU 3 is near the end of the first OPP, which does not matter while CPU 0 asks for the second.
    """
    switches = {"feec_mode": 2, "feec_guard_min": 80, "feec_guard_pct": 0}
    cases = {
        "own": feec_checks.Case("placing 10 3 0", switches=switches),
        "domain": feec_checks.Case("placing 10 3 0x1 0 b", switches=switches),
    }
    found = feec_checks.run(kernel, platform, cases, folder)
    # Some wake-ups are not EAS's: the system may be overutilized for a moment.
    assert found["own"].lines[0][3] <= 2
    assert found["domain"].lines[0][3] >= 8


def balanced(text: str) -> list[int]:
    """How often each CPU has run the softirq of load balance."""
    (row,) = re.findall(r"^ *SCHED: (.*)$", text, re.MULTILINE)
    return [int(word) for word in row.split()]


def check_only_busy(kernel: KernelArtefact, _: Platform, folder: Path) -> None:
    """Idle CPUs are woken up at each tick of one that is busy, unless it is the only one."""
    script = [f"write {FILES}/sched_mc_power_savings 1"]
    for busy in (0, 1):
        script += [f"spawn hog{busy} /bin/hog -c {busy}", "sleep-ms 300"]
        for when in ("before", "after"):
            script += [f"collect /proc/softirqs {busy}-{when}"]
            script += ["sleep-ms 400"] if when == "before" else []
    machine = slow(load_platform("tc2-like"), equal=True)
    done = checked(kernel.image, machine, script, folder, "hog")
    before, after = (
        [sum(balanced(done.text(f"{busy}-{when}"))[2:]) for busy in (0, 1)]
        for when in ("before", "after")
    )
    one, two = (b - a for a, b in zip(before, after, strict=True))
    # A tick is 4 ms. Without the rule what is left of sleeping tasks is looked at each 32 ms.
    assert two >= 80, (one, two)
    assert one <= 20, (one, two)
