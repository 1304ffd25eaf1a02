# SPDX-License-Identifier: GPL-2.0-or-later
"""What ``compare --robust`` varies, what it runs for that, and what it does not run."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eascope.analysis.derivers import Derivers
from eascope.configs.activity import Activity
from eascope.configs.knobs import AXES
from eascope.configs.platform import Platform
from eascope.configs.platform_file import PLATFORMS
from eascope.engines.qemu.engine import QemuEngine
from eascope.experiments.cli.compare import asked_of
from eascope.experiments.cli.verbs import make_parser
from eascope.experiments.controls import DEFAULT_CONTROLS, Controls
from eascope.experiments.runs import measure
from eascope.experiments.runs.axes import Cases, cases_of, wanted_axes
from eascope.experiments.runs.cell import Cell, prepare
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.measure import Group
from eascope.experiments.runs.request import Resolved, resolve
from eascope.experiments.runs.store import Run
from eascope.experiments.runs.warnings import billed_by_others
from eascope.host.errors import RequestError
from eascope.power.model import Interval
from tests.support.campaigns import StandInRuns
from tests.support.cells import REQUEST, Artefacts
from tests.support.command import COMPARE, json_inside, output_of
from tests.support.fake import badly, cell, well
from tests.support.refusals import refusal

BOTH = ("mainline", "cas")
MS = 1_000_000


def asked(**changes: Any) -> list[Resolved]:
    return [resolve(replace(REQUEST, variant=variant, **changes)) for variant in BOTH]


def cases(axes: Sequence[str] = tuple(AXES), *, named: bool = False, **changes: Any) -> Any:
    return cases_of(asked(**changes), BilledBy("published"), axes, named=named)


def test_every_axis_is_varied_one_at_a_time() -> None:
    result = cases()
    assert [(case.axis, case.value.name) for case in result.cases] == [
        *(("power", "measured"), ("power", "derived")),
        *(("shared_power", "off"), ("shared_power", "zero")),
        *(("transition_power", "0%"), ("transition_power", "100%")),
        *(("dvfs", "board"), ("fast_switch", "off"), ("llc", "all")),
        *(("delayed_dequeue", "off"), ("fair_server", "off")),
        *(("speeds", "hardware"), ("speeds", "measured")),
        ("idle_exit", "told"),
        *(("kernel_rate", f"{rate}-order") for rate in ("140% in", "93% out-of", "108% out-of")),
    ]
    assert result.left_out == ()
    for case in result.cases:
        assert bool(case.resolved) != AXES[case.axis].billing
        if case.resolved:
            assert case.billing == BilledBy("published")
            changed = case.resolved[0].request.controls
            differs = [
                key
                for key in vars(changed)
                if getattr(changed, key) != getattr(DEFAULT_CONTROLS, key)
            ]
            wanted = [
                key
                for key, value in case.value.sets.items()
                if value != getattr(DEFAULT_CONTROLS, key)
            ]
            assert differs == wanted != []


def test_what_changes_nothing_of_a_power_is_left_out_with_a_reason() -> None:
    """By curves, ways into idle states cost nothing and a shared part that is off draws nothing."""
    pixel6 = asked(platform="pixel6")
    result = cases_of(
        pixel6, BilledBy("wattson"), ("shared_power", "transition_power"), named=False
    )
    assert [(case.axis, case.value.name) for case in result.cases] == [("shared_power", "zero")]
    assert result.left_out == ("transition_power (it changes nothing of wattson power)",)


@pytest.mark.parametrize(
    ("line", "unread"),
    [
        ("memory_mib = 512", {}),
        ("cluster.big.opps.2802000.power_uw = 3_000_000", {"wattson": "cluster.big.opps.power_uw"}),
        (
            "cluster.big.busy.profile.opps.2802000.power_uw = 3_000_000",
            dict.fromkeys(("wattson", "published"), "cluster.big.busy.profile"),
        ),
        (
            "cluster.big.idle_states.wfi.power_uw = 9",
            dict.fromkeys(("wattson", "published"), "cluster.big.idle_states.power_uw"),
        ),
        ("temperature_c = 90", {"wattson": "temperature_c"}),
        ("shared.on_uw = 90_000", {"wattson": "shared"}),
        ("curves.early_us.big = 100", {"published": "curves"}),
        (
            "curves.rail_uw_per_mhz_v2 = 366",
            dict.fromkeys(("wattson", "published"), "curves.rail_uw_per_mhz_v2"),
        ),
    ],
)
def test_a_file_of_ones_own_is_told_which_figures_do_not_bill(
    tmp_path: Path, line: str, unread: dict[str, str]
) -> None:
    """By each power it is told exactly of those that it does not read."""
    path = tmp_path / "mine.toml"
    path.write_text(f'base = "pixel6"\nsummary = "s"\n{line}\n')
    (names, _) = asked(platform=str(path))
    for power in ("wattson", "published"):
        word = billed_by_others(names, power)
        assert word.partition("does not read ")[2] == unread.get(power, "")
    assert billed_by_others(asked(platform="pixel6")[0], "wattson") == ""


def test_what_was_asked_for_is_no_alternative() -> None:
    result = cases(("speeds",), controls=Controls(speeds="measured", idle_exit_percent=25))
    assert [case.value.name for case in result.cases] == ["board", "hardware"]
    case = result.cases[0]
    assert case.resolved[1].request.controls == Controls(speeds="board", idle_exit_percent=25)
    derived = cases_of(asked(), BilledBy("derived", "zero"), ("power", "shared_power"), named=True)
    assert [case.billing for case in derived.cases] == [
        *(BilledBy("published", "zero"), BilledBy("measured", "zero")),
        *(BilledBy("derived", "stated"), BilledBy("derived", "off")),
    ]


def test_conditions_of_a_source_are_varied_like_others() -> None:
    """What the source had is the default; at another value it does not come back."""
    changes: dict[str, Any] = {"scenario": "uclamp/frequency-spike", "source_conditions": True}
    had = asked(**changes)[0].request.controls
    assert (had.dvfs, had.speeds) == ("board", "hardware")
    result = cases(("speeds", "dvfs", "delayed_dequeue", "fair_server"), **changes)
    assert [(case.axis, case.value.name) for case in result.cases] == [
        *(
            ("speeds", "board"),
            ("speeds", "measured"),
            ("dvfs", "model"),
            *(("delayed_dequeue", "on"), ("fair_server", "on")),
        ),
    ]
    for case in result.cases:
        assert {each.request.controls for each in case.resolved} == {
            replace(had, **dict(case.value.sets))
        }
    assert result.cases[2].resolved[0].platform.transition_latency_us == 50


def test_axes_by_name() -> None:
    assert wanted_axes("") == tuple(AXES)
    assert wanted_axes("speeds, power,speeds") == ("power", "speeds")
    assert refusal(wanted_axes, "power,idle_exits") == (
        "unknown axis 'idle_exits' (did you mean idle_exit?): allowed: " + ", ".join(sorted(AXES))
    )


def test_an_axis_without_another_value(tmp_path: Path) -> None:
    """A board whose own times nobody knows: left out, and an error where it is named."""
    path = tmp_path / "board.toml"
    path.write_text('base = "juno-r2"\nsummary = "s"\nremove = ["dvfs.board"]\n')
    result = cases(("dvfs", "fast_switch"), platform=str(path))
    assert [case.axis for case in result.cases] == ["fast_switch"]
    assert result.left_out == (
        "dvfs (--dvfs board: board has no [dvfs.board]; use model, or a platform that has it)",
    )
    with pytest.raises(RequestError, match="axis dvfs of board: --dvfs board: board has no"):
        cases(("dvfs",), named=True, platform=str(path))


def test_the_platforms_own_values_replace_the_common_ones(tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    path.write_text(
        'base = "juno-r2"\nsummary = "s"\n'
        '[axes.idle_exit.none]\nidle_exit_percent = 0\nsource = "assumed: none"\n'
    )
    result = cases(("idle_exit", "dvfs"), platform=str(path))
    assert [(case.axis, case.value.name) for case in result.cases] == [
        *(("idle_exit", "none"), ("dvfs", "board")),
    ]
    board = result.cases[1].resolved[0].platform
    assert (board.transition_latency_us, board.rate_limit_us) == (2920, 4000)
    states = result.cases[0].resolved[0].platform.clusters[0].idle_states
    assert [state.takes.exit_us for state in states] == [0, 0, 0]


def test_a_common_value_that_cannot_be_had_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Speeds of cores that were never characterised; named, it is an error."""
    path = tmp_path / "other.toml"
    text = (PLATFORMS / "juno-r2.toml").read_text().replace("juno-r2", "other")
    path.write_text(text.replace('core = "cortex-a72"', 'core = "cortex-a57"'))
    changes: dict[str, Any] = {"platform": str(path)}
    result = cases(("speeds", "delayed_dequeue"), **changes)
    assert [case.axis for case in result.cases] == ["delayed_dequeue"]
    assert result.left_out[0].startswith("speeds (")
    with pytest.raises(RequestError, match=r"axis speeds of other: .*allowed: board"):
        cases(("speeds",), named=True, **changes)


