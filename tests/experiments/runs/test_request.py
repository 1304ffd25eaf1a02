# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests: what is refused or warned of before anything is built; reference cores."""

from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from eascope.analysis.derive import derive
from eascope.experiments.controls import Controls, reference_iteration_ns
from eascope.experiments.runs.cell import prepare
from eascope.experiments.runs.request import Request, Resolved, resolve
from eascope.experiments.runs.store import execute
from eascope.experiments.runs.warnings import (
    rate_warnings,
    without_eas,
    without_effect,
    without_fair_server,
    without_latency_nice,
    wrong_capacities,
)
from eascope.host.errors import RequestError
from eascope.kernels.own import read_own
from eascope.kernels.variants import load_catalogue
from tests.support.cells import REQUEST, Artefacts, prepared


@pytest.mark.parametrize(
    ("mode", "elide", "speeds", "words"),
    [
        ("elided", True, "board", ""),
        ("elided-detailed", True, "measured", ""),
        ("elided", False, "board", "little capacity 383, speed 810"),  # 950 to 1200 MHz
        ("timing", False, "measured", "little capacity 329, speed 810"),
        ("detailed", False, "board", "capacity 383, speed 329; --speeds measured corrects them"),
        ("detailed", False, "measured", ""),
    ],
)
def test_capacities_that_gem5_does_not_have_are_told(
    mode: str, elide: bool, speeds: str, words: str
) -> None:
    controls = Controls(speeds=speeds)
    names = resolve(replace(REQUEST, engine="gem5", mode=mode, elide=elide, controls=controls))
    warning = wrong_capacities(names)
    assert words in warning
    assert bool(words) == bool(warning)
    # A platform that nobody has characterised can be run all the same.
    unknown = replace(names, activity=replace(names.activity, measured=()))
    if mode == "detailed":
        assert "no IPC data for these CPUs; run eascope characterise" in wrong_capacities(unknown)
    elif speeds == "board":
        assert wrong_capacities(unknown) == warning


@pytest.mark.parametrize(
    ("variant", "statement", "message"),
    [
        ("cass", "migrations > 3", r"expect\[\d\]\.variant = 'cass': .*\(did you mean cas\?\)"),
        (
            "cas",
            "migrations > migrations[mainlin]",
            r"expect\[\d\]\.statement = 'mainlin': .*\(did you mean mainline\?\)",
        ),
    ],
)
def test_unknown_variant_in_expect(
    artefacts: Artefacts, tmp_path: Path, variant: str, statement: str, message: str
) -> None:
    path = tmp_path / "x.toml"
    extra = f'\n[[expect]]\nvariant = "{variant}"\nstatement = "{statement}"\nsource = "none"\n'
    path.write_text(resolve(REQUEST).scenario.path.read_text() + extra)
    with pytest.raises(RequestError, match=message) as caught:
        resolve(replace(REQUEST, scenario=str(path)))
    assert str(caught.value).startswith(f"{path}: ")


def test_the_boost_switch_is_there_with_turbo_opps(artefacts: Artefacts, tmp_path: Path) -> None:
    (path := tmp_path / "turbo.toml").write_text(
        'base = "juno-r2"\nsummary = "s"\ncluster.big.opps.1200000.turbo = true\n'
    )
    for platform, file, value, message in (
        (
            "juno-r2",
            "boost",
            "1",
            "x: switch .*boost = '1': allowed: .* no OPP of juno-r2 is a turbo",
        ),
        (str(path), "policy0/boost", "1", "no OPP of policy0 is a turbo OPP"),
        (str(path), "boost", "on", "boost = 'on': allowed: of boost: 0 or 1"),
        (str(path), "boost", "1", ""),
        (str(path), "policy4/boost", "0", ""),
    ):
        own = read_own([], [], [], [f"x:/sys/devices/system/cpu/cpufreq/{file}={value}"])
        request = replace(REQUEST, platform=platform, variant="x", own=own)
        with pytest.raises(RequestError, match=message) if message else nullcontext():
            assert (f"/sys/devices/system/cpu/cpufreq/{file}", value) in resolve(
                request
            ).variant.switches


