# SPDX-License-Identifier: GPL-2.0-or-later
"""Pipelines: how gem5 models a core, from ``configs/cores/pipelines/*.toml``.

They are not in ``configs/cores/*.toml``: McPAT's results depend on a core's file and name its
digest, but do not depend on these figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from pathlib import Path

from eascope.configs.core import Core, Parameter
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.errors import bad_input
from eascope.host.keys import key
from eascope.host.strict import StrictTable, read_toml

PIPELINES = Path(__file__).resolve().parent / "cores" / "pipelines"

#: gem5's detailed CPU models, and which kind of pipeline each is for.
MODELS = {"minor": "in-order", "o3": "out-of-order"}

#: Latencies from issue to result: name -> (smallest, largest, unit and meaning).
LATENCIES = {
    "integer": (1, 20, "cycles of a simple integer operation"),
    "integer_forwarding": (0, 10, "cycles by which a result may be used earlier"),
    "multiply": (1, 20, "cycles"),
    "divide": (1, 80, "cycles"),
    "fp_add": (1, 40, "cycles"),
    "fp_compare": (1, 40, "cycles"),
    "fp_convert": (1, 40, "cycles to a general register"),
    "fp_transfer": (1, 40, "cycles from a general register, unchanged"),
    "fp_multiply": (1, 40, "cycles"),
    "fp_multiply_add": (1, 40, "cycles"),
    "fp_divide": (1, 80, "cycles of a double"),
    "fp_sqrt": (1, 80, "cycles of a double"),
    "simd": (1, 40, "cycles of a simple vector operation"),
    "load": (1, 20, "cycles from issue to use, on a hit in the L1"),
}

#: Delays between stages, by model.
STAGES = {
    "minor": {
        "branch_delay": (1, 20, "cycles from a branch's execution to the fetch that follows")
    },
    "o3": dict.fromkeys(
        ("fetch_to_decode", "decode_to_rename", "rename_to_issue"), (1, 20, "cycles")
    ),
}

#: How many pipelines take loads, stores, or either, each one of them a cycle.
MEMORY_PIPELINES = dict.fromkeys(("load", "store", "load_store"), (0, 4, "pipelines"))

#: Look-up latencies of the caches, and how many lines a stride prefetcher runs ahead (0: none).
CACHES = {
    "l1i": (1, 20, "cycles"),
    "l1d": (1, 20, "cycles"),
    "l1d_prefetch": (0, 32, "lines"),
    "l2": (1, 100, "cycles"),
    "l2_prefetch": (0, 32, "lines"),
}


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
    top.integer("schema", 1, 1)
    if top.name("name") != core.name:
        raise top.error("name", f"{core.name!r}, the file's own name")
    model = top.text("model", MODELS)
    if MODELS[model] != core.pipeline:
        fits = [name for name, kind in MODELS.items() if kind == core.pipeline]
        raise top.error("model", f"{', '.join(fits)} ({core.name} is {core.pipeline})")
    latencies = {
        name: figure
        for name, figure in LATENCIES.items()
        if model == "minor" or name != "integer_forwarding"
    }
    pipeline = Pipeline(
        core=core.name,
        path=path,
        model=model,
        latencies=_figures(top.table("latencies"), latencies),
        memory_pipelines=_figures(top.table("memory_pipelines"), MEMORY_PIPELINES),
        stages=_figures(top.table("stages"), STAGES[model]),
        caches=_figures(top.table("caches"), CACHES),
        digest=sha256_bytes(canonical_json(top.data)),
    )
    top.finish()
    _check(top, pipeline)
    return pipeline


def _check(top: StrictTable, pipeline: Pipeline) -> None:
    """What two figures say together."""
    memory = {name: figure.value for name, figure in pipeline.memory_pipelines.items()}
    for name in ("load", "store"):
        if not memory[name] and not memory["load_store"]:
            allowed = "at least 1, or load_store at least 1"
            raise bad_input(top.file, f"memory_pipelines.{name}", 0, allowed)
    load, l1d = pipeline.latencies["load"].value, pipeline.caches["l1d"].value
    if load <= l1d:
        allowed = f"more than the L1D's own {l1d} cycles"
        raise bad_input(top.file, "latencies.load", load, allowed)


def _figures(
    table: StrictTable, known: Mapping[str, tuple[int, int, str]]
) -> Mapping[str, Parameter]:
    """The figures in ``table``, each with value and source: all that are ``known``."""
    declared = {name: key(unit, least, most, unit) for name, (least, most, unit) in known.items()}
    kind = make_dataclass("Figures", ((name, Parameter, own) for name, own in declared.items()))
    figures: Mapping[str, Parameter] = vars(table.decoded(kind))
    return figures
