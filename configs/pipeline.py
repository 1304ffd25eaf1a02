# SPDX-License-Identifier: GPL-2.0-or-later
"""Pipelines: how gem5 models a core, from ``configs/cores/pipelines/*.toml``.

They are not in ``configs/cores/*.toml``: McPAT's results depend on a core's file and name its
digest, but do not depend on these figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from eascope.configs.core import Core, Figures, Parameter
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.errors import bad_input
from eascope.host.keys import NAME, Place, entries_of, key, maybe, same
from eascope.host.strict import read_toml

PIPELINES = Path(__file__).resolve().parent / "cores" / "pipelines"

#: gem5's detailed CPU models, and which kind of pipeline each is for.
MODELS = {"minor": "in-order", "o3": "out-of-order"}


@dataclass(frozen=True, kw_only=True)
class _Latencies(Figures):
    integer: Parameter = key("a simple integer operation", 1, 20, "cycles")
    integer_forwarding: Parameter | None = maybe(
        "minor alone: how much earlier a result may be used", 0, 10, "cycles"
    )
    multiply: Parameter = key("a multiplication", 1, 20, "cycles")
    divide: Parameter = key("a division", 1, 80, "cycles")
    fp_add: Parameter = key("a floating-point addition", 1, 40, "cycles")
    fp_compare: Parameter = key("a comparison", 1, 40, "cycles")
    fp_convert: Parameter = key("a conversion to a general register", 1, 40, "cycles")
    fp_transfer: Parameter = key("a transfer from a general register, unchanged", 1, 40, "cycles")
    fp_multiply: Parameter = key("a floating-point multiplication", 1, 40, "cycles")
    fp_multiply_add: Parameter = key("a multiplication with addition", 1, 40, "cycles")
    fp_divide: Parameter = key("a division of doubles", 1, 80, "cycles")
    fp_sqrt: Parameter = key("a square root of a double", 1, 80, "cycles")
    simd: Parameter = key("a simple vector operation", 1, 40, "cycles")
    load: Parameter = key("from issue to use, on a hit in the L1", 1, 20, "cycles")


@dataclass(frozen=True, kw_only=True)
class _MemoryPipelines(Figures):
    load: Parameter = key("for loads alone", 0, 4, "pipelines")
    store: Parameter = key("for stores alone", 0, 4, "pipelines")
    load_store: Parameter = key("for both", 0, 4, "pipelines")


@dataclass(frozen=True, kw_only=True)
class _Stages(Figures):
    branch_delay: Parameter | None = maybe(
        "minor: from a branch's execution to the fetch that follows", 1, 20, "cycles"
    )
    fetch_to_decode: Parameter | None = maybe("o3: from fetch to decode", 1, 20, "cycles")
    decode_to_rename: Parameter | None = maybe("o3: from decode to rename", 1, 20, "cycles")
    rename_to_issue: Parameter | None = maybe("o3: from rename to issue", 1, 20, "cycles")


@dataclass(frozen=True, kw_only=True)
class _Caches(Figures):
    l1i: Parameter = key("look-up in the L1 of instructions", 1, 20, "cycles")
    l1d: Parameter = key("look-up in the L1 of data", 1, 20, "cycles")
    l1d_prefetch: Parameter = key("lines that its stride prefetcher runs ahead", 0, 32, "lines")
    l2: Parameter = key("look-up in the L2", 1, 100, "cycles")
    l2_prefetch: Parameter = key("lines that its stride prefetcher runs ahead", 0, 32, "lines")


@dataclass(frozen=True)
class PipelineFile:
    """A pipeline's file."""

    schema_version: ClassVar[int] = 1

    name: str = key("the core; also the name of the file without `.toml`", form=NAME)
    model: str = key(
        "gem5's CPU model: MinorCPU for an in-order core, O3CPU for an out-of-order one",
        choices=MODELS,
    )
    latencies: Mapping[str, Parameter] = key("from issue to result", table=_Latencies)
    memory_pipelines: Mapping[str, Parameter] = key(
        "pipelines that take one operation a cycle", table=_MemoryPipelines
    )
    stages: Mapping[str, Parameter] = key("delays between stages", table=_Stages)
    caches: Mapping[str, Parameter] = key("latencies and prefetchers of caches", table=_Caches)


#: The CPU model that a key is for, where it is not for both.
_FOR = {"integer_forwarding": "minor", "branch_delay": "minor"} | dict.fromkeys(
    ("fetch_to_decode", "decode_to_rename", "rename_to_issue"), "o3"
)


@dataclass(frozen=True)
class Pipeline:
    """Figures of a core for gem5, in addition to `configs.core.Core`; ``model`` is in `MODELS`."""

    core: str
    path: Path
    model: str
    latencies: Mapping[str, Parameter]
    memory_pipelines: Mapping[str, Parameter]
    stages: Mapping[str, Parameter]
    caches: Mapping[str, Parameter]
    digest: str


def load_pipeline(core: Core, directory: Path = PIPELINES) -> Pipeline:
    """gem5's pipeline of ``core``.

    :raises RequestError: when the file is missing or wrong: file, key, value, what is allowed.
    """
    path = directory / f"{core.name}.toml"
    top = read_toml(path)
    own = top.decoded(PipelineFile)
    if own.name != core.name:
        raise top.error("name", f"{core.name!r}, the file's own name")
    if MODELS[own.model] != core.pipeline:
        fits = [name for name, kind in MODELS.items() if kind == core.pipeline]
        raise top.error("model", f"{', '.join(fits)} ({core.name} is {core.pipeline})")
    _check(top, own)
    digest = sha256_bytes(canonical_json(top.data))
    return Pipeline(core=own.name, path=path, digest=digest, **same(Pipeline, own))


def _check(top: Place, own: PipelineFile) -> None:
    """The keys of the model, and what two figures say together."""
    for table, kind in (("latencies", _Latencies), ("stages", _Stages)):
        place, entries = top.inside(table), entries_of(kind)
        names = [name for name in entries if _FOR.get(name, own.model) == own.model]
        place.only(names)
        for name in names:
            if name not in place.data:
                raise place.lacks(name, entries[name].allowed)
    pipelines = own.memory_pipelines
    for name in ("load", "store"):
        if not pipelines[name].value and not pipelines["load_store"].value:
            allowed = "at least 1, or load_store at least 1"
            raise bad_input(top.file, f"memory_pipelines.{name}", 0, allowed)
    load, l1d = own.latencies["load"].value, own.caches["l1d"].value
    if load <= l1d:
        raise bad_input(top.file, "latencies.load", load, f"more than the L1D's own {l1d} cycles")