@pytest.mark.parametrize("power", ["published", "derived"])
def test_the_power_of_transitions(juno: Platform, juno_activity: Activity, power: str) -> None:
    """10 ms of exits, from nothing to the power of a busy CPU; all else stays."""
    spun = Interval(0, 0, 30 * MS, 450_000, 10 * MS, 10 * MS, (10 * MS, 0, 0))
    little = juno.clusters[0]
    stated, nothing, whole = (
        {
            component.name: spent
            for component, spent in sorted(
                BilledBy(power, transition_percent=percent)
                .model(juno, juno_activity)
                .interval_fj(little, spun)
                .items()
            )
        }
        for percent in (None, 0, 100)
    )
    assert nothing["idle_exit"] == 0 < stated["idle_exit"] < whole["idle_exit"]
    if power == "published":
        assert whole["idle_exit"] == 10 * MS * little.opp(450_000).power_uw
    for energies in (stated, nothing, whole):
        del energies["idle_exit"]
    assert stated == nothing == whole


def test_controls_reach_the_machine() -> None:
    """A quarter of what the kernel is told, 70 % of its rate; the busy loop keeps its own."""
    usual, changed = (
        resolve(replace(REQUEST, controls=controls))
        for controls in (DEFAULT_CONTROLS, Controls(idle_exit_percent=25, kernel_rate_percent=70))
    )
    for before, after in zip(usual.platform.clusters, changed.platform.clusters, strict=True):
        assert [s.takes.exit_us for s in before.idle_states] != [0, 300, 300]
        assert [s.takes.exit_us for s in after.idle_states] == [0, 300, 300]
        assert [s.takes.last_entry_us for s in after.idle_states] == [0, 75, 100]
        assert [s.exit_us for s in after.idle_states] == [1, 1200, 1200]  # told as before
        rates = usual.activity.system_ipc(before), changed.activity.system_ipc(after)
        assert rates[1] == pytest.approx(0.7 * rates[0])
        assert changed.activity.ipc(after) == usual.activity.ipc(before)
    assert changed.given.clusters[0].idle_states == changed.platform.clusters[0].idle_states
    assert changed.platform.digest != usual.platform.digest
    assert changed.activity.digest != usual.activity.digest
    assert changed.request.controls.words == ["idle-exit-25-percent", "kernel-rate-70-percent"]


