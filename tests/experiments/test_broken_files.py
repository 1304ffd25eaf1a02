# SPDX-License-Identifier: GPL-2.0-or-later
"""Broken files: each is refused in one line, listed as broken, and others are usable as before."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from eascope.configs import platform_file
from eascope.configs.core import CORES, load_core
from eascope.configs.platform_file import PLATFORMS, list_platforms, load_platform, read_platform
from eascope.experiments import doctor, scenario_file, scenario_names
from eascope.experiments.cli import list_names
from eascope.experiments.request import Request, resolve
from eascope.experiments.scenario_file import load_scenario
from eascope.experiments.sources import FILE as SOURCES
from eascope.experiments.sources import read_sources
from eascope.experiments.sweeps import campaign
from eascope.experiments.sweeps.campaign_file import load_campaign, read_campaign
from eascope.host.errors import MOST_SHOWN, RequestError
from eascope.kernels import variants
from eascope.rootfs.content import CONTENT, load_content


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
    """A line in [own] whose queue is not there."""
    path = tmp_path / "variants.toml"
    text = variants.VARIANTS.read_text()
    path.write_text(text.replace("[planned]", '[own]\nmine = "mainline"\n\n[planned]'))
    monkeypatch.setattr(variants.load_catalogue.__wrapped__, "__defaults__", (path,))
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
    checks = {check.check: check for check in doctor.diagnose()}
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
    (tmp_path / "rtapp.json").write_text("{}")
    (tmp_path / "folder").mkdir()

    def said(name: str) -> str:
        with pytest.raises(RequestError) as caught:
            LOADERS[kind](name)
        return str(caught.value)

    line = f"{kind} 'rtapp.json': a file: allowed: a name, or a file that ends in .toml"
    assert said("rtapp.json").startswith(line)
    assert ("add-a-scenario.md has the keys" in said("rtapp.json")) is (kind == "scenario")
    assert said("folder").startswith(f"unknown {kind} 'folder'"), (
        "a name, although there is such a folder"
    )
    assert said("gone.json").startswith(f"unknown {kind} 'gone.json'")
    assert said(str(tmp_path)).startswith((f"{kind} '{tmp_path}': a folder", f"{tmp_path}: not a"))


@pytest.mark.usefixtures("own")
def test_a_broken_own_line_affects_only_its_variant(capsys: pytest.CaptureFixture[str]) -> None:
    entries = listed("variants", capsys)
    assert "own.mine = 'mainline': allowed: a queue of that name" in entries["mine"]["broken"]
    assert "broken" not in entries["mainline"]
    resolve(Request("juno-r2", "mainline", "smoke"))
    with pytest.raises(RequestError, match=r"own\.mine = 'mainline': allowed: a queue"):
        resolve(Request("juno-r2", "mine", "smoke"))
    checks = {check.check: check for check in doctor.diagnose()}
    assert checks["kernel base"].ok
    assert not checks["kernel mine"].ok


LONG = "x" * 5000
#: How often each key of a kind's files gets another value.
ROUNDS = 3
#: What is put in the place of a value.
VALUES = (
    *("2020-01-01", "07:32:00", "[[]]", "[1, [2]]", "[{}]", "[]", "{ a = 1 }", f"{{ {LONG} = 1 }}"),
    *(f'"{LONG}"', f'["{LONG}"]', '"text"', '"big"', "nan", "-inf", "-1", "0", "1.5", "1e300"),
    *("9" * 30, "true"),
)
_VALUE = re.compile(rb'([\w-]+)"? = ("[^"\n]*"|[\w.+:-]+|\[[^\]\n]*\])')
#: A platform by difference, with each kind of change.
DIFFERENCE = b"""base = "juno-r2"
summary = "as juno-r2, in part"
remove = ["cluster.little"]
temperature_c = 60
[sources]
own-mine = "assumed: for no reason"
[cluster.big]
cpus = 4
capacity_dmips_mhz = 900
[cluster.big.opps.1000000]
uv = 900_000
"""


def damages(files: list[tuple[str, bytes]], draw: random.Random) -> Iterator[tuple[str, bytes]]:
    """Names and damaged contents: values replaced, bytes changed, lines dropped or doubled."""
    places = defaultdict(list)
    for name, text in files:
        for match in _VALUE.finditer(text):
            places[match[1]].append((name, text, match.span(2)))
    for _ in range(ROUNDS):
        for spots in places.values():
            name, text, (begin, end) = draw.choice(spots)
            yield name, text[:begin] + draw.choice(VALUES).encode() + text[end:]
        for _ in range(len(places) // 8):
            name, text = draw.choice(files)
            at = draw.randrange(len(text))
            yield name, text[:at] + bytes([draw.randrange(256)]) + text[at + 1 :]
            lines = text.splitlines(keepends=True)
            at = draw.randrange(len(lines))
            lines[at : at + 1] = [lines[at]] * draw.choice((0, 2))
            yield name, b"".join(lines)


def shipped() -> dict[str, tuple[list[tuple[str, bytes]], Callable[[Path], object]]]:
    """By kind: names and contents of files that are sound, and what loads one."""
    juno = load_platform("juno-r2")

    def below(folder: Path) -> list[tuple[str, bytes]]:
        return [(path.name, path.read_bytes()) for path in sorted(folder.rglob("*.toml"))]

    return {
        "scenario": (below(scenario_names.ROOT), lambda path: load_scenario(str(path), juno)),
        "platform": ([*below(PLATFORMS), ("mine.toml", DIFFERENCE)], read_platform),
        "campaign": (below(campaign.ROOT), read_campaign),
        "core": (below(CORES), lambda path: load_core(path.stem, path.parent)),
        "variants": (
            [("variants.toml", variants.VARIANTS.read_bytes())],
            variants.load_catalogue.__wrapped__,
        ),
        "sources": ([("sources.toml", SOURCES.read_bytes())], read_sources),
        "content": ([("content.toml", CONTENT.read_bytes())], load_content.__wrapped__),
    }


@pytest.mark.parametrize("kind", shipped())
def test_a_damaged_file_loads_or_is_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    contents, load = shipped()[kind]
    states = []
    for name, text in damages(contents, random.Random(kind)):
        path = tmp_path / name
        path.write_bytes(text)
        try:
            load(path)
            states.append("loads")
        except RequestError as error:
            states.append("refused")
            line = str(error).replace(str(path), name)
            assert len(line) < 800, line
            assert "\n" not in line, line
            assert LONG[: MOST_SHOWN + 1] not in line, line
    assert {*states} == {"loads", "refused"}
