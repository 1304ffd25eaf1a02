# SPDX-License-Identifier: GPL-2.0-or-later
"""Running ``stress`` in a guest, on any kernel, and holding the kernel to having survived it."""

import re
from collections.abc import Iterable
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from eascope.kernels.naming import variant_named
from eascope.kernels.switches import STATS
from eascope.kernels.variants import Variant
from eascope.rootfs.image import FLAGS, LINK_FLAGS
from tests.support.kernel_guest import Booted, boot

HERE = Path(__file__).resolve().parents[1] / "kernels"
#: What ``stress`` does; it fails when one of them was never done.
OPERATIONS = (
    *("clamp", "policy", "background", "affinity", "move", "limit", "nest", "controller", "group"),
    "partition",
    *("throttle", "hotplug", "boot_cpu", "system", "bounds", "fork", "exec"),
    *("wakeup", "boost", "deadline"),
)
#: After the stress: nearly twenty half-lives of utilization, so that nothing is left. In pieces:
#: what a CPU has left is looked at when another one wakes up and goes idle.
IDLE = 12 * ["sleep-ms 50"]
#: The variant of each kernel that has most switched on.
BUSIEST = {
    **{"base": "mainline", "feec": "feec-c", "push": "push-v8", "sum": "uclamp-sum-fixed"},
    **{"sum-feec": "sum-feec-d", "sum-push": "sum-push", "latnice": "latnice-idlegate-aged"},
    "schedmc": "schedmc-2-asym",
    "blocked-tick": "blocked-tick",
}
#: What else is switched on.
BESIDES = {
    **{
        kernel: [("/sys/kernel/debug/sched/features", "UCLAMP_CHECK")]
        for kernel in ("sum", "sum-feec", "sum-push")
    },
    "latnice": [
        (f"/sys/kernel/debug/sched/eascope/latnice_{name}", value)
        for name, value in (("search", "skip"), ("prefer_idle", "on"), ("pack", "10"))
    ],
}
#: What is done where the kernel has the attribute or the file, and left out elsewhere.
SOMETIMES = {"latency", "level"}
#: What the kernel says when something is wrong with it, and no run may contain.
SPLAT = re.compile(r"WARNING|BUG|INFO: |possible|Call trace|stall|lockup")


def busiest(kernel: str) -> Variant:
    """The variant of ``kernel``, such as ``sum@7.3``, that has most switched on."""
    name, at, release = kernel.partition("@")
    return variant_named(f"{BUSIEST[name]}{at}{release}")[1]


def busy_switches(kernel: str) -> list[tuple[str, str]]:
    """File and value of each switch of `busiest`, and of what checks the kernel meanwhile."""
    return [*busiest(kernel).switches, *BESIDES.get(kernel.partition("@")[0], [])]


def guest_program(name: str, folder: Path, *options: str) -> Path:
    """The static program of ``name.c``, or of all in the folder ``name``, made in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    compiler = arm64_tool("gcc", libc=True)
    sources = sorted((HERE / name).glob("*.c")) or [HERE / f"{name}.c"]
    run([compiler, *FLAGS, *LINK_FLAGS, *options, "-o", program, *sources])
    return program


def checked(
    image: Path, platform: Platform, lines: Iterable[str], folder: Path, *programs: str
) -> Booted:
    """`boot` with each `guest_program`; the kernel must find no fault and warn of nothing."""
    return boot(
        image,
        platform,
        lines,
        folder / "out",
        arguments="loglevel=5 panic_on_warn=1",
        programs={name: guest_program(name, folder) for name in programs},
    )


def survive(
    image: Path,
    platform: Platform,
    out: Path,
    *,
    switches: Iterable[tuple[str, str]] = (),
    ms: int,
    seed: int = 1,
    limit_s: float = 300.0,
) -> Booted:
    """Boot ``image``, turn ``switches``, stress it for ``ms`` simulated milliseconds.

    The first warning ends the run: the guest panics. Counters are left as ``stats.txt``, how often
    everything was done as ``stress.txt``.

    :raises EngineFailed: when the guest dies or ``stress`` finds fault.
    """
    script = [
        *(f"write {path} {value}" for path, value in switches),
        stress_line(ms, seed),
        f"wait stress {1000 + 80 * ms}",
        *IDLE,
        f"collect {STATS} stats.txt",
        "collect /tmp/stress.log stress.txt",
    ]
    done = boot(
        image,
        platform,
        script,
        out,
        # "quiet" would hide warnings.
        arguments="ignore_loglevel panic_on_warn=1",
        limit_s=limit_s,
        programs={"stress": guest_program("stress", out.parent / f"{out.name}-program")},
    )
    check_survived(done.console, done.text("stress.txt"))
    return done


def stress_line(ms: int, seed: int, turns: int | None = None) -> str:
    """The agent's line that starts it, as ``stress``.

    :param turns: it goes on for so many times ``ms``, until all others were done; None: as it has.
    """
    length = str(ms) if turns is None else f"{ms}x{turns}"
    return f"spawn stress /bin/stress {length} {seed}"


def check_survived(console: str, output: str) -> None:
    """The kernel complains of nothing, and ``stress`` said that it did everything."""
    assert not SPLAT.search(console), console[-4000:]
    counted = dict(re.findall(r"^(\w+) (\d+)$", output, re.MULTILINE))
    assert set(counted) - SOMETIMES == set(OPERATIONS), output
    assert all(int(count) for count in counted.values()), counted


def counters(text: str) -> dict[str, int]:
    """Each counter of ``stats.txt``, summed over CPUs."""
    rows = [line.split() for line in text.splitlines()[1:]]
    return {row[0]: sum(map(int, row[1:])) for row in rows}
