# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting a kernel on the fast engine with a script of the test's own."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from eascope.configs.devicetree import device_tree
from eascope.configs.inherit import activity_of
from eascope.configs.platform import Platform
from eascope.engines.base import EngineRun, Machine, ProgramSpeed
from eascope.engines.qemu.layout import LAYOUT
from eascope.engines.records import MARKS, read_marks
from eascope.engines.registry import get_engine
from eascope.experiments.runs.cell import BOOT
from eascope.experiments.runs.guest_image import guest_image
from eascope.rootfs.cpio import Archive


@dataclass(frozen=True)
class Booted:
    """What a boot left: the run's figures and its folder."""

    run: EngineRun
    out: Path

    @property
    def console(self) -> str:
        """All that the guest printed."""
        return (self.out / "console.log").read_text(errors="replace")

    def text(self, name: str) -> str:
        """A file that the script collected."""
        return (self.out / name).read_text(errors="replace")

    @property
    def marks(self) -> dict[int, int]:
        """Nanoseconds since power-on of each mark."""
        return {mark.id: mark.t_ns for mark in read_marks(self.out / MARKS)}


def boot(  # noqa: PLR0913 - a machine has many parts
    image: Path,
    platform: Platform,
    lines: Iterable[str],
    out: Path,
    *,
    arguments: str = "",
    limit_s: float = 60.0,
    programs: Mapping[str, Path] = MappingProxyType({}),
    speeds: tuple[ProgramSpeed, ...] = (),
    flavour: str = "std",
) -> Booted:
    """Boot ``image`` and do ``lines`` (``exit`` is added).

    :param programs: what the guest has in ``/bin`` besides its own.
    :param speeds: of programs that have figures of their own.
    :param flavour: of the device tree.
    :raises EngineFailed: when a line fails or the guest dies.
    """
    out.mkdir(parents=True)
    dtb = out / "machine.dtb"
    dtb.write_bytes(device_tree(platform, LAYOUT, flavour))
    image_of_guest = guest_image().path
    if programs:
        more = Archive()
        for name, path in programs.items():
            more.file(f"bin/{name}", path.read_bytes(), 0o755)
        image_of_guest = out / "initramfs.cpio"
        image_of_guest.write_bytes(guest_image().path.read_bytes() + more.data())
    machine = Machine(
        platform=platform,
        activity=activity_of(platform),
        image=image,
        dtb=dtb,
        initramfs=image_of_guest,
        script=("\n".join(["eascope-script 1", *lines, "exit"]) + "\n").encode(),
        cmdline=f"{BOOT} {arguments}".strip(),
        programs=speeds,
    )
    return Booted(get_engine("qemu").run(machine, out, limit_s=limit_s), out)
