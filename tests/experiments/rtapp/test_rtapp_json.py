# SPDX-License-Identifier: GPL-2.0-or-later
"""rt-app's own JSON: grammar, refusals, what the guest's rt-app is given, the way back."""

import json
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.experiments.rtapp.compiler import compile_scenario
from eascope.experiments.rtapp.export import exported
from eascope.experiments.rtapp.json_file import read
from eascope.experiments.rtapp.own import BEGIN_MS, notes_on
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from tests.support.command import eascope, ran
from tests.support.scenarios import check_refused, write

#: All of workgen's grammar, and an event of each kind.
WHOLE = """{
    /* a comment, "suspend", */
    "tasks" : {
        "Tick" : {
            "priority" : -19, "loop" : -1, "cpus" : [0], // nice
            "phases" : {
                "p1" : { "resume" : "mp3.decoder", "fork" : "Forked", "run" : 200,
                         "timer" : { "ref" : "tick", "period" : 6000 }, },
                "p1" : { "loop" : 4, "mem" : 1000, "iorun" : 1000, "runtime" : 100, "yield" : "",
                         "util_min" : 100, "timer" : { "ref" : "tick", "period" : 6000 } }
            }
        },
        "mp3.decoder" : {
            "policy" : "SCHED_OTHER", "dl-runtime" : 5000, "taskgroup" : "/a/b",
            "suspend",
            "run" : 300,
            "lock" : "m", "signal" : "q", "unlock" : "m",
            "run" : 400,
            "barrier" : "both"
        },
        "NuPlayerRenderer1" : {
            "instance" : 2, "delay" : 1000,
            "lock" : "m", "wait" : { "ref" : "q", "mutex" : "m" }, "unlock" : "m",
            "sleep" : 100
        },
        "meets" : { "policy" : "SCHED_FIFO", "nodes_membind": [0], "run" : 50, "barrier" : "both" },
        "Forked" : { "instance" : 0, "loop" : 1, "phases" : { "only" : { "run" : 100 } } }
    },
    "global" : { "duration" : 1, "frag" : 1, "ftrace" : "main,loop", "pi_enabled" : true }
}"""


def load(folder: Path, platform: Platform, text: str = WHOLE) -> Any:
    (folder / "x.json").write_text(text)
    return load_scenario(str(folder / "x.json"), platform)


