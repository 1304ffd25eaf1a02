# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong platform and core files: one line each, with file, key, value and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.configs.core import CORES, load_core
from eascope.configs.platform_file import load_platform
from eascope.host.errors import RequestError

BAD = {
    "OPPs out of order": (
        ("{ khz = 800_000, uv", "{ khz = 400_000, uv"),
        "cluster[0].opps[1].khz = 400000",
        "more than 450000: OPPs in ascending order",
    ),
    "the same OPP twice": (
        ("{ khz = 800_000, uv", "{ khz = 450_000, uv"),
        "cluster[0].opps[1].khz = 450000",
        "more than 450000",
    ),
    "less voltage at a faster OPP": (
        ("uv = 900_000", "uv = 700_000"),
        "cluster[0].opps[1].uv = 700000",
        "at least 820000",
    ),
    "less power at a faster OPP": (
        ("power_uw = 90_700", "power_uw = 42_400"),
        "cluster[0].opps[1].power_uw = 42400",
        "more than 42400",
    ),
    "less shared power at a faster OPP": (
        ("shared_uw = 44_000", "shared_uw = 25_999"),
        "cluster[0].opps[1].shared_uw = 25999",
        "at least 26000",
    ),
    "no OPP": (
        ("opps = [", "opps = []\nunused = ["),
        "cluster[0].opps = '0 tables'",
        "1 to 64 tables",
    ),
    "more CPUs than kernels know": (
        ("cpus = 2", "cpus = 29"),
        "cluster[1].cpus = 29",
        "at most 32 CPUs on the whole platform, 4 are there already",
    ),
    "unknown core": (
        ('core = "cortex-a72"', 'core = "cortex-a73"'),
        "cluster[1].core = 'cortex-a73'",
        "cortex-a72, cortex-a76, cortex-x1 (did you mean",
    ),
    "capacity missing": (
        ("capacity_dmips_mhz = 485\n", ""),
        "cluster[0].capacity_dmips_mhz is missing",
        "an integer in 1..65535",
    ),
    "idle takes more than busy": (
        ("power_uw = 6_000", "power_uw = 60_000"),
        "cluster[0].idle_states[0].power_uw = 60000",
        "not above the lowest OPP's",
    ),
    "a deeper state takes more": (
        ("power_uw = 0,", "power_uw = 6_001,"),
        "cluster[0].idle_states[1].power_uw = 6001",
        "at most 6000",
    ),
    "residency shorter than the way in and out": (
        ("residency_us = 2000", "residency_us = 1499"),
        "cluster[0].idle_states[1].residency_us = 1499",
        "at least entry_us + exit_us (1500)",
    ),
    "a deeper state leaves sooner": (
        ("exit_us = 1200", "exit_us = 0"),
        "cluster[0].idle_states[1].exit_us = 0",
        "at least 1",
    ),
    "a deeper state pays no later": (
        ("residency_us = 2500", "residency_us = 2000"),
        "cluster[0].idle_states[2].residency_us = 2000",
        "more than 2000",
    ),
    "cluster-sleep that is no idle state": (
        ('cluster_sleep = "cluster-sleep-0"', 'cluster_sleep = "cluster-sleep"'),
        "cluster[0].cluster_sleep = 'cluster-sleep'",
        "one of cluster-sleep-0",
    ),
    "cluster-sleep that is not the deepest state": (
        ('cluster_sleep = "cluster-sleep-0"', 'cluster_sleep = "cpu-sleep-0"'),
        "cluster[0].cluster_sleep = 'cpu-sleep-0'",
        "one of cluster-sleep-0",
    ),
    "no WFI": (
        ('name = "wfi"', 'name = "doze"'),
        "cluster[0].idle_states[0].name = 'doze'",
        "'wfi'",
    ),
    "one idle state twice": (
        ('name = "cpu-sleep-0"', 'name = "wfi"'),
        "cluster[0].idle_states[1].name = 'wfi'",
        "no other idle state",
    ),
    "unknown power state": (
        ('power_state = "off"', 'power_state = "of"'),
        "cluster[0].idle_states[1].power_state = 'of'",
        "one of clk_gated, off, sram_retention (did you mean off?)",
    ),
    "shared part takes more asleep": (
        ("shared_off_uw = 17_000", "shared_off_uw = 26_001"),
        "cluster[0].shared_off_uw = 26001",
        "an integer in 0..26000",
    ),
    "two clusters of one name": (
        ('name = "big"', 'name = "little"'),
        "cluster[1].name = 'little'",
        "no other cluster",
    ),
    "a cluster called any": (('name = "big"', 'name = "any"'), "cluster[1].name = 'any'", "'any'"),
    "a name with a space": (
        ('name = "big"', 'name = "big one"'),
        "cluster[1].name = 'big one'",
        "lower-case letters",
    ),
    "rate limit below the latency": (
        ("rate_limit_us = 500", "rate_limit_us = 49"),
        "dvfs.rate_limit_us = 49",
        "at least transition_latency_us (50)",
    ),
    "a cache that cannot be": (
        ("l2 = { size_kib = 1024", "l2 = { size_kib = 1000"),
        "cluster[0].l2.size_kib = 1000",
        "power-of-two number of sets",
    ),
    "unknown source": (
        ('power_uw = "em-a53"', 'power_uw = "em-a35"'),
        "cluster[0].opp_sources.power_uw = 'em-a35'",
        "(did you mean em-a53?)",
    ),
    "a figure without source": (
        ('temperature_source = "temperature"\n', ""),
        "temperature_source is missing",
        "a name from [sources]",
    ),
    "a source of no known kind": (
        ('board = "published: ', 'board = "somewhere: '),
        "sources.board = 'somewhere: ",
        "text that begins with 'measured', 'computed'",
    ),
    "a source that nothing rests on": (
        ('board = "', 'rumour = "assumed: heard of"\nboard = "'),
        "sources.rumour = 'assumed: heard of'",
        "only sources that a figure of the file names",
    ),
    "another file's name": (
        ('name = "juno-r2"', 'name = "juno-r1"'),
        "name = 'juno-r1'",
        "'juno-r2'",
    ),
    "a newer schema": (("schema = 1", "schema = 2"), "schema = 2", "an integer in 1..1"),
    "a board that changes frequencies in no way": (
        ("fast_switch = false\n", ""),
        "dvfs.board.fast_switch is missing",
        "true or false",
    ),
    "a board that never gets through": (
        ("rate_limit_us = 4_000", "rate_limit_us = 1_449"),
        "dvfs.board.rate_limit_us = 1449",
        "at least transition_latency_us (1450)",
    ),
    "a board's time without a source": (
        ('transition_latency_source = "board-transition-latency"\n', ""),
        "dvfs.board.transition_latency_source is missing",
        "",
    ),
    "not TOML": (("schema = 1", "schema = "), "not TOML: Invalid value (at line 6", ""),
    "a key twice": (("schema = 1", "schema = 1\nschema = 1"), "not TOML: ", "at line 7"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_platform_is_one_line(edited: Callable[..., Path], case: str) -> None:
    edit, key, allowed = BAD[case]
    path = edited(edit)
    with pytest.raises(RequestError) as caught:
        load_platform(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: {key}"), message
    assert allowed in message
    assert "\n" not in message
    assert caught.value.exit_code == 2


def test_no_cluster_at_all(tmp_path: Path, one_cluster: Path) -> None:
    text = one_cluster.read_text()
    one_cluster.write_text(text[: text.index("[[cluster]]")])
    with pytest.raises(RequestError, match=r"solo\.toml: cluster is missing: allowed: 1 to 8"):
        load_platform(one_cluster)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (('pipeline = "in-order"', 'pipeline = "inorder"'), r"did you mean in-order\?"),
        (("value = 2", "value = 0"), r"parameters\.issue_width\.value = 0: allowed: an integer in"),
        (
            ("[parameters.issue_width]", "[parameters.isue_width]"),
            r"parameters\.isue_width = .*did you mean issue_width\?",
        ),
        (('source = "published: Arm', 'source = "Arm'), r"issue_width\.source = .*begins with"),
        (("size_kib = 32", "size_kib = 33"), r"l1i\.size_kib = 33: allowed: a power-of-two"),
        (('name = "cortex-a53"', 'name = "cortex-a35"'), r"name = 'cortex-a35'"),
        (("[l1d]", "[l1x]"), r"l1d is missing: allowed: a table"),
    ],
)
def test_wrong_core_is_one_line(tmp_path: Path, edit: tuple[str, str], message: str) -> None:
    text = (CORES / "cortex-a53.toml").read_text()
    assert edit[0] in text
    (tmp_path / "cortex-a53.toml").write_text(text.replace(*edit, 1))
    with pytest.raises(RequestError, match=message) as caught:
        load_core("cortex-a53", tmp_path)
    assert "\n" not in str(caught.value)
