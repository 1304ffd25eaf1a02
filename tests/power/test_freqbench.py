# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of freqbench as powers of a platform."""

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.platform_file import load_platform
from tests.support.command import output_of, refused

#: Columns of a result; those of energy and score are not read.
HEADER = "CPU,Frequency (kHz),CoreMarks (iter/s),Power (mW)"
ROWS = ["1,820000,1,50.2504", "4,357000,2.5,60", "7,700000,3,300", "7,3105000,4,5000", "7,5,4,9"]


def written(folder: Path, *rows: str, header: str = HEADER) -> str:
    (path := folder / "results.csv").write_text("\n".join([header, *rows]) + "\n")
    return str(path)


def test_a_result_is_a_platform_by_difference(tmp_path: Path) -> None:
    text = output_of("power", "freqbench", written(tmp_path, *ROWS), "--platform", "pixel9")
    assert "left out: big 5 kHz" in text
    (path := tmp_path / "own.toml").write_text(text)
    platform = load_platform(str(path))
    assert platform.billing.default == "measured"
    assert platform.billing.included == ("measured",)
    assert "wattson" in platform.billing.offers
    little, mid, big = (cluster.busy[0].power_uw for cluster in platform.clusters)
    assert little[0] == 50_250
    assert mid[0] == 60_000
    assert (big[0], big[-1]) == (300_000, 5_000_000)
    # As freqbench writes the same to results.json.
    cpus: dict[str, dict[str, dict[str, object]]] = {}
    for row in ROWS:
        cpu, khz, _, power = row.split(",")
        own = cpus.setdefault(cpu, {"freqs": {}})
        own["freqs"][khz] = {"active": {"power_mean": float(power)}}
    (other := tmp_path / "results.json").write_text(json.dumps({"version": 1, "cpus": cpus}))
    again = output_of("power", "freqbench", str(other), "--platform", "pixel9")
    assert again.replace("results.json", "results.csv") == text
    read = output_of("power", "freqbench", str(other), "--platform", "pixel9", "--json")
    assert json.loads(read)["left_out"] == ["big 5"]


@pytest.mark.parametrize(
    "rows",
    [
        ["0,820000,1,50", *ROWS],
        ["1,820000,1,50", *ROWS],
        ["8,820000,1,50"],
        ["1,820000.5,1,50"],
        ["1,820000,1,-3"],
        ["1,820000,1,nan"],
        ["1,820000"],
        ROWS[:2],
    ],
)
def test_a_wrong_result_is_refused(
    tmp_path: Path, rows: list[str], snapshot: SnapshotAssertion
) -> None:
    error = refused("power", "freqbench", written(tmp_path, *rows), "--platform", "pixel9")
    assert error.replace(str(tmp_path), "") == snapshot


def test_what_is_no_result_is_refused(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    lines = []
    for name, text in (("a.json", "{"), ("b.json", '{"cpus": {"1": 5}}'), ("c.csv", "a,b\n1,2\n")):
        (path := tmp_path / name).write_text(text)
        lines.append(refused("power", "freqbench", str(path), "--platform", "pixel9"))
    lines.append(refused("power", "freqbench", str(tmp_path / "d.json"), "--platform", "pixel9"))
    lines.append(refused("power", "freqbench", str(path)))
    lines.append(refused("power", "freqbench", "--platform", "pixel9", "--core", "cortex-a15"))
    assert [line.replace(str(tmp_path), "") for line in lines] == snapshot
