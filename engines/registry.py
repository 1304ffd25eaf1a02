# SPDX-License-Identifier: GPL-2.0-or-later
"""The engines by name."""

from __future__ import annotations

from engines.base import Engine
from engines.gem5.engine import DEFAULT_MODE, Gem5Engine
from engines.qemu.engine import QemuEngine
from host.errors import RequestError, unknown

#: Name and one line of every engine.
ENGINES = {
    "qemu": "fast engine: QEMU with a deterministic clock per cluster, constant IPC (the default)",
    "gem5": "reference engine: gem5's CPU models; --mode says which, and whether busy loops elide",
}


def get_engine(name: str, mode: str | None = None) -> Engine:
    """The engine called ``name``.

    :param mode: one of the engine's modes; without it, its default.
    :raises RequestError: when there is none, with the nearest name.
    """
    if name == "qemu":
        if mode is not None:
            raise RequestError(f"mode {mode!r}: the fast engine has none: use --engine gem5")
        return QemuEngine()
    if name == "gem5":
        return Gem5Engine(mode or DEFAULT_MODE)
    raise unknown("engine", name, ENGINES)
