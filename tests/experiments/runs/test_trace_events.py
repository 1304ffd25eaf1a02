# SPDX-License-Identifier: GPL-2.0-or-later
"""Which events a run records: names, groups, what a kernel does not have."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eascope.experiments.controls import Controls
from eascope.experiments.runs import trace_events
from eascope.experiments.runs.trace_events import (
    ROOM_FOR_DECISIONS,
    ROOM_FOR_EVENTS,
    TRACE_EVENTS,
    TRACE_MEMORY_SHARE,
    read_events,
    recorded_events,
    trace_kib,
)
from eascope.host.errors import RequestError
from tests.support.cells import Artefacts, prepared
from tests.support.refusals import refusal

COMPUTE, DECISION = "eascope:sched_compute_energy", "eascope:sched_feec_decision"
#: What a kernel was built with, by name.
BUILT: dict[str, tuple[str, ...]] = {
    name: (system,) for system, _, name in (event.partition(":") for event in TRACE_EVENTS)
}
BUILT |= {"sched_compute_energy": ("eascope",), "irq_handler_entry": ("irq",)}
BUILT |= {"twice": ("one", "two")}


def recorded(
    monkeypatch: pytest.MonkeyPatch,
    *events: str,
    decisions: bool = False,
    traced: bool = True,
    more: str = "",
) -> tuple[str, ...]:
    """What a kernel with `BUILT`, and ``more``, records."""
    present = BUILT | ({more: ("eascope",)} if more else {})
    monkeypatch.setattr(trace_events, "built_events", lambda vmlinux: present)
    return recorded_events(
        events, decisions=decisions, traced=traced, vmlinux=Path("vmlinux"), kernel="base"
    )


def test_without_a_wish_a_run_records_what_it_always_did(artefacts: Artefacts) -> None:
    """And no kernel is read for it: this one is no ELF file."""
    (setup,) = (
        line
        for line in prepared().machine.script.decode().splitlines()
        if line.startswith("trace-setup ")
    )
    assert setup == (
        "trace-setup 2048 sched:sched_switch sched:sched_waking sched:sched_wakeup "
        "sched:sched_wakeup_new sched:sched_migrate_task task:task_rename power:cpu_frequency "
        "power:cpu_idle lisa:lisa__sched_overutilized"
    )


def test_names_and_groups_are_written_out() -> None:
    assert read_events([]) == ()
    assert read_events(["uclamp,irq:irq_handler_entry", "uclamp"]) == (
        "eascope:sched_uclamp_cpu",
        "eascope:sched_uclamp_task",
        "irq:irq_handler_entry",
    )


@pytest.mark.parametrize("text", ["", "a,", "a b", "sched/x", "a:b:c", "*"])
def test_what_is_no_name_is_one_line(text: str) -> None:
    with pytest.raises(RequestError, match="allowed: names such as sched_compute_energy") as caught:
        read_events([text])
    assert str(caught.value).startswith(f"--events {text!r}: ")
    assert "\n" not in str(caught.value)


def test_what_is_asked_for_is_recorded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = recorded(monkeypatch, "sched_compute_energy", "irq:irq_handler_entry", "sched_switch")
    assert asked == (*TRACE_EVENTS, COMPUTE, "irq:irq_handler_entry")
    assert recorded(monkeypatch) == TRACE_EVENTS
    assert recorded(monkeypatch, "irq_handler_entry", decisions=True, traced=False) == ()


def test_of_two_events_decisions_take_the_one_that_says_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert recorded(monkeypatch, decisions=True) == (*TRACE_EVENTS, COMPUTE)
    with_both = recorded(
        monkeypatch, "sched_compute_energy", decisions=True, more="sched_feec_decision"
    )
    assert with_both == (*TRACE_EVENTS, COMPUTE, DECISION)
    again = recorded(monkeypatch, DECISION, decisions=True, more="sched_feec_decision")
    assert again == (*TRACE_EVENTS, DECISION)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("irq_handler_entri", "(did you mean irq_handler_entry?); expected one of the"),
        ("sched:irq_handler_entry", "(did you mean irq:irq_handler_entry?); expected one"),
        ("twice", "has no event 'twice'; use one:twice or two:twice"),
    ],
)
def test_an_event_that_the_kernel_lacks_is_one_line(
    event: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = refusal(recorded, monkeypatch, event)
    assert words in wrong
    assert wrong.startswith("--events: the kernel 'base' has no event ")


def test_an_event_of_another_series_is_refused_before_a_build(artefacts: Artefacts) -> None:
    for variant, event, series in (
        ("mainline", "sched_eas_push", "feec"),
        ("uclamp-sum", "eascope:sched_feec_decision", "feec"),
        ("feec-a", "sched_fair_push", "push"),
    ):
        wrong = refusal(prepared, variant=variant, controls=Controls(events=(event,)))
        assert f"of '{variant}' has no event {event.rpartition(':')[2]}; " in wrong
        assert wrong.endswith(f"use variants of a kernel with the series {series}")


def test_more_events_have_more_room(artefacts: Artefacts) -> None:
    names = prepared(scenario="eas/video-playback").resolved
    decided, asked = (
        trace_kib(names.scenario, False, names.platform, (*TRACE_EVENTS, *more))
        for more in ((COMPUTE,), (COMPUTE, "lisa:lisa__sched_pelt_se"))
    )
    assert asked * ROOM_FOR_DECISIONS == decided * ROOM_FOR_EVENTS
    usual = trace_kib(names.scenario, False, names.platform)
    assert usual < decided < asked
    assert trace_kib(names.scenario, True, names.platform, (*TRACE_EVENTS, "irq:x")) == int(
        names.platform.memory_mib * 1024 * TRACE_MEMORY_SHARE / len(names.platform.cpus)
    )


def test_jobs_that_follow_each_other_closely_have_more_room(artefacts: Artefacts) -> None:
    """As many as all threads do, and no more than one busy CPU can."""
    names = prepared().resolved
    (task,) = (task for task in names.scenario.tasks if task.name == "light")

    def kib(count: int = 1, **changes: Any) -> int:
        phase = replace(task.phases[0], **{"period_us": None, "sleep_us": None, **changes})
        tasks = (replace(task, count=count, phases=(phase,)),)
        return trace_kib(replace(names.scenario, tasks=tasks), True, names.platform)

    usual = trace_kib(names.scenario, True, names.platform)
    assert usual == kib(run_us=1_000, period_us=16_000)
    assert usual < kib(run_us=10) < kib(run_us=1) == kib(count=10, run_us=1)
    assert usual < kib(run_us=1, sleep_us=300) < kib(count=2, run_us=1, sleep_us=300)
    assert usual == kib(run_us=1, wait="other"), "others pace it"


def test_events_are_controls_of_a_run(
    artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_events, "built_events", lambda vmlinux: BUILT)
    usual = prepared()
    cell = prepared(controls=Controls(events=("sched_compute_energy",)))
    assert cell.simkey != usual.simkey
    assert cell.record.set_otherwise == ("event-sched_compute_energy",)
    assert cell.record.controls.trace_events == (*TRACE_EVENTS, COMPUTE)
    # All that is recorded anyway changes nothing.
    same = prepared(controls=Controls(events=("sched_switch",)))
    assert same.simkey == usual.simkey
