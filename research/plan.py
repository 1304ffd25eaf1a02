# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans of studies: ``study.toml``, and what it compares under which conditions."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from eascope.analysis.statement import parse
from eascope.configs.knobs import AXES
from eascope.configs.platform_file import load_platform
from eascope.engines.registry import DEFAULT_ENGINE
from eascope.experiments.controls import DEFAULT_CONTROLS, Controls
from eascope.experiments.runs.request import Request
from eascope.experiments.scenario.conditions import conditions_of
from eascope.experiments.scenario.names import path_of
from eascope.experiments.scenario.reading import read_scenario
from eascope.host.cache import digest_of
from eascope.host.errors import RequestError
from eascope.host.keys import Place, key, read_table
from eascope.host.strict import shown_path

ROOT = Path(__file__).resolve().parents[1]
STUDIES = ROOT / "research"
PLAN = "study.toml"
#: `StudyGroup.conditions`: those of a scenario's source, the platform's own.
SOURCE, PLATFORM = "source", "platform"

_platform = cache(load_platform)


@dataclass(frozen=True)
class Compared:
    """Variants on scenarios; the first variant is the baseline of the others."""

    platform: str = key("the machine")
    scenarios: tuple[str, ...] = key("what runs", name="scenario")
    variants: tuple[str, ...] = key("kernels, the baseline first", name="variant")
    source_conditions: bool = key(
        "run in the setup of each scenario's original posting; scenarios whose posting has none "
        "for this platform are left out",
        default=False,
    )
    robust: tuple[str, ...] = key(
        "model axes to vary that need extra runs", choices=tuple(AXES), default=()
    )
    printed: tuple[str, ...] = key(
        "further measures, such as hackbench.time_s of a program", default=()
    )
    seeds: int = key("fewer than the study has, where a run takes minutes", 1, 1000, default=0)
    engine: str = key(
        "also run on this engine; only `printed` is recorded, for both engines",
        default="",
    )
    mode: str = key("its mode", default="")


@dataclass(frozen=True)
class Study:
    """A ``study.toml``."""

    measured_by: str = key("the command that makes the record, if not `research.run`", default="")
    seeds: int = key("seeds per variant", 1, 1000, default=20)
    records: Mapping[str, str] = key("further records of the page: file by name", default={})
    comparison: tuple[Compared, ...] = key("what is compared", default=())


@dataclass(frozen=True)
class StudyGroup:
    """A comparison of a plan on one scenario under one kind of conditions."""

    compared: Compared
    scenario: str
    conditions: str
    requests: Sequence[Request]

    @property
    def head(self) -> tuple[str, str, str]:
        """The first columns of its rows."""
        return (self.compared.platform, self.scenario, self.conditions)

    @property
    def release(self) -> str:
        """``@7.3`` where all variants are of that release: statements name variants without it."""
        releases = {name.partition("@")[2] for name in self.compared.variants}
        (only,) = releases if len(releases) == 1 else ("",)
        return f"@{only}" if only else ""


def plan_of(study: Path) -> Study:
    """The plan of a study.

    :raises RequestError: one line, when there is none or it is wrong.
    """
    return plan_from(read_file(study / PLAN), shown_path(study / PLAN))


def plan_from(content: Mapping[str, Any], file: str) -> Study:
    """The plan in the ``content`` of a file.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    return read_table(Study, {"place": Place(file, content)})


def asked(plan: Study) -> Iterator[StudyGroup]:
    """Every group of a plan, in its order.

    :raises RequestError: one line, when the plan names what there is not.
    """
    for compared in plan.comparison:
        platform = _platform(compared.platform).name
        for scenario in compared.scenarios:
            source, controls = compared.source_conditions, _of_source(scenario, platform)
            if source and controls == DEFAULT_CONTROLS:
                continue
            controls = controls if source else DEFAULT_CONTROLS
            for engine in filter(None, (DEFAULT_ENGINE, compared.engine)):
                mode = compared.mode or None if engine == compared.engine else None
                of = Request(compared.platform, "", scenario, engine, controls=controls, mode=mode)
                requests = [replace(of, variant=variant) for variant in compared.variants]
                yield StudyGroup(compared, scenario, SOURCE if source else PLATFORM, requests)


@cache
def _of_source(scenario: str, platform: str) -> Controls:
    """The conditions of a scenario's source, if it states some that this platform can have."""
    if "source_conditions" not in scenario_table(path_of(scenario)):
        return DEFAULT_CONTROLS
    had = conditions_of(scenario)
    return had.controls if had.platform in ("", platform) else DEFAULT_CONTROLS


def planned_statements(
    plan: Study,
) -> Iterator[tuple[tuple[str, str, str], str, dict[str, Any]]]:
    """The statements whose variants a plan has, each once.

    :returns: platform, scenario and conditions; ``@7.3`` where all variants are of that release;
        the scenario's table.
    """
    seen = set()
    for group in asked(plan):
        if group.compared.engine:
            continue
        has = {name.removesuffix(group.release) for name in group.compared.variants}
        file = scenario_table(ROOT / file_of("experiments/scenarios", group.scenario))
        for entry in file.get("expect", []):
            key = (*group.head, group.release, entry["variant"], entry["statement"])
            named = {entry["variant"], *parse(entry["statement"]).variants}
            if named <= has and key not in seen:
                seen.add(key)
                yield group.head, group.release, entry


def files_of(plan: Study) -> dict[str, str]:
    """Digests of a plan's platforms and scenarios, by file."""
    names = {("configs/platforms", each.platform) for each in plan.comparison}
    names |= {
        ("experiments/scenarios", name) for each in plan.comparison for name in each.scenarios
    }
    files = sorted(file_of(*name) for name in names)
    return {file: meaning(ROOT / file) for file in files}


def file_of(room: str, name: str) -> str:
    """The file of a platform or scenario, which ``name`` is itself where it is a person's own."""
    return name if name.endswith(".toml") else f"{room}/{name}.toml"


def meaning(file: Path) -> str:
    """A digest of what a platform or scenario has but descriptions, sources and statements."""
    table = scenario_table(file) if "scenarios" in file.parts else read_file(file)
    return digest_of({"file": _without_words(table)})[:16]


def _without_words(value: Any) -> Any:  # noqa: ANN401 - TOML
    if isinstance(value, list):
        return [_without_words(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    words = re.compile(r"(.*_)?sources?|summary|loads|expect")
    return {key: _without_words(inner) for key, inner in value.items() if not words.fullmatch(key)}


@cache
def scenario_table(file: Path) -> dict[str, Any]:
    """A scenario's keys."""
    table: dict[str, Any] = read_scenario(file).data
    return table


def read_file(path: Path) -> Any:  # noqa: ANN401 - JSON
    """A file of JSON or TOML.

    :raises RequestError: one line, when it is missing or is neither.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise RequestError(f"{shown_path(path)}: {error.strerror}") from error
    except ValueError as error:
        raise RequestError(f"{shown_path(path)}: not JSON or TOML: {error}") from error
