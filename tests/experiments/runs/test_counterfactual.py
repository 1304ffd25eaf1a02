# SPDX-License-Identifier: GPL-2.0-or-later
"""`eascope diff --counterfactual`: a planted decision is the only cause that is found."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from eascope.analysis.counterfactual import Counterfactual, Repeated, named
from eascope.analysis.run_diff import RunDiff
from eascope.analysis.run_side import Side
from eascope.analysis.stream import WAKE, Decision
from eascope.analysis.trace import read_trace
from eascope.configs.platform_file import load_platform
from eascope.engines.records import COUNTERS, TRACE
from eascope.experiments.runs.counterfactual import counted, runs_of
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.request import Request, Resolved, resolve
from eascope.host.cache import runs_root
from tests.support.command import inside

PLATFORM = load_platform("juno-r2")
SMOKE = ["--platform", "juno-r2", "--scenario", "smoke"]
guest = pytest.mark.guest


@pytest.fixture(scope="module")
def resolved() -> Resolved:
    return resolve(Request("juno-r2", "mainline", "smoke"))


@pytest.fixture(scope="module", autouse=True)
def own_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The module's runs have a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EASCOPE_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield


def sides(resolved: Resolved, *forced: list[str]) -> list[Side]:
    runs = runs_of([counted(resolved, lines) for lines in forced], BilledBy(None))
    return [Side(run, PLATFORM) for run in runs]


@pytest.fixture(scope="module")
def control(resolved: Resolved) -> Side:
    (side,) = sides(resolved, [])
    return side


def elsewhere(control: Side) -> tuple[Decision, Decision]:
    """A wake-up of a task in the middle of the window, and the same on another CPU."""
    tasks = {thread for task in control.derived.cell.tasks for thread in task.threads}
    wakes = [
        each
        for each in control.streams.in_time
        if each.about in tasks and each.kind == WAKE and each.t_ns > control.window.ns // 2
    ]
    return wakes[0], replace(wakes[0], value=(wakes[0].value + 3) % len(PLATFORM.cpus))


@guest
def test_a_forced_decision_is_the_first_difference_and_the_whole_of_it(
    resolved: Resolved, control: Side
) -> None:
    one, other = elsewhere(control)
    (choice,) = named(control, [(one, other)])
    (planted,) = sides(resolved, [choice.line])
    diff = RunDiff(PLATFORM, control, planted)
    assert diff.firsts[0] == (one, other)
    assert all(each.t_ns > one.t_ns for pair in diff.firsts[1:] for each in pair if each)
    # Before the decision no event differs.
    begun = one.t_ns + control.window.t0_ns - control.window.offset_ns
    traces = [read_trace(side.derived.run / TRACE).events for side in (control, planted)]
    until = [events.filter(pl.col("t_ns") <= begun) for events in traces]
    assert until[0].height > 1000
    assert until[0].equals(until[1])
    # So the decision is the whole difference.
    assert diff.total_fj != 0
    found = Counterfactual(diff, [Repeated("A1", [choice], planted)])
    assert found.repeated[0].outcomes == ["forced"]
    (forced,) = found.record("")["forced"]
    assert forced["explained_percent"] == 100
    assert forced["next"] is None


@guest
def test_a_line_that_never_comes_changes_no_byte(resolved: Resolved, control: Side) -> None:
    """Whatever thread, activation and CPU it names."""
    (other,) = sides(resolved, ["00000002 77777777 005"])
    diff = RunDiff(PLATFORM, control, other)
    assert control.derived.run != other.derived.run
    for name in (TRACE, COUNTERS):
        assert (control.derived.run / name).read_bytes() == (other.derived.run / name).read_bytes()
    assert diff.same
    assert control.digest == other.digest
    assert diff.total_fj == 0
    one, _ = elsewhere(control)
    (choice,) = named(control, [(one, one)])
    unused = replace(choice, line="00000002 77777777 005")
    assert Repeated("A1", [unused], other).outcomes == ["pending"]


@guest
def test_a_cpu_that_the_thread_may_not_run_on_is_refused(resolved: Resolved, control: Side) -> None:
    bound = next(each for each in control.streams.in_time if each.about.startswith("kworker/0:"))
    (choice,) = named(control, [(bound, replace(bound, value=1))])
    (run,) = sides(resolved, [choice.line])
    assert Repeated("A1", [choice], run).outcomes == ["refused"]
    assert RunDiff(PLATFORM, control, run).firsts == []


@guest
def test_the_command_takes_variants_or_runs_and_runs_nothing_twice() -> None:
    words = ["diff", "mainline", "cas", *SMOKE, "--seed", "1", "--counterfactual=first:2"]
    done = inside(*words, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    first, second, together = found["forced"]
    assert [each["name"] for each in found["forced"]] == ["A1", "A2", "all"]
    assert together["decisions"] == first["decisions"] + second["decisions"]
    assert all(one["outcome"] == "forced" for each in (first, second) for one in each["decisions"])
    assert found["b"]["less_a_fj"] == found["difference_fj"]
    assert found["b"]["explained_percent"] == 100
    runs = sorted(runs_root().iterdir())
    text = inside(*words).stdout
    assert sorted(runs_root().iterdir()) == runs
    assert "energy (mJ)" in text
    assert text.endswith(f"repeat: eascope {' '.join(words)}\n")
    assert max(map(len, text.splitlines()[:-1])) <= 90
    # The same of two runs, which are prepared again from their records.
    plain = inside("diff", "mainline", "cas", *SMOKE, "--seed", "1")
    assert plain.stdout.splitlines()[0].startswith("A: mainline (")
    named_runs = [line.split("(")[1][:12] for line in plain.stdout.splitlines()[:2]]
    again = json.loads(inside("diff", *named_runs, "--counterfactual=first:2", "--json").stdout)
    assert again["forced"] == found["forced"]


@guest
def test_means_over_seeds_are_of_the_runs_of_each_seed() -> None:
    words = ["diff", "mainline", "cas", *SMOKE, "--counterfactual", "--json"]
    alone = [json.loads(inside(*words, "--seed", seed).stdout) for seed in "01"]
    done = inside(*words, "--seeds", "2")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [each["forced"] for each in found["seeds"]] == [each["forced"] for each in alone]
    a, forced, b = found["runs"]
    assert forced["forced_in"] == 2
    for mean, key in ((a, "a"), (b, "b")):
        energies = [each[key]["energy_fj"] for each in alone]
        assert mean["energy_mj"]["mean"] == pytest.approx(sum(energies) / 2e12)
        assert mean["energy_mj"]["interval"] is None


@guest
def test_runs_whose_decisions_cannot_be_forced_are_refused(tmp_path: Path) -> None:
    same = inside("diff", "mainline", "mainline", *SMOKE, "--counterfactual")
    assert same.returncode == 2
    assert "no wake-up or fork that A and B have differs" in same.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a", "b", "--no-noise"], "--noise: finished runs stay as they are; give two variants"),
        (["a", "b", "--scenario", "smoke"], "--scenario: finished runs stay as they are"),
        *(
            (["a", "b", f"--counterfactual={value}"], f"'{value}': allowed: N or first:N, N an int")
            for value in ("33", "first:0", "last:1", "first:")
        ),
        (["a", "b", *SMOKE, "--seed", "5", "--seeds", "3"], "cannot be combined with --seed"),
        (["mainline", "cas", *SMOKE, "--any"], "--any: of finished runs; two variants differ in"),
        (["mainline", "mainlin", *SMOKE], "variant 'mainlin'"),
    ],
)
def test_a_wrong_request_is_one_line(words: list[str], said: str) -> None:
    done = inside("diff", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
