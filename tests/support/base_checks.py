# SPDX-License-Identifier: GPL-2.0-or-later
"""What the series ``base`` claims, asked of a kernel in a guest, and what must be found."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.package_budget import BudgetStep
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.base import EngineFailed
from eascope.engines.records import START, STOP
from eascope.experiments.runs.script import UCLAMP_IN_USE
from eascope.kernels.build import KernelArtefact
from eascope.kernels.releases import DEFAULT
from eascope.kernels.switches import FEATURES, ONLINE, STATS
from tests.support.kernel_guest import Booted, boot
from tests.support.stress import checked, counters, guest_program

TRACING = "/sys/kernel/tracing"
GROUP = "/sys/fs/cgroup/group"
#: A little CPU of juno-r2 has 383.
LITTLE_CAP = 380
SCHED = "/sys/kernel/debug/sched"


def check_util_est(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """It left util_est when it fell asleep; its change of class takes nothing from who runs."""
    script = ["spawn delayed /bin/delayed", "wait delayed 10000", "collect /tmp/delayed.log log"]
    done = checked(kernel.image, platform, script, folder, "delayed")
    utils = dict(re.findall(r"^(\w+) (\d+)$", done.text("log"), re.MULTILINE))
    assert int(utils["task"]) > 100
    assert utils["runqueue"] == utils["task"]


def check_returns(
    kernel: KernelArtefact, platform: Platform, folder: Path, *, asleep: bool
) -> None:
    """Who leaves its class throttled and comes back is not throttled for ever.

    :param asleep: nor is who is boosted while it sleeps.
    """
    script = [
        # At its capacity and its greatest clock, so that runtime is time.
        *(f"write /sys/devices/system/cpu/cpu{cpu}/online 0" for cpu in range(4)),
        "write /sys/devices/system/cpu/cpufreq/policy4/scaling_governor performance",
        f"spawn returns /bin/returns{' asleep' if asleep else ''}",
        "sleep-ms 5000",
        "collect /tmp/returns.log log",
    ]
    done = checked(kernel.image, platform, script, folder, "returns")
    assert done.text("log").count("back") == 40


def balance(kernel: KernelArtefact, platform: Platform, folder: Path) -> dict[str, int]:
    """Counters after more tasks than CPUs have run and slept shortly, EAS off."""
    script = [
        "write /proc/sys/kernel/sched_energy_aware 0",
        f"write {STATS} 0",
        "spawn sleepers /bin/sleepers 13",
        "sleep-ms 3000",
        f"collect {STATS} stats.txt",
        "kill sleepers",
    ]
    return counters(checked(kernel.image, platform, script, folder, "sleepers").text("stats.txt"))


def check_sleepers(counted: dict[str, int]) -> None:
    """As in later mainline: a delayed task has its weight in the load of its runqueue.

    Load balance refuses those that sleep unless it moves load.
    """
    assert counted["ttwu_delayed"] > 100
    assert counted["lb_delayed"] > 100
    assert counted["lb_pulled"] > 100
    assert 3 < counted["lb_pulled_asleep"] < counted["lb_pulled"] / 2


def check_filter(
    kernel: KernelArtefact, platform: Platform, folder: Path, *, filtered: bool
) -> None:
    """A task runs for 0.4 of 3.3 ms on the CPU of a hog capped to 200, and after 600 ms always.

    It lifts the cap from the first moment on, or if filtered from the second.
    """
    script = [
        *(f"write {path} {value}" for path, value in UCLAMP_IN_USE),
        f"write {FEATURES} {'UCLAMP_MAX_FILTER' if filtered else 'NO_UCLAMP_MAX_FILTER'}",
        # So that the request at an enqueue has the clamps of who is enqueued.
        f"write {FEATURES} UCLAMP_INC_FIRST",
        "trace-setup 4096 eascope:sched_cpufreq_req",
        "spawn capped /bin/hog -c 4 -M 200",
        "spawn light /bin/hog -c 4 -r 400 -p 3300 -k 180",
        "sleep-ms 300",
        f"write {TRACING}/tracing_on 1",
        "sleep-ms 600",
        f"write {TRACING}/tracing_on 0",
        f"collect {TRACING}/trace trace.txt",
    ]
    done = checked(kernel.image, platform, script, folder, "hog")
    found = re.findall(r" sched_cpufreq_req: cpu=4 .*\bmax=(\d+)", done.text("trace.txt"))
    lifted = [int(maximum) == 1024 for maximum in found]
    assert len(lifted) > 40, found
    # The task always runs from the middle on; the tick sees it. Others may begin there.
    first, last = lifted[: len(lifted) // 4], lifted[-len(lifted) // 8 :]
    assert all(last), found
    assert sum(first) / len(first) <= 0.05 if filtered else sum(first) / len(first) >= 0.2, found


def check_filtered_boost(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """A filtered task's boost is still there when the last task that counts has left.

    Else the kernel warns as that task leaves, and dies.
    """
    tasks = ("-m 600 -w -r 250 -p 5000", "-M 200 -r 600 -p 5700", "-w -r 250 -p 4300")
    script = [
        *(f"write {path} {value}" for path, value in UCLAMP_IN_USE),
        f"write {FEATURES} UCLAMP_MAX_FILTER",
        *(f"spawn task{n} /bin/hog -c 4 {task}" for n, task in enumerate(tasks)),
        "sleep-ms 3000",
    ]
    checked(kernel.image, platform, script, folder, "hog")


def first_minima(trace: str) -> list[int]:
    """The lower clamp with which CPU 1 asks for a frequency as it enqueues, at each wake-up there.

    `sched_wakeup` comes some us after the request. Not each enqueue asks.
    """
    woken = re.compile(r" ([\d.]+): sched_wakeup: comm=boosted .*target_cpu=001")
    request = re.compile(r" ([\d.]+): sched_cpufreq_req: cpu=1 .*\bmin=(\d+)")
    minima, asked = [], None
    for line in trace.splitlines():
        if match := request.search(line):
            asked = match
        elif (match := woken.search(line)) and asked and float(match[1]) - float(asked[1]) < 2e-5:
            minima.append(int(asked[2]))
    return minima


def check_order(kernel: KernelArtefact, platform: Platform, folder: Path, *, first: bool) -> None:
    """Enqueued before its boost is counted, a task asks for a frequency without it, as in 6.12."""
    script = [
        f"write {FEATURES} {'UCLAMP_INC_FIRST' if first else 'NO_UCLAMP_INC_FIRST'}",
        "write /sys/fs/cgroup/cgroup.subtree_control +cpu",
        f"mkdir {GROUP}",
        f"write {GROUP}/cpu.uclamp.min 80",
        "trace-setup 4096 sched:sched_wakeup eascope:sched_cpufreq_req",
        # 'taskset' keeps its own name, so a copy of the program is what is looked for.
        f"write {GROUP}/cgroup.procs 0",
        "spawn boosted /bin/busybox taskset 2 /bin/boosted",
        f"write {TRACING}/tracing_on 1",
        "sleep-ms 300",
        f"write {TRACING}/tracing_on 0",
        f"collect {TRACING}/trace trace.txt",
        "kill boosted",
    ]
    done = boot(
        kernel.image,
        platform,
        script,
        folder / "out",
        arguments="loglevel=5 panic_on_warn=1",
        programs={"boosted": guest_program("ticker", folder)},
    )
    minima = first_minima(done.text("trace.txt"))
    assert len(minima) > 20, done.text("trace.txt")[-2000:]
    boosted = sum(minimum > 800 for minimum in minima) / len(minima)
    assert boosted == 1 if first else boosted < 0.25, minima


def check_fair_server(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """A fair server that has stopped is stopped again: at run time, and where its CPU goes offline.

    Stopped twice it takes its bandwidth twice from the runqueue's, of which the kernel warns.
    """
    # In 6.12 it may be that nobody gets bandwidth; the server has been stopped by then.
    write = (
        f"for ms in 0 60 50 60; do echo ${{ms}}000000 >{SCHED}/fair_server/cpu$1/runtime; done; :"
    )
    lines = [f"file /tmp/write.sh {len(write)}", write]
    for cpu in (5, 2):
        online = f"/sys/devices/system/cpu/cpu{cpu}/online"
        for when in ("busy", "idle"):
            lines += [f"spawn hog-{when}{cpu} /bin/hog -c {cpu}", "sleep-ms 100"]
            lines += [f"kill hog-{when}{cpu}", "sleep-ms 20"] if when == "idle" else []
            lines += [f"spawn {when}{cpu} /bin/busybox sh /tmp/write.sh {cpu}"]
            lines += [f"wait {when}{cpu} 5000"]
            lines += [f"kill hog-{when}{cpu}"] if when == "busy" else []
        lines += [f"write {online} 0", "sleep-ms 20", f"write {online} 1", "sleep-ms 20"]
    done = checked(kernel.image, platform, lines, folder, "hog")
    assert "WARNING" not in done.console


def small(platform: Platform) -> Platform:
    """``platform`` with four CPUs: two may run at the top OPP, more at the slowest but one."""
    (cluster,) = platform.clusters
    assert platform.package_budget is not None
    steps = (BudgetStep(2, cluster.opps[-1].khz), BudgetStep(4, cluster.opps[1].khz))
    return replace(
        platform,
        clusters=(replace(cluster, cpus=cluster.cpus[:4]),),
        package_budget=replace(platform.package_budget, steps=steps),
    )


POLICY = "/sys/devices/system/cpu/cpufreq/policy0"


def grants(kernel: KernelArtefact, platform: Platform, folder: Path) -> Booted:
    """A task works half of the time: alone, with hogs, and alone again; then hogs run.

    At first the governor requests the top OPP, once. schedutil has the hogs: one, then all of them.
    """
    cpus = platform.cpus[1:]
    start = [f"spawn hog{cpu} /bin/hog -c {cpu}" for cpu in cpus]
    again = [line.replace("hog", "other", 1) for line in start]

    def look(when: str) -> list[str]:
        """Collect after eight half-lives of utilization."""
        return [
            "sleep-ms 256",
            f"collect {POLICY}/cpuinfo_cur_freq {when}-khz",
            f"collect {SCHED}/debug {when}-debug",
        ]

    lines = [
        f"write {POLICY}/scaling_governor performance",
        "spawn half /bin/hog -c 0 -r 2000 -p 4000",
        *look("alone"),
        *start,
        *look("with-hogs"),
        *(f"kill hog{cpu}" for cpu in cpus),
        *look("again"),
        f"write {POLICY}/scaling_governor schedutil",
        again[0],
        "sleep-ms 100",
        f"collect {POLICY}/scaling_cur_freq one",
        *again[1:],
        "sleep-ms 20",
        f"collect {POLICY}/scaling_cur_freq all",
        *(f"kill other{cpu}" for cpu in cpus),
        "kill half",
    ]
    return checked(kernel.image, platform, lines, folder, "hog")


def share(done: Booted, when: str) -> float:
    """Utilization of the CPU of the task that works half of the time; 0.5 at the top OPP."""
    text = done.text(f"{when}-debug")
    pattern = r"^cfs_rq\[0\]:/\n(?: .+\n)*?  \.util_avg +: (\d+)$"
    (util,) = re.findall(pattern, text, re.MULTILINE)
    return int(util) / 1024


def check_grants(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """What a package with a budget grants is what the kernel reads and scales utilization by."""
    platform = small(platform)
    top, least = platform.clusters[0].opps[-1].khz, platform.clusters[0].opps[1].khz
    done = grants(kernel, platform, folder)
    for when, khz in (("alone", top), ("with-hogs", least), ("again", top)):
        assert done.text(f"{when}-khz") == f"{khz}\n"
        assert abs(share(done, when) - 0.5 * khz / top) < 0.05, when
    # schedutil asks for the top OPP both times, so the second time it has not asked again.
    assert done.text("one") == f"{top}\n"
    assert done.text("all") == f"{least}\n"


def check_no_grants(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """Without a budget the kernel reads no grant, which would end the run here."""
    platform = replace(small(platform), package_budget=None)
    top = platform.clusters[0].opps[-1].khz
    done = grants(kernel, platform, folder)
    for when in ("alone", "with-hogs", "again"):
        assert done.text(f"{when}-khz") == f"{top}\n"
        assert abs(share(done, when) - 0.5) < 0.05, when
    assert done.text("one") == done.text("all") == f"{top}\n"


def check_spare(kernel: KernelArtefact, platform: Platform, folder: Path, *, spare0: bool) -> None:
    """CPUs whose hogs are capped to just what they have fit a capped task, and have no time left.

    EAS looks at such a CPU if the feature says so.
    """
    # Pinned before they run: hogs that pin themselves may leave the system overutilized for good.
    hogs = [
        f"spawn hog{cpu} /bin/busybox taskset {1 << cpu:x} /bin/hog -M {LITTLE_CAP}"
        for cpu in range(4)
    ]
    script = [
        f"write {FEATURES} {'FEEC_SPARE0' if spare0 else 'NO_FEEC_SPARE0'}",
        *hogs,
        "sleep-ms 400",
        "trace-setup 4096 eascope:sched_compute_energy",
        f"write {TRACING}/tracing_on 1",
        "spawn light /bin/hog -M 100 -r 500 -p 10000",
        "sleep-ms 300",
        f"write {TRACING}/tracing_on 0",
        f"collect {TRACING}/trace trace.txt",
    ]
    trace = checked(kernel.image, platform, script, folder, "hog").text("trace.txt")
    asked = re.findall(r"sched_compute_energy: comm=hog .*dst_cpu=(\d+)", trace)
    littles = sum(int(cpu) < 4 for cpu in asked)
    assert len(asked) > 10, trace[-2000:]
    assert littles > 10 if spare0 else littles == 0, asked


def check_util_boost(
    kernel: KernelArtefact, platform: Platform, folder: Path, *, boost: bool
) -> None:
    """Six tasks that wake up together ask for what they wait for, or for what they run.

    At the lowest OPP, 512 of 1024, they run for 12 of 20 ms, which is 307. They are runnable for
    2, 4, ... 12 ms of 20, which is more than the CPU has. Schedutil goes by that, and EAS.
    """
    script = [
        f"write {FEATURES} {'UTIL_BOOST' if boost else 'NO_UTIL_BOOST'}",
        *(f"spawn task{n} /bin/hog -c 4 -w -r 2000 -p 20000" for n in range(6)),
        "spawn ticker /bin/ticker",
        "sleep-ms 600",
        "trace-setup 4096 eascope:sched_cpufreq_req eascope:sched_compute_energy",
        f"write {TRACING}/tracing_on 1",
        "sleep-ms 400",
        f"write {TRACING}/tracing_on 0",
        f"collect {TRACING}/trace trace.txt",
    ]
    trace = checked(kernel.image, platform, script, folder, "hog", "ticker").text("trace.txt")
    request = re.compile(r" sched_cpufreq_req: cpu=4 util=(\d+)")
    energy = re.compile(r" sched_compute_energy: comm=ticker .*dst_cpu=-1 .*max_util=(\d+)")
    for what in (request, energy):
        utils = sorted(int(util) for util in what.findall(trace))
        assert len(utils) > 20, trace[-2000:]
        # Of energy, half of the events are the other cluster's.
        high = utils[len(utils) * 3 // 4]
        assert high > 600 if boost else high < 480, utils


FORCE = f"{SCHED}/eascope/force"
ACTIVATIONS = f"{SCHED}/eascope/activations"


def forced(
    kernel: KernelArtefact, platform: Platform, folder: Path, lines: tuple[str, ...]
) -> Booted:
    """300 ms of a task that EAS places and of a later one on CPU 1, with ``lines`` in the table."""
    script = [
        f"write {ACTIVATIONS} 0",
        *(f"write {FORCE} {line}" for line in lines),
        "spawn ticker /bin/ticker",
        "sleep-ms 100",
        "trace-setup 4096 sched:sched_waking eascope:sched_decision",
        f"write {STATS} 0",
        f"write {TRACING}/tracing_on 1",
        f"write {ACTIVATIONS} 0",
        "sleep-ms 50",
        "spawn pinned /bin/hog -c 1 -r 500 -p 5000",
        "sleep-ms 250",
        f"write {TRACING}/tracing_on 0",
        *(f"collect {path} {Path(path).name}" for path in (FORCE, ACTIVATIONS, STATS)),
        f"collect {TRACING}/trace trace.txt",
    ]
    return checked(kernel.image, platform, script, folder, "ticker", "hog")


DECISION = re.compile(
    r" sched_decision: comm=(\w+) pid=(\d+) activation=(\d+) prev_cpu=\d+ chosen=(\d+) cpu=(\d+)"
)


def check_forced(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """A wake-up goes where it is told, if it may; the kernel counts as the trace does."""
    done = forced(kernel, platform, folder / "forced", ("ticker 20 5", "hog 30 5"))
    free = forced(kernel, platform, folder / "free", ("nobody 20 5", "all 30 5"))
    lines = done.text("trace.txt").splitlines()
    events = [line for line in lines if not line.startswith("#")]
    decisions = {
        (comm, int(activation)): (int(chosen), int(cpu))
        for comm, _, activation, chosen, cpu in DECISION.findall("\n".join(events))
    }
    assert decisions["ticker", 20][1] == 5 != decisions["ticker", 20][0]
    others = [value for key, value in decisions.items() if key != ("ticker", 20)]
    assert len(others) > 60
    assert all(chosen == cpu for chosen, cpu in others)
    assert done.text("force").splitlines() == [
        f"ticker 20 5 forced {decisions['ticker', 20][0]}",
        "hog 30 5 refused 1",
    ]
    counted = counters(done.text("stats"))
    assert (counted["forced"], counted["force_refused"]) == (1, 1)
    # Of a task that began after the reset, fork and wake-ups are counted, as they are traced.
    ((pid, count),) = re.findall(r"^(\d+) (\d+) hog$", done.text("activations"), re.MULTILINE)
    woken = 0
    numbers = []
    for line in events:
        woken += re.search(rf" sched_waking: .* pid={pid} ", line) is not None
        if (match := DECISION.search(line)) and match[2] == pid:
            assert int(match[3]) == woken, line
            numbers.append(woken)
    assert numbers[0] == 0
    assert int(count) == woken > 40
    assert free.text("force").splitlines() == ["nobody 20 5 pending -1", "all 30 5 pending -1"]


#: Lines that the table refuses: a CPU that lacks, one that is not there, a name that is too long.
NOT_FORCED = ("ticker 20", "ticker 20 6", f"{'x' * 16} 20 5")


def check_table(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """What names no decision is not taken; the table holds 32 lines, and can be emptied."""
    script = [
        *(f"write {FORCE} two words 7 {n % 6}" for n in range(32)),
        f"collect {FORCE} full",
        f"write {FORCE} clear",
        f"write {FORCE} 1 20 5",
        f"collect {FORCE} one",
    ]
    done = checked(kernel.image, platform, script, folder)
    assert done.text("full").splitlines() == [f"two words 7 {n % 6} pending -1" for n in range(32)]
    assert done.text("one") == "1 20 5 pending -1\n"
    for number, line in enumerate(NOT_FORCED):
        with pytest.raises(EngineFailed, match="force"):
            checked(kernel.image, platform, [f"write {FORCE} {line}"], folder / f"{number}")


INTERRUPTS = f"{SCHED}/eascope/interrupts"
#: What is asked of CPU 1: 200 us of each ms.
LOAD = "nic 1 1000000 200000 500000"
#: Lines that are refused: nothing to do, more than a period, a CPU that is not there, a word more.
NO_INTERRUPTS = ("a 1 1000 0 0", "a 1 1000 1000 0", "a 6 1000 100 0", "a 1 1000 100 0 0")


def check_interrupts(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """A load comes as often and takes as long as told, from that CPU's tasks and no other's."""
    work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"

    def timed(name: str, cpu: int, before: str, after: str) -> Booted:
        script = [
            f"file /tmp/work.sh {len(work)}",
            work,
            f"write {INTERRUPTS} {LOAD}",
            "sleep-ms 100",
            f"write {INTERRUPTS} {before}",
            "start",
            f"spawn work /bin/busybox taskset {1 << cpu} /bin/busybox sh /tmp/work.sh",
            "wait work 20000",
            "stop",
            f"write {INTERRUPTS} {after}",
            f"collect {INTERRUPTS} then",
            "sleep-ms 20",
            f"collect {INTERRUPTS} later",
        ]
        return checked(kernel.image, platform, script, folder / name)

    def took_ns(done: Booted) -> int:
        return done.marks[STOP] - done.marks[START]

    free = timed("free", 1, "stop", "stop")
    assert free.text("then") == f"{LOAD} 0 0 0\n"
    loaded, apart = timed("loaded", 1, "start", "stop"), timed("apart", 2, "start", "stop")
    for done in (loaded, apart):
        assert done.text("later") == done.text("then")
        *told, count, spent, missed = done.text("then").split()
        assert " ".join(told) == LOAD
        assert int(count) == pytest.approx(took_ns(done) / 1_000_000, abs=2)
        assert int(spent) == pytest.approx(int(count) * 200_000, rel=0.02)
        assert missed == "0"
    assert took_ns(loaded) == pytest.approx(took_ns(free) / 0.8, rel=0.03)
    assert took_ns(apart) == pytest.approx(took_ns(free), rel=0.03)
    for number, wrong in enumerate(NO_INTERRUPTS):
        with pytest.raises(EngineFailed, match="interrupts"):
            checked(kernel.image, platform, [f"write {INTERRUPTS} {wrong}"], folder / f"{number}")


TURBO = """
base = "juno-r2"
summary = "Juno with a turbo OPP, which is on at boot"
dvfs.boost = true
cluster.big.opps.1200000.turbo = true
"""


def check_boost_after_absence(kernel: KernelArtefact, _: Platform, folder: Path) -> None:
    """A policy that comes back has the boost switch's state; before 7.1 mainline lacks that."""
    folder.mkdir(parents=True, exist_ok=True)
    (file := folder / "turbo.toml").write_text(TURBO)
    policy, bigs = "/sys/devices/system/cpu/cpufreq/policy4", (4, 5)
    script = [
        f"collect {policy}/scaling_max_freq before",
        *(f"write {ONLINE.format(cpu)} 0" for cpu in bigs),
        "write /sys/devices/system/cpu/cpufreq/boost 0",
        *(f"write {ONLINE.format(cpu)} 1" for cpu in bigs),
        f"write {policy}/scaling_governor performance",
        "sleep-ms 20",
        *(f"collect {policy}/{name} {name}" for name in ("scaling_max_freq", "scaling_cur_freq")),
    ]
    done = checked(kernel.image, load_platform(str(file)), script, folder)
    assert done.text("before") == "1200000\n"
    wanted = "1200000\n" if kernel.release == DEFAULT else "1000000\n"
    assert done.text("scaling_max_freq") == done.text("scaling_cur_freq") == wanted
