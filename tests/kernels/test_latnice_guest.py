# SPDX-License-Identifier: GPL-2.0-or-later
"""The attribute latency_nice in a guest: what it may be set to, and what each of its uses does."""

import re
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.platform import Platform
from eascope.engines.base import EngineFailed
from eascope.kernels.build import KernelArtefact
from tests.support.command import ran
from tests.support.guest_cases import GROUP, Found
from tests.support.guest_mutants import guest_check
from tests.support.kernel_guest import boot
from tests.support.latnice_checks import CASES, FILES, answer, check_answers, run
from tests.support.releases import kernel_of, of_releases
from tests.support.scenarios import write
from tests.support.stress import busy_switches, checked, counters, survive

pytestmark = pytest.mark.guest

TRACING = "/sys/kernel/tracing"


@pytest.fixture(scope="module", params=of_releases("latnice"))
def latnice(request: pytest.FixtureRequest) -> KernelArtefact:
    """The kernel of each release, built before the first test."""
    return kernel_of(request.param)


def test_the_system_call_and_the_file_answer_as_described(
    latnice: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    check_answers(latnice, juno, tmp_path)


def test_a_kernel_without_the_attribute_refuses_it(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """The flag alone is EINVAL, a value E2BIG: how programs find out."""
    for value, errno in ((0, "Invalid argument"), (-1, "Argument list too long")):
        script = [f"spawn l /bin/latnice {value} /bin/true", "wait l"]
        with pytest.raises(EngineFailed, match=f"latnice: {errno}"):
            boot(
                base_kernel.image,
                juno,
                script,
                tmp_path / f"{value}",
            )


def test_the_agent_gives_a_thread_its_value(
    latnice: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """And reads it back; a thread that does not come is an error."""
    script = ["spawn nap /bin/busybox sleep 1", "latency-nice nap busybox -7", "wait nap"]
    boot(latnice.image, juno, script, tmp_path / "there")
    script[1] = "latency-nice nap nobody -7"
    with pytest.raises(EngineFailed, match="latency-nice nap: no thread nobody"):
        boot(latnice.image, juno, script, tmp_path / "absent")


def test_the_images_tool_gives_and_prints_a_value(
    latnice: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """To a program, whose children inherit it, and to a thread that is there."""
    tool = "/bin/latnice"
    script = [
        *(f"spawn set {tool} -p 1 -3", "wait set", f"spawn get {tool} -p 1", "wait get"),
        "collect /tmp/get.log get.log",
        *(f"spawn own {tool} 5 {tool} -p 0", "wait own"),
        "collect /tmp/own.log own.log",
    ]
    done = boot(latnice.image, juno, script, tmp_path / "out")
    assert done.text("get.log") == "-3\n"
    assert done.text("own.log") == "5\n"
    with pytest.raises(EngineFailed, match=r"latnice: '20': allowed: -20..19"):
        boot(latnice.image, juno, [f"spawn l {tool} -p 1 20", "wait l"], tmp_path / "wrong")


def test_two_writers_and_a_task_that_moves_and_ends(
    latnice: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """While a group changes and each use reads the values; no value is stale in the end."""
    switches = [f"write {path} {value}" for path, value in busy_switches("latnice")]
    text = answer(
        latnice,
        juno,
        tmp_path,
        *switches,
        f"write {FILES}/latnice_idle shallow",
        f"write {GROUP}/cgroup.procs 0",
        "latnice_race 10000",
    )
    done, lives = map(int, text.split())
    assert done >= 10000
    assert lives >= 20


@pytest.fixture(scope="module")
def found(
    latnice: KernelArtefact, juno: Platform, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Found]:
    return run(latnice, juno, CASES, tmp_path_factory.mktemp("found"))


@pytest.mark.parametrize(
    "check",
    ["check_off", "check_search", "check_prefer_idle", "check_pack", "check_gate", "check_poll"],
)
def test_use(found: dict[str, Found], check: str) -> None:
    guest_check("latnice", check).asserts(found)


def test_events_say_who_set_it_and_what_it_placed(
    latnice: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    script = [
        f"write {FILES}/latnice_pack 16",
        "trace-setup 4096 eascope:sched_latency_nice eascope:sched_latnice_place",
        f"write {TRACING}/tracing_on 1",
        "spawn packed /bin/packed 6 17",
        "wait packed 20000",
        f"collect {TRACING}/trace trace.txt",
    ]
    done = checked(latnice.image, juno, script, tmp_path, "packed")
    text = done.text("trace.txt")
    assert re.findall(r"sched_latency_nice: comm=packed pid=\d+ old=(\d+) new=(\d+)", text) == [
        ("20", "17")
    ]
    placed = re.findall(
        r"sched_latnice_place: comm=packed pid=\d+ latency_nice=17 use=pack prev_cpu=\d+ "
        r"dst_cpu=(\d+)",
        text,
    )
    assert len(placed) > 100


def test_everything_is_at_work_under_stress(
    latnice: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """Attributes, groups, CPUs and policies change at once; what is counted was at work."""
    done = survive(
        latnice.image,
        juno,
        tmp_path / "run",
        switches=busy_switches("latnice"),
        ms=2_000,
    )
    assert re.search(r"^latency [1-9]", done.text("stress.txt"), re.MULTILINE)
    counted = counters(done.text("stats.txt"))
    for name in ("latnice_skip", "pack_hit", "idle_gated"):
        assert counted[name] > 0, name
    # Load balance seldom meets a packed task: on 7.3 not once within this time.
    assert counted["pack_lb_refused"] > 0 or not latnice.version.startswith("6.12")


WINDOW = "warmup_ms = 1_000\nshort_ms = 2_000\nfull_ms = 2_000"


def found_of(
    release: str, variant: str, folder: Path, scenario: str, *options: str
) -> dict[str, Any]:
    """What ``eascope run`` finds on juno-r2."""
    name = f"{variant}{release.removeprefix('latnice')}"
    return ran(scenario, *options, variant=name, EASCOPE_RUNS=str(folder / "runs"))


@pytest.mark.parametrize("release", of_releases("latnice"))
def test_any_idle_cpu_is_preferred(release: str, tmp_path: Path) -> None:
    """Five of six CPUs are busy at a cap, the sixth is the last that a search looks at.

    A task whose dequeue is delayed looks for none, which is often so on 7.3.
    """
    hogs = (("big:0", "b0"), ("big:1", "b1"), *((f"little:{n}", f"c{n}") for n in range(3)))
    busy = "".join(
        f'[[task]]\nname = "{name}"\ncpus = "{cpu}"\nuclamp = {{ max = 60 }}\n'
        "[[task.phase]]\nrun_us = 100_000\n"
        for cpu, name in hogs
    )
    first = 'loops = 1\nrun_us = 200\nsleep_us = 3_000\ncpus = "big:0"\n[[task.phase]]\n'
    scenario = write(
        tmp_path,
        task='repeat = "forever"\nlatency_nice = -10',
        phase=f'{first}loops = 1\nrun_us = 200\nsleep_us = 3_000\ncpus = "any"',
        more=busy,
        window=WINDOW,
    )
    result = found_of(release, "latnice-prefer-idle", tmp_path, scenario, "--no-delay-dequeue")
    assert result["latency_us"]["a"]["p95"] < 2_000


@pytest.mark.parametrize("release", of_releases("latnice"))
def test_boosted_tasks_are_packed_where_their_boost_is(release: str, tmp_path: Path) -> None:
    scenario = write(
        tmp_path,
        task="count = 4\nlatency_nice = 19\nuclamp = { min = 800 }",
        phase="run_us = 300\nperiod_us = 5_000",
        window=WINDOW,
    )
    result = found_of(release, "latnice-pack", tmp_path, scenario)
    assert result["work_share"]["big"] > 0.95
