# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest agent's script of a cell."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.analysis.records.cell import ProgramRecord
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.qemu.eliding_copy import COPY
from eascope.experiments.controls import Controls
from eascope.experiments.rtapp.compiler import compile_scenario
from eascope.experiments.runs.cell import prepare
from eascope.experiments.runs.request import resolve
from eascope.experiments.runs.script import script
from eascope.host.errors import RequestError
from eascope.host.imports import REPO
from eascope.kernels.switches import ENERGY_AWARE, FEATURES, IDLE_GOVERNOR, INTERRUPTS, STATS
from eascope.rootfs.image import RT_APP
from tests.support.cells import REQUEST, SYMBOL, Artefacts, prepared
from tests.support.scenarios import PHASE, check_refused, write


def test_traces_have_what_readers_ask_for(artefacts: Artefacts) -> None:
    """LISA's task states need wake-ups and renames, its rt-app analysis the markers' writer."""
    lines = prepared().machine.script.decode().splitlines()
    (setup,) = (line for line in lines if line.startswith("trace-setup "))
    wanted = {"sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup", "task:task_rename"}
    assert wanted <= set(setup.split())
    assert f"trace-symbol {SYMBOL[0]} {SYMBOL[1]}" in lines
    assert lines.index(setup) < lines.index("start")


def test_script_proves_the_state_before_and_after_the_window(artefacts: Artefacts) -> None:
    lines = prepared(variant="cas").machine.script.decode().splitlines()
    start, stop = lines.index("start"), lines.index("stop")
    proof = "expect /proc/sys/kernel/sched_energy_aware 0"
    assert proof in lines[:start]
    assert proof in lines[stop:]
    assert lines.index("write /proc/sys/kernel/sched_energy_aware 0") < lines.index(proof)
    assert lines[start + 1 : stop] == ["sleep-ms 500"], "the agent only sleeps in the window"
    assert lines[-1] == "exit"
    assert f"spawn rt-app {COPY.path} /tmp/rt-app.json" in lines
    executed = prepared(elide=False).machine.script.decode()
    assert f"spawn rt-app {RT_APP} /tmp/rt-app.json\n" in executed


def test_a_window_may_begin_under_mainline(artefacts: Artefacts, tmp_path: Path) -> None:
    """Tasks run under mainline, which is proven; then the variant's own switches are written."""
    text = (REPO / "experiments" / "scenarios" / "smoke.toml").read_text()
    (path := tmp_path / "smoke.toml").write_text(
        text.replace("[window]\n", '[window]\nfrom = "mainline"\nmainline_ms = 700\n')
    )
    controls = Controls(delay_dequeue=False)
    cell = prepared(variant="cas", scenario=str(path), controls=controls)
    lines = cell.machine.script.decode().splitlines()
    off, on = (f"expect {ENERGY_AWARE} {value}" for value in (0, 1))
    switch = lines.index(f"write {ENERGY_AWARE} 0")
    begin = lines.index(f"spawn rt-app {COPY.path} /tmp/rt-app.json")
    assert lines.index(f"write {FEATURES} NO_DELAY_DEQUEUE") < lines.index(on) < begin < switch
    assert begin < lines.index("sleep-ms 700") < switch < lines.index(off) < lines.index("start")
    assert on not in lines[switch:]
    same = prepared(variant="mainline", scenario=str(path), controls=controls)
    assert same.machine.script.decode().splitlines().count("sleep-ms 700") == 1
    for variant in ("uclamp-sum", "foreground-app"):
        with pytest.raises(RequestError, match=rf"window.from: {variant} does not boot as main"):
            prepared(variant=variant, scenario=str(path))


