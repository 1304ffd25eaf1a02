# SPDX-License-Identifier: GPL-2.0-or-later
"""What the queue ``sum`` claims of clamps, asked of a kernel in a guest, and what must be found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.switches import STATS
from tests.support.kernel_guest import Booted
from tests.support.stress import checked, counters, survive

FILES = "/sys/kernel/debug/sched/eascope"
FEATURES = "/sys/kernel/debug/sched/features"
GROUPS = "/sys/fs/cgroup"
SYSCTL = "/proc/sys/kernel"
PERIOD_MS = 4
PROGRAMS = ("dies", "forks", "hog", "iowait", "lends", "reclassed", "sample")
#: Of juno-r2's big cluster.
BIG_KHZ = (600_000, 1_000_000, 1_200_000)
#: Clamps are in use from the beginning: mainline leaves out what was runnable before.
IN_USE = [f"write {SYSCTL}/sched_util_clamp_min_rt_default {value}" for value in (1023, 1024)]
#: A hog's or a sleeping task's options and the OPP of a big CPU, of 512, 853 and 1024, that it asks
#: for without and with headroom of a quarter: 480 or 600, 800 or 1000; no clamp has it always.
HEADROOM = {
    "cap": ("-M 480", 0, 1),
    "boost": ("-m 800 -r 500 -p 5000", 1, 2),
    "greatest-boost": ("-m 1024 -r 500 -p 5000", 2, 2),
    "none": ("", 2, 2),
    "cap-of-zero": ("-M 0", 0, 0),
}


@dataclass(frozen=True)
class Guest:
    """Boots scripts on the kernel with `PROGRAMS` in the guest.

    :param checked: the kernel checks its sums at each tick.
    :param switches: file and value of what is switched on first.
    """

    image: Path
    platform: Platform
    folder: Path
    checked: bool = True
    switches: tuple[tuple[str, str], ...] = ()

    def khz(self, lines: list[str], *, cpu: int, ms: int) -> list[int]:
        """The frequency of ``cpu``'s policy every `PERIOD_MS` for ``ms`` after ``lines``."""
        return [int(word) for word in self.sampled(lines, cpu=cpu, ms=ms)[0].split()]

    def traced(
        self, lines: list[str], events: str, after: list[str], *, ms: int, mark: str = ""
    ) -> list[str]:
        """The lines of ``events`` in the ``ms`` after ``lines`` and, traced already, ``after``.

        :param mark: what is in each of these lines; by default the name of the only event.
        """
        tracing = "/sys/kernel/tracing"
        script = [
            *lines,
            f"trace-setup 4096 {events}",
            f"write {tracing}/tracing_on 1",
            *after,
            f"sleep-ms {ms}",
            f"write {tracing}/tracing_on 0",
            f"collect {tracing}/trace trace.txt",
        ]
        done = self.boot([*IN_USE, *script])
        mark = mark or f"{events.partition(':')[2]}: "
        return [line for line in done.text("trace.txt").splitlines() if mark in line]

    def boot(self, script: list[str]) -> Booted:
        """Runs ``script``, in which the kernel must find no fault."""
        return checked(
            self.image,
            self.platform,
            [*(f"write {path} {value}" for path, value in self.switches), *script],
            self.folder,
            *PROGRAMS,
        )

    def sampled(self, lines: list[str], *, cpu: int, ms: int) -> tuple[str, dict[str, int]]:
        """The same as text, and the kernel's counters, with its checks switched on."""
        policy = f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"
        script = [
            f"write {FEATURES} {'' if self.checked else 'NO_'}UCLAMP_CHECK",
            *IN_USE,
            f"write {GROUPS}/cgroup.subtree_control +cpu",
            *lines,
            f"spawn sample /bin/busybox taskset 1 /bin/sample {policy} {PERIOD_MS * 1000}"
            f" {ms // PERIOD_MS}",
            f"wait sample {2 * ms}",
            "collect /tmp/sample.log khz",
            f"collect {STATS} stats.txt",
        ]
        done = self.boot(script)
        return done.text("khz"), counters(done.text("stats.txt"))


def hog(name: str, cpu: int, *options: str) -> str:
    return f"spawn {name} /bin/hog -c {cpu} {' '.join(options)}".rstrip()


