# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong platform and core files: one line each, with file, key, value and what is allowed.

Types, ranges and misspelt keys of every kind of file: tests/experiments/test_broken_files.py.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.configs.core import CORES, load_core
from eascope.configs.platform_file import PLATFORMS, load_platform
from eascope.host.errors import RequestError
from tests.support.refusals import refusal

#: A key's first value in the file and another one (none: without the key) | key | what is allowed
JUNO = """
khz = 800_000, uv -> 400_000, uv | cluster[0].opps[1].khz | more than 450000: OPPs in ascending
khz = 800_000, uv -> 450_000, uv | cluster[0].opps[1].khz | more than 450000
khz = 450_000, uv -> 450_000, turbo = true, uv | cluster[0].opps[0].turbo | false at the slowest OPP
khz = 800_000, uv -> 800_000, turbo = true, uv | cluster[0].opps[2].turbo | true: turbo OPPs are the
khz = 950_000, uv -> 950_000, turbo = 1, uv | cluster[0].opps[2].turbo | true or false
power_uw = 90_700 -> 0 | cluster[0].opps[1].power_uw | an integer in 1..63999999
power_uw = 90_700 -> 64_000_000 | cluster[0].opps[1].power_uw | an integer in 1..63999999
uv = 900_000 -> 700_000 | cluster[0].opps[1].uv | at least 820000
cpus = 2 -> 29 | cluster[1].cpus | at most 32 CPUs on the whole platform, 4 are there already
core = "cortex-a72" -> "cortex-a73" | cluster[1].core | cortex-a76, cortex-x1 (did you mean
power_uw = 5_900 -> 60_000 | cluster[0].idle_states[0].power_uw | not above the lowest OPP's
power_uw = 0, -> 5_901, | cluster[0].idle_states[1].power_uw | at most 5900
residency_us = 2000 -> 1499 | cluster[0].idle_states[1].residency_us | at least entry_us + exit_us (
exit_us = 1200 -> 0 | cluster[0].idle_states[1].exit_us | at least 1
residency_us = 2500 -> 2000 | cluster[0].idle_states[2].residency_us | more than 2000
cluster_sleep = "cluster-sleep-0" -> "cluster-sleep" | cluster[0].cluster_sleep | cluster-sleep-0
cluster_sleep = "cluster-sleep-0" -> "cpu-sleep-0" | cluster[0].cluster_sleep | cluster-sleep-0
name = "wfi" -> "doze" | cluster[0].idle_states[0].name | 'wfi'
name = "cpu-sleep-0" -> "wfi" | cluster[0].idle_states[1].name | no other idle state
power_state = "off" -> "of" | cluster[0].idle_states[1].power_state | one of clk_gated, off, sram_
shared_off_uw = 15_800 -> 30_501 | cluster[0].shared_off_uw | an integer in 0..30500
name = "big" -> "little" | cluster[1].name | no other cluster
name = "big" -> "any" | cluster[1].name | none of any, largest, chip
name = "big" -> "big one" | cluster[1].name | lower-case letters
rate_limit_us = 500 -> 49 | dvfs.rate_limit_us | at least transition_latency_us (50)
rate_limit_us = 4_000 -> 2_919 | dvfs.board.rate_limit_us | at least transition_latency_us (2920)
l2 = { size_kib = 1024 -> { size_kib = 1000 | cluster[0].l2.size_kib | power-of-two number of sets
power_uw = "em-a53" -> "em-a35" | cluster[0].opp_sources.power_uw | (did you mean em-a53?)
board = "published -> "somewhere | sources.board | text that begins with 'measured', 'computed'
name = "juno-r2" -> "juno-r1" | name | 'juno-r2'
schema = 1 -> 2 | schema | an integer in 1..1
"""
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
PIXEL6 = """
offers = ["wattson" -> ["watson" | billing.offers | one of: published, profile, measured, wattson
offers = ["wattson", -> [ | billing.default | one of derived, measured, profile
khz = 300_000, power_uw = 7_277 -> 301_000, power_uw = 7_277 | cluster[0].busy.profile.opps[0].khz |
source = "freqbench" -> "freqbanch" | cluster[0].busy.measured.source | did you mean freqbench?
off_uw = 0 -> 50_000 | shared.off_uw | an integer in 0..47625 (uW, not above on_uw)
leakage = "derived" -> "published" | idle.leakage | one of derived, stated
llc = "all" -> "both" | llc | one of all, cluster
measured = { shared = "included" -> { shared = "in" | billing.measured.shared | apart, included
"""
ROWS = [("juno-r2", row) for row in JUNO.strip().splitlines()]
ROWS += [("pixel6", row) for row in PIXEL6.strip().splitlines()]


@pytest.mark.parametrize(("platform", "row"), ROWS)
def test_wrong_platform_is_one_line(tmp_path: Path, platform: str, row: str) -> None:
    edit, key, allowed = (part.strip() for part in f"{row} ".split(" | "))
    first, _, value = edit.partition(" ->")
    changed = f"{first.partition(' = ')[0]} ={value}" if value else ""
    text = (PLATFORMS / f"{platform}.toml").read_text()
    assert first in text
    path = tmp_path / f"{platform}.toml"
    path.write_text(text.replace(first, changed, 1))
    with pytest.raises(RequestError) as caught:
        load_platform(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: {key}"), message
    assert allowed in message
    assert "\n" not in message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("platform", FALLING)
def test_powers_may_fall_with_the_clock(tmp_path: Path, platform: str) -> None:
    text = (PLATFORMS / f"{platform}.toml").read_text()
    for old, new in zip(FALLING[platform][::2], FALLING[platform][1::2], strict=True):
        assert old in text
        text = text.replace(old, new, 1)
    (path := tmp_path / f"{platform}.toml").write_text(text)
    assert load_platform(path).digest != load_platform(platform).digest


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (("opps = [", "opps = []\nunused = ["), "cluster[0].opps = '0 tables': allowed: 1 to 64"),
        (('board = "', 'rumour = "assumed: heard of"\nboard = "'), "only sources that a figure of"),
        (("rate_limit_us =", "boost = true\nrate_limit_us ="), "dvfs.boost = True: allowed: false"),
        (("schema = 1", "schema = "), "not TOML: Invalid value (at line 6"),
        (("schema = 1", "schema = 1\nschema = 1"), "at line 7"),
    ],
)
def test_a_platform_with_more_or_less(
    edited: Callable[..., Path], edit: tuple[str, str], message: str
) -> None:
    assert message in refusal(load_platform, edited(edit))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (('pipeline = "in-order"', 'pipeline = "inorder"'), r"did you mean in-order\?"),
        (('source = "published: Arm', 'source = "Arm'), r"issue_width\.source = .*begins with"),
        (("size_kib = 32", "size_kib = 33"), r"l1i\.size_kib = 33: allowed: a power-of-two"),
        (('name = "cortex-a53"', 'name = "cortex-a35"'), r"name = 'cortex-a35'"),
    ],
)
def test_wrong_core_is_one_line(tmp_path: Path, edit: tuple[str, str], message: str) -> None:
    text = (CORES / "cortex-a53.toml").read_text()
    assert edit[0] in text
    (tmp_path / "cortex-a53.toml").write_text(text.replace(*edit, 1))
    with pytest.raises(RequestError, match=message) as caught:
        load_core("cortex-a53", tmp_path)
    assert "\n" not in str(caught.value)