@pytest.mark.parametrize(
    ("task", "phase", "before_ms", "after_ms"),
    [
        ("", PHASE, 700, 1400),
        ('start_cpus = "big"', PHASE, 1700, 400),
        ("", f"loops = 2\n{PHASE}\n[[task.phase]]\n{PHASE}", 1700, 400),
    ],
)
def test_mainlines_time_counts_from_where_all_tasks_have_begun(
    artefacts: Artefacts, tmp_path: Path, task: str, phase: str, before_ms: int, after_ms: int
) -> None:
    """What begins after the stirring runs as long under mainline as what does not."""
    window = 'from = "mainline"\nmainline_ms = 700\nwarmup_ms = 400\nshort_ms = 9\nfull_ms = 9'
    path = write(tmp_path, task, phase, window=window)
    lines = prepared(variant="cas", scenario=path).machine.script.decode().splitlines()
    switch = lines.index(f"write {ENERGY_AWARE} 0")
    begin = next(n for n, line in enumerate(lines) if line.startswith("spawn rt-app"))
    assert f"sleep-ms {before_ms}" in lines[begin:switch]
    assert f"sleep-us {after_ms * 1000}" in lines[switch : lines.index("start")]


CAP = "/sys/devices/system/cpu/cpufreq/policy4/scaling_max_freq"


HOTPLUG = """
[[event]]
at_ms = 0
offline = "little:1,big:1"
[[event]]
at_ms = 9
online = "little:1"
"""


def test_cpus_go_offline_and_come_back(artefacts: Artefacts, tmp_path: Path) -> None:
    """Before the warm-up or within the window; what is gone at its end is not proven then."""
    path = write(tmp_path, task='cpus = "big"', more=HOTPLUG)
    lines = prepared(scenario=path).machine.script.decode().splitlines()
    files = [f"/sys/devices/system/cpu/cpu{cpu}/online" for cpu in (1, 5)]
    written = [
        n
        for n, line in enumerate(lines)
        if line.startswith("write /sys/devices") and "/online" in line
    ]
    assert [lines[n] for n in written] == [
        *(f"write {file} 0" for file in files),
        f"write {files[0]} 1",
    ]
    assert written[1] < lines.index("start") < written[2]
    proofs = [line for line in lines[lines.index("stop") :] if line.startswith("expect")]
    assert "expect /sys/devices/system/cpu/cpu4/cpu_capacity 1024" in proofs
    assert not [line for line in proofs if "/cpu5/" in line or "/domains/" in line]


@pytest.mark.parametrize(
    ("task", "more", "words"),
    [
        ("", HOTPLUG.replace("little:1,big:1", "any"), ["event[0].offline", "and not all"]),
        ("", HOTPLUG.replace("at_ms = 9\non", "at_ms = 9\noff"), ["event[1].offline", "online by"]),
        ("", HOTPLUG.replace('= "little:1"', '= "big:0"'), ["event[1].online", "are offline by"]),
        ("", HOTPLUG.replace("big:1", "big"), ["event[0].offline", "two capacities left"]),
        ('cpus = "big:1"', HOTPLUG, ["event[0].offline", "one of 5 left to task a"]),
        ("", HOTPLUG.replace("at_ms = 0", "at_ms = 20"), ["event[0].at_ms = 20", "in 0..19"]),
        ("", HOTPLUG + 'write = ["/proc/sys/x", "1"]', ["event[1].write", "no such key"]),
        (
            'group = "g"',
            '[[group]]\nname = "g"\ncpus = "big:1"\n' + HOTPLUG,
            ["event[0].offline", "one of 5 left to group g"],
        ),
        (  # only both together leave it one CPU
            'cpus = "big"\ngroup = "g"',
            '[[group]]\nname = "g"\ncpus = "!big:0"\n' + HOTPLUG,
            ["event[0].offline", "one of 5 left to task a"],
        ),
        (
            "",
            '[[group]]\nname = "g"\n'
            + HOTPLUG
            + '[[event]]\nat_ms = 10\ngroup = "g"\ncpus = "big:1"\n',
            ["event[2].group", "one of 5 left to group g"],
        ),
        (
            "",
            '[kernel_threads]\nrcu_preempt = "big:1"\n' + HOTPLUG,
            ["event[0].offline", "one of 5 left to kernel thread rcu_preempt"],
        ),
        (
            "",
            '[[interrupt]]\nname = "nic"\ncpus = "big"\nperiod_us = 99\nwork_us = 9\n' + HOTPLUG,
            ["event[0].offline", "one of 5 left to interrupt nic"],
        ),
        (
            "",
            '[[group]]\nname = "g"\ncpus = "big"\npartition = "root"\n' + HOTPLUG,
            ["event[0].offline", "without partitions"],
        ),
    ],
)
def test_cpus_that_cannot_go_offline_are_refused(
    tmp_path: Path, juno: Platform, task: str, more: str, words: list[str]
) -> None:
    check_refused(write(tmp_path, task=task, more=more), juno, words)


