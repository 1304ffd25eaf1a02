# SPDX-License-Identifier: GPL-2.0-or-later
"""Broken files: each is refused in one line, listed as broken, and others are usable as before."""

import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial, reduce
from operator import getitem
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eascope.configs import platform_file
from eascope.configs.activity import ACTIVITY, load_activity
from eascope.configs.core import CORES, load_core
from eascope.configs.pipeline import PIPELINES, load_pipeline
from eascope.configs.platform_file import PLATFORMS, list_platforms, load_platform, read_platform
from eascope.configs.program_activity import load_program
from eascope.configs.system_activity import load_system
from eascope.experiments import doctor, scenario_file
from eascope.experiments.cli import list_names
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.scenario import names as scenario_names
from eascope.experiments.scenario.sources import FILE, STATED, read_sources, read_stated
from eascope.experiments.scenario.sources import FILE as SOURCES
from eascope.experiments.scenario_file import load_scenario
from eascope.experiments.sweeps import campaign
from eascope.experiments.sweeps.campaign_file import load_campaign, read_campaign
from eascope.host.errors import RequestError
from eascope.host.strict import toml_text
from eascope.kernels import variants
from eascope.rootfs.content import CONTENT, load_content
from tests.support.refusals import refusal


@pytest.fixture
def platforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the platforms in which one has a wrong figure."""
    folder = tmp_path / "platforms"
    shutil.copytree(PLATFORMS, folder)
    broken = (PLATFORMS / "juno-r2.toml").read_text().replace("cpus = 2", "cpus = 40")
    (folder / "wrong.toml").write_text(broken.replace('name = "juno-r2"', 'name = "wrong"'))
    monkeypatch.setattr(platform_file.list_platforms, "__defaults__", (folder,))
    return folder


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A file of one's own whose series is not there."""
    (tmp_path / "mine.toml").write_text('base = "mainline"\nsummary = "x"\nseries = "mine"\n')
    monkeypatch.setattr(variants, "own_folder", lambda _: tmp_path)
    variants.load_catalogue.cache_clear()
    yield
    variants.load_catalogue.cache_clear()


def listed(kind: str, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, str]]:
    """What ``eascope list KIND --json`` prints, by name."""
    assert list_names.run(SimpleNamespace(kind=kind, json=True, long=False)) == 0  # type: ignore[arg-type]
    return {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}


def test_a_broken_platform_is_listed_as_broken(
    platforms: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = listed("platforms", capsys)
    line = f"{platforms / 'wrong.toml'}: cluster[1].cpus = 40: allowed: an integer in 1..32"
    assert entries["wrong"] == {"name": "wrong", "summary": f"broken: {line}", "broken": line}
    whole = entries["juno-r2"]
    assert (whole["name"], whole["summary"]) == ("juno-r2", dict(list_platforms())["juno-r2"])
    assert "broken" not in whole


@pytest.mark.usefixtures("platforms")
def test_doctor_names_a_broken_platform() -> None:
    checks = {check.check: check for check in doctor._platforms()}
    assert checks["platforms"].ok
    assert "juno-r2, pixel6" in checks["platforms"].detail
    assert not checks["platform wrong"].ok
    assert "cluster[1].cpus = 40" in checks["platform wrong"].detail


def test_a_broken_scenario_is_listed_as_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scenario_names, "ROOT", tmp_path)
    monkeypatch.setattr(scenario_file, "ROOT", tmp_path)
    (tmp_path / "wrong.toml").write_text("summary = 3")
    (tmp_path / "right.toml").write_text('summary = "right"')
    entries = listed("scenarios", capsys)
    assert entries["right"] == {"name": "right", "summary": "right"}
    assert entries["wrong"]["broken"].startswith(f"{tmp_path / 'wrong.toml'}: summary = 3")


LOADERS: dict[str, Callable[[str], object]] = {
    "scenario": scenario_names.path_of,
    "platform": load_platform,
    "campaign": load_campaign,
}


