# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong platform and core files: one line each, with file, key, value and what is allowed.

Types, ranges and misspelt keys of every kind of file: tests/experiments/test_broken_files.py.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.core import CORES, load_core
from eascope.configs.platform_file import PLATFORMS, load_platform
from tests.support.refusals import refusal

#: What stands in the file, and what in its place; the key is kept.
ROWS = {
    "juno-r2": """
khz = 800_000, uv -> 400_000, uv
khz = 800_000, uv -> 450_000, uv
khz = 450_000, uv -> 450_000, turbo = true, uv
khz = 800_000, uv -> 800_000, turbo = true, uv
khz = 950_000, uv -> 950_000, turbo = 1, uv
power_uw = 90_700 -> 0
power_uw = 90_700 -> 64_000_000
uv = 900_000 -> 700_000
cpus = 2 -> 29
core = "cortex-a72" -> "cortex-a73"
power_uw = 5_900 -> 60_000
cluster_sleep = "cluster-sleep-0" -> "cluster-sleep"
cluster_sleep = "cluster-sleep-0" -> "cpu-sleep-0"
name = "wfi" -> "doze"
name = "cpu-sleep-0" -> "wfi"
power_state = "off" -> "of"
shared_off_uw = 15_800 -> 30_501
name = "big" -> "little"
name = "big" -> "any"
name = "big" -> "big one"
rate_limit_us = 500 -> 49
rate_limit_us = 4_000 -> 2_919
l2 = { size_kib = 1024 -> { size_kib = 1000
power_uw = "em-a53" -> "em-a35"
board = "published -> "somewhere
name = "juno-r2" -> "juno-r1"
schema = 1 -> 2
""",
    "pixel6": """
offers = ["wattson" -> ["watson"
offers = ["wattson", -> [
khz = 300_000, power_uw = 7_277 -> 301_000, power_uw = 7_277
source = "freqbench" -> "freqbanch"
off_uw = 0 -> 50_000
leakage = "derived" -> "published"
llc = "all" -> "both"
measured = { shared = "included" -> { shared = "in"
""",
}


#: What measurements have, and Linux takes of an energy model.
FALLING = {
    "juno-r2": (
        "power_uw = 90_700",
        "power_uw = 42_300",
        "shared_uw = 49_400",
        "shared_uw = 30_499",
    ),
    "pixel6": ("power_uw = 23_678", "power_uw = 7_277"),
}


@pytest.mark.parametrize("platform", ROWS)
def test_wrong_platform_is_one_line(
    tmp_path: Path, platform: str, snapshot: SnapshotAssertion
) -> None:
    text, lines = (PLATFORMS / f"{platform}.toml").read_text(), {}
    path = tmp_path / f"{platform}.toml"
    for row in ROWS[platform].strip().splitlines():
        first, _, value = row.partition(" -> ")
        assert first in text
        path.write_text(text.replace(first, f"{first.partition(' = ')[0]} = {value}", 1))
        lines[row] = refusal(load_platform, path).removeprefix(str(tmp_path))
    assert lines == snapshot


@pytest.mark.parametrize("platform", FALLING)
def test_powers_may_fall_with_the_clock(tmp_path: Path, platform: str) -> None:
    text = (PLATFORMS / f"{platform}.toml").read_text()
    for old, new in zip(FALLING[platform][::2], FALLING[platform][1::2], strict=True):
        assert old in text
        text = text.replace(old, new, 1)
    (path := tmp_path / f"{platform}.toml").write_text(text)
    assert load_platform(path).digest != load_platform(platform).digest


MORE_OR_LESS = [
    ("opps = [", "opps = []\nunused = ["),
    ('board = "', 'rumour = "assumed: heard of"\nboard = "'),
    ("rate_limit_us =", "boost = true\nrate_limit_us ="),
    ("schema = 1", "schema = "),
    ("schema = 1", "schema = 1\nschema = 1"),
]


def test_a_platform_with_more_or_less(
    edited: Callable[..., Path], snapshot: SnapshotAssertion
) -> None:
    lines = [refusal(load_platform, edited(edit)) for edit in MORE_OR_LESS]
    assert [line.partition(".toml: ")[2] for line in lines] == snapshot


CORE = [
    ('pipeline = "in-order"', 'pipeline = "inorder"'),
    ('source = "published: Arm', 'source = "Arm'),
    ("size_kib = 32", "size_kib = 33"),
    ('name = "cortex-a53"', 'name = "cortex-a35"'),
]


def test_wrong_core_is_one_line(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    text, lines = (CORES / "cortex-a53.toml").read_text(), {}
    for old, new in CORE:
        assert old in text
        (tmp_path / "cortex-a53.toml").write_text(text.replace(old, new, 1))
        line = refusal(load_core, "cortex-a53", tmp_path)
        lines[new] = line.removeprefix(str(tmp_path))
    assert lines == snapshot
