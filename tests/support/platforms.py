# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures: platform files that tests make from the real one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.configs.platform_file import PLATFORMS


def edits_of(original: Path, folder: Path) -> Callable[..., Path]:
    """A function that writes a copy of ``original`` with pieces of text replaced (first match)."""

    def write(*edits: tuple[str, str]) -> Path:
        text = original.read_text()
        for old, new in edits:
            assert old in text, f"{original.name} has no {old!r} any more"
            text = text.replace(old, new, 1)
        path = folder / original.name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def edited(tmp_path: Path) -> Callable[..., Path]:
    """Writes juno-r2.toml with edits."""
    return edits_of(PLATFORMS / "juno-r2.toml", tmp_path)


@pytest.fixture
def one_cluster(tmp_path: Path) -> Path:
    """The smallest platform: one CPU, one OPP, WFI alone."""
    path = tmp_path / "solo.toml"
    path.write_text(
        """
schema = 1
name = "solo"
summary = "one CPU"
temperature_c = 40.5
temperature_source = "here"
memory_mib = 256
memory_source = "here"
sources = { here = "assumed: for a test" }

[dvfs]
transition_latency_us = 10
transition_latency_source = "here"
rate_limit_us = 10
rate_limit_source = "here"

[[cluster]]
name = "only"
core = "cortex-a53"
cpus = 1
capacity_dmips_mhz = 100
capacity_source = "here"
opps = [{ khz = 1_000_000, uv = 1_000_000, power_uw = 100_000, shared_uw = 10_000 }]
opp_sources = { khz = "here", uv = "here", power_uw = "here", shared_uw = "here" }
shared_off_uw = 0
shared_off_source = "here"
l2 = { size_kib = 256, ways = 8, line_bytes = 64, source = "here" }

[[cluster.idle_states]]
name = "wfi"
entry_us = 1
exit_us = 1
residency_us = 1
power_state = "clk_gated"
power_uw = 0
time_source = "here"
power_source = "here"
"""
    )
    return path
