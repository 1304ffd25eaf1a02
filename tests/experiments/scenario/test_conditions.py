# SPDX-License-Identifier: GPL-2.0-or-later
"""What a scenario's source had: strictly read, set as controls, in keys through what it changes."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.platform_file import load_platform
from eascope.experiments.cli.request import request_of
from eascope.experiments.cli.verbs import make_parser
from eascope.experiments.controls import DEFAULT_CONTROLS, Controls
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.runs.warnings import wrong_capacities
from eascope.experiments.scenario.conditions import conditions_of
from eascope.experiments.scenario.names import names
from eascope.experiments.scenario.workload import RT_APP_NAME
from eascope.experiments.scenario_file import load_scenario
from eascope.experiments.sweeps.point import Point
from eascope.host.errors import RequestError
from eascope.kernels.own import read_own
from eascope.kernels.switches import FEATURES
from eascope.kernels.trees import tree_source
from eascope.power.given import DEFAULT_MODEL
from tests.support.cells import Artefacts, prepared
from tests.support.refusals import refusal
from tests.support.toy_linux import git, toy_linux

SPIKE = "uclamp/frequency-spike"
#: What the notebook on the Juno r2 had, one control at a time.
OF_THE_NOTEBOOK = (
    Controls(dvfs="board"),
    Controls(delay_dequeue=False),
    Controls(fair_server=False),
    Controls(calibration_ns=186),
    Controls(speeds="hardware"),
    Controls(switches=((FEATURES, "NO_NI_RANDOM"),)),
)
#: Besides programs of `programs/`, which are run by themselves, and rt-app's own examples in
#: `lkp/`, of which no kernel is said. Rails were metered at each clock, with CPUs busy or idle
#: throughout: no scheduler had a choice.
RAILS = ("boards/busy-one", "boards/busy-all", "boards/idle")
NOT_OF_A_SOURCE = (
    "latnice/wakeup-alternatives",
    "eas/interrupted-big",
    "busy",
    "smoke",
    "uclamp/rt-capped",
    "boards/parallel-n",  # which states no kernel
    *RAILS,
)
OWN = """\
[source_conditions]
source = "somebody"
"""


def own(folder: Path, text: str) -> str:
    """A scenario file with ``text`` before its tasks."""
    path = folder / "own.toml"
    smoke = resolve(Request("juno-r2", "mainline", "smoke")).scenario.path.read_text()
    head, mark, rest = smoke.partition("[[task]]")
    path.write_text(f"{head}{text}\n{mark}{rest}")
    return str(path)


def test_the_sources_controls_and_the_same_ones_given_are_one_run(artefacts: Artefacts) -> None:
    plain = prepared(scenario=SPIKE)
    set_so = prepared(scenario=SPIKE, source_conditions=True)
    given = prepared(scenario=SPIKE, controls=conditions_of(SPIKE).controls)
    assert set_so.simkey == given.simkey != plain.simkey
    assert set_so.record == given.record
    assert not plain.record.set_otherwise
    assert set_so.record.set_otherwise == (
        *("board-dvfs", "no-delay-dequeue", "no-fair-server", "hardware-speeds"),
        "calibration-186-ns",
        *("no-preempt-short", "no-place-rel-deadline", "no-ni-random"),
    )
    assert plain.record.source_conditions == set_so.record.source_conditions
    assert set_so.record.source_conditions is not None
    assert set_so.record.source_conditions.controls == set_so.record.set_otherwise


def test_each_condition_changes_the_key_and_what_it_is_about(artefacts: Artefacts) -> None:
    plain = prepared(scenario=SPIKE)
    cells = [prepared(scenario=SPIKE, controls=controls) for controls in OF_THE_NOTEBOOK]
    assert len({plain.simkey, *(cell.simkey for cell in cells)}) == 1 + len(cells)
    changed = [
        {key for key, digest in cell.record.digests.items() if digest != plain.record.digests[key]}
        for cell in cells
    ]
    # Latency and speeds are settings of the engine, which the fake engine does not have; with
    # hardware's speeds a us on the largest CPU is fewer turns.
    assert changed == [{"dtb", "script"}, *[{"script"}] * 5]
    board = cells[0].record.controls
    assert (board.transition_latency_us, board.rate_limit_us) == (2920, 4000)
    assert not cells[0].machine.platform.fast_switch


def test_switches_are_written_first_and_proven(artefacts: Artefacts) -> None:
    lines = prepared(scenario=SPIKE, source_conditions=True, variant="cas").machine.script
    texts = lines.decode(errors="replace").splitlines()
    switch = f"{FEATURES} NO_NI_RANDOM"
    assert texts.index(f"write {switch}") < texts.index(
        "write /proc/sys/kernel/sched_energy_aware 0"
    )
    assert texts.count(f"word {switch}") == 2, "before the window and after it"
    assert "thread sugov:0" in texts
    assert "thread sugov:4" in texts


def test_without_conditions_no_key_changes(artefacts: Artefacts, tmp_path: Path) -> None:
    plain, stated = prepared(), prepared(scenario=own(tmp_path, OWN))
    assert stated.simkey == plain.simkey
    assert prepared(scenario=own(tmp_path, OWN), source_conditions=True).simkey == plain.simkey


def test_what_is_given_stays(artefacts: Artefacts) -> None:
    names_ = resolve(
        Request(
            *("juno-r2", "mainline", SPIKE),
            controls=Controls(rate_limit_us=8000),
            source_conditions=True,
        )
    )
    assert names_.platform.rate_limit_us == 8000
    assert names_.platform.transition_latency_us == 2920
    assert names_.request.controls.calibration_ns == 186
    assert names_.request.words == "mainline, source-conditions, rate-limit-8000-us, seed 0"


@pytest.mark.parametrize(
    "words", [["--dvfs", "model"], ["--dvfs", "model", "--speeds", "hardware"]]
)
def test_a_default_that_is_given_stays(words: list[str]) -> None:
    """On the command line and in a campaign's point."""
    command = ["compare", "mainline", "cas", "--platform", "juno-r2", "--scenario", SPIKE]
    options = make_parser().parse_args([*command, "--source-conditions", "--dvfs", "model"])
    given = resolve(request_of(options, "mainline", 0, DEFAULT_MODEL)).request.controls
    assert (given.dvfs, given.speeds, type(given.dvfs)) == ("model", "hardware", str)
    point = Point(
        labels={},
        variant="mainline",
        scenario=SPIKE,
        source_conditions=True,
        controls={"dvfs": "model"},
    )
    assert resolve(point.request("juno-r2", 0)).request.controls.dvfs == "model"
    plain = resolve(Request("juno-r2", "mainline", SPIKE, source_conditions=True))
    assert plain.request.controls.dvfs == "board"


