# SPDX-License-Identifier: GPL-2.0-or-later
"""The measure of a program, without gem5: the script, samples to figures, the file, the command."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.platform import Platform
from eascope.configs.platform_file import list_platforms, load_platform
from eascope.configs.program_activity import load_program
from eascope.engines.gem5.engine import Gem5Engine
from eascope.engines.gem5.samples import CpuSample, ModeCount
from eascope.experiments.characterisation import program
from eascope.experiments.characterisation.program import (
    EVERY_NS,
    SWEEPS,
    evaluate,
    levels,
    measure_program,
    sampled,
    script,
    times,
)
from eascope.experiments.characterisation.program_time import interval
from eascope.experiments.cli.main import main
from eascope.host.errors import EascopeError, RequestError
from tests.support.command import refused
from tests.support.refusals import refusal

KIND = "sysbench-cpu"
#: Cycles and ns of memory of an instruction, by the first CPU of each cluster.
TRUE = {0: (1.6, 0.5), 4: (0.8, 0.2)}


def _samples(juno: Platform, sweeps: int = 1, noise: float = 0.0, cut: int = 10**6) -> list[Any]:
    """Samples of copies with the times of `TRUE`, at one OPP after the other."""
    result = []
    number = 0
    for _ in range(sweeps):
        for level in range(3):
            for _ in range(25):
                for cluster in juno.clusters:
                    khz = levels(cluster)[level]
                    cycles, memory_ns = TRUE[cluster.cpus[0]]
                    ps = (cycles * 1e6 / khz + memory_ns) * 1000
                    count = 1000 + number % 7
                    ticks = round(count * ps * (1 + noise * (1 if number % 2 else -1)))
                    user = ModeCount(count if number < cut else 0, ticks if number < cut else 0)
                    at = number * EVERY_NS * 1000
                    for cpu in cluster.cpus:
                        own = user if cpu == cluster.cpus[0] else ModeCount()
                        result.append(CpuSample(cpu, at, khz, own, ModeCount(50, 10**6)))
                number += 1
    return result


def test_each_cluster_has_a_copy_on_its_first_cpu_and_all_opps_are_gone_through(
    juno: Platform,
) -> None:
    lines = script(sampled(juno, KIND)).decode().splitlines()
    copies = [line for line in lines if line.startswith("spawn copy")]
    assert [line.split("cpus=")[1].split()[0] for line in copies] == ["0", "4"]
    assert all(
        line.endswith("-- /usr/bin/sysbench cpu --threads=4 --time=30 run") for line in copies
    )
    start = lines.index("start")
    assert lines.index(copies[-1]) < start
    set_ = [line.rpartition(" ")[2] for line in lines[start:] if "scaling_setspeed" in line]
    sweep = ["450000", "600000", "800000", "1000000", "950000", "1200000"]
    assert set_ == sweep * max(SWEEPS)
    assert lines[-1] == "exit"


def test_of_many_opps_the_slowest_the_fastest_and_some_between_are_measured(
    wide: Platform,
) -> None:
    (cluster,) = wide.clusters
    own = levels(cluster)
    assert len(own) == min(5, len(cluster.opps))
    assert (own[0], own[-1]) == (cluster.opps[0].khz, cluster.opps[-1].khz)
    assert own == sorted(set(own))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("sysbench", "did you mean sysbench-cpu?"),
        ("postgres", "program 'postgres': a server and its clients do not run alone: allowed: "),
        ("pgbench", "program 'pgbench': a server and its clients do not run alone: allowed: "),
        ("perf-bench-messaging", "no shipped scenario of juno-r2 has it: allowed: cyclictest, "),
        ("ping-pong", "only programs of the programs image are measured"),
    ],
)
def test_a_program_that_cannot_be_measured_is_refused(
    juno: Platform, kind: str, words: str
) -> None:
    assert words in refusal(sampled, juno, kind)
    assert words in refused("characterise", "juno-r2", "--program", kind)


def test_cycles_and_memory_time_come_out_of_the_samples(juno: Platform) -> None:
    measured = evaluate(juno, KIND, _samples(juno, noise=0.01))
    for item, (cycles, memory_ns) in zip(measured, TRUE.values(), strict=True):
        assert item.cycles == pytest.approx(cycles, rel=0.01)
        assert item.memory_ns == pytest.approx(memory_ns, rel=0.05)
        assert item.residual < 0.01
        assert 0.001 < item.interval < 0.02
        # 0.5 ms after a change of the clock.
        assert [row.count for row in item.samples] == [20, 20, 20]


def test_a_sample_in_which_the_clock_changed_does_not_count(juno: Platform) -> None:
    samples = _samples(juno)
    at = 40 * EVERY_NS * 1000
    changed = [replace(sample, khz=0 if sample.begin == at else sample.khz) for sample in samples]
    little, _ = evaluate(juno, KIND, changed)
    # The clock settles anew after it.
    assert [row.count for row in little.samples] == [20, 14, 20]


def test_a_time_of_memory_that_noise_makes_negative_is_none(juno: Platform) -> None:
    samples = [
        CpuSample(
            cpu=cluster.cpus[0],
            begin=level * 25 * 10**8 + number * 10**8,
            khz=khz,
            user=ModeCount(1000, round(1000 * 1.5e9 / khz * (1 + 0.01 * level))),
            kernel=ModeCount(),
        )
        for cluster in juno.clusters
        for level, khz in enumerate(levels(cluster))
        for number in range(25)
    ]
    # A faster clock takes 1 % more cycles each: memory; the other way round it is none.
    assert all(item.memory_ns > 0 for item in evaluate(juno, KIND, samples))
    falling = [
        replace(
            sample, user=ModeCount(1000, round(1.5e12 / sample.khz * (1 - sample.begin / 10**12)))
        )
        for sample in samples
    ]
    for item in evaluate(juno, KIND, falling):
        assert item.memory_ns == 0
        assert item.residual < 0.05


def test_a_program_that_has_ended_is_named(juno: Platform) -> None:
    with pytest.raises(EascopeError) as caught:
        evaluate(juno, KIND, _samples(juno, cut=40))
    assert str(caught.value).startswith(f"{KIND}: little at 950000 kHz: less than 5 samples")
    with pytest.raises(EascopeError, match="little: less than 5 samples"):
        evaluate(juno, KIND, [])


def test_the_interval_of_a_ratio() -> None:
    """By hand: the ratio is 2, the deviations are +-1, their mean 0, t(3 degrees) is 3.182."""
    samples = [(10, 21), (10, 19), (10, 21), (10, 19)]
    assert interval(samples) == pytest.approx(3.18245 * (4 / 3 / 4) ** 0.5 / 10 / 2, rel=1e-4)
    # Samples of different length whose ratio is the same say nothing against the mean.
    assert interval([(10, 20), (30, 60), (5, 10)]) == 0


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, juno: Platform) -> list[int]:
    """How many samples `measure_program` asks for; they come with a noise of 40 % at first."""
    counts: list[int] = []

    def sample(_: Any, __: Any, ___: Path, wanted: Any) -> list[CpuSample]:
        counts.append(wanted["count"])
        return _samples(juno, sweeps=len(counts), noise=0.4 if len(counts) == 1 else 0.02)

    monkeypatch.setattr(Gem5Engine, "sample", sample)
    monkeypatch.setattr(program, "find_gem5", lambda: Path("gem5"))
    monkeypatch.setattr(program, "machine_of", lambda *_: None)
    origin = dict.fromkeys(
        ("gem5", "gem5_sha256", "scenario", "variant", "mode", "command"), "a test"
    )
    monkeypatch.setattr(program, "provenance", lambda *_: origin)
    return counts


def test_samples_are_added_until_the_interval_is_small_enough(
    juno: Platform, tmp_path: Path, asked: list[int]
) -> None:
    path = measure_program(juno, KIND, tmp_path)
    assert asked == [times(juno, sweeps)["count"] for sweeps in SWEEPS[:2]]
    assert path == tmp_path / "programs" / "juno-r2" / f"{KIND}.json"
    figures = load_program(juno, KIND, tmp_path)
    assert figures
    assert [cluster.name for cluster in figures.clusters] == ["little", "big"]
    assert figures.clusters[0].cycles == pytest.approx(TRUE[0][0], rel=0.02)
    # The same figures from another command leave the file as it is.
    before = path.read_bytes()
    data = json.loads(before)
    data["provenance"]["command"] = "another"
    path.write_text(json.dumps(data))
    asked[:] = [0]
    measure_program(juno, KIND, tmp_path)
    assert json.loads(path.read_bytes())["provenance"]["command"] == "another"


def test_a_program_without_a_steady_state_gives_no_file(
    juno: Platform, tmp_path: Path, asked: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Gem5Engine, "sample", lambda *_: _samples(juno, sweeps=2, noise=0.5))
    with pytest.raises(EascopeError, match="the program has no steady state"):
        measure_program(juno, KIND, tmp_path)
    assert not list(tmp_path.rglob("*.json"))


def test_show_without_figures_says_how_to_get_them() -> None:
    output = refused("characterise", "juno-r2", "--program", "cyclictest", "--show")
    assert "configs/activity/programs/juno-r2/cyclictest.json is missing" in output
    assert "eascope characterise juno-r2 --program cyclictest (needs gem5)" in output


def test_without_gem5_nothing_is_built(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GEM5", "/no/such/gem5")
    monkeypatch.setattr(program, "machine_of", lambda *_: pytest.fail("a machine was made"))
    assert main(["characterise", "juno-r2", "--program", KIND]) == 1
    assert "GEM5 = '/no/such/gem5': no such program" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name, _ in list_platforms()])
def test_every_platform_has_a_copy_on_the_first_cpu_of_each_cluster(name: str) -> None:
    platform = load_platform(name)
    if platform.package_budget:
        with pytest.raises(RequestError, match="engine gem5 cannot enforce package_budget"):
            sampled(platform, KIND)
        return
    asked = sampled(platform, KIND)
    cpus = [copy.cpus for copy in asked.copies]
    assert cpus == [(cluster.cpus[0],) for cluster in platform.clusters]
    assert script(asked).decode().count("scaling_governor userspace") == len(platform.clusters)


def test_figures_far_from_their_fit_give_no_file(
    juno: Platform, tmp_path: Path, asked: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The middle OPP takes a fifth longer than any line through the others, all samples alike."""
    middle = {levels(cluster)[1] for cluster in juno.clusters}
    bent = [
        replace(sample, user=replace(sample.user, ticks=round(sample.user.ticks * 1.2)))
        if sample.khz in middle
        else sample
        for sample in _samples(juno)
    ]
    assert max(item.interval for item in evaluate(juno, KIND, bent)) < 0.01
    monkeypatch.setattr(Gem5Engine, "sample", lambda *_: bent)
    with pytest.raises(EascopeError, match=r"an OPP is 1\d\.\d% from the fit"):
        measure_program(juno, KIND, tmp_path)
    assert not list(tmp_path.rglob("*.json"))