def test_a_cluster_with_turbo_opps_keeps_a_cpu(tmp_path: Path) -> None:
    (path := tmp_path / "turbo.toml").write_text(
        'base = "juno-r2"\nsummary = "s"\ncluster.little.opps.950000.turbo = true\n'
    )
    scenario = write(tmp_path, more=HOTPLUG.replace("little:1,big:1", "little"))
    words = ["event[0].offline", "allowed: a CPU of little left"]
    check_refused(scenario, load_platform(path), words)


def test_events_are_written_within_the_window(artefacts: Artefacts, tmp_path: Path) -> None:
    text = (REPO / "experiments" / "scenarios" / "smoke.toml").read_text()
    events = [(100, "600000"), (100, "1000000"), (350, "1200000")]
    (path := tmp_path / "smoke.toml").write_text(
        text
        + "".join(f'[[event]]\nat_ms = {at}\nwrite = ["{CAP}", "{khz}"]\n' for at, khz in events)
    )
    lines = prepared(scenario=str(path)).machine.script.decode().splitlines()
    within = lines[lines.index("start") + 1 : lines.index("stop")]
    marker = "write /sys/kernel/tracing/trace_marker eascope:"
    assert within == [
        *("until-ms 100", f"write {CAP} 600000", f"{marker} {CAP} = 600000"),
        *("until-ms 100", f"write {CAP} 1000000", f"{marker} {CAP} = 1000000"),
        *("until-ms 350", f"write {CAP} 1200000", f"{marker} {CAP} = 1200000"),
        "until-ms 500",
    ]
    untraced = prepared(scenario=str(path), controls=Controls(traced=False))
    assert marker not in untraced.machine.script.decode()
    for old, new, message in (
        ("at_ms = 350", "at_ms = 500", r"event\[2\].at_ms = 500: allowed: an integer in 100..499"),
        ("at_ms = 350", "at_ms = 99", r"event\[2\].at_ms = 99: allowed: an integer in 100..499"),
        (
            "short_ms = 500\nfull_ms = 5_000",
            'until = "tasks-end"',
            "at_ms = 100: allowed: in a win",
        ),
        (CAP, ENERGY_AWARE, r"event\[0\].write = .*: allowed: .*, and neither EAS nor"),
        (CAP, INTERRUPTS, r"event\[0\].write = .*: allowed: .* nor .*\[\[interrupt\]\]"),
        (CAP, CAP.replace("policy4", "policy*"), r"event\[0\].write = .*: allowed: .*no \*"),
        (CAP, CAP.replace("scaling_max_freq", "boost"), "no OPP of policy4 is a turbo OPP"),
        (CAP, "/etc/passwd", r"event\[0\].write = .*: allowed: \[PATH, VALUE\], path below"),
        ('"600000"]', '"600000", "x"]', r"event\[0\].write = .*: allowed: \[PATH, VALUE\]"),
    ):
        wrong = tmp_path / "wrong.toml"
        wrong.write_text(path.read_text().replace(old, new, 1))
        with pytest.raises(RequestError, match=message):
            prepared(scenario=str(wrong))


