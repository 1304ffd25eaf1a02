# SPDX-License-Identifier: GPL-2.0-or-later
"""What the series ``sum`` claims of clamps in groups and under inherited priority."""

from eascope.kernels.switches import STATS
from tests.support.sum_checks import (
    BIG_KHZ,
    FEATURES,
    GROUPS,
    Guest,
    group,
    hog,
    longest_wait,
    perfs,
    share,
    within,
)

#: A group in a group, whose tasks may be clamped.
NESTED = (
    *group("outer"),
    f"write {GROUPS}/outer/cgroup.subtree_control +cpu",
    *group("outer/inner"),
)


def check_lent(guest: Guest) -> None:
    """A fair task that has inherited a real-time priority is clamped as the task that it is.

    It is capped to 100 and alone, and inherits the priority for 150 of 170 ms. Who waits for it
    asks for everything.
    """
    lines = ["spawn lends /bin/lends 4 100 150 20", "sleep-ms 300"]
    assert share(guest.khz(lines, cpu=4, ms=800), BIG_KHZ[1]) <= 0.4


def check_fair_again_after_lending(guest: Guest) -> None:
    """A capped task is fair again, at the end of a priority that it inherited: nobody loses by it.

    Another hog, not capped, has half of the CPU, 512, or more.
    """
    lines = [
        f"write {FEATURES} NO_UCLAMP_RT",
        hog("free", 4),
        "sleep-ms 300",
        "spawn lends /bin/lends 4 100 2 20",
        "sleep-ms 250",
    ]
    asked = perfs(guest, lines, [], ms=600)
    assert len(asked) > 20, asked
    assert min(asked) >= 500, asked


def check_inherited(guest: Guest) -> None:
    """Groups go away right after their capped hog: what it left there goes to their parent.

    The kernel's check of the sum of sleeping tasks looks at each tick of another hog. Load balance
    would bring the group up to date before it is gone: there is none for a CPU by itself.
    """
    lines = [
        f"write {GROUPS}/cgroup.subtree_control +cpuset",
        *(f"mkdir {GROUPS}/{name}" for name in ("apart", "apart/free")),
        f"write {GROUPS}/apart/cpuset.cpus 4",
        f"write {GROUPS}/apart/cpuset.cpus.partition root",
        f"write {GROUPS}/apart/cgroup.subtree_control +cpu",
        *within("apart/free", hog("free", 4)),
        f"write {GROUPS}/apart/free/cpu.weight 1",
        "sleep-ms 100",
        f"spawn dies /bin/dies {GROUPS}/apart/brief 100 10",
        "wait dies 3000",
    ]
    _, counted = guest.sampled(lines, cpu=4, ms=40)
    assert counted["uclamp_checked"] > 100
    assert not counted["uclamp_broken"]


def check_promised(guest: Guest) -> None:
    """A boosted task of the least weight waits for long: its boost counts as long as it does.

    600, and a hog's cap of 150, are 937 with headroom: more than 853, the middle OPP. Without the
    boost the hog asks for the lowest OPP.
    """
    lines = [
        hog("capped", 4, "-M 150"),
        hog("boosted", 4, "-i -m 600 -M 600"),
        "sleep-ms 500",
    ]
    assert share(guest.khz(lines, cpu=4, ms=800), BIG_KHZ[2]) >= 0.98


def check_nested_limit(guest: Guest, kind: str) -> None:
    """A group's clamps bound those of the groups below it, also when they change under load.

    60 % ask for 768 with headroom, the middle OPP; 20 % for 256, the lowest.
    """
    changes = {
        "bounded": ["20"],
        "tightened": ["max", "20"],
        "relaxed": ["20", "max"],
    }[kind]
    lines = [
        *NESTED,
        f"write {GROUPS}/outer/inner/cpu.uclamp.max 60",
        *within("outer/inner", hog("busy", 4)),
    ]
    for limit in changes:
        lines += [f"write {GROUPS}/outer/cpu.uclamp.max {limit}", "sleep-ms 200"]
    wanted = BIG_KHZ[1] if changes[-1] == "max" else BIG_KHZ[0]
    assert set(guest.khz(lines, cpu=4, ms=200)) == {wanted}


def _limited(kind: str, **files: str) -> tuple[list[str], str]:
    """Makes a group with ``files``, and the name of the group for its tasks: it or one below."""
    if kind == "alone":
        return group("limited", **files), "limited"
    writes = [f"write {GROUPS}/outer/cpu.{key} {value}" for key, value in files.items()]
    return [*NESTED, *writes], "outer/inner"