def test_a_run_of_100_ms_is_the_sources_turns(artefacts: Artefacts) -> None:
    cell = prepared(scenario="uclamp/capped-tasks-spread", source_conditions=True)
    assert {turns for task in cell.record.tasks for turns in task.turns} == {537_634}
    document = json.loads(cell.inputs()[f"{RT_APP_NAME}.json"])
    phases = [phase for task in document["tasks"].values() for phase in task["phases"].values()]
    assert {phase["run"] for phase in phases if "run" in phase} == {537_634}


def test_those_turns_take_as_long_as_on_the_board() -> None:
    """537 634 turns, 100 ms of `run`: CPU times in the traces, by cluster and MHz."""
    names_ = resolve(Request("juno-r2", "mainline", SPIKE, source_conditions=True))
    activity = names_.activity
    for cluster, mhz, took_ms in (
        *(("little", 450, 295.6), ("little", 800, 169.7)),
        *(("big", 600, 136.5), ("big", 1000, 82), ("big", 1200, 68)),
    ):
        on = names_.platform.cluster(cluster)
        per_us = activity.instructions_per_us(on, mhz * 1000) / activity.iteration_instructions
        assert 537_634 / per_us / 1000 == pytest.approx(took_ms, rel=0.012)
    assert names_.platform.capacities == load_platform("juno-r2").capacities
    assert wrong_capacities(names_) == (
        "device-tree capacity and rt-app loop speed differ, as on the board: "
        "little capacity 383, speed 493"
    )


def test_work_is_recorded_as_long_as_it_takes_here(artefacts: Artefacts) -> None:
    plain = prepared(scenario="uclamp/capped-tasks-spread").record.tasks[0]
    board = prepared(scenario="uclamp/capped-tasks-spread", source_conditions=True).record.tasks[0]
    assert plain.work_us == 100_000
    assert board.work_us == pytest.approx(68_000, rel=0.005)


@pytest.mark.parametrize("name", names())
def test_every_scenario_with_a_source_states_its_conditions(name: str) -> None:
    """And they can be set: on the board where it is one of ours, else on any."""
    present = load_scenario(name, load_platform("juno-r2")).source_conditions
    assert (present is None) == (name in NOT_OF_A_SOURCE or name.startswith(("programs/", "lkp/")))
    if present is not None:
        platform = load_platform(present.platform or "juno-r2")
        changed = present.controls.of_platform(platform)
        assert changed.rate_limit_us >= changed.transition_latency_us


