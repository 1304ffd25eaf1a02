# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope check`` from a series to the table, and ``--b4``, by runs that no engine made."""

import errno
import io
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest

from eascope.analysis.reply import Outcome
from eascope.configs.platform import Platform
from eascope.experiments.cli import check, compare
from eascope.experiments.cli.compare import Answered, Drawn
from eascope.experiments.runs import measure
from eascope.experiments.runs.cell import Cell
from eascope.experiments.runs.store import Run
from eascope.host.errors import EascopeError
from eascope.kernels import posted
from eascope.kernels.patching import PatchFailed
from eascope.kernels.provenance import KERNEL_SRC
from eascope.kernels.trees import tree_source
from tests.support import campaigns
from tests.support.campaigns import StandInRuns
from tests.support.cells import Artefacts
from tests.support.command import inside, json_inside, output_of, refused
from tests.support.compared import compared_runs
from tests.support.outcomes import outcome
from tests.support.toy_linux import git, toy_linux

FAIR = """\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: Jo <jo@localhost>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Message-ID: <{number}@localhost>
Subject: [PATCH {number}/2] {subject}

Why.
---
diff --git a/{path} b/{path}
--- a/{path}
+++ b/{path}
@@ -1 +1 @@ static int find_energy_efficient_cpu(struct task_struct *p)
-old
+{number}
"""
COVER = """\
From: Jo <jo@localhost>
Message-ID: <cover@localhost>
Subject: [PATCH 0/2] A series

What and why.
"""
#: Sets the outcome of all comparisons.
Answering: TypeAlias = Callable[[float], None]
HERE = ["--scenarios", "smoke", "--platforms", "juno-r2"]


def mail(number: int = 1, path: str = "kernel/sched/fair.c", subject: str = "sched: Do") -> str:
    return FAIR.format(number=number, path=path, subject=subject)