def group(name: str, **files: str) -> list[str]:
    """Makes a group and writes ``cpu.KEY``; ``__`` stands for a dot."""
    path = f"{GROUPS}/{name}"
    writes = [f"write {path}/cpu.{key.replace('__', '.')} {files[key]}" for key in files]
    return [f"mkdir {path}", *writes]


def within(name: str, *lines: str) -> list[str]:
    """``lines``, whose tasks begin in a group."""
    present, back = f"{GROUPS}/{name}/cgroup.procs", f"{GROUPS}/cgroup.procs"
    return [f"write {present} 0", *lines, f"write {back} 0"]


def share(khz: list[int], least: int) -> float:
    """Of the time, at ``least`` or faster."""
    return sum(value >= least for value in khz) / len(khz)


def ms_until(khz: list[int], least: int) -> int:
    """Until it was ``least`` or faster for the first time."""
    return PERIOD_MS * next((n for n, value in enumerate(khz) if value >= least), len(khz))


def check_background(guest: Guest, options: str, others: int, theirs: str = "") -> None:
    """A capped hog waits: who runs has the frequency as fast as load tracking forgets.

    Whatever weights say: at nice 0 with one other the hog gets half, and 512 and 200 ask for 890,
    where one OPP ends and the next begins.

    :param options: of the capped hog, which say how long it waits.
    :param others: how many hogs without a cap come to its CPU, with the options ``theirs``.
    """
    lines = [
        hog("capped", 4, "-M 200", options),
        "sleep-ms 600",
        *(hog(f"free{number}", 4, theirs) for number in range(others)),
    ]
    khz = guest.khz(lines, cpu=4, ms=1_000)
    # 1024 - 824 y^n asks for the top OPP from 683 of 1024 on: in 41 ms, and 4 from tick to tick.
    assert ms_until(khz, BIG_KHZ[2]) <= 60
    assert share(khz[60 // PERIOD_MS :], BIG_KHZ[2]) >= 0.98


def check_sum(guest: Guest, number: int, cap: int) -> None:
    """Caps of hogs that add up to 800 count with 800, however many they are."""
    lines = [*(hog(f"capped{n}", 4, f"-M {cap}") for n in range(number)), "sleep-ms 1500"]
    traced = guest.traced(lines, "eascope:sched_uclamp_cpu", [], ms=600)
    sums = [field(line, "uclamp_avg") for line in traced if "cpu=4 " in line]
    assert len(sums) > 20, sums
    # Who switched tracing on may have been there; what runs is seldom below its cap.
    assert 760 <= sum(sums) / len(sums) <= 820, sums


def check_rt_beside(guest: Guest) -> None:
    """An RT task that is capped to 200 and works half of the time, next to a hog capped to 100.

    Both may have 300, with headroom 375: the lowest OPP, 512.
    """
    lines = [
        hog("fair", 4, "-M 100"),
        hog("rt", 4, "-f -m 0 -M 200 -r 10000 -p 20000"),
        "sleep-ms 500",
    ]
    # A kworker may begin there, which counts with a new task's utilization for some 20 ms.
    assert share(guest.khz(lines, cpu=4, ms=600), BIG_KHZ[1]) <= 0.1


def check_rt_asleep(guest: Guest) -> None:
    """What such a task used does not count more as it sleeps: 200, and headroom.

    Another one makes requests.
    """
    lines = [
        hog("light", 4, "-M 1 -r 100 -p 3000"),
        hog("rt", 4, "-f -m 0 -M 200 -r 14000 -p 20000"),
        "sleep-ms 500",
    ]
    asked = perfs(guest, lines, [], ms=600)
    assert len(asked) > 20, asked
    assert max(asked) <= 450, asked


def check_rt_leaves_fair(guest: Guest) -> None:
    """The cap of an RT task that works for a tenth of the time is not a fair hog's."""
    lines = [
        hog("free", 4),
        hog("rt", 4, "-f -m 0 -M 100 -r 2000 -p 20000"),
        "sleep-ms 500",
    ]
    assert share(guest.khz(lines, cpu=4, ms=600), BIG_KHZ[2]) >= 0.98


#: Tasks on a big CPU, of which the RT ones may use 200 each. The three RT ones work for 90 % of the
#: time. At the lowest OPP, 512, they use 460, and ask for 575. At the middle one, 853, they use
#: 768, may have 600, and ask for 750. The two and the fair one ask for 573 and 625.
RT_TASKS = {
    "alone": [hog(f"rt{n}", 4, "-f -m 0 -M 200 -w -r 6000 -p 20000") for n in range(3)],
    "beside-fair": [
        hog("fair", 4, "-M 100"),
        *(hog(f"rt{n}", 4, "-f -m 0 -M 200 -w -r 7000 -p 20000") for n in range(2)),
    ],
}


def check_rt_sum(guest: Guest, feature: str, case: str) -> None:
    """The caps of RT tasks add up, or that of one bounds what all of them use."""
    lines = [f"write {FEATURES} {feature}", *RT_TASKS[case], "sleep-ms 500"]
    khz = guest.khz(lines, cpu=4, ms=600)
    wanted = BIG_KHZ[1] if feature == "UCLAMP_RT_SUM" else BIG_KHZ[0]
    # A kworker may begin there, which counts with a new task's utilization for some 20 ms.
    assert khz.count(wanted) / len(khz) >= 0.9, khz


def check_rt_boosts(guest: Guest, feature: str) -> None:
    """The boosts of RT tasks add up while these are runnable, and no longer.

    Two work together for a quarter of the time, so that one waits for an eighth. Another task
    makes requests.
    """
    lines = [
        f"write {FEATURES} {feature}",
        hog("light", 4, "-M 1 -r 100 -p 3000"),
        *(hog(f"rt{n}", 4, "-f -m 400 -w -r 2500 -p 20000") for n in range(2)),
        "sleep-ms 500",
    ]
    asked = perfs(guest, lines, [], ms=600)
    # 400 as such, or 800 and a quarter.
    assert (max(asked) >= 1000) == (feature == "UCLAMP_RT_SUM"), asked
    assert min(asked) <= 350, asked


#: What a task may be that takes nothing from others which wait for each other.
BYSTANDERS = {
    "none": [],
    "tiny": [hog("bystander", 4, "-M 10 -r 200 -p 4000")],
    "throttled": [
        *group("limited", max="1000 100000"),
        *within("limited", hog("bystander", 4, "-M 10")),
    ],
}


def check_contention(guest: Guest, bystander: str) -> None:
    """Two tasks work for 5 ms of 16, and one always waits for the other: their CPU gets faster.

    At the highest OPP they use 640, 800 with headroom, for which the middle one is enough, 853. But
    they are runnable for 15 of 16 ms, 960; at the middle OPP that is 800, still more than 683.
    """
    lines = [
        f"write {FEATURES} NO_UTIL_EST",
        *BYSTANDERS[bystander],
        *(hog(f"worker{n}", 4, "-w -r 5000 -p 16000") for n in range(2)),
        "sleep-ms 500",
    ]
    assert share(guest.khz(lines, cpu=4, ms=800), BIG_KHZ[2]) >= 0.9


def check_capped_contention(guest: Guest) -> None:
    """Capped tasks wait for each other, and a boost adds more than their caps take.

    Four times 40 and 230 ask for the lowest OPP, 512, with headroom. The four use 54 each there,
    and are runnable for 544 together, 680 with headroom.
    """
    lines = [
        f"write {FEATURES} NO_UTIL_EST",
        hog("boosted", 4, "-m 230 -r 100 -p 4000"),
        *(hog(f"capped{n}", 4, "-M 40 -w -r 1700 -p 16000") for n in range(4)),
        "sleep-ms 500",
    ]
    assert share(guest.khz(lines, cpu=4, ms=800), BIG_KHZ[1]) <= 0.1


def check_hidden_bound(guest: Guest) -> None:
    """A cap takes next to nothing: no more is given back to who waits for its task."""
    lines = [
        f"write {FEATURES} NO_UTIL_EST",
        f"write {FILES}/uclamp_wait 2",
        f"write {FILES}/uclamp_wait_deadband 0",
        hog("capped", 4, "-M 150 -w -r 5000 -p 16000 -n -20"),
        hog("free", 4, "-w -r 5000 -p 16000"),
        "sleep-ms 500",
    ]
    traced = guest.traced(lines, "eascope:sched_uclamp_cpu", [], ms=400)
    traced = [line for line in traced if "cpu=4 " in line]
    assert max(field(line, "wait") for line in traced) > 100
    above = [field(line, "comp") - field(line, "util_avg") for line in traced]
    assert max(above) <= 2, above


def check_wait_in_eas(guest: Guest) -> None:
    """What is given back on a CPU, EAS knows of when it looks at that CPU's domain.

    A task uses some 150, and waits as long for one that is capped to 100.
    """
    lines = [
        f"write {FEATURES} NO_UTIL_EST",
        f"write {FILES}/uclamp_wait 2",
        f"write {FILES}/uclamp_wait_deadband 0",
        hog("capped", 4, "-M 100"),
        hog("free", 4, "-w -r 4000 -p 16000"),
        "sleep-ms 500",
        "spawn light /bin/busybox taskset 15 /bin/hog -r 500 -p 10000",
    ]
    events = "eascope:sched_compute_energy eascope:sched_uclamp_cpu"
    traced = guest.traced(lines, events, [], ms=600, mark=": sched_")
    given = [field(line, "comp") for line in traced if "uclamp_cpu: cpu=4 " in line]
    assert len(given) > 20
    expected = [int(util) for line in traced for util in EXPECTED.findall(line)]
    assert len(expected) > 20
    # Of the domain without the task; a quarter more is headroom.
    assert max(expected) >= max(given), (expected, given)


def check_idle_waiter(guest: Guest) -> None:
    """A hog of SCHED_IDLE waits for a capped one: it has next to nothing to gain."""
    lines = [
        f"write {FILES}/uclamp_wait 2",
        hog("capped", 4, "-M 200"),
        hog("idle", 4, "-i"),
        "sleep-ms 600",
    ]
    assert share(guest.khz(lines, cpu=4, ms=800), BIG_KHZ[1]) <= 0.05


def longest_wait(guest: Guest, lines: Sequence[str], ms: int) -> int:
    """The greatest ``wait`` of CPU 4 half a second after ``lines``, of more than 20."""
    lines = [f"write {FILES}/uclamp_wait 2", *lines, "sleep-ms 500"]
    traced = guest.traced(lines, "eascope:sched_uclamp_cpu", [], ms=ms)
    waits = [field(line, "wait") for line in traced if "cpu=4 " in line]
    assert len(waits) > 20
    return max(waits)


def check_waits_for_others(guest: Guest) -> None:
    """Two hogs wait for each other; next to them, a capped task works for a tenth of the time.

    They wait for that for a tenth of the time, 205 of 2048; for each other, 1024.
    """
    hogs = (hog(f"free{n}", 4) for n in range(2))
    capped = hog("capped", 4, "-M 10 -r 2000 -p 20000 -n -10")
    assert 0 < longest_wait(guest, [*hogs, capped], ms=400) < 500


def check_system_limit(guest: Guest) -> None:
    """A limit of the system bounds what a task requested, though its group allows more.

    600 with headroom are 880 MHz of a big CPU; 100 are 150, less than its lowest OPP.
    """
    lines = [
        *group("child"),
        *within("child", hog("boosted", 4, "-m 600 -r 500 -p 5000")),
        "sleep-ms 300",
        f"write {SYSCTL}/sched_util_clamp_min 100",
        "sleep-ms 300",
    ]
    # A kworker may begin there, which counts with a new task's utilization for some 20 ms.
    assert share(guest.khz(lines, cpu=4, ms=800), BIG_KHZ[1]) <= 0.05


def _beside(guest: Guest, feature: str, first: str, cpu: int) -> tuple[str, float, dict[str, int]]:
    """Clocks of ``cpu``, EAS's share of wake-ups and counters, of a light task beside ``first``."""
    lines = [f"write {FEATURES} {feature}", first, "sleep-ms 200", f"write {STATS} 0"]
    lines += ["spawn light /bin/hog -r 500 -p 10000"]
    khz, counted = guest.sampled(lines, cpu=cpu, ms=800)
    return khz, counted["feec_called"] / counted["select_wakeup"], counted


def check_boost(guest: Guest, feature: str) -> None:
    """0.5 ms of 20 with the greatest boost: with three values EAS goes on to place tasks."""
    boosted = hog("boosted", 4, "-m 1024 -r 500 -p 20000")
    _, share_of_eas, counted = _beside(guest, feature, boosted, cpu=0)
    if feature == "UCLAMP_FITS_TRISTATE":
        assert share_of_eas > 0.6
        assert counted["overutilized_set"] <= 2
    else:
        assert share_of_eas < 0.05


def check_hidden(guest: Guest, feature: str) -> None:
    """A capped hog alone on its CPU: it is in nobody's way, but a tenth of what it uses counts."""
    khz, share_of_eas, _ = _beside(guest, feature, hog("capped", 4, "-M 100"), cpu=4)
    # Whether it is overutilized is all that the feature decides. A kworker begins there once, which
    # counts with a new task's utilization for some 20 ms.
    assert share([int(word) for word in khz.split()], BIG_KHZ[1]) <= 0.05
    if feature == "UCLAMP_OU_UNCLAMPED":
        assert share_of_eas < 0.05
    else:
        assert share_of_eas > 0.6


def check_headroom(guest: Guest, feature: str, case: str) -> None:
    """Which OPP the tasks of `HEADROOM` ask for."""
    options, without, with_headroom = HEADROOM[case]
    lines = [
        f"write {FEATURES} {feature}",
        hog("clamped", 4, options),
        "sleep-ms 300",
    ]
    khz = guest.khz(lines, cpu=4, ms=400)
    wanted = BIG_KHZ[without if feature == "UCLAMP_NO_HEADROOM" else with_headroom]
    assert khz.count(wanted) / len(khz) >= 0.98


def check_events(guest: Guest, feature: str) -> None:
    """The events of a capped hog and of its CPU, on which it is alone, name the same utilization.

    A cap of 500 is 400 without headroom.
    """
    event = "eascope:sched_uclamp_"
    lines = [f"write {FEATURES} {feature}", hog("capped", 4, "-M 500"), "sleep-ms 500"]
    traced = guest.traced(lines, f"{event}task {event}cpu", [], ms=400, mark="sched_uclamp_")
    tasks = [line for line in traced if "comm=hog " in line]
    cpus = [line for line in traced if "sched_uclamp_cpu: cpu=4 " in line]
    assert len(tasks) > 10
    assert len(cpus) > 10
    cap = 400 if feature == "UCLAMP_NO_HEADROOM" else 500
    assert {field(line, "uclamp_max") for line in tasks} == {cap}
    assert {field(line, "uclamp_avg") for line in tasks} == {cap}
    # Who switched tracing on may have been there: what it left is a few units in the end.
    assert all(abs(field(line, "uclamp_avg") - cap) <= 10 for line in cpus[len(cpus) // 2 :])


def field(line: str, name: str) -> int:
    match = re.search(rf" {name}=(\d+)", line)
    assert match, line
    return int(match[1])


def check_fit(guest: Guest, feature: str) -> None:
    """A boost of seven eighths of a big CPU fits it, but with a quarter more: then EAS goes on."""
    lines = [
        f"write {FEATURES} {feature}",
        hog("boosted", 4, "-m 900 -r 500 -p 20000"),
        # The mark of a moment stays until load balance looks, which it does where a CPU is busy.
        hog("busy", 1, "-M 50"),
        "sleep-ms 200",
        f"write {STATS} 0",
        "spawn light /bin/hog -r 500 -p 10000",
    ]
    _, counted = guest.sampled(lines, cpu=0, ms=800)
    share_of_eas = counted["feec_called"] / counted["select_wakeup"]
    if feature == "UCLAMP_NO_HEADROOM":
        assert share_of_eas > 0.6
    else:
        assert share_of_eas < 0.25


def check_reclassed(guest: Guest) -> None:
    """A capped hog becomes an RT task, sleeps for a second and is made fair again, asleep."""
    lines = [
        "spawn reclassed /bin/reclassed 4 100 300 1000",
        "sleep-ms 400",
        hog("free", 4),
        "sleep-ms 600",
    ]
    # Its utilization is nothing by then, and so must be what its cap takes from the CPU's.
    assert set(guest.khz(lines, cpu=4, ms=600)) == {BIG_KHZ[2]}


def check_reclassed_elsewhere(guest: Guest, kind: str) -> None:
    """The same, but as an RT task it comes to another CPU or, asleep, to another group."""
    moves = {"cpu": "-C 1", "group": f"-g {GROUPS}/other/cgroup.procs"}
    cpu = 1 if kind == "cpu" else 4
    lines = [
        *group("other"),
        f"spawn reclassed /bin/reclassed {moves[kind]} 4 100 300 1000",
        "sleep-ms 400",
        hog("there", 4),
        hog("free", cpu),
        "sleep-ms 600",
    ]
    fastest = max(opp.khz for opp in guest.platform.clusters[cpu // 4].opps)
    assert set(guest.khz(lines, cpu=cpu, ms=600)) == {fastest}


def perfs(guest: Guest, lines: list[str], after: list[str], *, ms: int) -> list[int]:
    """What CPU 4 asks for in ``ms`` after ``lines``, with headroom and clamps."""
    event = "eascope:sched_cpufreq_req"
    traced = guest.traced(lines, event, after, ms=ms)
    return [field(line, "perf") for line in traced if "req: cpu=4 " in line]


def check_cap_kept(guest: Guest, kind: str) -> None:
    """A capped hog has gone to sleep and changes its group or class: its cap is not left behind.

    ``class`` sleeps as an RT task and is made fair again, ``class-left`` is made an RT task.
    100 with headroom are 125, and others may wake there. Without its cap it asks for 1024.
    """
    move = {
        "group": f"-f -g {GROUPS}/other/cgroup.procs 4 100 600 2",
        "class": "4 100 600 4",
        "class-left": "-f 4 100 600 2",
    }[kind]
    lines = [
        # By default an RT task asks for everything.
        f"write {SYSCTL}/sched_util_clamp_min_rt_default 0",
        f"write {GROUPS}/cgroup.subtree_control +cpu",
        *group("other"),
        # On a slow CPU the clock of load tracking falls behind. It catches up when the CPU is idle:
        # of what slept there nothing would be left.
        *([hog("other", 4, "-M 100 -n 5")] if kind == "class" else []),
        f"spawn reclassed /bin/busybox taskset 1 /bin/reclassed {move}",
        "sleep-ms 300",
    ]
    asked = perfs(guest, lines, [], ms=600)
    assert len(asked) > 20, asked
    assert max(asked) < 700, asked


def check_fair_again(guest: Guest, kind: str) -> None:
    """A capped hog that was an RT task is fair again, asleep or running: nobody loses by its cap.

    Another hog, not capped, has half of the CPU, 512, or more. RT tasks ask for everything.
    """
    options = {"asleep": "4 100 600 4", "running": "-t 4 100 20 60"}[kind]
    lines = [
        f"write {FEATURES} NO_UCLAMP_RT",
        hog("free", 4),
        "sleep-ms 300",
        f"spawn reclassed /bin/busybox taskset 1 /bin/reclassed {options}",
        "sleep-ms 250",
    ]
    asked = perfs(guest, lines, [], ms=600)
    assert len(asked) > 20, asked
    assert min(asked) >= 500, asked


def check_limit_at_once(guest: Guest) -> None:
    """The system's limit for a hog whose estimate is about a half: no request follows that alone.

    The hog asks for everything, and then for 100 with headroom, 125; a half would be 640. What the
    kernel's own tasks add there is small.
    """
    lines = [
        f"write {SYSCTL}/sched_util_clamp_min 0",
        hog("busy", 4, "-r 40000 -p 80000 -k 5"),
        "sleep-ms 700",
    ]
    limit = ["sleep-ms 20", f"write {SYSCTL}/sched_util_clamp_max 100"]
    asked = perfs(guest, lines, limit, ms=100)
    between = [perf for perf in asked if 400 < perf < 1000]
    assert asked[0] >= 1000
    assert min(asked) <= 130
    assert asked[-1] <= 400
    assert not between, asked


def check_iowait(guest: Guest, cap: int) -> None:
    """Who waits as for I/O again and again is lifted to no more than its cap."""
    lines = [f"spawn iowait /bin/iowait 0 4 {cap}", "sleep-ms 300"]
    khz = guest.khz(lines, cpu=4, ms=400)
    if cap < 1024:
        assert set(khz) == {BIG_KHZ[0]}
    else:  # the boost is for the greatest frequency, whatever the task uses
        assert share(khz, BIG_KHZ[2]) >= 0.4


def check_uncapped(guest: Guest, feature: str) -> None:
    """A hog without a cap makes its CPU overutilized: nothing is taken from what it uses."""
    lines = [
        f"write {FEATURES} {feature}",
        hog("free", 4),
        "sleep-ms 300",
        f"write {STATS} 0",
        "spawn light /bin/hog -r 500 -p 10000",
    ]
    _, counted = guest.sampled(lines, cpu=0, ms=800)
    assert counted["feec_called"] / counted["select_wakeup"] < 0.05


#: For how much EAS expects a domain's frequency to be, without the task.
EXPECTED = re.compile(r" sched_compute_energy: .*dst_cpu=-1 .*max_util=(\d+) ")
#: uclamp_wait, uclamp_wait_deadband, and whether waiting tasks get the highest OPP.
WAITING = {
    "off": (0, 128, False),
    "overutilized-only": (1, 128, False),
    "frequency": (2, 128, True),
    "dead-band": (2, 1024, False),
}


def check_wait(guest: Guest, case: str) -> None:
    """A hog waits half of the time for a capped one: 512 and the cap ask for the middle OPP.

    What it waits beyond the dead band is given back of the 512 that the cap hides.
    """
    mode, deadband, highest = WAITING[case]
    lines = [
        f"write {FILES}/uclamp_wait {mode}",
        f"write {FILES}/uclamp_wait_deadband {deadband}",
        hog("capped", 4, "-M 1"),
        hog("free", 4),
        "sleep-ms 600",
    ]
    high = share(guest.khz(lines, cpu=4, ms=400), BIG_KHZ[2])
    assert high >= 0.95 if highest else high <= 0.05


BUSY = re.compile(r" sched_compute_energy: .*dst_cpu=-1 .*max_util=\d+ busy_time=(\d+)")


def check_busy(guest: Guest, feature: str) -> None:
    """EAS bills a big domain with a capped hog: for its cap of 100, or for the time that it runs.

    At the lowest OPP, 512 of 1024, the hog runs all the time.
    """
    lines = [f"write {FEATURES} {feature}", hog("capped", 4, "-M 100"), "sleep-ms 600"]
    after = ["spawn light /bin/hog -r 500 -p 10000"]
    event = "eascope:sched_compute_energy"
    texts = guest.traced(lines, event, after, ms=500)
    busy = [int(time) for line in texts for time in BUSY.findall(line)]
    assert len(busy) > 20
    assert (max(busy) > 480) == (feature == "FEEC_BUSY_UNCLAMPED")


def check_busy_bounded(guest: Guest, feature: str) -> None:
    """The same with a hog that was capped after it had the highest OPP, which its policy keeps.

    It wants all of its CPU, 1024; at the OPP of its cap it could have 512.
    """
    policy = "/sys/devices/system/cpu/cpufreq/policy4/schedutil/rate_limit_us"
    lines = [
        f"write {FEATURES} FEEC_BUSY_UNCLAMPED",
        f"write {FEATURES} {feature}",
        f"write {GROUPS}/cgroup.subtree_control +cpu",
        *group("capped"),
        *within("capped", hog("capped", 4)),
        "sleep-ms 400",
        f"write {policy} 30000000",
        f"write {GROUPS}/capped/cpu.uclamp.max 9.77",
        "sleep-ms 400",
    ]
    after = ["spawn light /bin/hog -r 500 -p 10000"]
    texts = guest.traced(lines, "eascope:sched_compute_energy", after, ms=300)
    busy = [int(time) for line in texts for time in BUSY.findall(line)]
    assert len(busy) > 20
    assert 400 < max(busy) < 600 if feature == "FEEC_BUSY_BOUNDED" else max(busy) > 900, busy


#: The checks of a kernel of `sum`, and what makes it look at who waits.
CHECKED = [
    (FEATURES, "UCLAMP_CHECK"),
    ("/sys/kernel/debug/sched/eascope/uclamp_wait", "2"),
    ("/sys/kernel/debug/sched/eascope/uclamp_wait_deadband", "0"),
]


def check_stressed(kernel: KernelArtefact, platform: Platform, folder: Path) -> Booted:
    """The kernel finds no fault in its own sums."""
    return survive(kernel.image, platform, folder / "run", switches=CHECKED, ms=400)


def check_hidden_counter(done: Booted) -> None:
    """Stress moves the counter of those who wait and may mean an overutilized CPU."""
    assert counters(done.text("stats.txt"))["uclamp_hidden_ou"]
