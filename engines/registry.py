# SPDX-License-Identifier: GPL-2.0-or-later
"""The engines by name. A new engine is one entry of `ENGINES` and its own folder."""

from __future__ import annotations

from eascope.engines.base import Engine, EngineKind
from eascope.engines.gem5.engine import GEM5
from eascope.engines.qemu.engine import QEMU
from eascope.host.errors import RequestError, unknown

#: Every engine by name.
ENGINES: dict[str, EngineKind] = {kind.name: kind for kind in (QEMU, GEM5)}
#: The engine that runs a cell where nobody asks for another.
DEFAULT_ENGINE = QEMU.name


def get_engine(name: str, mode: str | None = None) -> Engine:
    """The engine called ``name``.

    :param mode: one of the engine's modes; without it, the first of them.
    :raises RequestError: no such engine or mode, with the nearest name.
    """
    if name not in ENGINES:
        raise unknown("engine", name, ENGINES)
    kind = ENGINES[name]
    if mode is not None and not kind.modes:
        others = ", ".join(other.name for other in ENGINES.values() if other.modes)
        raise RequestError(f"mode {mode!r}: engine {name} has no modes; --engine {others} has")
    if mode is not None and mode not in kind.modes:
        raise unknown(f"{name} mode", mode, kind.modes)
    return kind.make(mode or next(iter(kind.modes), ""))