def test_the_guests_rt_app_is_given_the_file(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    scenario = load(tmp_path, juno)
    assert hash(scenario) == hash(load(tmp_path, juno)), "variants share what is compiled"
    workload = compile_scenario(scenario, juno, juno_activity, 0, noise=False)
    given = json.loads(workload.document)
    tasks = given["tasks"]
    assert list(tasks) == ["Tick", "mp3.decoder", "NuPlayerRen1", "meets", "Forked"]
    assert list(tasks["Tick"]["phases"]) == ["p1", "p11"]
    decoder = tasks["mp3.decoder"]
    assert (decoder["suspend"], decoder["run"], decoder["run1"]) == ("mp3.decoder", 300, 400)
    begin_us = 1000 * (scenario.window.warmup_ms + BEGIN_MS)
    assert [task["delay"] - begin_us for task in tasks.values()] == [0, 0, 1000, 0, 0]
    # A53: 223 instructions per iteration, 0.85 GHz at most; rt-app calibrates to whole ns.
    little = juno.cluster("little")
    ns = 1e6 * 223 / (juno_activity.ipc(little) * little.max_khz)
    assert given["global"]["calibration"] == round(ns)
    assert given["global"]["pi_enabled"] is True
    assert given["global"]["ftrace"] == "main,task,stats", "what measures read"
    threads = {task.name: task.threads for task in workload.tasks}
    assert threads["nuplayerrenderer1"] == ("NuPlayerRen1-2", "NuPlayerRen1-3")
    assert threads["forked"][:2] == ("Forked-5-0000", "Forked-6-0001")
    records = {task.name: task for task in workload.tasks}
    assert (records["tick"].period_us, records["tick"].uclamp.min) == (6000, 100)
    assert records["mp3_decoder"].waits
    assert not records["tick"].waits
    assert (scenario.window.short_ms, scenario.window.full_ms) == (1000, 1000)
    assert "global.frag" in scenario.loads


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"run" : 50', '"run" : 0.5', ("tasks.meets.run = 0.5", "an integer")),
        ('"run" : 50', '"run" : -1', ("tasks.meets.run = -1", "0..2147483647")),
        ('"run" : 50, "barrier"', '"exec" : 50, "arrier"', ("tasks.meets =", "one event or more")),
        ('"lock" : "m"', '"lock" : ["m"]', ("tasks.mp3.decoder.lock = ['m']", "a text")),
        ('"mem" : 1000', '"memrun" : 1', ("tasks.Tick.phases.p11.memrun", "is older")),
        ("SCHED_FIFO", "SCHED_BATCH", ("tasks.meets.policy = 'SCHED_BATCH'", "SCHED_IDLE")),
        ("SCHED_FIFO", 'SCHED_FIFO", "priority" : 0, "a" : "', ("meets.priority = 0", "1..99")),
        ('"priority" : -19', '"priority" : -21', ("tasks.Tick.priority = -21", "-20..19")),
        ('"cpus" : [0]', '"cpus" : [6]', ("tasks.Tick.cpus = 6", "0..5")),
        ('"util_min" : 100', '"util_min" : 1025', ("p11.util_min = 1025", "-1..1024")),
        ('"cpus" : [0]', '"cpus" : []', ("tasks.Tick.cpus = []", "a list with a CPU")),
        (
            '"util_min" : 100',
            '"util_max" : 8, "util_min" : 9',
            ("p11.util_min = 9", "9 and 8 here"),
        ),
        (
            '"priority" : -19',
            '"util_max" : 9',
            ("p11.util_min = 100", "100 and 9 here"),
        ),
        ('"/a/b"', '"a"', ("mp3.decoder.taskgroup = 'a'", "begins with /")),
        ('"frag" : 1', '"calibration" : "CPU6"', ("calibration = 'CPU6'", "CPU0 to CPU5")),
        ('"fork" : "Forked"', '"fork" : "Frked"', ("fork = 'Frked'", "a task: Tick, mp3.decoder")),
        ('"instance" : 2', '"instance" : 98', ("tasks = '101 threads'", "1 to 99")),
        ('"tasks" : {', '"tusks" : {', ("tasks is missing",)),
        ('"duration" : 1', '"duration" : __D__', ("expected JSON as rt-app reads it", "line 29")),
    ],
)
def test_refused(
    old: str, new: str, words: tuple[str, ...], tmp_path: Path, juno: Platform
) -> None:
    assert WHOLE.count(old) >= 1
    (tmp_path / "x.json").write_text(WHOLE.replace(old, new, 1))
    check_refused(str(tmp_path / "x.json"), juno, words)


