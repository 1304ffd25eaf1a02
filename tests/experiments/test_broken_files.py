# SPDX-License-Identifier: GPL-2.0-or-later
"""One broken file among others: it is listed as broken, and the others are as usable as before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from configs import platform_file
from configs.platform_file import PLATFORMS, list_platforms
from experiments import doctor, scenario_file, scenario_names
from experiments.cli import list_names
from experiments.request import Request, resolve
from host.errors import RequestError
from kernels import variants


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
