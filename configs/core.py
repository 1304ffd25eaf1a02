"""Cores: the microarchitectures that clusters are made of, from ``configs/cores/*.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from configs.host.errors import bad_input
from configs.source import source_text
from configs.strict import Table, read_toml

CORES = Path(__file__).resolve().parent / "cores"

PIPELINES = ("in-order", "out-of-order")

#: Figures that a core file may state: name -> (smallest, largest, unit and meaning).
PARAMETERS = {
    "decode_width": (1, 16, "instructions per cycle"),
    "dispatch_width": (1, 32, "micro-operations per cycle"),
    "issue_width": (1, 16, "instructions per cycle"),
    "issue_ports": (1, 32, "execution pipelines"),
    "pipeline_stages": (2, 40, "stages of the integer pipeline"),
}


@dataclass(frozen=True)
class Cache:
    """One cache: size in KiB, ways, line in bytes, and the figures' source."""

    level: int
    size_kib: int
    ways: int
    line_bytes: int
    source: str

    @property
    def sets(self) -> int:
        """Number of sets."""
        return self.size_kib * 1024 // (self.ways * self.line_bytes)


@dataclass(frozen=True)
class Parameter:
    """One figure of a core (see `PARAMETERS` for its unit) and its source."""

    value: int
    source: str


@dataclass(frozen=True)
class Core:
    """A microarchitecture.

    ``compatible`` is its device-tree name, ``pipeline`` one of `PIPELINES`.
    """

    name: str
    summary: str
    path: Path
    compatible: str
    pipeline: str
    parameters: Mapping[str, Parameter]
    l1i: Cache
    l1d: Cache


def list_cores(directory: Path = CORES) -> list[str]:
    """Names of all core files in ``directory``."""
    return sorted(path.stem for path in directory.glob("*.toml"))


def read_cache(table: Table, level: int, source: str) -> Cache:
    """A cache's figures from ``table``; the sets must come out as a power of two."""
    cache = Cache(
        level=level,
        size_kib=table.integer("size_kib", 1, 65536, "KiB"),
        ways=table.integer("ways", 1, 64),
        line_bytes=table.integer("line_bytes", 16, 256, "bytes"),
        source=source,
    )
    if cache.sets * cache.ways * cache.line_bytes != cache.size_kib * 1024 or (
        cache.sets & (cache.sets - 1)
    ):
        raise table.error("size_kib", "a power-of-two number of sets x ways x line_bytes")
    table.finish()
    return cache


def load_core(name: str, directory: Path = CORES) -> Core:
    """The core ``name``.

    :raises RequestError: when the file is wrong; callers check that the name exists.
    """
    path = directory / f"{name}.toml"
    top = read_toml(path)
    if top.integer("schema", 1, 1) and top.name("name") != name:
        raise top.error("name", f"{name!r}, the file's own name")
    summary = top.text("summary")
    compatible = top.text("compatible")
    pipeline = top.text("pipeline", PIPELINES)
    parameters_table = top.table("parameters")
    parameters = {}
    for key, (smallest, largest, unit) in PARAMETERS.items():
        if parameters_table.has(key):
            entry = parameters_table.table(key)
            value = entry.integer("value", smallest, largest, unit)
            parameters[key] = Parameter(value, source_text(entry))
            entry.finish()
    parameters_table.finish()
    if not parameters:
        raise bad_input(top.file, "parameters", {}, f"at least one of {', '.join(PARAMETERS)}")
    caches = []
    for key in ("l1i", "l1d"):
        table = top.table(key)
        caches.append(read_cache(table, 1, source_text(table)))
    top.finish()
    return Core(name, summary, path, compatible, pipeline, parameters, *caches)
