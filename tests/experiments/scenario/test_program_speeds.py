# SPDX-License-Identifier: GPL-2.0-or-later
"""Which programs run at figures of their own, and what a record says of the others."""

import json
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.configs.program_activity import load_program
from eascope.engines.base import Engine
from eascope.engines.registry import get_engine
from eascope.experiments.runs.request import rates_of, speeds_of, without_rates
from eascope.experiments.scenario.model import Scenario
from eascope.experiments.scenario.program_kinds import KINDS
from eascope.experiments.scenario_file import load_scenario
from tests.support.program_figures import RECORD

FIGURES = ("sysbench-cpu", "perf-bench-pipe")


@pytest.fixture
def fast(juno: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The fast engine, with a folder of figures of `FIGURES`."""
    for name in FIGURES:
        path = tmp_path / "programs" / juno.name / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(RECORD | {"program": name}))
    monkeypatch.setattr(
        "eascope.experiments.runs.request.load_program",
        lambda platform, name: load_program(platform, name, tmp_path),
    )
    return get_engine("qemu", None)


def scenario(platform: Platform, tmp_path: Path, *kinds: str) -> Scenario:
    """A scenario with a program of each kind."""
    programs = "".join(
        f'[[program]]\nname = "p{number}"\nrun = "{kind}"\narguments = "{{count}}"\n'
        "short_count = 1\nfull_count = 1\n"
        for number, kind in enumerate(kinds)
    )
    path = tmp_path / "own.toml"
    path.write_text(
        'summary = "a test"\nsource = "a test"\nloads = "a test"\nimage = "programs"\n'
        f'{programs}[window]\nwarmup_ms = 300\nuntil = "programs-end"\n'
    )
    return load_scenario(str(path), platform)


def test_a_program_with_rates_has_them_and_the_others_are_named(
    juno: Platform, tmp_path: Path, fast: Engine
) -> None:
    own = scenario(juno, tmp_path, "hackbench", "sysbench-cpu", "hackbench")
    rates = rates_of(own, juno, fast)
    assert [own.program for own in rates] == ["sysbench-cpu"]
    (speed,) = speeds_of(rates)
    assert speed.path == KINDS["sysbench-cpu"].path
    assert speed.clusters == rates[0].clusters
    assert without_rates(own, juno, rates) == (
        "program hackbench: its code runs at the kernel's instructions per cycle: it was not "
        "measured on juno-r2",
    )


def test_two_loads_of_one_binary_have_none(juno: Platform, tmp_path: Path, fast: Engine) -> None:
    alone = scenario(juno, tmp_path, "perf-bench-pipe")
    assert [own.program for own in rates_of(alone, juno, fast)] == ["perf-bench-pipe"]
    both = scenario(juno, tmp_path, "perf-bench-pipe", "perf-bench-messaging")
    assert rates_of(both, juno, fast) == ()
    assert len(without_rates(both, juno, ())) == 2


def test_on_gem5_its_cpu_models_decide(juno: Platform, tmp_path: Path, fast: Engine) -> None:
    own = scenario(juno, tmp_path, "sysbench-cpu")
    assert rates_of(own, juno, fast)
    assert rates_of(own, juno, get_engine("gem5", "detailed")) == ()