def test_the_kernels_rate_changes_on_one_kind_of_cores() -> None:
    """The littles of juno-r2 are in-order cores, its bigs are not."""
    changed = Controls(kernel_rate_percent=140, kernel_rate_of="in-order")
    usual, faster = (
        resolve(replace(REQUEST, controls=controls)) for controls in (DEFAULT_CONTROLS, changed)
    )
    rates = [
        faster.activity.system_ipc(after) / usual.activity.system_ipc(before)
        for before, after in zip(usual.platform.clusters, faster.platform.clusters, strict=True)
    ]
    assert rates == pytest.approx([1.4, 1.0])
    assert faster.activity.digest != usual.activity.digest
    assert changed.words == ["kernel-rate-140-percent-in-order"]
    with pytest.raises(RequestError, match=r"unknown cores 'of-order'.*in-order, out-of-order"):
        resolve(replace(REQUEST, controls=replace(changed, kernel_rate_of="of-order")))


def grouped(of: Cases, asked: list[Cell], *own: list[Cell]) -> Group:
    """A group of cells that are prepared; ``own`` of them are those of its cases."""
    group = Group([], BilledBy("published"), of)
    vars(group)["cells"] = [asked, [], *own]
    return group


def compared(monkeypatch: pytest.MonkeyPatch, *groups: Group) -> list[Any]:
    """Derivations by cell and billing in the place of each group's comparison."""
    monkeypatch.setattr(Group, "compared", lambda _, runs: runs)
    return [*measure.compare(groups)]


def test_billing_otherwise_calls_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cells, three values that bill them otherwise: two calls, and none the second time."""
    cells = [cell(well, letter * 64) for letter in "ab"]
    billed: list[tuple[str, BilledBy]] = []

    def derived(_: Derivers, of: Cell, run: Run, billings: Sequence[BilledBy]) -> Any:
        billed.extend((of.simkey, billing) for billing in billings)
        return billings

    monkeypatch.setattr(measure, "derived_by_each", derived)
    group = grouped(cases(("power", "shared_power")), cells)
    assert len(group.cases.cases) == 4
    for calls in (1, 1):
        (result,) = compared(monkeypatch, group)
        assert [item.resolved.engine.calls for item in cells] == [calls, calls]  # type: ignore[attr-defined]
        wanted = {BilledBy("published"), *(case.billing for case in group.cases.cases)}
        assert [set(result[item.asked]) for item in cells] == [wanted, wanted]
    assert len(billed) == 2 * 2 * 5


def test_a_run_of_two_values_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is complete when another run fails is not run again."""
    monkeypatch.setattr(measure, "derived_by_each", lambda derive, of, run, billings: billings)
    first, own, bad = cell(well, "a" * 64), cell(well, "b" * 64), cell(badly, "c" * 64)
    some = cases(("idle_exit", "kernel_rate"))
    with pytest.raises(Exception, match="guest panic"):
        compared(monkeypatch, grouped(some, [first], [own], [own], [bad]))
    (result,) = compared(monkeypatch, grouped(some, [first], [own], [own]))
    assert set(result) == {first.asked, own.asked}
    assert [item.resolved.engine.calls for item in (first, own)] == [1, 1]  # type: ignore[attr-defined]


