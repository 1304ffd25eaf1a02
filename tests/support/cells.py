# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells without kernels, images or engines: what stands for these."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from experiments.cell import Cell, Request, prepare, resolve
from kernels.releases import DEFAULT
from kernels.variants import Kernel

REQUEST = Request("juno-r2", "mainline", "smoke")
#: What readers of a trace resolve: address and name.
SYMBOL = ("ffffffc080100000", "tracing_mark_write")


class Artefacts:
    """Stands for the built artefacts; a test changes one and looks at the simkey."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.identity: dict[str, Any] = {"qemu": "10.0", "plugin": "p1"}
        self.settings: dict[str, Any] = {"quantum_ns": 20_000}
        self.write("image", "Image")
        self.write("vmlinux", "ELF")
        self.write("initramfs", "cpio")
        self.write("config", "CONFIG_HZ=250\nCONFIG_SMP=y\n")

    def write(self, name: str, content: str) -> None:
        (self.folder / name).write_text(content)

    def kernel(self, spec: Kernel) -> Any:
        return SimpleNamespace(
            name=spec.name,
            release=spec.release or DEFAULT,
            image=self.folder / "image",
            vmlinux=self.folder / "vmlinux",
            config=self.folder / "config",
            version="6.12.1",
            provenance={"source_sha256": "s"},
        )

    def initramfs(self) -> Any:
        return SimpleNamespace(path=self.folder / "initramfs", provenance={"agent": "a"})

    def engine(self, name: str, mode: str | None = None) -> Any:
        return SimpleNamespace(
            name=name,
            mode=mode or {"gem5": "elided"}.get(name, ""),
            elides=mode != "detailed",
            identity=lambda: self.identity,
            settings=lambda platform, activity: self.settings,
        )


def prepared(**changes: Any) -> Cell:
    return prepare(resolve(replace(REQUEST, **changes)))
