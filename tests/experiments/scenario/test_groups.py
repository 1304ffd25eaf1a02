# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of tasks: what a scenario says, the agent's script, and what the guest's kernel does."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eascope.configs.platform import Platform
from eascope.experiments.scenario.groups import ROOT
from eascope.experiments.scenario.model import PLACING_MS
from eascope.experiments.scenario_file import load_scenario
from tests.support.cells import Artefacts, prepared
from tests.support.command import eascope, ran
from tests.support.scenarios import SECOND, WINDOW, check_refused, write

GROUPS = """
[[group]]
name = "low"
parent = "apps"
uclamp = { min = 1, max = "1.0*little" }
max = { quota_us = 20_000 }
cpus = "little:0-1"
latency_nice = 19
[[group]]
name = "apps"
weight = 50
cpus = "little"
[[group]]
name = "top"
uclamp = { max = 1024 }
idle = true
"""
EVENTS = """
[[event]]
at_ms = 5
group = "top"
uclamp = { min = 512 }
max = "none"
[[event]]
at_ms = 9
task = "a"
group = "top"
"""


def test_groups_are_made_and_read_back_before_threads_are_in_them(
    tmp_path: Path, artefacts: Artefacts
) -> None:
    path = write(tmp_path, task='group = "low"\ncount = 2', more=GROUPS + EVENTS)
    cell = prepared(scenario=path, variant="latnice-off")
    lines = cell.machine.script.decode().splitlines()
    apps, low, top = (f"{ROOT}/{name}" for name in ("apps", "apps/low", "top"))

    def both(path: str, value: str) -> Sequence[str]:
        return f"write {path} {value}", f"expect {path} {value}"

    begin = lines.index(f"write {ROOT}/cgroup.subtree_control +cpu +cpuset") + 1
    spawned = next(n for n, line in enumerate(lines) if line.startswith("spawn rt-app"))
    made = [line for line in lines[begin:spawned] if ROOT in line]
    assert made == [
        *(f"mkdir {apps}", f"write {apps}/cgroup.type threaded"),
        f"write {apps}/cgroup.subtree_control +cpu +cpuset",
        *(*both(f"{apps}/cpu.weight", "50"), *both(f"{apps}/cpuset.cpus", "0-3")),
        *(f"expect {apps}/cpuset.cpus.effective 0-3",),
        *(f"mkdir {top}", f"write {top}/cgroup.type threaded"),
        *(*both(f"{top}/cpu.uclamp.max", "max"), *both(f"{top}/cpu.idle", "1")),
        *(f"mkdir {low}", f"write {low}/cgroup.type threaded"),
        *(*both(f"{low}/cpu.uclamp.min", "0.10"), *both(f"{low}/cpu.uclamp.max", "37.40")),
        *(*both(f"{low}/cpu.max", "20000 100000"), *both(f"{low}/cpuset.cpus", "0-1")),
        f"expect {low}/cpuset.cpus.effective 0-1",
        *both(f"{low}/cpu.latency.nice", "19"),
    ]
    (task,) = cell.record.tasks
    threads = [f"move rt-app {thread} {{}}" for thread in task.threads]
    assert lines[spawned + 1 : spawned + 3] == [line.format(low) for line in threads]
    marker = "write /sys/kernel/tracing/trace_marker eascope:"
    within = lines[lines.index("start") + 1 : lines.index("stop")]
    assert within[:9] == [
        *("until-ms 5", *both(f"{top}/cpu.uclamp.min", "50.00")),
        *(f"{marker} {top}/cpu.uclamp.min = 50.00", "until-ms 5"),
        *(*both(f"{top}/cpu.max", "max 100000"), f"{marker} {top}/cpu.max = max 100000"),
        "until-ms 9",
    ]
    assert within[9:12] == [*(line.format(top) for line in threads), f"{marker} a > top"]
    # Threads begin when they are where they belong, clamps of groups count from boot on.
    inputs = cell.inputs()
    document = next(text for name, text in inputs.items() if name.endswith("rt-app.json"))
    threads = json.loads(document)["tasks"]
    assert min(threads[name]["delay"] for name in ("a0", "a1")) >= 2000 * PLACING_MS
    assert any("sched_util_clamp_min_rt_default" in line for line in lines)
    assert f"report {low}/cpu.stat" in lines
    assert task.group == "low"
    assert cell.record.window.writes[-1] == "9 a > top"
    without = prepared(scenario=path, variant="mainline").machine.script
    assert b"latency.nice" not in without


