# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of programs on cores: the file, and what lies between its OPPs."""

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.configs.program_events import FOLDER, encoded, events_path, load_events_of
from tests.support.refusals import refusal

NAME, LOADS, MISSES = "hash", "core.load_instructions", "L2.read_misses"


def _opp(ns: float, **events: float) -> dict[str, Any]:
    return {"instructions": 1000, "ns": ns, "events_per_instruction": events}


#: Two cycles and a ns.
LITTLE = {
    "conditions": "warm",
    "cycles": 2.0,
    "memory_ns": 1.0,
    "opps": {
        "450000": _opp(1 + 2 / 0.45, **{LOADS: 0.2}),
        "950000": _opp(1 + 2 / 0.95, **{LOADS: 0.3, MISSES: 0.01}),
    },
}
BIG = {
    "conditions": "cold",
    "cycles": 1.0,
    "memory_ns": 0.0,
    "opps": {"1000000": _opp(1.0, **{LOADS: 0.25})},
}
RECORD = {
    "schema": 1,
    "platform": "juno-r2",
    "program": NAME,
    "provenance": {"gem5": "24.0.0.1"},
    "clusters": {"little": LITTLE, "big": BIG},
}


def _write(platform: Platform, folder: Path, record: object) -> Path:
    path = events_path(platform, NAME, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    return path


def test_events_are_linear_in_the_period_between_opps_and_the_nearest_beyond(
    juno: Platform, tmp_path: Path
) -> None:
    assert load_events_of(juno, NAME, tmp_path) == {}
    assert _write(juno, tmp_path, RECORD) == tmp_path / "events" / "juno-r2" / "hash.json"
    found = load_events_of(juno, NAME, tmp_path)
    assert list(found) == ["little", "big"]
    little, big = found.values()
    assert little.ns(800_000) == pytest.approx(1 + 2 / 0.8)
    assert little.events(450_000) == {LOADS: 0.2}
    assert little.events(950_000) == {LOADS: 0.3, MISSES: 0.01}
    assert little.events(200_000) == {LOADS: 0.2}
    assert little.events(2_000_000) == {LOADS: 0.3, MISSES: 0.01}
    # Half of the way from 1 / 0.45 to 1 / 0.95.
    middle = round(1e6 / ((1 / 0.45 + 1 / 0.95) / 2))
    assert little.events(middle) == pytest.approx({LOADS: 0.25, MISSES: 0.005}, rel=1e-5)
    assert big.events(600_000) == big.events(1_200_000) == {LOADS: 0.25}
    assert encoded(little, "warm") == LITTLE
    _write(juno, tmp_path, RECORD | {"clusters": {"big": BIG}})
    assert load_events_of(juno, NAME, tmp_path) == {"big": big}


WRONG: dict[str, dict[str, Any]] = {
    "another platform": {"platform": "pixel6"},
    "another program": {"program": "gzip"},
    "no OPP": {"clusters": {"little": LITTLE | {"opps": {}}, "big": BIG}},
    "a clock without an OPP": {
        "clusters": {
            "little": LITTLE | {"opps": LITTLE["opps"] | {"450001": _opp(1.0)}},  # type: ignore[operator]
            "big": BIG,
        }
    },
    "a negative count": {
        "clusters": {
            "little": LITTLE,
            "big": BIG | {"opps": {"1000000": _opp(1.0, **{LOADS: -0.1})}},
        }
    },
    "too many cycles": {"clusters": {"little": LITTLE | {"cycles": 2500}, "big": BIG}},
    "another cluster": {"clusters": {"little": LITTLE, "mid": BIG}},
}


def test_a_wrong_file_is_one_line(
    juno: Platform, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    lines = {}
    for case, change in WRONG.items():
        _write(juno, tmp_path, RECORD | change)
        lines[case] = refusal(load_events_of, juno, NAME, tmp_path).removeprefix(str(tmp_path))
    assert lines == snapshot


def test_committed_files_are_of_platforms_that_exist() -> None:
    for path in sorted((ACTIVITY / FOLDER).glob("*/*")):
        assert load_events_of(load_platform(path.parent.name), path.stem), path
