# SPDX-License-Identifier: GPL-2.0-or-later
"""``--dry-run`` says which runs are there and what would be built; it writes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.platform import Platform
from eascope.experiments import cell as cells
from eascope.experiments.cli.main import main
from eascope.host.cache import runs_root
from eascope.host.dry import refuse
from eascope.kernels.variants import Kernel
from tests.support.cells import Artefacts, prepared
from tests.support.command import COMPARE, RUN, eascope
from tests.support.synthetic import playback, write_run

PATCH = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"


def plan(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--dry-run", "--json"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def test_runs_that_are_there_and_others(
    artefacts: Artefacts, juno: Platform, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = plan(capsys, *COMPARE, "--seeds", "2")
    assert [cell["state"] for cell in expected["cells"]] == ["to run"] * 4
    assert expected["to_run"] == 4
    assert expected["run_s"] > 0
    assert not own_cache.exists()
    assert not runs_root().exists()
    present = runs_root() / expected["cells"][2]["simkey"]
    write_run(present, juno, playback("cas", 0), variant="cas")
    before = sorted(runs_root().rglob("*"))
    assert main([*COMPARE, "--seeds", "2", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:4] for line in lines[:4]] == [
        ["mainline,", "seed", "0", "to"],
        ["mainline,", "seed", "1", "to"],
        ["cas,", "seed", "0", "there"],
        ["cas,", "seed", "1", "to"],
    ]
    assert str(present) in lines[2]
    assert lines[-2].startswith("to run: 3 of 4, about ")
    assert lines[-1] == "nothing was written: without --dry-run the command does it"
    assert sorted(runs_root().rglob("*")) == before


def test_keys_are_those_of_the_runs(
    artefacts: Artefacts, capsys: pytest.CaptureFixture[str]
) -> None:
    (cell,) = plan(capsys, *RUN)["cells"]
    assert cell["simkey"] == prepared().simkey


def test_a_kernel_that_is_not_built_is_named(
    artefacts: Artefacts,
    own_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A patch of the command's own: its queue is not kept either."""

    def kernel(spec: Kernel) -> Any:
        if spec.own:
            refuse(f"kernel {spec.name}, Linux 6.12", "unknown: up to 5 min")
        return artefacts.kernel(spec)

    monkeypatch.setattr(cells, "_kernel", kernel)
    (tmp_path / "idea.patch").write_text(PATCH)
    arguments = ["compare", "mainline", "idea", *COMPARE[3:]]
    arguments += ["--patch", str(tmp_path / "idea.patch"), "--dry-run"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["mainline,", "seed", "0", "to", "run"]
    assert lines[1].split() == ["idea,", "seed", "0", "not", "known"]
    assert "to build: kernel idea, Linux 6.12 (unknown: up to 5 min)" in lines
    assert lines[-2].startswith("to run: at most 2 of 2, about ")
    assert not own_cache.exists()


def test_a_new_machine_would_fetch_everything(own_cache: Path) -> None:
    done = eascope(*RUN, "--dry-run", EASCOPE_CACHE=str(own_cache), EASCOPE_RUNS=str(runs_root()))
    assert done.returncode == 0, done.stderr
    built = [line for line in done.stdout.splitlines() if line.startswith("to build: ")]
    assert [" ".join(line.split()[2:4]) for line in built] == [
        *("QEMU 10.0", "package lists", "kernel base", "rt-app and", "guest image"),
        "qemu-plugin (of",
    ]
    assert done.stderr == ""
    assert not own_cache.exists()
    assert not runs_root().exists()


@pytest.mark.guest
def test_dry_run_finds_a_finished_run_by_its_key(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By the key of the true kernel, engine and guest image."""
    assert plan(capsys, *RUN)["cells"][0]["state"] == "to run"
    assert main([*RUN, "--json"]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    (cell,) = plan(capsys, *RUN)["cells"]
    assert (cell["state"], cell["run"]) == ("there", run)
    assert main([*RUN, "--dry-run"]) == 0
    assert "nothing to run" in capsys.readouterr().out
