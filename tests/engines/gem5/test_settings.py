# SPDX-License-Identifier: GPL-2.0-or-later
"""What gem5 is given of a machine, without gem5."""

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.core import list_cores, load_core
from eascope.configs.pipeline import load_pipeline
from eascope.configs.platform import Platform
from eascope.configs.platform_file import list_platforms, load_platform
from eascope.engines.base import LIMIT_S, Machine
from eascope.engines.gem5.engine import Gem5Engine
from eascope.engines.gem5.inside.operations import ALL
from eascope.engines.gem5.inside.request import Gem5ClusterSettings, NeededRequest, PipelineSettings
from eascope.engines.gem5.request import Gem5Settings, RequestFiles, request_of, settings_of
from eascope.engines.gem5.settings import MODES, O3_MAX_WIDTH, machine_settings, power_of_two
from eascope.engines.gem5.units import minor_units, o3_units
from eascope.host.cache import digest_of
from tests.support.refusals import refusal


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [name for name, _ in list_platforms()])
def test_every_platform_has_settings_in_every_mode(name: str, mode: str) -> None:
    platform = load_platform(name)
    settings = machine_settings(platform, mode)
    assert json.loads(json.dumps(settings)) == settings
    assert [cpu for cluster in settings["clusters"] for cpu in cluster["cpus"]] == list(
        platform.cpus
    )
    for cluster, of_cluster in zip(platform.clusters, settings["clusters"], strict=True):
        assert of_cluster["clocks_hz"] == [opp.khz * 1000 for opp in reversed(cluster.opps)]
        assert of_cluster["volts"] == [opp.uv / 1e6 for opp in reversed(cluster.opps)]
    assert settings["transition_latency_ns"] == platform.transition_latency_us * 1000


def test_more_than_eight_cpus_have_a_gicv3(juno: Platform, wide: Platform) -> None:
    two, three = (machine_settings(platform, "boot") for platform in (juno, wide))
    assert (two["gic_distributor"], two["gic_cpu_interface"]) == (0x2C00_1000, 0x2C00_2000)
    assert "gic_redistributors" not in two
    assert (three["gic_distributor"], three["gic_redistributors"]) == (0x2C00_0000, 0x2C01_0000)
    assert "gic_cpu_interface" not in three


def test_models_are_named_by_what_they_are(juno: Platform) -> None:
    def models(mode: str) -> list[str]:
        return [cluster["model"] for cluster in machine_settings(juno, mode)["clusters"]]

    assert models("boot") == models("elided") == ["ArmAtomicSimpleCPU"] * 2
    assert models("timing") == ["ArmTimingSimpleCPU"] * 2
    assert models("detailed") == models("elided-detailed") == ["ArmMinorCPU", "ArmO3CPU"]


