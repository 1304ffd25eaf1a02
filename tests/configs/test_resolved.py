# SPDX-License-Identifier: GPL-2.0-or-later
"""A resolved platform with its activity: the same objects back, or one line."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.activity import load_activity
from eascope.configs.inherit import activity_of
from eascope.configs.platform import Platform
from eascope.configs.platform_file import list_platforms, load_platform
from eascope.configs.resolved import machine_json, read_machine
from eascope.host.record import RecordError


def bare(platform: Platform) -> Platform:
    """``platform`` with paths that are names alone, as in the document."""
    clusters = tuple(
        replace(cluster, core=replace(cluster.core, path=Path(cluster.core.path.name)))
        for cluster in platform.clusters
    )
    return replace(platform, path=Path(platform.path.name), clusters=clusters)


@pytest.mark.parametrize("name", [name for name, _ in list_platforms()])
def test_every_field_comes_back(name: str, tmp_path: Path) -> None:
    platform = load_platform(name)
    activity = activity_of(platform)
    path = tmp_path / "machine.json"
    path.write_bytes(machine_json(platform, activity))
    back, active = read_machine(path)
    assert back == bare(platform)
    assert active == replace(activity, path=Path(activity.path.name))
    assert machine_json(back, active) == path.read_bytes()
    assert back.figures == platform.figures


def test_a_platform_document_names_no_path_of_this_machine(tmp_path: Path) -> None:
    """The same bytes for the same file of one's own in another folder."""
    shipped = load_platform("juno-r2")
    activity = load_activity(shipped)
    written = []
    for name in ("here", "there"):
        copy = tmp_path / name / "juno-r2.toml"
        copy.parent.mkdir()
        copy.write_bytes(shipped.path.read_bytes())
        written.append(machine_json(load_platform(copy), activity))
    assert written[0] == written[1]
    assert str(tmp_path).encode() not in written[0]


def without(*keys: str) -> Callable[[dict[str, Any]], object]:
    def change(document: dict[str, Any]) -> object:
        for key in keys[:-1]:
            document = document[key]
        return document.pop(keys[-1])

    return change


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (without("platform"), "platform is missing"),
        (without("platform", "clusters"), "platform.clusters is missing: allowed: a list"),
        (
            without("activity", "iteration_instructions"),
            "activity.iteration_instructions is missing",
        ),
        (
            lambda document: document["platform"].update(memory_mib="much"),
            "platform.memory_mib = 'much': allowed: a whole number",
        ),
        (
            lambda document: document["activity"]["measured"][0].update(ipc={"fast": 1.0}),
            "activity.measured.0.ipc.fast = 'fast': allowed: a whole number as the key",
        ),
        (lambda document: document.update(schema=1), "schema = 1: allowed: 2, in this version"),
    ],
)
def test_damage_is_one_line(
    damage: Callable[[dict[str, Any]], object], message: str, juno: Platform, tmp_path: Path
) -> None:
    document = json.loads(machine_json(juno, load_activity(juno)))
    damage(document)
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(document))
    with pytest.raises(RecordError) as caught:
        read_machine(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, "9" * 5000, "\udcff"])
def test_a_broken_platform_document_is_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(RecordError) as caught:
        read_machine(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
