# SPDX-License-Identifier: GPL-2.0-or-later
"""The declared keys of files: what is explained, and what their schemas say."""

import json
import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from eascope.configs.activity import ACTIVITY
from eascope.configs.core import CORES
from eascope.configs.pipeline import PIPELINES
from eascope.configs.platform_file import PLATFORMS
from eascope.experiments.cli.explain import KINDS, declared
from eascope.experiments.scenario import names as scenario_names
from eascope.experiments.sweeps import campaign
from eascope.host.errors import RequestError
from eascope.host.strict import toml_text
from eascope.kernels.variants import VARIANTS
from tests.experiments.test_broken_files import WRONG, damaged, kinds, own_variant, places
from tests.support.command import json_inside, output_of, refused
from tests.support.declared import all_keys
from tests.support.repo import REPO

FILES = {
    "activity": sorted(ACTIVITY.glob("*.json")),
    "campaign": sorted(campaign.ROOT.glob("*.toml")),
    "core": sorted(CORES.glob("*.toml")),
    "pipeline": sorted(PIPELINES.glob("*.toml")),
    "platform": sorted(PLATFORMS.glob("*.toml")),
    "program-activity": sorted((ACTIVITY / "programs").rglob("*.json")),
    "system-activity": sorted((ACTIVITY / "system").glob("*.json")),
    "scenario": sorted(scenario_names.ROOT.rglob("*.toml")),
    "variant": [Path(__file__).with_name("blue.toml")],
    "variants": [VARIANTS],
}
#: Tables whose keys are names.
NAMES = {
    "clusters",
    "events_per_instruction",
    "ipc",
    "iteration_cycles",
    "kernels",
    "provenance",
} | {*("early_us", "policies", "samples", "sources")}
#: Damages of a kind's files that are tried: so many, drawn by a seed.
TRIES = 60


def document(file: Path) -> dict[str, Any]:
    own: dict[str, Any] = (json if file.suffix == ".json" else tomllib).loads(file.read_text())
    return own


def checker(kind: str) -> Callable[[Any], bool]:
    rules = json_inside("schema", kind)
    jsonschema.Draft202012Validator.check_schema(rules)
    valid: Callable[[Any], bool] = jsonschema.Draft202012Validator(rules).is_valid
    return valid


def test_each_kind_has_files() -> None:
    assert {*FILES} == {*KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_accepts_every_shipped_file(kind: str) -> None:
    accepts = checker(kind)
    assert not [file.stem for file in FILES[kind] if not accepts(document(file))]


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_refuses_what_the_reader_refuses(kind: str, tmp_path: Path) -> None:
    """A misspelt key, another type, a number out of range; and it refuses nothing else.

    Rules across keys, names and grammars of texts are the reader's alone, as is all below the top
    of a scenario by difference.
    """
    accepts, drawn = checker(kind), random.Random(f"damage {kind}")
    files, load = (FILES[kind], own_variant) if kind == "variant" else kinds()[kind]
    seen: set[str] = set()
    for _ in range(TRIES):
        file = drawn.choice(files)
        whole = document(file)
        place = drawn.choice([*places(whole)])
        for how, copy in damaged(whole, place):
            named = {*place[-3:-1]} & NAMES or (kind == "variants" and len(place) == 2)
            if how == "key" and named:
                continue
            path = tmp_path.joinpath(*file.parts[-3:])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(copy) if file.suffix == ".json" else toml_text(copy))
            try:
                load(path)
            except RequestError:
                assert how == "text" or not accepts(copy), (file, place, how)
                seen.add(how)
            else:
                assert accepts(copy), (file, place, how)
    numbers = {"low", "high"} if kind not in ("variant", "variants") else set()
    assert seen >= {"type", "key"} | numbers <= {*WRONG, "key"}


@pytest.mark.parametrize(
    "own", [{"base": "x"}, {"base": 3, "summary": "s"}, {"base": "x", "summary": "s", "tusk": {}}]
)
def test_a_scenario_by_difference_is_checked_at_its_top(own: dict[str, Any]) -> None:
    assert not checker("scenario")(own)
    assert checker("scenario")({"base": "x", "summary": "s", "task": {}})


def test_an_editor_finds_the_schema_of_every_shipped_file() -> None:
    rules = tomllib.loads((REPO / ".taplo.toml").read_text())["rule"]
    patterns = {Path(rule["schema"]["path"]): rule["include"] for rule in rules}
    assert {path.stem for path in patterns} == {*KINDS} - {
        kind for kind in KINDS if "activity" in kind
    }
    for path, own in patterns.items():
        printed = output_of("schema", path.stem).replace("\n", "")
        assert (REPO / path).read_text() == printed, "make generate"
        found = {file.resolve() for glob in own for file in REPO.glob(glob)}
        if path.stem == "variant":  # a person's files, of which none is shipped
            assert any(Path("kernels/own/x.toml").match(glob) for glob in own)
            continue
        assert found == {file.resolve() for file in FILES[path.stem]}


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_says_what_it_is(kind: str) -> None:
    keys = dict(all_keys(declared(kind)))
    assert len(keys) > 10
    assert not [path for path, entry in keys.items() if not entry.key.summary or not entry.allowed]


def test_a_key_is_explained() -> None:
    assert output_of("explain", "scenario.task.phase.run_us") == (
        "scenario.task.phase.run_us: work: its time on the largest CPU at top OPP\n"
        "  an integer in 1..600000000 (us); optional\n"
    )
    lines = output_of("explain", "core.parameters.issue_width").splitlines()
    assert lines == [
        "core.parameters.issue_width: instructions per cycle",
        "  a table with value (1..16 instructions per cycle) and source; optional",
        "  value: instructions per cycle",
        "  source: where it is from",
    ]
    value = json.loads(output_of("explain", "core.parameters.issue_width.value", "--json"))
    assert value == {"type": "integer", "minimum": 1, "maximum": 16}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("schema", "kernel"), "unknown kind 'kernel': allowed: activity, campaign, core, pipe"),
        (("explain", "scenari.task"), "unknown kind 'scenari' (did you mean scenario?): allowed:"),
        (
            ("explain", "core.l2.size_kb"),
            "no key 'size_kb' in core.l2 (did you mean size_kib?)",
        ),
    ],
)
def test_what_there_is_not_is_refused_in_one_line(arguments: tuple[str, ...], line: str) -> None:
    assert refused(*arguments).startswith(line)