def check_throttled(guest: Guest, kind: str) -> None:
    """Its hog has a fifth of the CPU and is capped to it; the rest is for who is not capped."""
    lines, name = _limited(kind, max="20000 100000", weight="10000")
    lines += [
        f"write {GROUPS}/{name}/cpu.uclamp.max 20",
        *within(name, hog("capped", 4)),
        hog("free", 4),
        "sleep-ms 500",
    ]
    assert share(guest.khz(lines, cpu=4, ms=1_000), BIG_KHZ[2]) >= 0.98


def check_lifted(guest: Guest) -> None:
    """A capped hog is alone: its cap holds after its group has had a fifth of the time."""
    lines = [
        *group("limited", max="20000 100000"),
        f"write {GROUPS}/limited/cpu.uclamp.max 20",
        *within("limited", hog("capped", 4)),
        "sleep-ms 500",
        f"write {GROUPS}/limited/cpu.max max",
        "sleep-ms 400",
    ]
    # The first 40 ms have what the start of the program that samples adds.
    assert share(guest.khz(lines, cpu=4, ms=400)[10:], BIG_KHZ[1]) <= 0.05


def check_throttled_do_not_wait(guest: Guest, kind: str) -> None:
    """An uncapped hog may run for 10 of 100 ms: it hardly waits for a capped one, of low weight."""
    limited, name = _limited(kind, max="10000 100000")
    lines = [f"write {GROUPS}/cgroup.subtree_control +cpu", *limited]
    lines += [hog("capped", 4, "-M 100 -n 19"), *within(name, hog("free", 4))]
    assert longest_wait(guest, lines, ms=500) < 250


def _boosted(number: int, options: str = "") -> list[str]:
    """Boosted tasks in a group that may run for 5 of 100 ms, one of which uses that up.

    The limit comes last: in a limited group the agent itself waits for its part to start a task.
    Besides, one that always asks for a frequency. Estimates of throttled tasks count in mainline.
    """
    return [
        f"write {FEATURES} NO_UTIL_EST",
        *group("limited"),
        *within(
            "limited",
            hog("boosted", 4, "-m 100"),
            *(hog(f"boosted{n}", 4, "-m 100", options) for n in range(1, number)),
        ),
        f"write {GROUPS}/limited/cpu.max 5000 100000",
        hog("light", 4, "-r 100 -p 3000"),
        "sleep-ms 500",
    ]


def check_throttled_boost(guest: Guest, options: str) -> None:
    """While the group may not run its boosts are as if it slept, and then they count.

    800 with headroom are the highest OPP; in 32 ms half of that is forgotten.

    :param options: of all but one of its tasks.
    """
    high = share(guest.khz(_boosted(8, options), cpu=4, ms=1_000), BIG_KHZ[2])
    assert 0.05 <= high <= 0.4


def check_throttled_boost_ends(guest: Guest) -> None:
    """Twelve of them overutilize their CPU, but not while they may not run: EAS goes on."""
    lines = [
        *_boosted(12),
        # The mark of a moment stays until load balance looks, which it does where a CPU is busy.
        hog("busy", 1, "-M 50"),
        "sleep-ms 200",
        f"write {STATS} 0",
        "spawn often /bin/hog -r 500 -p 10000",
    ]
    _, counted = guest.sampled(lines, cpu=0, ms=1_000)
    # Each time that the group runs sets the mark.
    assert counted["feec_called"] / counted["select_wakeup"] > 0.1


def check_throttled_io(guest: Guest) -> None:
    """An uncapped hog that may run for 1 of 100 ms does not lift the bound of a boost for I/O."""
    lines = [
        *group("limited", max="1000 100000"),
        *within("limited", hog("free", 4)),
        "spawn iowait /bin/iowait 0 4 100",
        "sleep-ms 300",
    ]
    assert share(guest.khz(lines, cpu=4, ms=800), BIG_KHZ[2]) <= 0.1


def check_moved_while_throttled(guest: Guest) -> None:
    """A capped task comes to a throttled group and leaves it, awake: others lose nothing.

    Three hogs without a cap have three quarters of the CPU, 768, or more: with headroom the
    highest OPP.
    """
    limited, root = f"{GROUPS}/limited/cgroup.procs", f"{GROUPS}/cgroup.procs"
    move = (
        "/bin/hog -c 4 -M 10 & p=$!;"
        " while :; do"
        f" echo $p > {limited}; /bin/busybox sleep 0.04;"
        f" echo $p > {root}; /bin/busybox sleep 0.06;"
        " done"
    )
    lines = [
        *group("limited", max="2000 100000"),
        # Another member uses the group's time up: it is throttled nearly always.
        *within("limited", hog("member", 4)),
        *(hog(f"free{number}", 4) for number in range(3)),
        f"file /tmp/move.sh {len(move)}",
        move,
        "spawn mover /bin/busybox taskset 1 /bin/busybox sh /tmp/move.sh",
        "sleep-ms 500",
    ]
    assert share(guest.khz(lines, cpu=4, ms=1_500), BIG_KHZ[2]) >= 0.98