#: Values of axes that need no run, of juno-r2 by measured power; every comparison has them.
NO_RUNS = [
    *(("power", "published", 0), ("power", "derived", 0)),
    *(("shared_power", "off", 0), ("shared_power", "zero", 0)),
    *(("transition_power", "0%", 0), ("transition_power", "100%", 0)),
]


@pytest.fixture
def finished(artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A command whose runs are all there, and no engine."""
    command = [*COMPARE, "--seeds", "10", "--robust=shared_power,delayed_dequeue"]
    plan = json_inside(*command, "--dry-run")
    *free, last = plan["axes"]
    assert [(part["axis"], part["value"], part["runs"]) for part in free] == NO_RUNS
    assert last == {"axis": "delayed_dequeue", "value": "off", "runs": 20, "to_run": 20}
    assert plan["to_run"] == len(plan["cells"]) == 40
    for names in asked_of(make_parser().parse_args(command)).all_resolved:
        StandInRuns()(prepare(names))

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("an engine was called")

    monkeypatch.setattr(QemuEngine, "run", refuse)
    return command


def test_the_command_from_end_to_end(finished: list[str]) -> None:
    """From finished runs: table, answer, figure, report, JSON; billing alone changes the sign."""
    record = json_inside(*finished)
    values = record["robust"]["values"]
    shown = {value["value"]: value for value in values}
    assert [(value["axis"], value["value"], value["own_runs"]) for value in values] == [
        *NO_RUNS,
        ("delayed_dequeue", "off", 20),
    ]
    assert shown["zero"]["power_model"] == "measured, shared part zero"
    assert values[-1]["set_otherwise"] == ["no-delay-dequeue"]
    asked, zero, dequeue = (
        value["differences"][0]["difference"]
        for value in (record["robust"]["asked"], shown["zero"], values[-1])
    )
    assert asked == dequeue != zero
    assert [Path(path).is_file() for path in record["figures"]["axes"]] == [True, True]
    assert '<section id="axes">' in Path(record["report"]).read_text()
    assert "robust" in Path(record["folder"]).name
    text = output_of(*finished)
    assert text.splitlines()[0] == record["answer"][0]
    assert "model axes, one at a time: " in text
    text = output_of(*finished, "--dry-run")
    assert "axis shared_power, off: no run" in text
    assert "axis delayed_dequeue, off: 0 of 20 runs missing" in text
    assert "nothing to run" in text


def test_what_needs_no_run_is_always_there(finished: list[str]) -> None:
    """Without ``--robust`` too: in the answer, its verdicts, the JSON and the report."""
    command = [word for word in finished if not word.startswith("--robust")]
    record = json_inside(*command)
    values = record["robust"]["values"]
    assert [(value["axis"], value["value"], value["own_runs"]) for value in values] == NO_RUNS
    low, high = record["robust"]["energy"][0]["range"]
    percents = [value["differences"][0]["percent"] for value in values]
    percents.append(record["robust"]["asked"]["differences"][0]["percent"])
    assert (low["percent"], high["percent"]) == (min(percents), max(percents))
    ends = [f"{round(end['percent'], 1):+.1f}" for end in (low, high)]
    sentence, line = record["answer"][:2]
    assert "model range " in sentence
    assert all(end in sentence for end in ends)
    assert line.startswith("difference ")
    text = output_of(*command)
    assert text.splitlines()[:2] == [sentence, line]
    assert "model axes, one at a time" not in text
    assert "robust" not in Path(record["folder"]).name
    page = Path(record["report"]).read_text()
    assert '<section id="axes">' in page
    assert '<section id="parts">' in page
    assert "Largest part of the difference in energy: " in page
    assert {part["measure"] for part in record["parts"]} <= {"energy_j.total", "energy_per_work_j"}


def test_the_option_takes_no_variant(finished: list[str]) -> None:
    """Without ``=`` the option's value is all axes, wherever it stands."""
    command = ["compare", "--robust", *finished[1:-1], "--dry-run", "--json"]
    plan = json.loads(output_of(*command))
    assert {item["variant"] for item in plan["cells"]} == set(BOTH)
    assert {item["axis"] for item in plan["axes"]} == set(AXES)
