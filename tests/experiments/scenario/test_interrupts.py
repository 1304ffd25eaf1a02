# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads of interrupts: the reader's refusals, and what the guest's agent does with them."""

from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.experiments.runs.request import resolve
from eascope.experiments.scenario_file import load_scenario
from eascope.kernels.kconfig import fragment_text
from eascope.kernels.switches import INTERRUPTS
from tests.support.cells import REQUEST, Artefacts, prepared
from tests.support.scenarios import check_refused, write


def load(name: str = "nic", cpus: str = "big", times: str = "1000 200") -> str:
    period, work = times.split()
    keys = f'name = "{name}"\ncpus = "{cpus}"\nperiod_us = {period}\nwork_us = {work}\n'
    return f"[[interrupt]]\n{keys}"


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        (load("a b"), ["interrupt[0].name = 'a b'", "1 to 24 of a-z 0-9 _"]),
        (load() + load(cpus="little"), ["interrupt[1].name = 'nic'", "no other interrupt has"]),
        (load(cpus="big:2"), ["interrupt[0].cpus = 'big:2'", "big:0 to big:1"]),
        (load().replace('cpus = "big"\n', ""), ["interrupt[0].cpus is missing", "big:0"]),
        (load(times="19 1"), ["interrupt[0].period_us = 19", "20..1000000 (us)"]),
        (load(times="1000 1000"), ["interrupt[0].work_us = 1000", "1..999 (us, less than"]),
        (load(times="1000 0"), ["interrupt[0].work_us = 0", "less than period_us"]),
        (load() + "start_us = -1", ["interrupt[0].start_us = -1", "0..100000 (us)"]),
        (load() + "start = 1", ["interrupt[0].start = 1", "did you mean start_us?"]),
        (
            load(times="50 25") + load("disk", "any", "1000 401"),
            ["interrupt[1].work_us = 401", "up to 90 %", "CPU 4", "90.1 %"],
        ),
        ("".join(load(f"n{i}", "big:0", "999 1") for i in range(65)), ["interrupt", "1 to 64"]),
        ("".join(load(f"n{i}", "any", "999 1") for i in range(11)), ["66 timers", "up to 64"]),
    ],
)
def test_a_wrong_load_gets_one_line(
    tmp_path: Path, juno: Platform, tables: str, words: list[str]
) -> None:
    check_refused(write(tmp_path, more=tables), juno, words)


def test_a_load_may_take_all_that_is_allowed(tmp_path: Path, juno: Platform) -> None:
    path = write(tmp_path, more=load(times="50 25") + load("disk", "any", "1000 400"))
    assert [each.cpus for each in load_scenario(path, juno).interrupts] == [(4, 5), (*range(6),)]


def test_loads_run_from_before_the_warm_up_and_are_read_around_the_window(
    artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: dict[str, tuple[str, ...]] = {}
    monkeypatch.setattr(
        "eascope.experiments.runs.cell.recorded_events",
        lambda events, **_: recorded.setdefault("events", tuple(events)),
    )
    path = write(tmp_path, more=load() + "start_us = 30\n")
    cell = prepared(scenario=path)
    lines = cell.machine.script.decode().splitlines()
    own = [n for n, line in enumerate(lines) if INTERRUPTS in line]
    assert [lines[n] for n in own] == [
        f"write {INTERRUPTS} nic 4 1000000 200000 30000",
        f"write {INTERRUPTS} nic 5 1000000 200000 30000",
        f"write {INTERRUPTS} start",
        f"report {INTERRUPTS}",
        f"report {INTERRUPTS}",
        f"write {INTERRUPTS} stop",
    ]
    warm_up = max(n for n, line in enumerate(lines) if line.startswith("sleep-us "))
    assert own[2] < warm_up < own[3] == lines.index("start") - 1
    assert own[4] == lines.index("stop") + 1
    assert recorded["events"] == ("irq:irq_handler_entry", "irq:irq_handler_exit")
    assert [(one.name, one.cpus) for one in cell.record.interrupts] == [("nic", (4, 5))]
    kernel = resolve(replace(REQUEST, scenario=path)).kernel
    assert kernel.more == ("irq",)
    assert "\nCONFIG_IRQ_TIME_ACCOUNTING=y\n" in fragment_text(kernel)
    plain = prepared()
    assert INTERRUPTS not in plain.machine.script.decode()
    assert "interrupts" not in plain.record.encode()
