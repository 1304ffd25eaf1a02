"""The guest's initramfs: our agent as ``/init``, rt-app and its eliding copy, busybox, trace-cmd.

Not compressed: a page that is copied costs the guest some hundred instructions, one that is
inflated some ten thousand, and the guest is the slow machine here.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from configs.host.cache import artefact, sha256_bytes, sha256_file, write_atomic
from configs.host.debian import apt
from configs.host.lisa import VERSION as LISA_VERSION
from configs.host.lisa import lisa_binaries
from configs.host.proc import need, run
from rootfs.cpio import Archive
from rootfs.elide import elide_hint

AGENT = Path(__file__).parent / "agent"
COMPILER = "aarch64-linux-gnu-gcc"
COMPILER_PACKAGE = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror")
LINK_FLAGS = ("-static", "-s", "-Wl,--build-id=none")

#: Names under which busybox is found: enough to look around when something is wrong.
APPLETS = (
    *("sh", "cat", "cp", "dmesg", "echo", "env", "grep", "head", "kill", "ln", "ls", "mkdir"),
    *("mount", "mv", "ps", "rm", "sleep", "sort", "tail", "taskset", "top", "umount", "uname"),
    "wc",
)

#: Programs that a script may name. Both rt-apps have the same name and a path of the same length:
#: threads are called the same and the kernel's work to start them is the same, to the instruction.
RT_APP = "/exec/rt-app"
RT_APP_ELIDED_HINT = "/hint/rt-app"
TRACE_CMD = "/bin/trace-cmd"
#: Shorter names for people.
LINKS = {"bin/rt-app": RT_APP, "bin/rt-app-elided-hint": RT_APP_ELIDED_HINT}


@dataclass(frozen=True)
class ImageArtefact:
    """A built initramfs.

    :ivar path: the newc cpio; another (4-byte aligned) may be appended to it.
    :ivar provenance: versions and SHA-256 of what is in it, for records.
    """

    path: Path
    provenance: dict[str, Any]


def initramfs() -> ImageArtefact:
    """The guest image, from the cache or built.

    :raises EascopeError: when a package, the wheel or the compiler is missing or another.
    """
    lisa = lisa_binaries() / "arm64"
    busybox = _busybox()
    agent = guest_agent()
    inputs = {
        "agent": _digest(agent / "agent"),
        "busybox": _digest(busybox / "busybox"),
        "rt-app": _digest(lisa / "rt-app"),
        "trace-cmd": _digest(lisa / "trace-cmd"),
        "makers": {
            name: sha256_file(Path(__file__).parent / name)
            for name in ("cpio.py", "elide.py", "image.py")
        },
    }

    def build(folder: Path) -> None:
        rt_app = (lisa / "rt-app").read_bytes()
        archive = Archive()
        for name in ("dev", "proc", "sys", "tmp", "eascope"):
            archive.folder(name)
        archive.character_device("dev/console", 5, 1)
        archive.file("init", (agent / "agent").read_bytes(), 0o755)
        archive.file("bin/busybox", (busybox / "busybox").read_bytes(), 0o755)
        for applet in APPLETS:
            archive.link(f"bin/{applet}", "busybox")
        archive.file(RT_APP[1:], rt_app, 0o755)
        archive.file(RT_APP_ELIDED_HINT[1:], elide_hint(rt_app), 0o755)
        for name, target in LINKS.items():
            archive.link(name, target)
        archive.file(TRACE_CMD[1:], (lisa / "trace-cmd").read_bytes(), 0o755)
        (folder / "initramfs.cpio").write_bytes(archive.data())
        provenance = {
            "sha256": _digest(folder / "initramfs.cpio"),
            "agent": json.loads((agent / "provenance.json").read_bytes()),
            "busybox": json.loads((busybox / "provenance.json").read_bytes()),
            "rt-app": {"from": f"lisa-linux {LISA_VERSION}", "sha256": inputs["rt-app"]},
            "rt-app-elided-hint": {"sha256": sha256_bytes(elide_hint(rt_app))},
            "trace-cmd": {"from": f"lisa-linux {LISA_VERSION}", "sha256": inputs["trace-cmd"]},
        }
        _write_json(folder / "provenance.json", provenance)

    folder = artefact("initramfs", inputs, build, label="guest image", estimate_s=1)
    provenance = json.loads((folder / "provenance.json").read_bytes())
    return ImageArtefact(folder / "initramfs.cpio", provenance)


def guest_agent() -> Path:
    """Cached folder with the static arm64 ``agent`` and its ``provenance.json``.

    :raises EascopeError: when the cross compiler is missing.
    :raises CommandFailed: when it refuses the sources.
    """
    compiler = need(COMPILER, COMPILER_PACKAGE)
    sources = sorted(AGENT.glob("*.[ch]"))
    version = run([compiler, "-dumpfullversion"]).decode().strip()
    libc = Path(run([compiler, "-print-file-name=libc.a"]).decode().strip())
    if not libc.is_file():
        need("the arm64 C library", "libc6-dev-arm64-cross")
    fields = {
        "sources": {source.name: sha256_file(source) for source in sources},
        "compiler": version,
        "libc": sha256_file(libc),
        "flags": [*FLAGS, *LINK_FLAGS],
    }

    def build(folder: Path) -> None:
        names = [source.name for source in sources if source.suffix == ".c"]
        # Compiled where the sources lie, so that no path of this machine gets into the program.
        run(
            [compiler, *FLAGS, *LINK_FLAGS, "-o", folder / "agent", *names],
            cwd=AGENT,
            label="guest agent",
        )
        provenance = {
            "compiler": f"{COMPILER} {version}",
            "libc_sha256": fields["libc"],
            "sha256": _digest(folder / "agent"),
        }
        _write_json(folder / "provenance.json", provenance)

    return artefact("agent", fields, build, label="guest agent", estimate_s=2)


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
        _write_json(folder / "provenance.json", deb.provenance())

    fields = {"package": "busybox-static", "architecture": "arm64", "layout": 1}
    return artefact("busybox", fields, build, label="busybox (Debian arm64)", estimate_s=5)


def _digest(path: Path) -> str:
    return sha256_file(path)


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_atomic(path, json.dumps(value, indent=1, sort_keys=True).encode() + b"\n")


if __name__ == "__main__":
    print(initramfs().path)