@pytest.fixture
def series(artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An mbox that applies; its kernel is there, and no engine is needed."""
    monkeypatch.delenv(KERNEL_SRC, raising=False)
    monkeypatch.setattr(posted, "tried", lambda _: SimpleNamespace(label="Linux 7.3.4"))

    file = tmp_path / "mine.mbx"
    file.write_text(f"{mail()}\n{mail(2)}\n")
    return file


@pytest.fixture
def answered(series: Path, juno: Platform, monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Gives every comparison the outcome of an energy of mainline's times a factor."""

    def answering(energy: float) -> None:
        result = outcome(juno, energy).comparison
        monkeypatch.setattr(
            compare,
            "answers",
            lambda every: [Answered(result, None, {}, {}, "ab" * 32) for _ in every],
        )
        monkeypatch.setattr(
            compare, "draw", lambda folder, _: Drawn(folder, {}, folder / "report.html")
        )
        monkeypatch.setattr(check, "_first_lines", lambda _: iter(["largest change: here"]))

    return answering


def test_a_dry_run_says_what_it_would_do(series: Path) -> None:
    before = sorted(series.parent.rglob("*"))
    plan = json_inside("check", str(series), "--dry-run")
    assert sorted(series.parent.rglob("*")) == before, "nothing is written"
    assert (plan["base"], plan["variant"]) == ("mainline@7.3", "sched-do@7.3")
    assert plan["patches"] == ["0001-sched-Do.patch", "0002-sched-Do.patch"]
    assert plan["touches"] == {"EAS": ["kernel/sched/fair.c"]}
    assert plan["scenarios"] == ["eas/video-playback", "ui/jank"]
    assert plan["platforms"] == ["juno-r2", "pixel6"]
    assert plan["to_run"] == 2 * 2 * 2 * plan["seeds"] == 160
    text = output_of("check", str(series), "--dry-run")
    assert text.startswith(
        "base: Linux 7.3.4, the newest\nseries: 2 patches, as sched-do@7.3\n"
        "touches EAS: kernel/sched/fair.c\nscenarios: eas/video-playback, ui/jank\n"
        "platforms: juno-r2, pixel6; 20 seeds\n"
    )
    assert "\nto run: at most 160, about " in text
    assert text.endswith("dry run: nothing written\n")


def test_from_a_series_to_the_table(series: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By runs of ours: under the series tasks are on the larger CPUs, as under `cas`."""
    usual = campaigns._schedule

    def schedule(cell: Cell) -> Any:
        like = "mainline" if cell.record.variant.startswith("mainline") else "cas"
        return usual(replace(cell, record=replace(cell.record, variant=like)))

    def stand_in(cells: list[Cell], after: Callable[[Cell, Run], Any], **_: object) -> list[Any]:
        return [after(cell, StandInRuns()(cell)) for cell in cells]

    monkeypatch.setattr(campaigns, "_schedule", schedule)
    monkeypatch.setattr(measure, "run_all", stand_in)
    text = output_of("check", str(series), *HERE, "--seeds", "2")
    plan, head, end = text.split("\n\n", 2)
    assert plan.splitlines()[-1].startswith("to run: at most 4, about ")
    assert head == "Simulated: Linux 6.12.1 without and with the series (2 patches, 2 seeds)."
    rows = end.splitlines()
    assert rows[0].split() == ["energy,", "%", "p99,", "%", "late", "verdict"]
    assert rows[1] == "smoke"
    assert rows[2].startswith("  juno-r2  ")
    assert rows[2].endswith("  not tested")
    report = next(line for line in rows if line.startswith("report: ")).partition(" ")[2]
    assert Path(report).is_file()
    # As that of eascope compare.
    assert "/smoke_juno-r2_qemu_mainline@7.3_sched-do@7.3_2-seeds_" in report


def test_the_largest_change_is_shown_decision_by_decision(juno: Platform, tmp_path: Path) -> None:
    pair = Outcome(compared_runs(tmp_path, 1))
    vars(pair)["energy"] = replace(pair.energy, seen=True)  # for which one seed is too few
    lines = [*check._first_lines([outcome(juno), pair])]
    assert lines[0] == f"largest change: {pair.where}, seed 0"
    assert lines[1].startswith("A: mainline (")
    assert lines[2].startswith("B: cas (")
    assert lines[3].partition(": ")[0] in ("first difference", "no difference")
    assert lines[-1].startswith("more: eascope diff ")
    assert [*check._first_lines([outcome(juno)])] == [], "nothing is seen"


def test_exit_codes_and_json(series: Path, answered: Answering) -> None:
    answered(1.1)
    words = ["check", str(series), *HERE]
    assert "  worse\n" in output_of(*words)
    output_of(*words, "--fail-on", "worse", code=1)
    record = json_inside(*words)
    (row,) = record["outcomes"]
    assert (row["verdict"], row["report"][-12:]) == ("worse", "/report.html")
    assert "  worse\n" in record["table"]
    assert record["diff"] == ["largest change: here"]
    answered(0.9)
    assert "  better\n" in output_of(*words, "--fail-on", "worse")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "check: WHAT is missing; expected a folder of patches, an mbox, a patch, A..B"),
        (["nowhere"], "'nowhere': no such file; expected a folder of patches"),
        (["docs.mbx"], "touches nothing that a scenario measures: Documentation/a.rst;"),
        (["mine.mbx", "--scenarios", "smok"], "unknown scenario 'smok'"),
        (["mine.mbx", "--platforms", "juno"], "unknown platform 'juno'"),
        (["mine.mbx", "--name", "cas"], "name 'cas': allowed: a name of "),
        (["mine.mbx", "--fail-on", "mixed"], "unknown --fail-on 'mixed': allowed: worse"),
        (
            ["mine.mbx", "--b4"],
            "--b4 reads the series from stdin; it takes neither WHAT nor --dry-run",
        ),
        (["--b4=patch"], "unknown --b4 'patch': allowed: prep, review"),
    ],
)
def test_bad_input_is_one_line(
    series: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], says: str
) -> None:
    monkeypatch.chdir(series.parent)
    paths = "Documentation/a.rst"
    Path("docs.mbx").write_text(f"{mail(path=paths)}\n{mail(2, path=paths)}\n")
    assert says in refused("check", *words)


def test_a_full_disk_is_one_line(series: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(path: Path, _: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(Path, "write_bytes", write)
    done = inside("check", str(series), *HERE)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "/mbox" in done.stderr
    assert "No space left on device" in done.stderr


@pytest.fixture
def tree(series: Path) -> Path:
    """A tree of Linux whose scheduler has a change that is not committed, and a .config."""
    folder = toy_linux(series.parent / "Linux-Mine")
    (folder / "kernel/sched").mkdir(parents=True)
    (folder / "kernel/sched/fair.c").write_text("int find_energy_efficient_cpu(void);\n")
    git(folder, "add", "--intent-to-add", ".")
    (folder / ".config").write_text("CONFIG_SMP=y\nCONFIG_NET=y\n")
    return folder


def test_a_tree_is_checked_against_its_tag(tree: Path) -> None:
    plan = json_inside("check", str(tree), "--dry-run")
    assert (plan["base"], plan["variant"]) == ("linux-mine-base", "linux-mine")
    assert plan["touches"] == {"EAS": ["kernel/sched/fair.c"]}
    assert {"CONFIG_NET=n (is y)", "CONFIG_JUMP_LABEL=y (is n)"} <= {*plan["options"]}
    assert "CONFIG_SMP=y (is y)" not in plan["options"]
    tree_source.cache_clear()  # a dry run's objects are gone with it
    text = output_of("check", str(tree), "--dry-run", "--name", "mine")
    assert f"base: v7.3.4 of {tree}, the newest tag there\nseries: a tree, as mine\n" in text
    assert "\nset otherwise than in its .config: CONFIG_" in text
    (tree / ".config").unlink()
    tree_source.cache_clear()
    assert json_inside("check", str(tree), "--dry-run")["options"] == []


def test_a_tree_is_given_to_compare(
    tree: Path, answered: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(1.1)
    asked: list[Any] = []

    def keep(command: Any) -> Any:
        asked.append(command)
        return command

    monkeypatch.setattr(compare, "asked_of", keep)
    monkeypatch.setattr(compare, "words", lambda _: [])
    assert "(a tree, 20 seeds)" in output_of("check", str(tree), *HERE)
    (command,) = asked
    assert command.variants == ["linux-mine-base", "linux-mine"]
    assert command.kernel == [f"linux-mine={tree}", f"linux-mine-base={tree}@v7.3.4"]


def test_a_trees_own_tags_settings_and_name_change_nothing(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tag that is no release, an option of git for what people see, a variant's name."""
    git(tree, "tag", "v2-my-idea")
    settings = tmp_path / "gitconfig"
    settings.write_text("[diff]\n\tnoprefix = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    renamed = tree.rename(tree.parent / "mainline")
    plan = json_inside("check", str(renamed), "--dry-run")
    assert (plan["base"], plan["variant"]) == ("mainline-tree-base", "mainline-tree")
    assert plan["touches"] == {"EAS": ["kernel/sched/fair.c"]}
    assert plan["base_why"].startswith("v7.3.4 of ")


def test_a_tree_without_changes_or_tag_is_refused(tree: Path) -> None:
    git(tree, "reset", "--quiet", "--hard")
    assert "no file differs from v7.3.4" in refused("check", str(tree))
    git(tree, "tag", "--delete", "v7.3.4")
    assert "no tag v* of Linux below its commit: git fetch" in refused("check", str(tree))
    (tree / ".git").rename(tree.parent / "gone")
    assert "expected a git tree of Linux, with a commit" in refused("check", str(tree))


def test_a_series_that_does_not_apply_is_refused(
    series: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = "sched-do/0002-sched-Do.patch does not apply to Linux 7.3.4: a.c: hunk 1 at line 7:\n"
    monkeypatch.setattr(posted, "tried", raising(PatchFailed(message)))
    line = "0002-sched-Do.patch does not apply to Linux 7.3.4: a.c: hunk 1 at line 7"
    done = inside("check", str(series))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"eascope: error: {line}; {line}"


def test_a_series_that_does_not_compile_fails(
    series: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "eascope.experiments.cli.compare.digest", raising(EascopeError("kernel build: a.c:1:2"))
    )
    done = inside("check", str(series), *HERE)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        1,
        "eascope: error: kernel build: a.c:1:2",
    )


def raising(error: Exception) -> Callable[..., Any]:
    def raise_it(*_: object) -> None:
        raise error

    return raise_it


@pytest.fixture
def b4(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What b4 reads of a command that it gives ``mails``; stderr would count as errors."""
    monkeypatch.delenv("B4_TRACKING_FILE", raising=False)

    def read(mails: str, form: str = "--b4", *more: str) -> str:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(mails.encode())))
        done = inside("check", form, *HERE, *more)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return read


def test_b4_review_gets_json(series: Path, b4: Callable[..., str], answered: Answering) -> None:
    """As b4 0.16 reads it: an entry with five texts, and a status of three."""
    answered(1.1)
    (entry,) = json.loads(b4(series.read_text()))
    assert sorted(entry) == ["details", "status", "summary", "tool", "url"]
    assert (entry["tool"], entry["status"]) == ("eascope", "warn")
    assert entry["summary"] == "1 worse (mainline@7.3)"
    assert "\n  juno-r2  +10.0 (" in entry["details"]
    assert entry["url"].startswith("file:///")
    assert json.loads(b4(series.read_text(), "--b4", "--fail-on=worse"))[0]["status"] == "fail"


def test_b4_prep_gets_lines(series: Path, b4: Callable[..., str], answered: Answering) -> None:
    """Each is a warning, or with ERROR: an error; none means that the patch has passed."""
    answered(1.1)
    assert b4(mail(2), "--b4=prep") == "1 worse (mainline@7.3)\n"
    assert b4(mail(2), "--b4=prep", "--fail-on=worse") == "ERROR: 1 worse (mainline@7.3)\n"
    answered(1.0)
    assert b4(mail(1), "--b4=prep") == ""


@pytest.mark.parametrize("given", [COVER, mail(1)])
def test_b4_finds_the_series_of_a_mail(
    series: Path, b4: Callable[..., str], monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    """In the review branch that b4 tracks, else by the message-id."""
    asked = []

    def read(what: str, tree: Path) -> Any:
        asked.append(what)
        raise EascopeError("read")

    monkeypatch.setattr(posted, "posted", read)
    assert json.loads(b4(given))[0]["summary"] == "read"
    tracked = {"series": {"first-patch-commit": "abc", "change-id": "2026-mine"}}
    file = series.parent / "tracking.json"
    file.write_text(json.dumps(tracked))
    monkeypatch.setenv("B4_TRACKING_FILE", str(file))
    b4(given)
    ident = "cover" if given == COVER else "1"
    assert asked == [f"<{ident}@localhost>", "abc~1..b4/review/2026-mine~1"]


@pytest.mark.parametrize(
    ("error", "status"),
    [(PatchFailed("x/1.patch does not apply: a.c"), "warn"), (EascopeError("a.c:1:2"), "warn")],
)
def test_b4_gets_errors_as_an_entry(
    series: Path,
    b4: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: str,
) -> None:
    monkeypatch.setattr(posted, "tried", raising(error))
    (entry,) = json.loads(b4(series.read_text()))
    assert entry["status"] == status
    assert "a.c" in entry["summary"]


def test_b4_fails_what_does_not_compile_and_passes_what_is_not_measured(
    series: Path, b4: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = raising(EascopeError("kernel build:\na.c:1:2"))
    monkeypatch.setattr("eascope.experiments.cli.compare.digest", errors)
    (entry,) = json.loads(b4(series.read_text()))
    assert (entry["status"], entry["summary"], entry["details"]) == (
        *("fail", "kernel build:"),
        "a.c:1:2",
    )
    monkeypatch.setattr(
        "sys.stdin", SimpleNamespace(buffer=io.BytesIO(mail(path="a.rst").encode()))
    )
    assert output_of("check", "--b4=prep") == ""
