# SPDX-License-Identifier: GPL-2.0-or-later
"""Cores: the microarchitectures of clusters, from ``configs/cores/*.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from eascope.configs.source import SOURCE, cited, figure
from eascope.host.keys import NAME, WrongValue, key, maybe, same
from eascope.host.strict import read_toml

CORES = Path(__file__).resolve().parent / "cores"

PIPELINES = ("in-order", "out-of-order")

#: Who uses an L2: the cores of a cluster together, or each core its own.
L2_SCOPES = ("cluster", "private")


@dataclass(frozen=True)
class Parameter:
    """A figure and its source; the key at which it stands bounds ``value``."""

    value: int = key("the figure")
    source: str = key("where it is from", form=SOURCE)


class Figures:
    """A table of figures; a core has those that the file states, by name."""

    def meaning(self) -> Mapping[str, Parameter]:
        """The figures that are stated."""
        return {name: found for name, found in vars(self).items() if found}


@dataclass(frozen=True)
class Parameters(Figures):
    """Figures that a core file may state."""

    decode_width: Parameter | None = figure(1, 16, "instructions per cycle")
    dispatch_width: Parameter | None = figure(1, 32, "micro-operations per cycle")
    issue_width: Parameter | None = figure(1, 16, "instructions per cycle")
    issue_ports: Parameter | None = figure(1, 32, "execution pipelines")
    pipeline_stages: Parameter | None = figure(2, 40, "stages of the integer pipeline")

    def check(self) -> None:
        """A core has at least one figure."""
        if not self.meaning():
            raise WrongValue("", {}, f"at least one of {', '.join(vars(self))}")


@dataclass(frozen=True)
class Structure(Figures):
    """Further figures, which only the power model reads (McPAT lays a core out from them)."""

    data_bits: Parameter | None = figure(32, 64, "bits of a general register")
    physical_address_bits: Parameter | None = figure(32, 52, "bits")
    fetch_width: Parameter | None = figure(1, 16, "instructions per cycle")
    commit_width: Parameter | None = figure(1, 32, "micro-operations per cycle")
    fp_pipeline_stages: Parameter | None = figure(2, 40, "stages of the floating-point pipeline")
    integer_alus: Parameter | None = figure(1, 16, "units")
    integer_multipliers: Parameter | None = figure(1, 8, "units that multiply and divide")
    fp_units: Parameter | None = figure(1, 8, "units")
    fp_issue_width: Parameter | None = figure(1, 8, "micro-operations per cycle")
    fetch_queue_entries: Parameter | None = figure(1, 256, "instructions between fetch and decode")
    decode_queue_entries: Parameter | None = figure(1, 256, "instructions between decode and issue")
    memory_ports: Parameter | None = figure(1, 4, "loads and stores per cycle")
    load_queue_entries: Parameter | None = figure(1, 512, "loads in flight")
    store_queue_entries: Parameter | None = figure(1, 512, "stores in flight")
    rob_entries: Parameter | None = figure(1, 1024, "micro-operations in flight")
    issue_queue_entries: Parameter | None = figure(
        1, 512, "integer, branch and memory micro-operations that wait"
    )
    fp_issue_queue_entries: Parameter | None = figure(
        1, 512, "floating-point micro-operations that wait"
    )
    physical_int_registers: Parameter | None = figure(16, 1024, "registers")
    physical_fp_registers: Parameter | None = figure(16, 1024, "registers")
    return_stack_entries: Parameter | None = figure(1, 128, "return addresses")
    btb_entries: Parameter | None = figure(1, 65536, "branch targets")
    predictor_entries: Parameter | None = figure(
        1, 1 << 20, "two-bit counters of the branch predictor"
    )
    itlb_entries: Parameter | None = figure(1, 1024, "first-level instruction translations")
    dtlb_entries: Parameter | None = figure(1, 1024, "first-level data translations")
    icache_mshrs: Parameter | None = figure(1, 128, "outstanding misses")
    dcache_mshrs: Parameter | None = figure(1, 128, "outstanding misses")
    write_buffer_entries: Parameter | None = figure(1, 128, "evicted lines that wait")
    l2_mshrs: Parameter | None = figure(1, 256, "outstanding misses")


@dataclass(frozen=True, kw_only=True)
class Cache:
    """A cache and the source of its figures."""

    level: int = 1
    size_kib: int = key("size; the sets, size / (ways x line), are a power of two", 1, 65536, "KiB")
    ways: int = key("ways of each set", 1, 64)
    line_bytes: int = key("a line", 16, 256, "bytes")
    source: str = key("where the figures are from", form=SOURCE)

    def check(self) -> None:
        """The sets come out as a power of two."""
        sets, rest = divmod(self.size_kib * 1024, self.ways * self.line_bytes)
        if rest or sets & (sets - 1):
            allowed = "a power-of-two number of sets x ways x line_bytes"
            raise WrongValue("size_kib", self.size_kib, allowed)

    @property
    def sets(self) -> int:
        """Number of sets."""
        return self.size_kib * 1024 // (self.ways * self.line_bytes)


@dataclass(frozen=True, kw_only=True)
class SharedCache(Cache):
    """A cache of a platform file."""

    source: str = cited("size_kib", "ways", "line_bytes")


@dataclass(frozen=True, kw_only=True)
class L2(Cache):
    """The second level that a core's power model is laid out with."""

    scope: str = key("shared by the cores of a cluster, or one for each core", choices=L2_SCOPES)
    cpus: int = key("cores that share it; 1 where it is private", 1, 16, "cores that share it")

    def check(self) -> None:
        """One core has a private L2."""
        if self.scope == "private" and self.cpus != 1:
            raise WrongValue("cpus", self.cpus, "1 for a private L2")
        super().check()


@dataclass(frozen=True, kw_only=True)
class Core:
    """A microarchitecture: ``configs/cores/NAME.toml``.

    Its power model is laid out for ``l2_cpus`` cores: the L2 of a cluster is shared, and the
    platform says its size there; a private one (``l2_scope``) belongs to the core.
    """

    schema_version: ClassVar[int] = 1

    name: str = key("the name of the file without `.toml`", form=NAME)
    summary: str = key("one line")
    path: Path
    compatible: str = key("the device tree's name of the core, such as `arm,cortex-a72`")
    pipeline: str = key("decides which of gem5's CPU models fits", choices=PIPELINES)
    parameters: Mapping[str, Parameter] = key("at least one figure", table=Parameters)
    l1i: Cache = key("the L1 cache of instructions")
    l1d: Cache = key("the L1 cache of data")
    structure: Mapping[str, Parameter] = key(
        "for the derived power model: each that applies to it", table=Structure, default={}
    )
    l2: Cache | None = maybe("the L2 for which the power model is laid out", table=L2)
    l2_scope: str = L2_SCOPES[0]
    l2_cpus: int = 1


def list_cores() -> list[str]:
    """Names of all core files."""
    return sorted(path.stem for path in CORES.glob("*.toml"))


def cache_of(table: Cache, level: int) -> Cache:
    """The cache that a further table describes."""
    return Cache(**same(Cache, table) | {"level": level})


def load_core(name: str, directory: Path = CORES) -> Core:
    """The core ``name``.

    :raises RequestError: when the file is wrong; callers check that the name exists.
    """
    top = read_toml(path := directory / f"{name}.toml")
    core = top.decoded(Core, path=path)
    if core.name != name:
        raise top.error("name", f"{name!r}, the file's own name")
    if isinstance(l2 := core.l2, L2):
        return replace(core, l2=cache_of(l2, 2), l2_scope=l2.scope, l2_cpus=l2.cpus)
    return core
