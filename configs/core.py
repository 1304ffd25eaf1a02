# SPDX-License-Identifier: GPL-2.0-or-later
"""Cores: the microarchitectures of clusters, from ``configs/cores/*.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.source import SOURCE, figure
from eascope.host.decode import WrongValue
from eascope.host.keys import NAME, key
from eascope.host.strict import StrictTable, read_toml

CORES = Path(__file__).resolve().parent / "cores"

PIPELINES = ("in-order", "out-of-order")

#: Who uses an L2: the cores of a cluster together, or each core its own.
L2_SCOPES = ("cluster", "private")


@dataclass(frozen=True)
class Stated:
    """A figure in a file; the key at which it stands bounds ``value``."""

    value: int = key("the figure")
    source: str = key("where it is from", form=SOURCE)


@dataclass(frozen=True)
class Parameters:
    """Figures that a core file may state."""

    decode_width: Stated | None = figure(1, 16, "instructions per cycle")
    dispatch_width: Stated | None = figure(1, 32, "micro-operations per cycle")
    issue_width: Stated | None = figure(1, 16, "instructions per cycle")
    issue_ports: Stated | None = figure(1, 32, "execution pipelines")
    pipeline_stages: Stated | None = figure(2, 40, "stages of the integer pipeline")

    def check(self) -> None:
        """A core has at least one figure."""
        if not any(vars(self).values()):
            raise WrongValue("", {}, f"at least one of {', '.join(vars(self))}")


@dataclass(frozen=True)
class Structure:
    """Further figures, which only the power model reads (McPAT lays a core out from them)."""

    data_bits: Stated | None = figure(32, 64, "bits of a general register")
    physical_address_bits: Stated | None = figure(32, 52, "bits")
    fetch_width: Stated | None = figure(1, 16, "instructions per cycle")
    commit_width: Stated | None = figure(1, 32, "micro-operations per cycle")
    fp_pipeline_stages: Stated | None = figure(2, 40, "stages of the floating-point pipeline")
    integer_alus: Stated | None = figure(1, 16, "units")
    integer_multipliers: Stated | None = figure(1, 8, "units that multiply and divide")
    fp_units: Stated | None = figure(1, 8, "units")
    fp_issue_width: Stated | None = figure(1, 8, "micro-operations per cycle")
    fetch_queue_entries: Stated | None = figure(1, 256, "instructions between fetch and decode")
    decode_queue_entries: Stated | None = figure(1, 256, "instructions between decode and issue")
    memory_ports: Stated | None = figure(1, 4, "loads and stores per cycle")
    load_queue_entries: Stated | None = figure(1, 512, "loads in flight")
    store_queue_entries: Stated | None = figure(1, 512, "stores in flight")
    rob_entries: Stated | None = figure(1, 1024, "micro-operations in flight")
    issue_queue_entries: Stated | None = figure(
        1, 512, "integer, branch and memory micro-operations that wait"
    )
    fp_issue_queue_entries: Stated | None = figure(
        1, 512, "floating-point micro-operations that wait"
    )
    physical_int_registers: Stated | None = figure(16, 1024, "registers")
    physical_fp_registers: Stated | None = figure(16, 1024, "registers")
    return_stack_entries: Stated | None = figure(1, 128, "return addresses")
    btb_entries: Stated | None = figure(1, 65536, "branch targets")
    predictor_entries: Stated | None = figure(
        1, 1 << 20, "two-bit counters of the branch predictor"
    )
    itlb_entries: Stated | None = figure(1, 1024, "first-level instruction translations")
    dtlb_entries: Stated | None = figure(1, 1024, "first-level data translations")
    icache_mshrs: Stated | None = figure(1, 128, "outstanding misses")
    dcache_mshrs: Stated | None = figure(1, 128, "outstanding misses")
    write_buffer_entries: Stated | None = figure(1, 128, "evicted lines that wait")
    l2_mshrs: Stated | None = figure(1, 256, "outstanding misses")


@dataclass(frozen=True)
class CacheFile:
    """A cache in a file."""

    size_kib: int = key(
        "size; sets = size / (ways x line) is a power of two", span=(1, 65536), unit="KiB"
    )
    ways: int = key("ways of each set", span=(1, 64))
    line_bytes: int = key("a line", span=(16, 256), unit="bytes")
    source: str = key("where the figures are from", form=SOURCE)

    def check(self) -> None:
        """The sets come out as a power of two."""
        sets, rest = divmod(self.size_kib * 1024, self.ways * self.line_bytes)
        if rest or sets & (sets - 1):
            allowed = "a power-of-two number of sets x ways x line_bytes"
            raise WrongValue("size_kib", self.size_kib, allowed)


@dataclass(frozen=True, kw_only=True)
class L2File(CacheFile):
    """The second level that a core's power model is laid out with."""

    scope: str = key("shared by the cores of a cluster, or one for each core", choices=L2_SCOPES)
    cpus: int = key(
        "cores that share it; 1 where it is private", span=(1, 16), unit="cores that share it"
    )

    def check(self) -> None:
        """One core has a private L2."""
        if self.scope == "private" and self.cpus != 1:
            raise WrongValue("cpus", self.cpus, "1 for a private L2")
        super().check()


@dataclass(frozen=True, kw_only=True)
class CoreFile:
    """A core's file: ``configs/cores/NAME.toml``."""

    schema: int = key("version of this format", span=(1, 1))
    name: str = key("the name of the file without `.toml`", form=NAME)
    summary: str = key("one line")
    compatible: str = key("the device tree's name of the core, such as `arm,cortex-a72`")
    pipeline: str = key("decides which of gem5's CPU models fits", choices=PIPELINES)
    parameters: Parameters = key("at least one figure")
    l1i: CacheFile = key("the L1 cache of instructions")
    l1d: CacheFile = key("the L1 cache of data")
    l2: L2File | None = key("the L2 for which the power model is laid out", optional=True)
    structure: Structure | None = key(
        "what the derived power model needs: every key that applies to the core", optional=True
    )


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
    """One figure of a core (see `Parameters`, `Structure` for its unit) and its source."""

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
    """A cache's figures from ``table``, which has no other keys than those and the ones read."""
    return _cache(table.decoded(CacheFile, source=source), level)


def _cache(file: CacheFile, level: int) -> Cache:
    return Cache(level, file.size_kib, file.ways, file.line_bytes, file.source)


def load_core(name: str, directory: Path = CORES) -> Core:
    """The core ``name``.

    :raises RequestError: when the file is wrong; callers check that the name exists.
    """
    path = directory / f"{name}.toml"
    top = read_toml(path)
    file = top.decoded(CoreFile)
    if file.name != name:
        raise top.error("name", f"{name!r}, the file's own name")
    return Core(
        name=name,
        summary=file.summary,
        path=path,
        compatible=file.compatible,
        pipeline=file.pipeline,
        parameters=_figures(file.parameters),
        l1i=_cache(file.l1i, 1),
        l1d=_cache(file.l1d, 1),
        structure=_figures(file.structure),
        l2=_cache(file.l2, 2) if file.l2 else None,
        l2_scope=file.l2.scope if file.l2 else L2_SCOPES[0],
        l2_cpus=file.l2.cpus if file.l2 else 1,
    )


def _figures(table: Parameters | Structure | None) -> Mapping[str, Parameter]:
    """The figures that a file states."""
    stated = vars(table) if table else {}
    return {name: Parameter(at.value, at.source) for name, at in stated.items() if at}
