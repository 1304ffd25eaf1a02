# SPDX-License-Identifier: GPL-2.0-or-later
"""Our boot loader for gem5: ``boot.S``, built once into the cache.

The head of ``boot.S`` says what it does and what gem5 gives it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eascope.configs.layout import Gic
from eascope.engines.gem5.layout import LAYOUT
from eascope.host.cache import artefact, sha256_file
from eascope.host.proc import run
from eascope.host.record import Record
from eascope.host.toolchain import arm64_tool
from eascope.rootfs.headers import INCLUDE, M5OPS

SOURCE = Path(__file__).resolve().parent / "boot.S"
NAME = "boot.elf"
#: Of the artefact.
KIND = "boot"

#: Frequency of the system counter: 16 ns a tick, as on the fast engine.
COUNTER_HZ = 62_500_000

#: In gem5's boot memory, which begins at 0.
_LOAD_ADDRESS = 0x1000
_ASSEMBLE = ("-c", "-march=armv8-a")
_LINK = (
    *("-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none"),
    *(f"-Wl,-Ttext={_LOAD_ADDRESS:#x}", "-Wl,-e,_start", "-Wl,-z,noexecstack"),
    *("-Wl,-z,max-page-size=4096", "-Wl,--no-warn-rwx-segments"),
)


@dataclass(frozen=True)
class BootLoaderIdentity(Record):
    """Inputs of the boot loader: digests of source and header, options, compiler."""

    source: str
    header: str
    options: tuple[str, ...]
    compiler: str


def identity(cpus: int = 1) -> BootLoaderIdentity:
    """The boot loader's inputs, on a machine of ``cpus``.

    Its GIC's addresses stand in the machine's settings, too.
    """
    version = run([arm64_tool("gcc"), "--version"]).decode().splitlines()[0]
    options = (*_ASSEMBLE, *_defines(LAYOUT.gic(cpus)), *_LINK)
    return BootLoaderIdentity(sha256_file(SOURCE), sha256_file(M5OPS), options, version)


def _defines(gic: Gic) -> list[str]:
    distributor, per_cpu = gic.parts
    return [
        f"-DGICD={distributor[0]:#x}",
        f"-D{'GICC' if gic.version == 2 else 'GICR'}={per_cpu[0]:#x}",
        f"-DCOUNTER_HZ={COUNTER_HZ}",
    ]


def boot_loader(cpus: int = 1) -> Path:
    """The boot loader of a machine of ``cpus`` as an ELF file, built when the cache lacks it.

    :raises EascopeError: no cross compiler, or a corrupt cache entry.
    """

    def build(folder: Path) -> None:
        # The object has a name of its own: one that the compiler makes up stays in the symbols.
        assemble: list[str | Path] = [
            arm64_tool("gcc"),
            *_ASSEMBLE,
            *_defines(LAYOUT.gic(cpus)),
            f"-I{INCLUDE}",
            "-o",
            "boot.o",
            SOURCE,
        ]
        run(assemble, cwd=folder, label="boot loader")
        run([arm64_tool("gcc"), *_LINK, "-o", NAME, "boot.o"], cwd=folder, label="boot loader")

    return artefact(KIND, identity(cpus).encode(), build, label="boot loader of gem5") / NAME