_TIMER = '"run": 1, "timer": {"ref": "%s", "period": 8000, "mode": "absolute"}'


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (_TIMER % "tA", _TIMER % "tB", (8000, 8000)),
        (_TIMER % "tA", _TIMER % "tA", (None, None)),
        ('"instance": 2, ' + _TIMER % "tA", _TIMER % "tB", (None, 8000)),
        ('"instance": 2, ' + _TIMER % "unique", _TIMER % "unique", (8000, 8000)),
        (
            '"policy": "SCHED_DEADLINE", "dl-runtime": 99, "dl-deadline": 400, "dl-period": 900, '
            + _TIMER % "tA",
            '"policy": "SCHED_DEADLINE", "dl-runtime": 99, "dl-period": 900, ' + _TIMER % "tB",
            (400, 900),
        ),
    ],
)
def test_deadlines(
    a: str, b: str, expected: Any, tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    """A timer that several threads move on is due for none of them, and a policy's come first."""
    scenario = load(tmp_path, juno, f'{{"tasks": {{"a": {{{a}}}, "b": {{{b}}}}}}}')
    tasks = compile_scenario(scenario, juno, juno_activity, 0, noise=False).tasks
    assert tuple(task.deadline_us for task in tasks) == expected
    shared = None in expected
    assert [task.period_us is None for task in tasks] == [each is None for each in expected]
    assert ("timer tA is moved on by several threads (a" in scenario.loads) is shared


def test_notes_on_a_platform(tmp_path: Path, juno: Platform, juno_activity: Activity) -> None:
    """355 ns on the board of LISA's file; juno-r2's A72 does an iteration in 88 ns."""
    text = """{"tasks": {"a": {"run": 1}, "b": {"run": 1, "delay": 4000000}},
               "global": {"calibration": 355}}"""
    scenario = load(tmp_path, juno, text)
    assert "run: 1000 is 2816 iterations of the loop" in scenario.loads
    assert [*notes_on(scenario.rt_app, juno, juno_activity, scenario.window.short_ms)] == [
        "calibration: here run: 1000 is 248 us of juno-r2's largest CPU at its top OPP.",
        "Never begin in the window of 3000 ms: b (delay 4000 ms).",
    ]
    assert len([*notes_on(scenario.rt_app, juno, juno_activity, 4001)]) == 1
    assert len([*notes_on(scenario.rt_app, juno, juno_activity, None)]) == 1
    done = eascope("scenario", "import", str(tmp_path / "x.json"), "--out", f"{tmp_path}/y.toml")
    assert "b (delay 4000 ms)" in done.stdout


def test_a_number_at_a_key_is_workgens_or_the_files(tmp_path: Path, juno: Platform) -> None:
    text = '{"tasks": {"a": {"loop": 3, %s: 5, "run": 1}}}'
    alone, twice = (load(tmp_path, juno, text % key).loads for key in ('"loop1"', '"loop"'))
    assert "Ignored, as by rt-app: tasks.a.loop1." in alone
    assert "since the key stands twice: tasks.a.loop1; rt-app alone takes the last." in twice
    assert "as by rt-app" not in twice


def test_windows(tmp_path: Path, juno: Platform) -> None:
    """A file without duration and without waits ends with its tasks; one that waits may not."""
    ends = '{"tasks": {"a": {"loop": 3, "run": 1%s}}}'
    assert load(tmp_path, juno, ends % "").window.until == "tasks-end"
    assert load(tmp_path, juno, ends % ', "suspend"').window.full_ms == 60_000


def test_import_and_export(tmp_path: Path, juno: Platform, juno_activity: Activity) -> None:
    source, made = tmp_path / "x.json", tmp_path / "y.toml"
    source.write_text(WHOLE)
    done = eascope("scenario", "import", str(source), "--out", str(made))
    assert done.returncode == 0, done.stderr
    assert "Ignored, as by rt-app: global.frag." in done.stdout
    imported, direct = load_scenario(str(made), juno), load_scenario(str(source), juno)
    assert (imported.rt_app, imported.loads) == (direct.rt_app, direct.loads)
    again = eascope("scenario", "import", str(source), "--out", str(made))
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)

    document, unsaid = exported(load_scenario("smoke", juno), juno, juno_activity)
    back = read("back", json.dumps(document))
    assert document["global"]["calibration"] == "CPU4", "of the largest cluster"
    assert [task.name for task in back.tasks] == ["light0", "light1", "heavy", "pinned"]
    assert back.tasks[2].says["phases"]["phase0"]["run"] == 10_000, "us of that CPU"
    assert (back.tasks[2].period_us, back.tasks[2].says["util_max"]) == (16_000, 1024)
    assert back.tasks[3].says["cpus"] == [4]
    assert unsaid == []
    out = eascope("scenario", "export", "eas/video-playback", "--rt-app")
    assert json.loads(out.stdout)["tasks"]
    assert 'task audio: clock = "audio"' in out.stderr


