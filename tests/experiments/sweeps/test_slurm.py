# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sweep writes for Slurm; no Slurm is needed."""

import os
import subprocess
from pathlib import Path

import pytest

from eascope.experiments.sweeps import session
from eascope.experiments.sweeps.session import (
    SweepSession,
    check_snakemake,
    environment,
    slurm_environment,
    write_array,
)
from eascope.host.errors import EascopeError, RequestError
from tests.support.campaigns import campaign, part_of, surveyed
from tests.support.cells import Artefacts
from tests.support.refusals import refusal


@pytest.fixture
def srun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cluster's srun that says which configuration it sees."""
    program = tmp_path / "cluster" / "srun"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$SLURM_CONF $*"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program


@pytest.fixture
def begun(artefacts: Artefacts, tmp_path: Path) -> SweepSession:
    """A session of one part."""
    survey = surveyed(campaign(seeds=2))
    folder = tmp_path / "session"
    folder.mkdir()
    return SweepSession(survey.campaign, folder, (part_of(survey),) * 3)


def test_srun_knows_the_cluster_though_the_plugin_drops_its_variables(
    srun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", "/a folder/slurm.conf")
    folder = tmp_path / "session"
    folder.mkdir()
    env = {**os.environ, **slurm_environment(folder)}
    del env["SLURM_CONF"]
    done = subprocess.run(["srun", "-n1", "a b"], env=env, capture_output=True, check=True)
    assert done.stdout == b"/a folder/slurm.conf -n1 a b\n"


def test_a_cluster_of_the_usual_place_needs_nothing(
    srun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_CONF", raising=False)
    monkeypatch.delenv("SLURM_CONF_SERVER", raising=False)
    assert slurm_environment(tmp_path) == {}
    assert not (tmp_path / "bin").exists()


def test_only_slurm_gets_it(
    srun: Path, begun: SweepSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", "/slurm.conf")
    assert environment(begun, None)["PATH"] == os.environ["PATH"]
    assert environment(begun, "slurm")["PATH"] != os.environ["PATH"]


def test_what_a_job_said_before_its_part_began_is_shown(begun: SweepSession) -> None:
    """Snakemake's own log has not a word of it."""
    (log := begun.folder / "snakemake.log").write_text("Using profile\n")
    (begun.folder / "log").mkdir()
    (begun.folder / "log" / "0.txt").touch()
    job = begun.folder / ".snakemake" / "slurm_logs" / "rule_part" / "0" / "1.log"
    job.parent.mkdir(parents=True)
    job.write_text("srun: fatal: Could not establish a configuration source\n")
    with pytest.raises(EascopeError, match="srun: fatal: Could not establish"):
        session._explain(begun, log, 1)


def test_a_host_without_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snakemake would find out after a minute, in many lines."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RequestError, match="--profile slurm: no sbatch on this host; use"):
        check_snakemake("slurm")


def test_profiles_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("executor: no-such-cloud\njobs: 3\n")
    for profile, message in (
        ("slrum", "no such profile \\(did you mean slurm\\?\\)"),
        (str(tmp_path), "snakemake-executor-plugin-no-such-cloud is not installed; run .venv"),
    ):
        with pytest.raises(RequestError, match=message) as wrong:
            check_snakemake(profile)
        assert "\n" not in str(wrong.value)
        assert wrong.value.exit_code == 2


def test_a_profile_that_snakemake_refuses(begun: SweepSession) -> None:
    (log := begun.folder / "snakemake.log").write_text(
        "usage: snakemake [-h]\n__main__.py: error: unrecognized arguments: --foo=3\n"
    )
    assert refusal(session._check_options, begun, log, "./mine") == (
        "--profile ./mine: Snakemake refuses it: unrecognized arguments: --foo=3"
    )
    assert not begun.folder.exists()


@pytest.mark.parametrize(("most", "first"), [(1000, ["0"]), (2, ["0", "2"])])
def test_an_array_has_no_more_tasks_than_slurm_takes(
    most: int,
    first: list[str],
    begun: SweepSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A task of many parts runs every MOST_TASKS-th, and fails when one of them has."""
    monkeypatch.setattr(session, "MOST_TASKS", most)
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nbasename "$4" .json\n[ "$(basename "$4")" != 0.json ]\n')
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    write_array(begun, script := tmp_path / "array.sh", 2)
    assert f"--array=0-{min(3, most) - 1}%2\n" in script.read_text()
    env = {**os.environ, "SLURM_ARRAY_TASK_ID": "0"}
    done = subprocess.run([script], env=env, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout.split()) == (1, first)
