# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's initramfs: our agent as ``/init``, programs, rt-app, its eliding copies, busybox.

It is not compressed, because the guest is the slow machine here: a copied page costs it some
hundred instructions, an inflated one some ten thousand.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eascope.host.cache import artefact, sha256_bytes, sha256_file
from eascope.host.debian import apt
from eascope.host.errors import EascopeError
from eascope.host.lisa import VERSION as LISA_VERSION
from eascope.host.lisa import lisa_binaries
from eascope.host.proc import run
from eascope.host.record import json_bytes
from eascope.host.toolchain import arm64_tool, said_of, static_libc
from eascope.rootfs.cpio import Archive
from eascope.rootfs.elide import ElidingCopy
from eascope.rootfs.headers import INCLUDE
from eascope.rootfs.provenance import (
    PROVENANCE,
    CompiledPrograms,
    CopyDigest,
    DebianPackage,
    ImageProvenance,
    WheelProgram,
)

AGENT = Path(__file__).parent / "agent"
#: Programs of ours that a script may name: a file each.
PROGRAMS = Path(__file__).parent / "programs"
#: Files that a person put there (not in git) go into the guest, each under its path below.
OVERLAY = Path(__file__).parent / "overlay"
FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror")
LINK_FLAGS = ("-static", "-s", "-Wl,--build-id=none")

#: What else the linker is told of a program: `replay` maps rt-app where rt-app itself lies.
PLACES = {"replay": "-Wl,-Ttext-segment=0x20000000"}

#: Names under which busybox is found: enough to look around when something is wrong.
APPLETS = (
    *("sh", "cat", "cp", "dmesg", "echo", "env", "grep", "head", "kill", "ln", "ls", "mkdir"),
    *("mount", "mv", "ps", "rm", "sleep", "sort", "tail", "taskset", "top", "umount", "uname"),
    "wc",
)

#: Programs that a script may name. All rt-apps have the same name and a path of the same length:
#: threads are called the same and the kernel's work to start them is the same, to the instruction.
RT_APP = "/exec/rt-app"
TRACE_CMD = "/bin/trace-cmd"
LAUNCH = "/bin/launch"
PING_PONG = "/bin/ping-pong"
REPLAY = "/bin/replay"
#: Only where somebody has put one into the overlay.
PERF = "/bin/perf"
#: Files here that decide what is in the image, besides what goes into it.
MAKERS = ("cpio.py", "elide.py", "image.py")
#: A shorter name for people.
LINK = "bin/rt-app"


@dataclass(frozen=True)
class ImageArtefact:
    """A built initramfs.

    :ivar path: the newc cpio; another (4-byte aligned) may be appended to it.
    :ivar provenance: versions and SHA-256 of what is in it, for records.
    """

    path: Path
    provenance: ImageProvenance


@dataclass(frozen=True)
class _Contents:
    """Where the files of the guest image come from.

    They are folders, the files of the overlay, and the engines' eliding copies of rt-app.
    """

    lisa: Path
    busybox: Path
    agent: Path
    programs: Path
    overlay: tuple[Path, ...]
    copies: tuple[ElidingCopy, ...]

    def inputs(self) -> dict[str, Any]:
        """What the image is made of, for its key."""
        return {
            "agent": _digest(self.agent / "agent"),
            "programs": {name: _digest(self.programs / name) for name in program_names()},
            "overlay": {_name(path): _digest(path) for path in self.overlay},
            "busybox": _digest(self.busybox / "busybox"),
            "rt-app": _digest(self.lisa / "rt-app"),
            "trace-cmd": _digest(self.lisa / "trace-cmd"),
            "makers": {name: _digest(Path(__file__).parent / name) for name in MAKERS},
            "copies": {
                copy.name: [copy.path, copy.link, *(_digest(path) for path in copy.sources)]
                for copy in self.copies
            },
        }

    def rt_apps(self) -> dict[str, bytes]:
        """rt-app and its eliding copies, by their paths in the guest."""
        rt_app = (self.lisa / "rt-app").read_bytes()
        return {RT_APP: rt_app, **{copy.path: copy.make(rt_app) for copy in self.copies}}

    def archive(self) -> Archive:
        """The image.

        :raises EascopeError: a file of the overlay that the image has itself.
        """
        archive = Archive()
        for name in ("dev", "proc", "sys", "tmp", "eascope"):
            archive.folder(name)
        archive.character_device("dev/console", 5, 1)
        archive.file("init", (self.agent / "agent").read_bytes(), 0o755)
        archive.file("bin/busybox", (self.busybox / "busybox").read_bytes(), 0o755)
        for applet in APPLETS:
            archive.link(f"bin/{applet}", "busybox")
        for path, program in self.rt_apps().items():
            archive.file(path[1:], program, 0o755)
        archive.link(LINK, RT_APP)
        for copy in self.copies:
            if copy.link:
                archive.link(copy.link, copy.path)
        archive.file(TRACE_CMD[1:], (self.lisa / "trace-cmd").read_bytes(), 0o755)
        for name in program_names():
            archive.file(f"bin/{name}", (self.programs / name).read_bytes(), 0o755)
        for file in self.overlay:
            name = _name(file)
            try:
                archive.file(name, file.read_bytes(), 0o755)
            except ValueError as error:
                raise EascopeError(
                    f"{file}: the guest image already has /{name}; choose another path"
                ) from error
        return archive

    def provenance(self, image: Path) -> ImageProvenance:
        """Versions and digests of what is in the image, and its own."""
        inputs, rt_apps = self.inputs(), self.rt_apps()
        wheel = f"lisa-linux {LISA_VERSION}"
        return ImageProvenance(
            sha256=_digest(image),
            overlay=inputs["overlay"],
            agent=CompiledPrograms.read(self.agent / PROVENANCE),
            busybox=DebianPackage.read(self.busybox / PROVENANCE),
            rt_app=WheelProgram(wheel, inputs["rt-app"]),
            trace_cmd=WheelProgram(wheel, inputs["trace-cmd"]),
            programs=inputs["programs"],
            copies={
                copy.name: CopyDigest(sha256_bytes(rt_apps[copy.path])) for copy in self.copies
            },
        )