def test_words_for_captions_decide_nothing(juno: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    before = machine_settings(juno, "elided")
    monkeypatch.setitem(MODES, "elided", replace(MODES["elided"], cpu_words="simple"))
    assert machine_settings(juno, "elided") == before


def test_caches_only_where_time_passes_in_memory(juno: Platform) -> None:
    for mode in MODES:
        settings = machine_settings(juno, mode)
        atomic = settings["memory_mode"] == "atomic"
        assert atomic == (mode in ("boot", "elided"))
        for cluster in settings["clusters"]:
            assert (cluster["caches"] is None) == atomic
            assert (cluster["pipeline"] is None) == (mode in ("boot", "elided", "timing"))
    caches = machine_settings(juno, "detailed")["clusters"][1]["caches"]
    assert caches
    assert caches["l2"] == {
        "bytes": 2 << 20,
        "ways": 16,
        "cycles": 12,
        "mshrs": 16,
        "write_buffers": 16,
        "prefetch": 8,
    }


L3 = """
[l3]
size_kib = 4096
ways = 16
line_bytes = 64
latency_ns = 14
source = "memory"

[dvfs]
"""


def test_an_l3_is_told_where_there_are_caches(edited: Callable[..., Path]) -> None:
    platform = load_platform(edited(("[dvfs]\n", L3)))
    assert machine_settings(platform, "elided")["l3"] is None
    l3 = machine_settings(platform, "detailed")["l3"]
    assert l3
    assert (l3["bytes"], l3["ways"], l3["cycles"]) == (4 << 20, 16, 14)
    assert any(figure.what == "L3 cache 4096 KiB, 14 ns" for figure in platform.figures)


def test_a_wrong_l3_is_one_line(edited: Callable[..., Path], snapshot: SnapshotAssertion) -> None:
    lines = []
    for old, new in (
        ("latency_ns = 14", "latency_ns = 0"),
        ("ways = 16\nline", "ways = 3\nline"),
        ("latency_ns", "latency_us"),
    ):
        path = edited(("[dvfs]\n", L3.replace(old, new)))
        lines.append(refusal(load_platform, path).removeprefix(str(path)))
    assert lines == snapshot


def test_boot_and_elided_are_one_machine(juno: Platform) -> None:
    boot, elided = machine_settings(juno, "boot"), machine_settings(juno, "elided")
    assert boot | {"mode": ""} == elided | {"mode": ""}


def test_an_opp_changes_the_settings(edited: Callable[..., Path], juno: Platform) -> None:
    changed = load_platform(edited(("khz = 800_000, uv = 900_000", "khz = 800_000, uv = 910_000")))
    assert machine_settings(changed, "boot") != machine_settings(juno, "boot")


def _pipeline(cluster: Gem5ClusterSettings) -> PipelineSettings:
    assert cluster["pipeline"]
    return cluster["pipeline"]


def _operations(units: list[Any]) -> set[str]:
    names = set()
    for unit in units:
        for entry in unit["operations"]:
            names.add(entry if isinstance(entry, str) else entry[0])
    return names


@pytest.mark.parametrize("name", list_cores())
def test_every_operation_has_a_unit(name: str) -> None:
    core = load_core(name)
    pipeline = load_pipeline(core)
    make = minor_units if pipeline.model == "minor" else o3_units
    assert _operations(make(core, pipeline)) == set(ALL)


def test_dependent_additions_follow_each_other_by_one_cycle() -> None:
    """A result is there after the latency, an operand needed that much after issue."""
    for name in ("cortex-a7", "cortex-a53", "cortex-a55"):
        core = load_core(name)
        units = minor_units(core, load_pipeline(core))
        alus = [unit for unit in units if unit["operations"] == ["IntAlu"]]
        assert len(alus) == 2
        assert all(unit["latency"] - unit["relative"] == 1 for unit in alus)


def test_stages_stay_within_what_gem5_is_built_for() -> None:
    """And O3 fetches lines and compares bytes."""
    pixel = machine_settings(load_platform("pixel6"), "detailed")
    for cluster in pixel["clusters"]:
        parameters = _pipeline(cluster)["parameters"]
        widths = [value for key, value in parameters.items() if key.endswith("Width")]
        assert max(widths) <= O3_MAX_WIDTH
        predictor: Any = _pipeline(cluster)["predictor"]
        for key in ("entries", "btb_entries"):
            assert predictor[key] == power_of_two(predictor[key])
        if cluster["model"] == "ArmO3CPU":
            assert (parameters["fetchBufferSize"], parameters["LSQDepCheckShift"]) == (64, 0)


def test_power_of_two() -> None:
    assert [power_of_two(value) for value in (1, 2, 3, 3072, 6144)] == [1, 2, 2, 2048, 4096]


def test_a_transfer_between_register_files_has_its_own_latency() -> None:
    little, big = machine_settings(load_platform("juno-r2"), "detailed")["clusters"]
    units: list[Any] = [*_pipeline(big)["units"]]
    latencies = {
        name: latency
        for unit in units
        for name, latency, _ in unit["operations"]
        if name.startswith("Float")
    }
    assert (latencies["FloatMisc"], latencies["FloatCvt"], latencies["FloatAdd"]) == (5, 10, 4)
    units = [*_pipeline(little)["units"]]
    moves = [unit for unit in units if "FloatMisc" in unit["operations"]]
    assert [unit["latency"] for unit in moves] == [6]


FILES = RequestFiles(*(Path(f"/{field.name}") for field in fields(RequestFiles)))
OTHER: dict[str, Any] = {
    "mode": "detailed",
    "machine": {"another": 1},
    "cmdline": "loud",
    "limit_ns": 1,
    "stall_ns": 2,
}


def test_every_key_of_a_request_is_a_setting_or_a_file(linux_like: Machine) -> None:
    """A key that is added to a request without a setting fails here."""
    request = request_of(settings_of(linux_like, "elided"), FILES)
    settings = {field.name for field in fields(Gem5Settings)}
    files = {field.name for field in fields(RequestFiles)}
    assert set(request) == settings | files | {"schema"} == set(NeededRequest.__annotations__)
    assert {name: request[name] for name in files} == {name: f"/{name}" for name in files}  # type: ignore[literal-required]


def test_every_setting_is_in_the_request_and_in_the_key(linux_like: Machine) -> None:
    settings = settings_of(linux_like, "elided")
    request, keys = request_of(settings, FILES), {digest_of(settings.encode())}
    assert set(OTHER) == {field.name for field in fields(Gem5Settings)}
    for name, value in OTHER.items():
        changed = replace(settings, **{name: value})
        assert request_of(changed, FILES) != request, name
        keys.add(digest_of(changed.encode()))
    assert len(keys) == 1 + len(OTHER)


def test_the_key_is_of_what_a_run_is_given(linux_like: Machine) -> None:
    settings = Gem5Engine("elided").settings(linux_like)
    assert settings == settings_of(linux_like, "elided", LIMIT_S)
    assert settings.machine["mode"] == settings.mode == "elided"
