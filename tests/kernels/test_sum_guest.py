# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel of uclamp sum aggregation in a guest: its sums hold, and its clamps are its clamps."""

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.experiments.runs.script import UCLAMP_IN_USE
from eascope.kernels.build import KernelArtefact
from eascope.kernels.switches import STATS
from tests.support.command import ran
from tests.support.kernel_guest import Booted, boot
from tests.support.releases import kernel_of, of_releases
from tests.support.scenarios import write
from tests.support.stress import checked, counters, guest_program, survive

pytestmark = pytest.mark.guest

FILES = "/sys/kernel/debug/sched/eascope"
FEATURES = "/sys/kernel/debug/sched/features"
GROUP = "/sys/fs/cgroup/group"
FREQUENCY = "/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq"
SPIN = "while :; do :; done"


@pytest.fixture(scope="module", params=of_releases("sum"))
def sum_kernel(request: pytest.FixtureRequest) -> KernelArtefact:
    """The kernel of each release, built before the first test."""
    return kernel_of(request.param)


@pytest.mark.parametrize("clamps", ["NO_UCLAMP_NO_HEADROOM", "UCLAMP_NO_HEADROOM"])
def test_sums_hold_under_stress(
    sum_kernel: KernelArtefact, juno: Platform, tmp_path: Path, clamps: str
) -> None:
    """Tasks that are clamped, moved, grouped and killed leave sums that are those of the tasks."""
    switches = [
        *((FEATURES, clamps), (FEATURES, "UCLAMP_CHECK")),
        *((f"{FILES}/uclamp_wait", "2"), (f"{FILES}/uclamp_wait_deadband", "0")),
    ]
    out = tmp_path / "run"
    done = survive(sum_kernel.image, juno, out, switches=switches, ms=2_000)
    counted = counters(done.text("stats.txt"))
    assert counted["uclamp_checked"] > 100
    assert counted["uclamp_checked_idle"] > 10
    assert not counted["uclamp_broken"]
    assert counted["uclamp_comp"]
    assert counted["uclamp_comp_sum"] > counted["uclamp_comp"]
    assert counted["uclamp_hidden_ou"]