def test_an_event_moves_a_thread_of_the_kernel(artefacts: Artefacts, tmp_path: Path) -> None:
    text = (REPO / "experiments" / "scenarios" / "smoke.toml").read_text()
    event = '[[event]]\nat_ms = 100\nkernel_thread = "rcu_preempt"\ncpus = "little"\n'
    (path := tmp_path / "smoke.toml").write_text(text + event)
    cell = prepared(scenario=str(path))
    lines = cell.machine.script.decode().splitlines()
    assert lines[lines.index("until-ms 100") + 1 :][:2] == [
        "affinity rcu_preempt 0 1 2 3",
        "write /sys/kernel/tracing/trace_marker eascope: rcu_preempt > 0-3",
    ]
    assert cell.record.window.writes == ("100 rcu_preempt > 0-3",)
    for old, new, message in (
        ('cpus = "little"\n', "", r"event\[0\].cpus is missing"),
        ('"rcu_preempt"', '"a b"', r"kernel_thread = 'a b': allowed: a kernel thread's name"),
        ('"little"', '"little"\nweight = 5', r"event\[0\].weight"),
    ):
        path.write_text(text + event.replace(old, new))
        with pytest.raises(RequestError, match=message):
            prepared(scenario=str(path))


def test_the_seed_shifts_rt_app_itself(artefacts: Artefacts) -> None:
    """Before its barrier threads are made and placed, which their own offsets do not move."""
    for most, controls in ((1_000_000, Controls()), (16_000, Controls(noise=False))):
        offsets = []
        for seed in range(10):
            cell = prepared(seed=seed, controls=controls)
            lines = cell.machine.script.decode().splitlines()
            before = lines[lines.index(f"spawn rt-app {COPY.path} /tmp/rt-app.json") - 1]
            word, microseconds = before.split()
            assert word == "sleep-us"
            assert cell.record.replicate
            assert int(microseconds) == cell.record.replicate.rt_app_us
            offsets.append(int(microseconds))
        assert 0 <= min(offsets) < most / 4
        assert most * 3 / 4 < max(offsets) <= most


def test_without_a_trace_nothing_is_set_up_or_collected(artefacts: Artefacts) -> None:
    traced = prepared().machine.script.decode()
    cell = prepared(controls=Controls(traced=False))
    untraced = cell.machine.script.decode()
    assert "trac" in traced
    assert "trac" not in untraced.replace("/tmp/rt-app.json", "").replace('"ftrace"', "")
    assert cell.record.controls.trace_events == ()
    assert cell.record.set_otherwise == ("untraced",)
    assert {*untraced.splitlines()} < {*traced.splitlines()}


def test_script_carries_the_workload_as_raw_bytes(artefacts: Artefacts) -> None:
    names = resolve(REQUEST)
    workload = compile_scenario(names.scenario, names.platform, names.activity, 0)
    text = script(
        names.scenario,
        replace(workload, documents={"rt-app": b"start\nstop\n"}),
        elision=names.engine.elision(names.platform, names.activity),
        switches=[],
        expectations=[],
        full=False,
        trace_kib=2048,
    )
    assert b"file /tmp/rt-app.json 11\nstart\nstop\n\ntrace-setup " in text


@pytest.mark.parametrize(
    ("scenario", "clamps"),
    [("uclamp/hidden-overutilization-pinned", True), ("uclamp/no-clamp-multi", False)],
)
def test_uclamp_is_in_use_before_the_tasks_of_a_scenario_that_clamps(
    artefacts: Artefacts, scenario: str, clamps: bool
) -> None:
    """Mainline never counts a task that was runnable before the first clamp and does not sleep."""
    lines = prepared(scenario=scenario).machine.script.decode(errors="replace").splitlines()
    writes = [line for line in lines if "sched_util_clamp_min_rt_default" in line]
    assert [line.split()[-1] for line in writes] == (["1023", "1024"] if clamps else [])
    if clamps:
        assert lines.index(writes[-1]) < lines.index("barrier")


def test_a_switch_of_clamps_is_written_last(artefacts: Artefacts) -> None:
    switch = ("/proc/sys/kernel/sched_util_clamp_min_rt_default", "0")
    cell = prepared(
        scenario="uclamp/hidden-overutilization-pinned", controls=Controls(switches=(switch,))
    )
    lines = cell.machine.script.decode(errors="replace").splitlines()
    writes = [line.split()[-1] for line in lines if line.startswith(f"write {switch[0]} ")]
    assert writes == ["1023", "1024", "0"]


def test_boot_arguments_are_proven_before_the_workload(artefacts: Artefacts) -> None:
    """Where there are none, the script has no line for them."""
    lines = prepared(variant="priority-daemon-expedited").machine.script.decode().splitlines()
    assert lines.index("wait boot-arguments") < lines.index("barrier")
    assert "boot-arguments" not in prepared().machine.script.decode()


