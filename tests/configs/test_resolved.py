# SPDX-License-Identifier: GPL-2.0-or-later
"""A resolved platform with its activity: the same objects back, or one line."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

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


#: The key of the document, and what stands in its place; ``...``: nothing.
DAMAGE: list[tuple[str, Any]] = [
    ("platform", ...),
    ("platform clusters", ...),
    ("activity iteration_instructions", ...),
    ("platform memory_mib", "much"),
    ("activity measured 0 ipc", {"fast": 1.0}),
    ("schema", 1),
]


def test_damage_is_one_line(juno: Platform, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path, lines = tmp_path / "machine.json", {}
    for key, value in DAMAGE:
        document = place = json.loads(machine_json(juno, load_activity(juno)))
        *parents, last = key.split()
        for name in parents:
            place = place[int(name) if name.isdigit() else name]
        place[last] = value
        if value is ...:
            del place[last]
        path.write_text(json.dumps(document))
        with pytest.raises(RecordError) as caught:
            read_machine(path)
        lines[key] = str(caught.value).removeprefix(str(tmp_path))
    assert lines == snapshot


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, "9" * 5000, "\udcff"])
def test_a_broken_platform_document_is_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(RecordError, match=rf"^{path}: .*\Z"):
        read_machine(path)