def test_without_a_clamp_nothing_is_added(
    sum_kernel: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """Clamps are in use but no fair task has one: both sums are those of mainline, exactly."""
    script = [
        *(f"write {path} {value}" for path, value in UCLAMP_IN_USE),
        f"write {FEATURES} UCLAMP_CHECK",
        f"write {FILES}/uclamp_wait 2",
        f"write {FILES}/uclamp_wait_deadband 0",
        f"file /tmp/spin.sh {len(SPIN)}",
        SPIN,
        f"write {FILES}/stats 0",
        *(f"spawn task{number} /bin/busybox sh /tmp/spin.sh" for number in range(8)),
        "sleep-ms 300",
        *(f"kill task{number}" for number in range(8)),
        *10 * ["sleep-ms 50"],
        f"collect {STATS} stats.txt",
    ]
    arguments = "loglevel=5 panic_on_warn=1"
    done = boot(sum_kernel.image, juno, script, tmp_path / "out", arguments=arguments)
    counted = counters(done.text("stats.txt"))
    assert counted["uclamp_checked"] > 200
    assert counted["uclamp_checked_idle"] > 10
    assert not counted["uclamp_broken"]
    assert not counted["uclamp_comp"]


#: Processes that sleep elsewhere while clamps of an empty group are written.
SLEEPERS = 300


def write_ns(image: Path, juno: Platform, out: Path) -> int:
    """How long 100 writes to a group's clamp take in the guest."""
    sleep = f"for n in $(seq {SLEEPERS}); do sleep 100 & done; wait"
    script = [
        *(f"write {path} {value}" for path, value in UCLAMP_IN_USE),
        "write /sys/fs/cgroup/cgroup.subtree_control +cpu",
        f"mkdir {GROUP}",
        f"file /tmp/sleep.sh {len(sleep)}",
        sleep,
        "spawn sleepers /bin/busybox sh /tmp/sleep.sh",
        "sleep-ms 1500",
        "start",
        *(f"write {GROUP}/cpu.uclamp.max {value}" for value in 50 * (20, 30)),
        "stop",
    ]
    marks = boot(image, juno, script, out).marks
    return marks[3] - marks[2]


def test_a_write_to_a_groups_clamp_visits_its_tasks_alone(
    sum_kernel: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    base = kernel_of(sum_kernel.name.replace("sum", "base"))
    took = write_ns(sum_kernel.image, juno, tmp_path / "sum")
    assert took <= 2 * write_ns(base.image, juno, tmp_path / "base")


#: The agent goes into a group, whose tasks it starts.
ENTER = (
    f"file /tmp/spin.sh {len(SPIN)}",
    SPIN,
    "write /sys/fs/cgroup/cgroup.subtree_control +cpu",
    f"mkdir {GROUP}",
    # A request lasts until the next one, and an RT task or an idle CPU makes none.
    "spawn ticker /bin/busybox taskset 1 /bin/ticker",
    f"write {GROUP}/cgroup.procs 0",
)
#: Frequencies after the capped tasks have gone.
GONE = ("gone-0", "gone-1", "gone-2", "gone-3", "gone-4", "gone-5")


def spinning(name: str, *prefix: str) -> str:
    """A line that starts a task which always runs, on the second little CPU."""
    return f"spawn {name} /bin/busybox taskset 2 {' '.join(prefix)} /bin/busybox sh /tmp/spin.sh"


@pytest.fixture(scope="module")
def clamped(
    sum_kernel: KernelArtefact, juno: Platform, tmp_path_factory: pytest.TempPathFactory
) -> Booted:
    """What a little CPU's frequency is under caps of its fair tasks' group."""
    script = [
        *ENTER,
        spinning("one"),
        "sleep-ms 300",
        f"collect {FREQUENCY} free",
        f"write {GROUP}/cpu.uclamp.max 15.00",
        "sleep-ms 300",
        f"collect {FREQUENCY} one-capped",
        spinning("two"),
        "sleep-ms 300",
        f"collect {FREQUENCY} two-capped",
        "kill two",
        "kill one",
        # The agent wakes up on a little CPU, too, and may ask for more at any single moment.
        *(line for name in GONE for line in ("sleep-ms 100", f"collect {FREQUENCY} {name}")),
    ]
    script.append("kill ticker")
    folder = tmp_path_factory.mktemp("clamped")
    # Its CPU is not isolated: while such a CPU is idle, 7.3 lets nothing on it decay.
    return checked(sum_kernel.image, juno, script, folder, "ticker")


@pytest.fixture(scope="module")
def clamped_rt(
    sum_kernel: KernelArtefact, juno: Platform, tmp_path_factory: pytest.TempPathFactory
) -> Booted:
    """What a little CPU's frequency is under caps of an RT task's group."""
    script = [
        *ENTER,
        f"write {GROUP}/cpu.uclamp.max 20.00",
        spinning("rt", "/bin/as_fifo"),
        # What the agent needed to start it is forgotten first.
        *4 * ["sleep-ms 50"],
        f"collect {FREQUENCY} rt-capped",
        f"write {FEATURES} NO_UCLAMP_RT",
        "sleep-ms 50",
        f"collect {FREQUENCY} rt-without",
        f"write {FEATURES} UCLAMP_RT",
        "sleep-ms 50",
        f"collect {FREQUENCY} rt-again",
        # An RT task's lower clamp is the greatest by default; the group's cap held it down.
        f"write {GROUP}/cpu.uclamp.max max",
        "sleep-ms 50",
        f"collect {FREQUENCY} rt-boosted",
        "kill rt",
        "kill ticker",
    ]
    folder = tmp_path_factory.mktemp("clamped-rt")
    return boot(
        sum_kernel.image,
        juno,
        script,
        folder / "out",
        # Where a fair thread waits, an RT task's cap does not count: the kernel's stay away.
        arguments="loglevel=5 panic_on_warn=1 isolcpus=1",
        programs={name: guest_program(name, folder) for name in ("as_fifo", "ticker")},
    )


def khz(booted: Booted, name: str) -> int:
    return int(booted.text(name))


def test_a_cap_is_a_utilization_with_headroom(clamped: Booted) -> None:
    """15 % of 1024 are 154; 1.25 times that, of a capacity of 383 at 950 MHz, are 478 MHz."""
    assert khz(clamped, "free") == 950_000
    assert khz(clamped, "one-capped") == 800_000  # as an OPP, 154 would be 450 MHz


def test_caps_add_up(clamped: Booted) -> None:
    """Twice 154 and headroom are 955 MHz; the greater of both would still be 478."""
    assert khz(clamped, "two-capped") == 950_000


def test_a_capped_task_leaves_no_utilization_behind(clamped: Booted) -> None:
    assert min(khz(clamped, name) for name in GONE) == 450_000


def test_an_rt_tasks_clamps_are_its_cpus(clamped_rt: Booted) -> None:
    """20 % are 205: 509 MHz, without headroom. Without the rule RT means the highest OPP."""
    assert khz(clamped_rt, "rt-capped") == khz(clamped_rt, "rt-again") == 800_000
    assert khz(clamped_rt, "rt-without") == khz(clamped_rt, "rt-boosted") == 950_000


WINDOW = "warmup_ms = 2_000\nshort_ms = 4_000\nfull_ms = 4_000"
#: Two big CPUs have a FIFO task each that is capped, so that they request frequencies.
HOLD = 'policy = "fifo"\ncpus = "big"\npin = "each"\nuclamp = { min = 0, max = 50 }'
RT_TASK = '[[task]]\nname = "rt"\npolicy = "fifo"\npriority = 20\nrepeat = "forever"'


@pytest.mark.parametrize(
    ("ms", "rest_ms"), [((3, 3), (3, 3)), ((100, 1), (900, 1000))], ids=["to-and-fro", "elsewhere"]
)
def test_an_rt_task_counts_once_wherever_it_wakes_up(
    tmp_path: Path, ms: tuple[int, int], rest_ms: tuple[int, int]
) -> None:
    """With the sum of RT tasks as without: no clamp of this task has an effect.

    It works for so many ms on a big CPU at half of its clock.
    """
    turns = zip((0, 1), ms, rest_ms, strict=True)
    phases = (
        f'loops = 1\ncpus = "big:{cpu}"\nrun_us = {run * 500}\nsleep_us = {rest * 1000}'
        for cpu, run, rest in turns
    )
    task = f"{RT_TASK}\nuclamp = {{ min = 0 }}\n" + "".join(
        f"[[task.phase]]\n{phase}\n" for phase in phases
    )
    more = f"{task}\n"
    scenario = write(
        tmp_path, task=HOLD, phase="run_us = 100\nperiod_us = 2_000", more=more, window=WINDOW
    )
    slow = []
    for variant in ("uclamp-sum", "uclamp-sum-rt"):
        slow.append(ran(scenario, variant=variant)["residency"]["big"].get("600000", 0))
    assert slow[1] > slow[0] - 0.02, slow
