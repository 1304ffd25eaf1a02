# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells without kernels, images or engines: what stands for these."""

from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eascope.engines.base import Engine, Identity, Machine
from eascope.engines.registry import get_engine
from eascope.experiments.runs import cell as cells
from eascope.experiments.runs import request as requests
from eascope.experiments.runs.cell import Cell, prepare
from eascope.experiments.runs.request import Request, resolve
from eascope.host.record import Record
from eascope.kernels.releases import DEFAULT
from eascope.kernels.variants import Kernel
from tests.support.records import image_provenance, kernel_provenance

REQUEST = Request("juno-r2", "mainline", "smoke")
#: What readers of a trace resolve: address and name.
SYMBOL = ("ffffffc080100000", "tracing_mark_write")


@dataclass(frozen=True)
class FakeIdentity(Identity):
    plugin: str


@dataclass(frozen=True)
class FakeSettings(Record):
    quantum_ns: int


class Artefacts:
    """Stands for the built artefacts; a test changes one and looks at the simkey."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.identity = FakeIdentity("fake", "10.0", "c1", "p1")
        self.settings = FakeSettings(quantum_ns=20_000)
        self.write("image", "Image")
        self.write("vmlinux", "ELF")
        self.write("initramfs", "cpio")
        self.write("config", "CONFIG_HZ=250\nCONFIG_SMP=y\n")

    def change(self, **changes: Any) -> None:
        for name, value in changes.items():
            setattr(self, name, value)

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
            code=spec.name,
            provenance=kernel_provenance("6.12.1"),
        )

    def initramfs(self) -> Any:
        return SimpleNamespace(path=self.folder / "initramfs", provenance=image_provenance())

    def engine(self, name: str, mode: str | None = None) -> Engine:
        """The real engine, but for what it would have to fetch and build."""
        engine = get_engine(name, mode)
        return _WithFakes(engine, self)


def with_artefacts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Artefacts:
    """Give `runs.cell` and `runs.request` what stands for built artefacts."""
    standing = Artefacts(folder)
    monkeypatch.setenv("EASCOPE_CACHE", str(folder / "cache"))
    monkeypatch.setattr(cells, "_kernel", standing.kernel)
    monkeypatch.setattr(cells, "guest_image", lambda *asked: standing.initramfs())
    monkeypatch.setattr(cells, "with_prepared", lambda image, *_: image)
    monkeypatch.setattr(cells, "_digest", cells._digest.__wrapped__)
    monkeypatch.setattr(requests, "get_engine", standing.engine)
    monkeypatch.setattr(cells, "trace_symbols", lambda vmlinux: (SYMBOL,))
    return standing


class _WithFakes:
    """An engine with another identity and other settings."""

    def __init__(self, engine: Engine, result: Artefacts) -> None:
        self._engine, self._made = engine, result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def identity(self) -> Identity:
        return self._made.identity

    def settings(self, machine: Machine) -> FakeSettings:
        return self._made.settings


def prepared(**changes: Any) -> Cell:
    return prepare(resolve(replace(REQUEST, **changes)))