def test_what_rt_app_refuses_is_not_exported(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    more = """
[[group]]
name = "g"
[source_conditions]
source = "here"
calibration_ns = 88
"""
    path = write(tmp_path, task='policy = "fifo"\ngroup = "g"', more=more)
    document, unsaid = exported(load_scenario(path, juno), juno, juno_activity)
    assert read("back", json.dumps(document)).tasks[0].says["policy"] == "SCHED_FIFO"
    assert any(words.startswith("task a: its group g: ") for words in unsaid)
    assert "[source_conditions]: calibration_ns = 88" in unsaid


@pytest.mark.guest
def test_iterations_are_those_of_the_executed_loop(tmp_path: Path) -> None:
    """Every kind of event and of grammar, in a real guest: elided as executed."""
    text = WHOLE.replace('"fork" : "Forked", ', "")
    (tmp_path / "x.json").write_text(text)
    made = tmp_path / "y.toml"
    eascope("scenario", "import", str(tmp_path / "x.json"), "--out", str(made))
    made.write_text(made.read_text().replace("= 1000", "= 300"))
    results = []
    for more in ((), ("--no-elide",)):
        results.append(ran(made, "--no-noise", *more))
    assert results[0]["turns"] == results[1]["turns"]
    assert 43 <= results[0]["turns"]["tick"] <= 50, "a timer of 6 ms, once rt-app has read the file"
    assert results[0]["turns"]["mp3_decoder"] >= 8, "every fifth of them"


def deadline_file(platform: Platform, folder: Path, instances: int, **more: object) -> Any:
    """Two tasks of SCHED_DEADLINE: so many of 11 ms in 16 ms, and four of 6.5 ms in 16 ms."""
    keys = {"policy": "SCHED_DEADLINE", "dl-period": 16_000, "dl-deadline": 16_000, **more}
    timer = {"ref": "unique", "period": 16_000, "mode": "absolute"}
    tasks = {
        name: {**keys, "instance": count, "dl-runtime": us, "timer": timer, "run": us}
        for name, count, us in (("small", 4, 6_500), ("large", instances, 11_000))
    }
    settings = {"duration": 1, "default_policy": "SCHED_OTHER"}
    return load(folder, platform, json.dumps({"tasks": tasks, "global": settings}))


def test_deadline_tasks_are_admitted_as_by_the_kernel(tmp_path: Path) -> None:
    """pixel6: 95 % of the capacities 4 x 160, 2 x 498, 2 x 1024 less 8 servers of 5 %."""
    platform = load_platform("pixel6")
    most = 0.95 * sum(platform.capacities) / 1024 - 0.4
    fit = int((most - 4 * 6.5 / 16) * 16 / 11)
    assert fit > 0
    loads = deadline_file(platform, tmp_path, fit).loads
    assert "dl-runtime" not in loads, "no task has SCHED_OTHER"
    words = ["tasks.large.dl-runtime = 11000", f"up to {most:.3f} CPUs' time", "large makes"]
    with pytest.raises(RequestError) as refused:
        deadline_file(platform, tmp_path, fit + 1)
    assert all(word in str(refused.value) for word in words)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"dl-deadline": 5_000}, "tasks.small.dl-runtime = 6500: allowed: an integer in 2..5000"),
        (
            {"dl-deadline": 17_000},
            "tasks.small.dl-deadline = 17000: allowed: an integer in 2..16000",
        ),
        ({"dl-period": 5_000_000}, "tasks.small.dl-period = 5000000: allowed: an integer in 100.."),
        ({"cpus": [0, 1]}, "tasks.small.cpus = [0, 1]: allowed: all CPUs with SCHED_DEADLINE"),
    ],
)
def test_what_the_kernel_refuses_of_a_deadline_task(
    tmp_path: Path, juno: Platform, more: dict[str, object], words: str
) -> None:
    with pytest.raises(RequestError) as refused:
        deadline_file(juno, tmp_path, 1, **more)
    assert words in str(refused.value)


def test_the_note_on_slices_names_the_tasks_that_have_none(tmp_path: Path, juno: Platform) -> None:
    slices = '"a": {"dl-runtime": 5000, "run": 1}, "b": {"run": 1}, '
    phases = '"c": {"dl-runtime": 900, "phases": {"p": {"policy": "SCHED_DEADLINE", "run": 1}}}'
    loads = load(tmp_path, juno, f'{{"tasks": {{{slices}{phases}}}}}').loads
    assert "dl-runtime: ignored of SCHED_OTHER (a), as by rt-app before" in loads
