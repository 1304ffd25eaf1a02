# SPDX-License-Identifier: GPL-2.0-or-later
"""The measuring program: kernels in assembly and rt-app's own busy loop, as one ELF file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eascope.engines.gem5.boot import COUNTER_HZ
from eascope.engines.gem5.layout import LAYOUT
from eascope.host.cache import artefact, sha256_bytes, sha256_file
from eascope.host.errors import EascopeError
from eascope.host.lisa import lisa_binaries
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from eascope.rootfs.elide import FUNCTION_OFFSET, LDEXP_RANGE, RT_APP_SHA256
from eascope.rootfs.headers import INCLUDE, M5OPS

SOURCE = Path(__file__).resolve().parent / "guest.S"

#: Kernels in the order of the table in ``guest.S``, and what each is.
KERNELS = {
    "busy_loop": "rt-app's busy loop: floating-point library calls, branches that repeat",
    "integer": "independent integer operations, a load and a store that hit in the L1",
    "branchy": "three branches an iteration that nothing predicts",
    "floating_point": "multiplications and additions of doubles",
    "memory": "dependent loads from lines that no cache holds",
}
BUSY_TURNS = 200
#: Marks of the measured run of kernel k at level l: FIRST_MARK + LEVEL_MARKS l + 2 k, and the next.
FIRST_MARK, LEVEL_MARKS = 1024, 64

#: gem5 loads a kernel at the start of memory plus the low bits of its addresses.
_LINK = LAYOUT.ram
_VIRTUAL = 0x40_0000
_LINK_FLAGS = (
    *("-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", "-Wl,--omagic"),
    *(f"-Wl,-Ttext={_LINK:#x}", "-Wl,-e,_start", "-Wl,-z,noexecstack"),
    *("-Wl,-z,max-page-size=4096", "-Wl,--no-warn-rwx-segments"),
)


def rt_app_text() -> bytes:
    """From the start of rt-app's busy loop to the end of ``ldexp``: it needs nothing else.

    :raises EascopeError: when rt-app is another than the one whose functions we know.
    """
    program = (lisa_binaries() / "arm64" / "rt-app").read_bytes()
    if sha256_bytes(program) != RT_APP_SHA256:
        raise EascopeError(
            f"rt-app: SHA-256 {sha256_bytes(program)[:16]}.., not {RT_APP_SHA256[:16]}.. "
            "(LISA 3.1.0, arm64), so its busy loop cannot be measured"
        )
    return program[FUNCTION_OFFSET : LDEXP_RANGE[1] - _VIRTUAL]


@dataclass(frozen=True)
class Chain:
    """A kernel that waits for memory: ``rounds`` times busy iterations, then dependent misses."""

    name: str
    rounds: int
    busy: int
    misses: int


def _table(chains: Sequence[Chain]) -> str:
    """Assembly of the kernels' table and of what sets the registers of each."""
    entries = "".join(
        f"{chain.name}:\tmov x9, #{chain.rounds}\n\tmov x10, #{chain.busy}\n"
        f"\tmov x11, #{chain.misses}\n\tb mixture\n"
        for chain in chains
    )
    return f"\t.quad\t{', '.join(chain.name for chain in chains)}, 0\n{entries}"


def guest(levels: int, latency_ns: int, chains: Sequence[Chain] = ()) -> Path:
    """The program for a cluster with ``levels`` OPPs, built when the cache does not have it.

    :param latency_ns: time that an OPP change takes.
    :param chains: kernels in the place of `KERNELS`.
    """
    text = rt_app_text()
    settle = (latency_ns + 20_000) * COUNTER_HZ // 10**9
    defines = [
        f"-DLEVELS={levels}",
        f"-DENERGYCTRL={LAYOUT.energy_ctrl:#x}",
        f"-DSETTLE_TICKS={settle}",
        f"-DBUSY_TURNS={BUSY_TURNS}",
        f"-DRT_APP_OFFSET={FUNCTION_OFFSET % 4096:#x}",
        *(["-DMIXTURES"] if chains else []),
    ]
    compiler = arm64_tool("gcc")
    version = run([compiler, "--version"]).decode().splitlines()[0]
    key: dict[str, Any] = {
        "source": sha256_file(SOURCE),
        "header": sha256_file(M5OPS),
        "rt-app": sha256_bytes(text),
        "options": [*_LINK_FLAGS, *defines],
        "compiler": version,
    }
    if chains:
        key["chains"] = _table(chains)

    def build(folder: Path) -> None:
        (folder / "rt-app.bin").write_bytes(text)
        (folder / SOURCE.name).write_bytes(SOURCE.read_bytes())
        if chains:
            (folder / "mixtures.S").write_text(_table(chains))
        # Objects have names of their own: one that the compiler makes up stays in the symbols.
        assemble = [compiler, "-c", "-march=armv8-a", *defines, f"-I{INCLUDE}", "-o", "guest.o"]
        run([*assemble, SOURCE.name], cwd=folder, label="workload kernels")
        run([compiler, *_LINK_FLAGS, "-o", "guest.elf", "guest.o"], cwd=folder, label="link")

    return artefact("characterise", key, build, label="workload kernels") / "guest.elf"