def test_the_kernel_has_each_clamp_exactly(tmp_path: Path, juno: Platform) -> None:
    for clamp in range(1024):
        if clamp % 31 and clamp not in (1, 1023):
            continue
        more = f'[[group]]\nname = "g"\nuclamp = {{ max = {clamp} }}\n'
        (group,) = load_scenario(write(tmp_path, more=more), juno).groups
        percent = int(dict(group.files)["cpu.uclamp.max"].replace(".", ""))
        assert (percent * 1024 + 5000) // 10_000 == clamp


CHANGE = '[[event]]\nat_ms = 5\ngroup = "{}"\n{}\n'
GROUP = '[[group]]\nname = "{}"\n{}\n'


@pytest.mark.parametrize(
    ("task", "more", "words"),
    [
        ('group = "a"', "", ["task[0].group = 'a'", "there is none"]),
        ('group = "tpo"', GROUPS, ["task[0].group = 'tpo'", "apps, low, top", "mean top?"]),
        ('group = "low"\ncpus = "big"', GROUPS, ["task[0].group", "with CPUs of its cpus", "0-1"]),
        ("", GROUP.format("A", ""), ["group[0].name = 'A'", "lower-case"]),
        ("", GROUP.format("a" * 25, ""), ["group[0].name", "up to 24 characters"]),
        ("", GROUP.format("root", ""), ["group[0].name = 'root'", "no group"]),
        ("", GROUP.format("a", "") * 2, ["group[1].name = 'a'", "no other group has"]),
        ("", GROUP.format("a", 'parent = "b"'), ["group[0].parent = 'b'", "one of a"]),
        (
            "",
            GROUP.format("a", 'parent = "b"') + GROUP.format("b", 'parent = "a"'),
            ["group[0].parent = 'b'", "not below a itself"],
        ),
        ("", GROUP.format("a", "idle = true\nweight = 5"), ["group[0].weight = 5", "with idle"]),
        (
            "",
            GROUP.format("a", "uclamp = { min = 9, max = 8 }"),
            ["group[0].uclamp.min = 9", "up to max, which is 8"],
        ),
        (
            "",
            GROUP.format("a", "max = { quota_us = 600_001 }"),
            ["group[0].max.quota_us = 600001", "1000..600000", "all CPUs' time"],
        ),
        ("", GROUP.format("a", 'cpus = "big:7"'), ["group[0].cpus = 'big:7'", "big:0 to big:1"]),
        (
            "",
            GROUPS.replace('"little:0-1"', '"big"'),
            ["group[0].cpus = 'big'", "CPUs of its parent, which has 0-3"],
        ),
        ("", GROUP.format("a", 'partition = "root"'), ["group[0].partition", "with cpus"]),
        (
            "",
            GROUP.format("a", 'cpus = "any"\npartition = "root"'),
            ["group[0].partition", "not all of the platform"],
        ),
        (
            "",
            GROUP.format("b", "")
            + GROUP.format("a", 'parent = "b"\ncpus = "big"\npartition = "root"'),
            ["group[1].partition", "without a parent"],
        ),
        (
            "",
            GROUPS + EVENTS.replace('"top"', '"nix"', 1),
            ["event[0].group = 'nix'", "one of apps, low, top"],
        ),
        ("", GROUPS + '[[event]]\nat_ms = 5\ngroup = "top"\n', ["event[0].group", "with task, or"]),
        ("", GROUPS + '[[event]]\nat_ms = 5\ntask = "a"\n', ["event[0].group is missing"]),
        (
            "",
            GROUPS + EVENTS.replace('task = "a"', 'task = "x"'),
            ["event[1].task = 'x'", "one of a"],
        ),
        (
            'cpus = "big"',
            GROUPS + '[[event]]\nat_ms = 5\ntask = "a"\ngroup = "apps"\n',
            ["event[0].group = 'apps'", "with CPUs of its cpus"],
        ),
        (
            "",
            GROUP.format("a", "idle = true") + CHANGE.format("a", "weight = 5"),
            ["event[0].weight = 5", "a is idle"],
        ),
        (
            "",
            GROUP.format("b", 'cpus = "little"')
            + GROUP.format("a", 'parent = "b"')
            + CHANGE.format("a", 'cpus = "big"'),
            ["event[0].cpus = 'big'", "CPUs of its parent, which has 0-3"],
        ),
        (
            'group = "a"\ncpus = "little"',
            GROUP.format("a", "") + CHANGE.format("a", 'cpus = "big"'),
            ["event[0].cpus = 'big'", "each task of the group"],
        ),
        (
            "",
            GROUPS + '[[expect]]\nvariant = "cas"\nsource = "s"\nstatement = "group_run_s.x > 1"\n',
            ["expect[0].statement", "no 'x' there: allowed: root, apps, top, low"],
        ),
    ],
)
def test_a_wrong_group_is_one_line(
    tmp_path: Path, juno: Platform, task: str, more: str, words: list[str]
) -> None:
    check_refused(write(tmp_path, task=task, more=more), juno, words)