@pytest.mark.parametrize("kind", LOADERS)
def test_other_files_are_not_unknown_names(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rtapp.txt").write_text("{}")
    (tmp_path / "folder").mkdir()

    said = partial(refusal, LOADERS[kind])
    line = f"{kind} 'rtapp.txt' is a file; expected a name, or a file that ends in .toml"
    assert said("rtapp.txt").startswith(line)
    assert (".json where it is rt-app" in said("rtapp.txt")) is (kind == "scenario")
    assert said("folder").startswith(f"unknown {kind} 'folder'"), (
        "a name, although there is such a folder"
    )
    assert said("gone.txt").startswith(f"unknown {kind} 'gone.txt'")
    assert said(str(tmp_path)).startswith(
        (f"{kind} '{tmp_path}' is a directory", f"{tmp_path}: not a")
    )


@pytest.mark.usefixtures("own")
def test_a_broken_own_file_affects_only_its_variant(capsys: pytest.CaptureFixture[str]) -> None:
    entries = listed("variants", capsys)
    assert "mine.toml: series = 'mine': allowed: a series" in entries["mine"]["broken"]
    assert "broken" not in entries["mainline"]
    resolve(Request("juno-r2", "mainline", "smoke"))
    with pytest.raises(RequestError, match=r"mine\.toml: series = 'mine': allowed: a series"):
        resolve(Request("juno-r2", "mine", "smoke"))
    checks = {check.check: check for check in doctor._kernels()}
    assert checks["kernel base"].ok
    assert not checks["kernel mine"].ok


#: What no key may be.
WRONG: dict[str, object] = {
    "type": [[3]],
    "low": -9_000_000_000,
    "high": 9_000_000_000_000_000_000,
    "text": "x" * 5000,
}
#: Names that a file chooses, by the kind of file.
NAMED = {
    "campaign": r"(?<=axis/values/)[^/]+",
    "activity": r"(?<=/kernels/)[^/]+|(?<=/events_per_instruction/)[^/]+|(?<=/provenance/)[^/]+",
    "system-activity": r"(?<=^provenance/)[^/]+",
    "program-activity": r"(?<=^provenance/)[^/]+|(?<=/samples/)[^/]+",
    "variants": r"(?<=^variant/)[^/]+|(?<=^kernel/)[^/]+|(?<=^planned/)[^/]+",
    "scenario": r"(?<=^kernel_threads/)[^/]+",
    "sources": r"(?<=^measured/)[^/]+|(?<=^document/)[^/]+",
    "content": r"(?<=^program/)[^/]+",
}
#: Keys that are checked where a cell is made of the file, or before all others.
ELSEWHERE = re.compile(r"campaign (axis/values/NAME|axes)/set/.*|platform schema")
#: A platform by difference, with each kind of change.
DIFFERENCE = """base = "juno-r2"
summary = "as juno-r2, in part"
remove = ["cluster.little"]
temperature_c = 60
[sources]
own-mine = "assumed: for no reason"
[cluster.big]
cpus = 4
capacity_dmips_mhz = 900
capacity_source = "own-mine"
opps.1000000.uv = 900_000
"""


def places(value: Any, where: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every key below ``value``."""
    if isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(value, dict):
                yield (*where, key)
            yield from places(below, (*where, key))


def damaged(document: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str, Any]]:
    """Copies in which the key has another type, is out of range, or is misspelt."""
    *above, key = path
    for how in (*WRONG, "key"):
        copy = deepcopy(document)
        table = reduce(getitem, above, copy)
        kind = int | float if how in ("low", "high") else str if how == "text" else object
        if not isinstance(table[key], kind) or (
            isinstance(table[key], bool) and kind is not object
        ):
            continue
        if how == "key":
            table[f"{key}x"] = table.pop(key)
        else:
            table[key] = WRONG[how]
        yield how, copy


Load = Callable[[Path], object]
#: A variant of one's own, with every key.
OWN = """\
base = "cas"
summary = "x"
config = ["CONFIG_A=y"]
boot = "cpuidle.governor=teo"
switches = [["/proc/sys/kernel/sched_util_clamp_min", "512"]]
"""
TEXTS = {"difference": DIFFERENCE, "own": OWN}


def own_variant(path: Path) -> object:
    """The variant of a person's own file."""
    reader = variants.read_variants(variants.VARIANTS)
    reader.add_file(path, set())
    return reader.variants[path.stem]


def kinds() -> dict[str, tuple[list[Path], Load]]:
    """Sound files of each kind, and what loads one."""
    juno = load_platform("juno-r2")
    return {
        "scenario": (
            [  # those by difference: tests/experiments/scenario/test_difference.py
                path
                for path in sorted(scenario_names.ROOT.rglob("*.toml"))
                if "base" not in tomllib.loads(path.read_text())
            ],
            lambda path: load_scenario(str(path), juno),
        ),
        "platform": (sorted(PLATFORMS.glob("*.toml")), read_platform),
        "difference": ([Path("mine.toml")], read_platform),
        "own": ([Path("mine.toml")], own_variant),
        "campaign": (sorted(campaign.ROOT.glob("*.toml")), read_campaign),
        "core": (sorted(CORES.glob("*.toml")), lambda path: load_core(path.stem, path.parent)),
        "pipeline": (
            sorted(PIPELINES.glob("*.toml")),
            lambda path: load_pipeline(load_core(path.stem), path.parent),
        ),
        "activity": (
            [ACTIVITY / "juno-r2.json"],
            lambda path: load_activity(juno, path.parent),
        ),
        "system-activity": (
            [ACTIVITY / "system/juno-r2.json"],
            lambda path: load_system(juno, path.parents[1]),
        ),
        "program-activity": (
            [ACTIVITY / "programs/juno-r2/hackbench.json"],
            lambda path: load_program(juno, path.stem, path.parents[2]),
        ),
        "variants": ([variants.VARIANTS], variants.load_catalogue.__wrapped__),
        "sources": ([SOURCES], read_sources),
        "content": ([CONTENT], load_content.__wrapped__),
    }


def refused(load: Load, path: Path, key: str, how: str) -> str:
    """What is wrong with how a damaged file is refused: nothing."""
    try:
        load(path)
    except RequestError as error:
        line = str(error)
        # Long paths of keys are shown by their beginning.
        told = line.startswith(str(path)) and (key[:12] in line or how == "text")
        told = told and any(word in line for word in ("allowed: ", "expected ", "no such key"))
        return "" if told and "\n" not in line and len(line) < 800 + len(str(path)) else line
    return "" if how == "text" else "it loads"


@pytest.mark.parametrize("kind", kinds())
def test_every_key_is_checked(kind: str, tmp_path: Path) -> None:
    """Another type, a number out of range, a misspelt key: one line with file and key."""
    files, load = kinds()[kind]
    seen: set[str] = set()
    for file in files:
        text = TEXTS[kind] if kind in TEXTS else file.read_text()
        document = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
        path = tmp_path.joinpath(*file.parts[-3:])
        path.parent.mkdir(parents=True, exist_ok=True)
        for place in places(document):
            key = "/".join(part for part in place if isinstance(part, str))
            where = re.sub(NAMED.get(kind, "$^"), "NAME", key)
            if where in seen or ELSEWHERE.fullmatch(f"{kind} {where}"):
                continue
            seen.add(where)
            for how, copy in damaged(document, place):
                path.write_text(json.dumps(copy) if file.suffix == ".json" else toml_text(copy))
                wrong = refused(load, path, str(place[-1]), how)
                assert not wrong or (how == "key" and where.endswith("NAME")), (key, how, wrong)
    assert len(seen) > 5 or kind == "own"


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (('platform = "pixel6"', 'platform = "pixel5"'), ["platform = 'pixel5'", "pixel6"]),
        (('document = "eas-rework"', 'document = "eas"'), ["document = 'eas'", "eas-rework"]),
        (('board = "Pixel 6"', 'bord = "Pixel 6"'), ["measured.loehle.bord", "mean board?"]),
        (
            ('platform = "pixel6"', 'platform = "pixel6"\nstand_in = "juno-r2"'),
            ["stand_in", "not together with platform"],
        ),
    ],
)
def test_a_wrong_file_of_sources_gives_one_line(
    tmp_path: Path, change: tuple[str, str], parts: list[str]
) -> None:
    path = tmp_path / "sources.toml"
    text = FILE.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    wrong = refusal(read_sources, path)
    for part in parts:
        assert part in wrong


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("number = 2\n", "number = 1\n"), "number = 1: allowed: a number that no other"),
        (("number = 2\n", "number = 0\n"), "number = 0: allowed: an integer in 1..999"),
        (('document = "uclamp-sum"', 'document = "uclamp"'), "document = 'uclamp'"),
        (("says = ", "say = "), ".say"),
        (("untested = ", "tested = "), ".tested"),
    ],
)
def test_a_wrong_file_of_statements_gives_one_line(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    path = tmp_path / "statements.toml"
    text = STATED.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    wrong = refusal(read_stated, path)
    assert wrong.startswith(f"{path}: statement[")
    assert words in wrong
