# SPDX-License-Identifier: GPL-2.0-or-later
"""Cores: the microarchitectures of clusters, from ``configs/cores/*.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.source import source_text
from eascope.host.errors import bad_input
from eascope.host.strict import StrictTable, read_toml

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

#: Further figures, which only the power model reads (McPAT lays a core out from them):
#: name -> (smallest, largest, unit and meaning).
STRUCTURE = {
    "data_bits": (32, 64, "bits of a general register"),
    "physical_address_bits": (32, 52, "bits"),
    "fetch_width": (1, 16, "instructions per cycle"),
    "commit_width": (1, 32, "micro-operations per cycle"),
    "fp_pipeline_stages": (2, 40, "stages of the floating-point pipeline"),
    "integer_alus": (1, 16, "units"),
    "integer_multipliers": (1, 8, "units that multiply and divide"),
    "fp_units": (1, 8, "units"),
    "fp_issue_width": (1, 8, "micro-operations per cycle"),
    "fetch_queue_entries": (1, 256, "instructions between fetch and decode"),
    "decode_queue_entries": (1, 256, "instructions between decode and issue"),
    "memory_ports": (1, 4, "loads and stores per cycle"),
    "load_queue_entries": (1, 512, "loads in flight"),
    "store_queue_entries": (1, 512, "stores in flight"),
    "rob_entries": (1, 1024, "micro-operations in flight"),
    "issue_queue_entries": (1, 512, "integer, branch and memory micro-operations that wait"),
    "fp_issue_queue_entries": (1, 512, "floating-point micro-operations that wait"),
    "physical_int_registers": (16, 1024, "registers"),
    "physical_fp_registers": (16, 1024, "registers"),
    "return_stack_entries": (1, 128, "return addresses"),
    "btb_entries": (1, 65536, "branch targets"),
    "predictor_entries": (1, 1 << 20, "two-bit counters of the branch predictor"),
    "itlb_entries": (1, 1024, "first-level instruction translations"),
    "dtlb_entries": (1, 1024, "first-level data translations"),
    "icache_mshrs": (1, 128, "outstanding misses"),
    "dcache_mshrs": (1, 128, "outstanding misses"),
    "write_buffer_entries": (1, 128, "evicted lines that wait"),
    "l2_mshrs": (1, 256, "outstanding misses"),
}

#: Who uses an L2: the cores of a cluster together, or each core its own.
L2_SCOPES = ("cluster", "private")


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
    """One figure of a core (see `PARAMETERS`, `STRUCTURE` for its unit) and its source."""

    value: int
    source: str


@dataclass(frozen=True, kw_only=True)
class Core:
    """A microarchitecture.

    ``compatible`` is its device-tree name, ``pipeline`` one of `PIPELINES`. ``l2`` is the second
    level that its power model is laid out with, for ``l2_cpus`` cores: a cluster's is shared and
    the platform says its size there; a private one (``l2_scope``) belongs to the core.
    """

    name: str
    summary: str
    path: Path
    compatible: str
    pipeline: str
    parameters: Mapping[str, Parameter]
    l1i: Cache
    l1d: Cache
    structure: Mapping[str, Parameter]
    l2: Cache | None
    l2_scope: str
    l2_cpus: int


def list_cores() -> list[str]:
    """Names of all core files."""
    return sorted(path.stem for path in CORES.glob("*.toml"))


def read_cache(table: StrictTable, level: int, source: str) -> Cache:
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
    parameters = read_figures(top.table("parameters"), PARAMETERS)
    if not parameters:
        raise bad_input(top.file, "parameters", {}, f"at least one of {', '.join(PARAMETERS)}")
    l1i, l1d = (
        read_cache(table, 1, source_text(table)) for table in (top.table("l1i"), top.table("l1d"))
    )
    structure: Mapping[str, Parameter] = {}
    if top.has("structure"):
        structure = read_figures(top.table("structure"), STRUCTURE)
    l2, scope, cpus = None, L2_SCOPES[0], 1
    if top.has("l2"):
        table = top.table("l2")
        scope = table.text("scope", L2_SCOPES)
        cpus = table.integer("cpus", 1, 16, "cores that share it")
        if scope == "private" and cpus != 1:
            raise table.error("cpus", "1 for a private L2")
        l2 = read_cache(table, 2, source_text(table))
    top.finish()
    return Core(
        name=name,
        summary=summary,
        path=path,
        compatible=compatible,
        pipeline=pipeline,
        parameters=parameters,
        l1i=l1i,
        l1d=l1d,
        structure=structure,
        l2=l2,
        l2_scope=scope,
        l2_cpus=cpus,
    )


def read_figures(
    table: StrictTable, known: Mapping[str, tuple[int, int, str]]
) -> Mapping[str, Parameter]:
    """The figures in ``table``, each with value and source; none outside of ``known``."""
    figures = {}
    for key, (smallest, largest, unit) in known.items():
        if table.has(key):
            entry = table.table(key)
            figures[key] = Parameter(
                entry.integer("value", smallest, largest, unit), source_text(entry)
            )
            entry.finish()
    table.finish()
    return figures