#: A CPU of its own for each task but 'roams', which goes to another one in the middle.
IN_GUEST = """
[[group]]
name = "capped"
cpus = "big:0"
uclamp = { max = "0.5*big" }
[[group]]
name = "apps"
weight = 50
cpus = "little"
[[group]]
name = "rationed"
parent = "apps"
cpus = "little:0"
max = { quota_us = 20_000, period_us = 100_000 }
[[group]]
name = "confined"
parent = "apps"
cpus = "little:1-2"
[[group]]
name = "here"
cpus = "little:3"
[[group]]
name = "there"
cpus = "little:2"
[[event]]
at_ms = 500
task = "roams"
group = "there"
[[event]]
at_ms = 700
group = "capped"
uclamp = { max = 1024 }
"""
HOG = '[[task]]\nname = "{}"\ngroup = "{}"\ncount = {}\n[[task.phase]]\nrun_us = 100_000\n'


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What ``eascope run --json`` prints for these groups, always-running tasks in each."""
    root = tmp_path_factory.mktemp("groups")
    tasks = [("rations", "rationed", 1), ("confines", "confined", 3), ("roams", "here", 1)]
    more = IN_GUEST + "".join(HOG.format(*task) for task in tasks)
    scenario = write(
        *(root, 'group = "capped"', "run_us = 100_000", more),
        window=WINDOW.replace("= 20", "= 1000").replace("= 30", "= 1000"),
    )
    return ran(scenario, EASCOPE_RUNS=str(root / "runs"))


def derived(run: dict[str, Any], name: str) -> pl.DataFrame:
    (folder,) = (Path(run["run"]) / "derived").iterdir()
    return pl.read_parquet(folder / f"{name}.parquet")


@pytest.mark.guest
def test_a_group_is_capped_until_an_event_lifts_its_cap(run: dict[str, Any]) -> None:
    """Half of a big CPU is the lowest OPP; beside the task only the agent runs, for moments."""
    big = derived(run, "frequency").filter(pl.col("cluster_name") == "big")
    lifted = big["t0_ns"][0] + 700_000_000
    for khz, since, until in ((600_000, 0, lifted), (1_200_000, lifted, big["t1_ns"][-1])):
        at = big.filter(pl.col("khz") == khz).select(
            pl.col("t1_ns").clip(since, until) - pl.col("t0_ns").clip(since, until)
        )
        assert at.sum().item() > 0.95 * (until - max(since, big["t0_ns"][0]))


@pytest.mark.guest
def test_a_quota_holds(run: dict[str, Any]) -> None:
    assert run["group_run_s"]["rationed"] == pytest.approx(0.2 * run["window_s"], abs=0.02)
    state = (Path(run["run"]) / "state.txt").read_text()
    stat = state.partition(f"{ROOT}/apps/rationed/cpu.stat: ")[2].split()
    assert int(stat[stat.index("nr_throttled") + 1]) >= 10
    assert int(stat[stat.index("throttled_usec") + 1]) >= 700_000


@pytest.mark.guest
def test_tasks_stay_on_the_cpus_of_their_group_and_go_with_it(run: dict[str, Any]) -> None:
    shares = run["cpu_share"]
    assert sum(shares["confines"][1:3]) == pytest.approx(1)
    assert min(shares["confines"][1:3]) > 0
    assert (shares["a"][4], shares["rations"][0]) == (1, 1)
    slices = derived(run, "slices").filter(pl.col("task") == "roams").sort("t0_ns")
    assert slices["cpu"].unique(maintain_order=True).to_list() == [3, 2]
    there = slices.filter(pl.col("cpu") == 2)
    assert there["t0_ns"][0] - slices["t0_ns"][0] == pytest.approx(500_000_000, abs=10_000_000)


@pytest.mark.guest
def test_energies_of_groups_sum_to_the_total_in_femtojoules(run: dict[str, Any]) -> None:
    energy = run["energy_j"]
    assert sum(energy["group"].values()) == energy["total"]
    groups = {"a": "capped", "rations": "rationed", "confines": "confined", "roams": "here"}
    tasks = derived(run, "tasks")
    assert tasks["energy_fj"].sum() == derived(run, "energy")["energy_fj"].sum()
    for task, group in groups.items():
        spent = tasks.filter(pl.col("task") == task)["joules"].sum()
        assert energy["group"][group] == energy["task"][task]
        assert energy["group"][group] == pytest.approx(spent, abs=1e-12)
    assert {*energy["group"]} - {*groups.values()} == {"(other)", "(idle)", "(shared)"}


@pytest.mark.guest
@pytest.mark.parametrize("kind", ["root", "isolated"])
def test_a_partition_takes_its_cpus_out_of_the_others_domains(tmp_path: Path, kind: str) -> None:
    """Three tasks that always run use the other big CPU and littles, and leave this one alone."""
    group = f'[[group]]\nname = "own"\ncpus = "big:1"\npartition = "{kind}"\n'
    hogs = SECOND.replace("[[task.", "count = 3\n[[task.") + "run_us = 100_000\n"
    scenario = write(tmp_path, 'group = "own"', more=group + hogs)
    result = ran(scenario)
    assert result["cpu_share"]["a"][5] == 1
    assert result["cpu_share"]["b"][4:] == [pytest.approx(1 / 3, abs=0.05), 0]


@pytest.mark.guest
def test_what_the_kernel_does_not_take_fails_the_run(tmp_path: Path) -> None:
    """Partitions that share a CPU are none."""
    own = 'cpus = "big:1"\npartition = "root"'
    done = eascope(
        *("run", "--platform", "juno-r2", "--variant", "mainline", "--scenario"),
        write(tmp_path, more=GROUP.format("a", own) + GROUP.format("b", own)),
        EASCOPE_RUNS=str(tmp_path / "runs"),
    )
    assert done.returncode == 1
    (line,) = (line for line in done.stderr.splitlines() if "error:" in line)
    words = "the kernel did not take a group's value: a/cpuset.cpus.partition: found 'root invalid"
    assert words in line
