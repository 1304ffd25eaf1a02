# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign on a real Slurm, by Snakemake's profile and by a plain array script."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from eascope.host.sealed import Done
from tests.support.command import EASCOPE
from tests.support.slurm import lacking, slurm

pytestmark = [
    pytest.mark.long,
    pytest.mark.guest,
    pytest.mark.skipif(bool(lacking()), reason=f"no {lacking()} (Debian packages)"),
]

SWEEP = ["--platform", "juno-r2", "--scenario", "smoke", "--variant", "mainline,cas"]
SWEEP += ["--set", "little.cpus=2,4", "--seeds", "4"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm(tmp_path_factory.mktemp("slurm")) as env:
        yield env


def call(cluster: dict[str, str], runs: Path, *arguments: str) -> str:
    env = {**os.environ, **cluster, "EASCOPE_RUNS": str(runs)}
    done = subprocess.run(
        [*EASCOPE, *arguments], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files(runs: Path) -> dict[str, Done]:
    """The digests of every run, by its name."""
    return {path.parent.name: Done.read(path) for path in runs.glob("*/done")}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign's runs, made on this host alone."""
    runs = tmp_path_factory.mktemp("here") / "runs"
    assert "16 done" in call({}, runs, "sweep", *SWEEP, "-j", "2")
    return runs


def test_by_snakemakes_profile(cluster: dict[str, str], here: Path, tmp_path: Path) -> None:
    pytest.importorskip("snakemake_executor_plugin_slurm")
    runs = tmp_path / "runs"
    out = call(cluster, runs, "sweep", *SWEEP, "-j", "2", "--profile", "slurm")
    assert "16 done, 0 failed, 0 missing" in out
    assert files(runs) == files(here)


def test_by_an_array_script(cluster: dict[str, str], here: Path, tmp_path: Path) -> None:
    runs, script = tmp_path / "runs", tmp_path / "array.sh"
    call(cluster, runs, "sweep", *SWEEP, "-j", "2", "--script", str(script))
    env = {**os.environ, **cluster}
    subprocess.run(["sbatch", "--wait", str(script)], env=env, check=True, capture_output=True)
    assert "16 done, 0 failed, 0 missing" in call(cluster, runs, "status", *SWEEP)
    assert files(runs) == files(here)
