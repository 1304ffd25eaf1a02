# SPDX-License-Identifier: GPL-2.0-or-later
"""The recipe for a platform: its files are platforms, and its commands take them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from eascope.configs.platform_file import load_platform
from eascope.experiments.cli.request import request_of
from eascope.experiments.cli.verbs import make_parser
from eascope.experiments.request import resolve
from eascope.power.given import USUAL
from tests.support.markdown import ROOT

RECIPE = (ROOT / "docs" / "recipes" / "add-a-platform.md").read_text()
HEAD = 'base = "juno-r2"\nsummary = "x"\n'


def blocks() -> list[str]:
    """The indented blocks of the recipe."""
    matches = re.findall(r"(?:^    .*\n)+", RECIPE, re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in matches]


def test_the_three_lines_and_the_command_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three, command, *_ = blocks()
    assert len(three.splitlines()) == 3
    monkeypatch.chdir(tmp_path)
    Path("four-bigs.toml").write_text(three)
    options = make_parser().parse_args(shlex.split(command)[1:])
    for variant in options.variants:
        names = resolve(request_of(options, variant, 0, USUAL))
        assert (names.platform.name, len(names.platform.cpus)) == ("four-bigs", 8)


def test_everything_that_may_differ_does(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + blocks()[2])
    platform = load_platform(path)
    little, mid = platform.clusters
    assert (platform.memory_mib, platform.rate_limit_us) == (512, 2_000)
    assert [opp.power_uw for opp in little.opps] == [90_700, 150_000]
    assert (little.capacity_dmips_mhz, little.idle_states[0].power_uw) == (500, 5_000)
    assert (mid.name, mid.core.name, len(mid.cpus)) == ("mid", "cortex-a72", 1)
