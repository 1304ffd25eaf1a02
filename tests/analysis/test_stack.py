# SPDX-License-Identifier: GPL-2.0-or-later
"""The derived power of whole runs: its stack sums to the total, and stands in table and figure."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.analysis import figures
from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.compare_text import text as text_of
from eascope.analysis.derive import derive
from eascope.analysis.report import page
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.host.errors import RequestError
from eascope.power import events, level
from eascope.power.choice import power_model
from eascope.power.derived import DerivedPower
from eascope.power.events import STACK
from eascope.power.mcpat import CYCLE, CorePower, load_derived
from tests.support.synthetic import make_run


@pytest.fixture(scope="module")
def stacked(
    platform: Platform, activity: Activity, tmp_path_factory: pytest.TempPathFactory
) -> Comparison:
    """The video-like runs by derived power, at the reference activity."""
    activity = replace(activity, measured=())
    root = tmp_path_factory.mktemp("stacked")
    model = DerivedPower(platform, activity)
    return comparison(
        platform,
        {
            name: [derive(make_run(root, platform, name, 0), platform, activity, model)]
            for name in ("mainline", "cas")
        },
    )


def test_every_partition_sums_to_the_total(stacked: Comparison) -> None:
    for runs in stacked.variants.values():
        spent = runs[0].result.energy_j.encode()
        assert set(spent["stack"]) <= set(STACK)
        for part in ("cluster", "component", "task", "stack"):
            assert sum(spent[part].values()) == spent["total"], part
        for cluster, parts in spent["cluster_stack"].items():
            assert sum(parts.values()) == spent["cluster"][cluster]
        table = runs[0].table("energy")
        assert table["energy_fj"].sum() == runs[0].table("tasks")["energy_fj"].sum()


def test_table_and_report_have_the_stack_and_its_terms(stacked: Comparison) -> None:
    text = text_of(stacked)
    assert "power model: derived" in text
    assert "\nenergy stack\n  clock of busy CPUs " in text
    html = page(stacked, {})
    assert "little: reference activity (assumed: " in html
    assert "memory controller and DRAM: not in these figures" in html


def test_figure_is_drawn_where_parts_are_known(stacked: Comparison, tmp_path: Path) -> None:
    drawn = figures.write(stacked, tmp_path)
    svg = drawn["stack"][0].read_text()
    assert svg.startswith("<?xml")
    assert "stack" in page(stacked, drawn)


def test_published_runs_have_no_stack(
    platform: Platform, activity: Activity, tmp_path: Path
) -> None:
    run = derive(make_run(tmp_path, platform, "mainline", 0), platform, activity)
    assert "stack" not in run.result.energy_j.encode()
    published = comparison(platform, {"mainline": [run]})
    assert "energy stack" not in text_of(published)
    assert "stack" not in figures.write(published, tmp_path / "figures")


def test_a_finished_run_is_derived_again_beside_its_first_result(
    platform: Platform, activity: Activity, tmp_path: Path
) -> None:
    path = make_run(tmp_path, platform, "mainline", 0)
    before = sorted(file.name for file in path.iterdir())
    models = [power_model(name, platform, activity) for name in ("published", "derived")]
    first, second = (derive(path, platform, activity, model) for model in models)
    assert first.path != second.path
    assert first.path.parent == second.path.parent
    assert sorted(file.name for file in path.iterdir()) == sorted([*before, "derived"])
    for key in ("residency", "cpu_busy", "latency_us", "migrations"):
        assert getattr(first.result, key) == getattr(second.result, key)
    with pytest.raises(RequestError, match=r"unknown power model 'derved' \(did you mean derived"):
        power_model("derved", platform, activity)


@pytest.fixture
def costlier_clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """McPAT's figures as a new derivation might have them: every clock costs twice as much."""

    def changed_core(core: str) -> CorePower:
        power = load_derived(core)
        doubled = {path: 2 * energy for path, energy in power.energy_pj[CYCLE].items()}
        return replace(power, energy_pj={**power.energy_pj, CYCLE: doubled})

    monkeypatch.setattr(level, "load_derived", changed_core)
    for cached in (level.load_level, events.load_events):
        cached.cache_clear()
    yield
    for cached in (level.load_level, events.load_events):
        cached.cache_clear()


def test_a_new_power_model_derives_a_finished_run_again(
    platform: Platform, activity: Activity, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The same run, nothing simulated: other figures of McPAT's have a key of their own."""
    path = make_run(tmp_path, platform, "mainline", 0)
    files = {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}
    old = derive(path, platform, activity, DerivedPower(platform, activity))
    assert derive(path, platform, activity, DerivedPower(platform, activity)).path == old.path
    old_bytes = (old.path / "result.json").read_bytes()
    request.getfixturevalue("costlier_clock")
    new = derive(path, platform, activity, DerivedPower(platform, activity))
    assert new.path != old.path
    assert (old.path / "result.json").read_bytes() == old_bytes
    assert {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()} == files
    before, after = (derivation.result.energy_j.stack for derivation in (old, new))
    assert after["clock"] > 1.1 * before["clock"]
    changed = {key for key in before if before[key] != after[key]}
    assert changed >= {"clock", "front_end", "execution"}
    for key in ("residency", "cpu_busy", "latency_us", "migrations"):
        assert getattr(old.result, key) == getattr(new.result, key)
