# SPDX-License-Identifier: GPL-2.0-or-later
"""The command that shows the device tree of an engine's guest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eascope.configs.devicetree import device_tree, device_tree_source
from eascope.configs.platform import Platform
from eascope.engines.registry import DEFAULT_ENGINE, ENGINES, get_engine
from eascope.experiments.devicetree import main
from tests.support.repo import REPO

BOARD = get_engine(DEFAULT_ENGINE).layout


@pytest.mark.parametrize("engine", ENGINES)
def test_the_source_is_of_the_engines_board(
    juno: Platform, capsys: pytest.CaptureFixture[str], engine: str
) -> None:
    assert main(["juno-r2", "--engine", engine]) == 0
    assert capsys.readouterr().out == device_tree_source(juno, get_engine(engine).layout)


def test_the_blob_is_written_and_wrong_names_are_refused(
    juno: Platform, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blob = tmp_path / "juno.dtb"
    assert main(["juno-r2", "--flavour", "nocap", "--dtb", str(blob)]) == 0
    assert blob.read_bytes() == device_tree(juno, BOARD, "nocap")
    for wrong, near in (
        (["juno-r3"], "did you mean juno-r2?"),
        (["juno-r2", "--engine", "quemu"], "did you mean qemu?"),
    ):
        assert main(wrong) == 2
        error = capsys.readouterr().err
        assert near in error
        assert error.count("\n") == 1


def test_same_bytes_in_another_process(juno: Platform, tmp_path: Path) -> None:
    blob = tmp_path / "juno.dtb"
    for hash_seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-m", "eascope.experiments.devicetree", "juno-r2", "--dtb", str(blob)],
            cwd=REPO,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
        )
        assert blob.read_bytes() == device_tree(juno, BOARD)
