# SPDX-License-Identifier: GPL-2.0-or-later
"""The measure of a program, with gem5: what was committed comes out again."""

import shutil
from pathlib import Path

import pytest

from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Platform
from eascope.configs.program_activity import load_program
from eascope.configs.system_activity import load_system
from eascope.experiments.characterisation.parts import measure_system
from eascope.experiments.characterisation.program import measure_program
from eascope.experiments.characterisation.program_time import MOST_INTERVAL

pytestmark = [pytest.mark.gem5, pytest.mark.guest, pytest.mark.long]
PROGRAM = "sysbench-cpu"


def test_the_committed_figures_of_a_program_are_reproduced(tmp_path: Path, juno: Platform) -> None:
    """The same samples, the same figures; with another compiler or gem5 much the same."""
    measure_program(juno, PROGRAM, tmp_path)
    committed, measured = load_program(juno, PROGRAM), load_program(juno, PROGRAM, tmp_path)
    assert committed
    assert measured
    for own, old in zip(measured.clusters, committed.clusters, strict=True):
        assert [sample.khz for sample in own.samples] == [sample.khz for sample in old.samples]
        assert max(sample.interval for sample in own.samples) <= MOST_INTERVAL
        for sample in own.samples:
            assert own.ns(sample.khz) == pytest.approx(old.ns(sample.khz), rel=0.15)


def test_the_committed_system_speeds_are_reproduced(tmp_path: Path, juno: Platform) -> None:
    """The same cell, the same figures; with another compiler or gem5 much the same."""
    shutil.copy(ACTIVITY / "juno-r2.json", tmp_path)
    measure_system(juno, tmp_path)
    committed, measured = (load_system(juno, folder) for folder in (ACTIVITY, tmp_path))
    assert committed
    assert measured
    if measured.provenance["simkey"] == committed.provenance["simkey"]:
        assert measured.digest == committed.digest
    for rates, committed_rates in zip(measured.clusters, committed.clusters, strict=True):
        assert rates.ipc == pytest.approx(committed_rates.ipc, rel=0.15)