def test_a_file_with_the_board_as_its_base_is_the_board(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "juno-r2"\nsummary = "cold"\ntemperature_c = 30\n')
    platform = resolve(Request(str(path), "mainline", SPIKE, source_conditions=True)).platform
    assert platform.transition_latency_us == 2920


#: Who says of a source's kernel that it is older than 6.12, in which the fair server came.
OLDER = r"20(12|20|22)\b|Linux (5\.|6\.8)|before Linux 6\.12"


@pytest.mark.parametrize("name", names())
def test_a_source_with_an_older_kernel_has_no_fair_server(name: str) -> None:
    """Its bandwidth is a floor of schedutil's request: 738 MHz of pixel6's littles."""
    had = load_scenario(name, load_platform("juno-r2")).source_conditions
    if had is not None:
        old = re.search(OLDER, had.source) is not None
        assert (had.controls.fair_server, had.controls.delay_dequeue) == (not old, not old)


def test_a_tree_that_cannot_have_a_condition_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, before anything is built: a feature that went, or no fair server yet."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    linux = toy_linux(tmp_path / "linux")
    own = read_own([f"mine={linux}"], [])
    asked = Request("juno-r2", "mine", SPIKE, own=own, source_conditions=True)
    sched = linux / "kernel" / "sched"
    sched.mkdir(parents=True)
    features = ("PREEMPT_SHORT", "PLACE_REL_DEADLINE", "NI_RANDOM", "DELAY_DEQUEUE")
    text = "".join(f"SCHED_FEAT({name}, true)\n" for name in features)
    for lacks, (listed, servers) in {
        "NO_NI_RANDOM": (text.replace("NI_RANDOM", "NI_RANDOMLY"), "fair_server"),
        "/sys/kernel/debug/sched/fair_server/cpu0/runtime": (text, ""),
        "": (text, "fair_server"),
    }.items():
        (sched / "features.h").write_text(listed)
        (sched / "deadline.c").write_text(servers)
        git(linux, "add", ".")
        tree_source.cache_clear()
        if lacks:
            said = refusal(lambda: resolve(asked))
            assert said.startswith(f"--kernel mine={linux}: has no {lacks}, which a control")
            resolve(replace(asked, source_conditions=False))
        else:
            resolve(asked)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("fair_server = 0", r"source_conditions.fair_server = 0: allowed: true or false"),
        ("fast_switch = 1", r"source_conditions.fast_switch = 1: allowed: true or false"),
        ('platform = "juno"', r"source_conditions.platform = 'juno': .*juno-r2"),
        ('dvfs = "phone"', r"source_conditions.dvfs = 'phone': allowed: one of board, model"),
        ('dvfs = "board"', r"source_conditions.platform is missing: .*board"),
        ('switches = [["/etc/x", "1"]]', r"source_conditions.switches = .*allowed: .* below /proc"),
    ],
)
def test_a_wrong_condition_is_one_line(tmp_path: Path, line: str, message: str) -> None:
    path = own(tmp_path, OWN + line)
    with pytest.raises(RequestError, match=message) as caught:
        resolve(Request("juno-r2", "mainline", path))
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_conditions_that_would_never_change_a_frequency_are_refused(tmp_path: Path) -> None:
    path = own(tmp_path, OWN + "transition_latency_us = 600\n")
    with pytest.raises(RequestError, match=r"rate limit 500 us is below .*\(600 us\)"):
        resolve(Request("juno-r2", "mainline", path, source_conditions=True))


def test_how_a_board_does_it_is_known_or_refused(tmp_path: Path) -> None:
    platform = replace(load_platform("juno-r2"), board_dvfs=None)
    with pytest.raises(RequestError, match=r"--dvfs board: juno-r2 has no \[dvfs.board\]"):
        Controls(dvfs="board").of_platform(platform)
    with pytest.raises(RequestError, match=r"dvfs 'boards'.*did you mean board"):
        Controls(dvfs="boards").of_platform(platform)


def test_a_part_of_the_boards_may_be_set_otherwise() -> None:
    juno = load_platform("juno-r2")
    changed = Controls(dvfs="board", fast_switch=True, rate_limit_us=5000).of_platform(juno)
    assert (changed.fast_switch, changed.rate_limit_us) == (True, 5000)
    assert changed.transition_latency_us == 2920
    assert DEFAULT_CONTROLS.of_platform(juno) is juno