def test_a_variant_of_the_command_may_be_expected_of(
    artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    patch = tmp_path / "margin.patch"
    patch.write_text("--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n")
    path = tmp_path / "x.toml"
    extra = '\n[[expect]]\nvariant = "margin"\nstatement = "migrations > 3"\nsource = "none"\n'
    path.write_text(resolve(REQUEST).scenario.path.read_text() + extra)
    own = read_own([], [str(patch)])
    request = resolve(replace(REQUEST, scenario=str(path), own=own))
    assert request.scenario.expect[-1].variant == "margin"
    with pytest.raises(RequestError, match="'margin': allowed"):
        resolve(replace(REQUEST, scenario=str(path)))


def test_planned_variants_are_expected_of_and_not_run(
    artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = "soon"
    with_one = replace(load_catalogue(), planned={planned: "not built yet"})
    for room in ("eascope.experiments.runs.request", "eascope.kernels.naming"):
        monkeypatch.setattr(f"{room}.load_catalogue", lambda: with_one)
    path = tmp_path / "x.toml"
    extra = f'\n[[expect]]\nvariant = "{planned}"\nstatement = "migrations > 3"\nsource = "none"\n'
    path.write_text(resolve(REQUEST).scenario.path.read_text() + extra)
    assert resolve(replace(REQUEST, scenario=str(path))).scenario.expect[-1].variant == planned
    with pytest.raises(
        RequestError, match=f"variant '{planned}' has no kernel yet.*: eascope list v"
    ):
        resolve(replace(REQUEST, variant=planned))


#: juno-r2's largest CPU at its top OPP.
JUNO = Controls(reference="cortex-a72@1200")


def turns(platform: str, controls: Controls) -> list[tuple[int | None, ...]]:
    cell = prepared(platform=platform, controls=controls)
    return [task.turns for task in cell.record.tasks]


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """juno-r2 without its bigs' fastest OPP."""
    path = tmp_path / "slow.toml"
    path.write_text(
        'base = "juno-r2"\nsummary = "a slow juno"\nremove = ["cluster.big.opps.1200000"]\n'
    )
    return str(path)


def test_other_platforms_do_the_same_work(artefacts: Artefacts, slow: str) -> None:
    """Without a reference the slower board does less in the same number of microseconds."""
    assert turns(slow, Controls()) != turns("juno-r2", Controls())
    assert turns(slow, JUNO) == turns("juno-r2", JUNO) == turns("pixel6", JUNO)
    assert turns("juno-r2", JUNO) == turns("juno-r2", Controls()), "its own top is the usual unit"
    assert prepared(controls=JUNO).record.set_otherwise == ("reference-cortex-a72-1200-mhz",)


def test_half_the_frequency_is_half_the_work() -> None:
    assert reference_iteration_ns("cortex-a72@600") == 2 * reference_iteration_ns("cortex-a72@1200")
    assert isinstance(reference_iteration_ns("cortex-a53@850"), Fraction)


@pytest.mark.parametrize("text", ["", "cortex-a72", "cortex-a72@0", "cortex-a72@1.2", "a b@3"])
def test_other_forms(text: str) -> None:
    with pytest.raises(RequestError, match="allowed: CORE@MHZ"):
        reference_iteration_ns(text)


def test_not_together_with_the_sources_unit() -> None:
    with pytest.raises(RequestError, match="cannot be combined"):
        Controls(reference="cortex-a72@1200", calibration_ns=186).iteration_ns()


#: Four equal CPUs: juno-r2 without its fast cluster.
FOUR_EQUAL = 'remove = ["cluster.big"]'
TWO_CLUSTERS = "cluster.little.cpus = 2\ncluster.more = { like = 'little', cpus = 2 }"


def _names(folder: Path, text: str, variant: str = "mainline") -> Resolved:
    path = folder / "mine.toml"
    path.write_text(f'base = "juno-r2"\nsummary = "a test"\n{text}')
    return resolve(Request(str(path), variant, "smoke"))


def test_inherited_rates_are_a_warning(tmp_path: Path) -> None:
    assert rate_warnings(_names(tmp_path, "")) == [
        "the kernel's rate is inherited: little from juno-r2's little (cortex-a53), big from "
        "juno-r2's big (cortex-a72)"
    ]


def test_a_kernel_that_runs_too_fast_is_a_warning(tmp_path: Path) -> None:
    names = _names(tmp_path, 'cluster.big.core = "cortex-a57"\ncluster.big.cpus = 1')
    inherited, fast = rate_warnings(names)
    assert inherited.endswith("inherited: little from juno-r2's little (cortex-a53)")
    assert fast.startswith(
        "the kernel runs at the busy loop's rate, 2 to 4 times too fast, on big (cortex-a57): "
    )


@pytest.mark.parametrize("name", ["juno-r2", "pixel6"])
def test_platforms_that_were_measured_have_no_warning(name: str) -> None:
    assert not rate_warnings(resolve(Request(name, "mainline", "smoke")))


@pytest.mark.parametrize("variant", ["mainline", "cas"])
@pytest.mark.parametrize("clusters", [1, 2])
def test_equal_cpus_have_no_eas_and_no_switch_of_eas(
    tmp_path: Path, variant: str, clusters: int
) -> None:
    text = FOUR_EQUAL if clusters == 1 else f"{FOUR_EQUAL}\n{TWO_CLUSTERS}"
    names = _names(tmp_path, text, variant)
    assert len(names.platform.clusters) == clusters
    assert names.variant.declares.eas is False
    assert not any("energy_aware" in path for path, _ in names.variant.switches)
    assert without_eas(names) == (
        "no variant has EAS on mine: all of its CPUs have the same capacity, and the kernel "
        "refuses EAS there"
    )
    assert not without_eas(resolve(Request("juno-r2", variant, "smoke")))


def test_schedutils_worker_moves_where_the_kernel_lets_it(tmp_path: Path) -> None:
    """Linux 6.12 binds it, and it is not there with fast switch."""
    asked = replace(
        REQUEST,
        platform="pixel6",
        scenario="boards/worker-moves",
        variant="mainline@7.3",
        source_conditions=True,
    )
    assert resolve(asked).scenario.bound_threads == 5 * ["sugov:6"]
    for wrong, words in (
        (replace(asked, variant="mainline"), "Linux 6.12 binds it to its policy; use a variant of"),
        (replace(asked, source_conditions=False), "there is none with fast switch; use --no-fast"),
    ):
        with pytest.raises(
            RequestError, match=f"worker-moves.toml: kernel thread sugov:6: {words}"
        ):
            resolve(wrong)
    (path := tmp_path / "own.toml").write_text(
        resolve(asked).scenario.path.read_text().replace("sugov:6", "sugov:5")
    )
    with pytest.raises(RequestError, match="sugov:5: allowed: sugov:0, sugov:4, sugov:6"):
        resolve(replace(asked, scenario=str(path)))
    patch = tmp_path / "own.patch"
    patch.write_text(
        "--- a/kernel/sched/syscalls.c\n+++ b/kernel/sched/syscalls.c\n@@ -1 +1 @@\n-a\n+b\n"
    )
    own = read_own([], [f"moves={patch}"])
    assert resolve(replace(asked, variant="moves", own=own)).kernel.own


def test_a_latency_nice_that_no_kernel_knows_is_named() -> None:
    """Once for each variant, whichever comes first."""
    scenario = "latnice/eventfd-wakeup"
    line = "cas: latency_nice has no effect: kernel base lacks it; use a latnice variant"
    assert without_latency_nice(resolve(Request("juno-r2", "cas", scenario))) == line
    assert without_latency_nice(resolve(Request("juno-r2", "latnice-skip", scenario))) == ""
    assert without_latency_nice(resolve(Request("juno-r2", "cas", "smoke"))) == ""


def test_real_time_tasks_without_a_fair_server_are_named() -> None:
    without = Controls(fair_server=False)
    urgent = Request("juno-r2", "mainline", "uclamp/rt-capped", controls=without)
    word = "with --no-fair-server, fair tasks starve"
    assert word in without_fair_server(resolve(urgent))
    assert without_fair_server(resolve(replace(urgent, controls=Controls()))) == ""
    assert without_fair_server(resolve(replace(urgent, scenario="smoke"))) == ""


@pytest.mark.parametrize(
    ("controls", "platform", "words"),
    [
        (
            {"clock_floors": False},
            "juno-r2",
            "--no-clock-floors has no effect: it is already the default of juno-r2",
        ),
        ({"clock_floors": False}, "pixel6", ""),
        ({"rate_limit_us": 500}, "juno-r2", "--rate-limit-us 500 has no effect: it"),
        ({"rate_limit_us": 501}, "juno-r2", ""),
        ({"llc": "cluster"}, "juno-r2", "--llc cluster has no effect: it is already"),
        ({"idle_exit_percent": 25}, "juno-r2", ""),
        ({"kernel_rate_of": "in-order"}, "juno-r2", "--kernel-rate-of in-order has no effect"),
        ({}, "juno-r2", ""),
    ],
)
def test_a_control_that_changes_nothing_is_named(
    controls: dict[str, Any], platform: str, words: str
) -> None:
    request = Request(platform, "mainline", "smoke", controls=Controls(**controls))
    told = [*without_effect(resolve(request))]
    assert [line.startswith(words) for line in told] == [True] * bool(words)


@pytest.mark.parametrize(
    ("boot", "switches", "words"),
    [
        ("irqaffinity=0-3", [], "x: irqaffinity=0-3 has no effect: no device interrupts it"),
        (
            "numa-balancing=enable",
            [],
            "x: numa-balancing=enable has no effect: it is one NUMA node",
        ),
        ("nowatchdog", [], "x: nowatchdog has no effect: it has no watchdog"),
        ("sysctl.vm.swappiness=0", [], "x: sysctl.vm.swappiness=0 has no effect: it has no swap"),
        ("nosmt", [], "x: nosmt has no effect: its cores have one thread each"),
        (
            "",
            ["/proc/sys/vm/dirty_ratio=5"],
            "x: /proc/sys/vm/dirty_ratio=5 has no effect: it has no",
        ),
        (
            "cpuidle.governor=menu",
            [],
            "x: cpuidle.governor=menu has no effect: it is already the kernel's default",
        ),
        (
            "",
            ["/sys/kernel/debug/sched/features=UTIL_BOOST"],
            "x: /sys/kernel/debug/sched/features=UTIL_BOOST has no effect: it is",
        ),
        ("cpuidle.governor=teo skew_tick=1 nohz=off rcutree.use_softirq=0", [], ""),
        ("", ["/proc/sys/kernel/sched_util_clamp_min=512"], ""),
    ],
)
def test_an_argument_or_a_switch_without_effect_is_named(
    boot: str, switches: list[str], words: str
) -> None:
    boots = [f"x={boot}"] if boot else []
    own = read_own([], [], boots, [f"x:{switch}" for switch in switches])
    told = [*without_effect(resolve(Request("juno-r2", "x", "smoke", own=own)))]
    assert [line.startswith(words) for line in told] == [True] * bool(words)


@pytest.mark.guest
@pytest.mark.parametrize("variant", ["mainline", "cas"])
@pytest.mark.parametrize("clusters", [1, 2])
def test_equal_cpus_run(tmp_path: Path, variant: str, clusters: int) -> None:
    """Its proofs say that EAS is off, and the kernel's own file that it cannot be on."""
    second = TWO_CLUSTERS if clusters == 2 else ""
    names = _names(tmp_path, f"{FOUR_EQUAL}\n{second}", variant)
    run = execute(prepare(names))
    assert run.cell.declares["eas"] is False
    result = derive(run.path, names.platform, names.activity).result
    assert result.eas is False
    assert len(result.cpu_busy) == 4
    assert result.wakeups["light"] > 25