def test_the_guest_says_what_the_record_of_inputs_cannot(artefacts: Artefacts) -> None:
    """Features may be the kernel's own, and its idle governor is the best that was built."""
    lines = prepared().machine.script.decode().splitlines()
    stop = lines.index("stop")
    for path in (ENERGY_AWARE, FEATURES, IDLE_GOVERNOR):
        assert lines.index(f"report {path}") > stop


def test_the_kernels_counters_are_read_at_both_ends_of_the_window(artefacts: Artefacts) -> None:
    lines = prepared().machine.script.decode().splitlines()
    start, stop = lines.index("start"), lines.index("stop")
    assert lines[start - 1] == lines[stop + 1] == f"report {STATS}"


def test_the_window_ends_with_its_programs(artefacts: Artefacts) -> None:
    request = replace(REQUEST, scenario="eas/sched-pipe-pinned")
    cell = prepare(resolve(request))
    lines = cell.machine.script.decode().splitlines()
    start, stop = lines.index("start"), lines.index("stop")
    spawn, wait = lines[start + 1 : stop]
    # Up to a second later, all of which is before the window.
    assert spawn == "spawn pipe /bin/launch 0 4 /bin/ping-pong pipe 8000"
    assert cell.record.replicate
    later_us = cell.record.replicate.programs_us["pipe"]
    assert lines[start - 2] == f"sleep-us {300_000 + 1_000_000 + later_us}"
    assert wait == "wait pipe"
    assert "collect /tmp/pipe.log program-pipe.log" in lines[stop:]
    quiet = prepare(resolve(replace(request, controls=Controls(noise=False))))
    lines = quiet.machine.script.decode().splitlines()
    (spawn,) = (line for line in lines if line.startswith("spawn "))
    assert re.fullmatch(r"spawn pipe /bin/launch [1-9]\d* 4 /bin/ping-pong pipe 8000", spawn)
    assert not any("rt-app" in line for line in lines)
    assert cell.record.programs == (ProgramRecord("pipe", "ping-pong", 8000, "program-pipe.log"),)
    assert cell.record.tasks[0].threads == ("pipe-a", "pipe-b")
    assert cell.simkey != prepare(resolve(replace(request, seed=1))).simkey
    full = prepare(resolve(replace(request, full=True)))
    assert full.record.programs[0].count == 80_000
    # Room for the events of ten times as many round trips, and still within the guest's memory.
    room = [item.record.controls.trace_kib_per_cpu for item in (cell, full)]
    assert room[1] - room[0] == 72_000 * 800 // 1024
    assert room[1] * len(cell.machine.platform.cpus) < cell.machine.platform.memory_mib * 1024


def test_threads_have_a_latency_nice_where_the_kernel_has_one(
    tmp_path: Path, artefacts: Artefacts
) -> None:
    """As soon as they are there; another kernel's script is that of a scenario without it."""
    with_one = write(tmp_path, task="count = 2\nlatency_nice = -3\nslice_us = 500")
    cell = prepared(scenario=with_one, variant="latnice-off")
    lines = cell.machine.script.decode().splitlines()
    first = lines.index(f"spawn rt-app {COPY.path} /tmp/rt-app.json") + 1
    threads = [thread for task in cell.record.tasks for thread in task.threads]
    verbs = ("latency-nice rt-app {} -3", "slice rt-app {} 500")
    given = [verb.format(name) for verb in verbs for name in threads]
    assert lines[first : first + 4] == given
    other = prepared(scenario=with_one).machine.script.decode().splitlines()
    assert [line for line in other if line.startswith(("latency", "slice"))] == 2 * given[2:]
    # A thread that may have ended by then is not looked for in front of the window.
    with_one = write(
        tmp_path, task="count = 2\nrepeat = 3\nslice_us = 500", phase=f"loops = 1\n{PHASE}"
    )
    once = prepared(scenario=with_one).machine.script.decode().splitlines()
    assert [line for line in once if line.startswith("slice")] == given[2:]