def _name(path: Path) -> str:
    """Where a file of the overlay lies in the guest, without the first slash."""
    return path.relative_to(OVERLAY).as_posix()


def initramfs(copies: Sequence[ElidingCopy]) -> ImageArtefact:
    """The minimal guest image, from the cache or built.

    :param copies: rt-app's, by which each engine elides the busy loop.
    :raises EascopeError: when a package, the wheel or the compiler is missing or another.
    """
    contents = _Contents(
        lisa=lisa_binaries() / "arm64",
        busybox=_busybox(),
        agent=guest_agent(),
        programs=guest_programs(),
        overlay=tuple(sorted(path for path in OVERLAY.rglob("*") if path.is_file())),
        copies=tuple(copies),
    )

    def build(folder: Path) -> None:
        image = folder / "initramfs.cpio"
        image.write_bytes(contents.archive().data())
        contents.provenance(image).write(folder / PROVENANCE)

    folder = artefact("initramfs", contents.inputs(), build, label="guest image", estimate_s=1)
    return image_in(folder)


def image_in(folder: Path) -> ImageArtefact:
    """The image that lies in ``folder``."""
    return ImageArtefact(folder / "initramfs.cpio", ImageProvenance.read(folder / PROVENANCE))


def guest_agent() -> Path:
    """Cached folder with the static arm64 ``agent`` and its ``provenance.json``.

    :raises EascopeError: when the cross compiler is missing.
    :raises CommandFailed: when it refuses the sources.
    """
    sources = [*sorted(AGENT.glob("*.[ch]")), *sorted(INCLUDE.glob("*.h"))]
    units = [source.name for source in sources if source.suffix == ".c"]
    return compiled_programs("agent", "guest agent", AGENT, sources, {"agent": units})


def program_names() -> list[str]:
    """Programs of ours by name, sorted: one for each file of `PROGRAMS`."""
    return sorted(source.stem for source in PROGRAMS.glob("*.c"))


def guest_programs() -> Path:
    """Cached folder with our static arm64 programs, each from the one file of its name.

    :raises EascopeError: when the cross compiler is missing.
    :raises CommandFailed: when it refuses a source.
    """
    names = program_names()
    units = {name: [f"{name}.c", *([PLACES[name]] if name in PLACES else [])] for name in names}
    sources = [*(PROGRAMS / f"{name}.c" for name in units), *sorted(INCLUDE.glob("*.h"))]
    return compiled_programs("programs", "guest programs", PROGRAMS, sources, units)


def compiled_programs(
    kind: str, label: str, folder: Path, sources: list[Path], units: Mapping[str, list[str]]
) -> Path:
    """Cached folder of static arm64 programs and their ``provenance.json``.

    :param folder: where the files of ``units`` are.
    :param sources: all that the programs are made of, for the key; headers may lie elsewhere.
    """
    version, libc = said_of("guest", _compiler_and_libc)
    fields = {
        "sources": {os.path.relpath(source, folder): sha256_file(source) for source in sources},
        "compiler": version,
        "libc": libc,
        "flags": [*FLAGS, *LINK_FLAGS],
        "units": {name: list(files) for name, files in units.items()},
    }

    def build(work: Path) -> None:
        compiler = arm64_tool("gcc", libc=True)
        outside = {s.parent for s in sources if not s.is_relative_to(folder)}
        headers = sorted(f"-I{parent}" for parent in outside)
        command = [compiler, *FLAGS, *LINK_FLAGS, *headers]
        for name, files in units.items():
            # Compiled where the sources lie, so that no path of this machine gets into it.
            run([*command, "-o", work / name, *files], cwd=folder, label=label)
        CompiledPrograms(
            compiler=f"{Path(compiler).name} {version}",
            libc_sha256=libc,
            sha256={name: _digest(work / name) for name in units},
        ).write(work / PROVENANCE)

    return artefact(kind, fields, build, label=label, estimate_s=2)


def _compiler_and_libc() -> list[str]:
    compiler = arm64_tool("gcc", libc=True)
    return [run([compiler, "-dumpfullversion"]).decode().strip(), sha256_file(static_libc())]


def _busybox() -> Path:
    """Cached folder with Debian's static arm64 ``busybox``.

    The first one that this machine got is kept: its digest is part of every run's key.
    """

    def build(folder: Path) -> None:
        (deb,) = apt("arm64").download(["busybox-static"])
        with tempfile.TemporaryDirectory() as unpacked:
            deb.unpack(Path(unpacked))
            program = next(
                path
                for path in (Path(unpacked, "usr/bin/busybox"), Path(unpacked, "bin/busybox"))
                if path.is_file()
            )
            (folder / "busybox").write_bytes(program.read_bytes())
        (folder / PROVENANCE).write_bytes(json_bytes(deb.provenance()))

    fields = {"package": "busybox-static", "architecture": "arm64", "layout": 1}
    return artefact("busybox", fields, build, label="busybox (Debian arm64)", estimate_s=5)


def _digest(path: Path) -> str:
    return sha256_file(path)
