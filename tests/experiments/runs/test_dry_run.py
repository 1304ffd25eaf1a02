# SPDX-License-Identifier: GPL-2.0-or-later
"""``--dry-run`` says which runs are there and what would be built; it writes nothing."""

from pathlib import Path
from typing import Any

import pytest

from eascope.configs.platform import Platform
from eascope.experiments.runs import cell as cells
from eascope.host.cache import runs_root
from eascope.host.dry import refuse
from eascope.kernels.variants import Kernel
from tests.support.cells import Artefacts, prepared
from tests.support.command import COMPARE, RUN, eascope, json_inside, output_of
from tests.support.synthetic import playback, write_run

PATCH = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"


def plan(*arguments: str) -> dict[str, Any]:
    content: dict[str, Any] = json_inside(*arguments, "--dry-run")
    return content


def test_runs_that_are_there_and_others(
    artefacts: Artefacts, juno: Platform, own_cache: Path
) -> None:
    expected = plan(*COMPARE, "--seeds", "2")
    assert [cell["state"] for cell in expected["cells"]] == ["to run"] * 4
    assert expected["to_run"] == 4
    assert expected["run_s"] > 0
    assert not own_cache.exists()
    assert not runs_root().exists()
    present = runs_root() / expected["cells"][2]["simkey"]
    write_run(present, juno, playback("cas", 0), variant="cas")
    before = sorted(runs_root().rglob("*"))
    lines = output_of(*COMPARE, "--seeds", "2", "--dry-run").splitlines()
    assert [line.split()[:4] for line in lines[:4]] == [
        ["mainline,", "seed", "0", "to"],
        ["mainline,", "seed", "1", "to"],
        ["cas,", "seed", "0", "done"],
        ["cas,", "seed", "1", "to"],
    ]
    assert str(present) in lines[2]
    assert lines[-2].startswith("to run: 3 of 4, about ")
    assert lines[-1] == "dry run: nothing written"
    assert sorted(runs_root().rglob("*")) == before


def test_keys_are_those_of_the_runs(artefacts: Artefacts) -> None:
    (cell,) = plan(*RUN)["cells"]
    assert cell["simkey"] == prepared().simkey


def test_a_kernel_that_is_not_built_is_named(
    artefacts: Artefacts,
    own_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A patch of the command's own: its series is not kept either."""

    def kernel(spec: Kernel) -> Any:
        if spec.own:
            refuse(f"kernel {spec.name}, Linux 6.12", "unknown: up to 5 min")
        return artefacts.kernel(spec)

    monkeypatch.setattr(cells, "_kernel", kernel)
    (tmp_path / "idea.patch").write_text(PATCH)
    arguments = ["compare", "mainline", "idea", *COMPARE[3:]]
    arguments += ["--patch", str(tmp_path / "idea.patch"), "--dry-run"]
    lines = output_of(*arguments).splitlines()
    assert lines[0].split() == ["mainline,", "seed", "0", "to", "run"]
    assert lines[1].split() == ["idea,", "seed", "0", "unknown"]
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
def test_dry_run_finds_a_finished_run_by_its_key() -> None:
    """By the key of the true kernel, engine and guest image."""
    assert plan(*RUN)["cells"][0]["state"] == "to run"
    run = json_inside(*RUN)["run"]
    (cell,) = plan(*RUN)["cells"]
    assert (cell["state"], cell["run"]) == ("done", run)
    assert "nothing to run" in output_of(*RUN, "--dry-run")
