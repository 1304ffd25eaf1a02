# SPDX-License-Identifier: GPL-2.0-or-later
"""Pipelines of the detailed CPU models: every core has one, and a wrong file is one line."""

import shutil
from pathlib import Path

import pytest

from eascope.configs.core import list_cores, load_core
from eascope.configs.pipeline import MODELS, PIPELINES, load_pipeline
from eascope.host.errors import RequestError
from tests.support.refusals import refusal


@pytest.mark.parametrize("name", list_cores())
def test_every_core_has_a_pipeline_of_its_kind(name: str) -> None:
    core = load_core(name)
    pipeline = load_pipeline(core)
    assert MODELS[pipeline.model] == core.pipeline
    assert pipeline.caches["l2"].value > pipeline.caches["l1d"].value
    memory = sum(figure.value for figure in pipeline.memory_pipelines.values())
    assert memory == core.structure["memory_ports"].value


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('model = "minor"', 'model = "o3"', "model = 'o3': allowed: minor (cortex-a53 is in-ord"),
        ('model = "minor"', 'model = "miner"', "allowed: one of minor, o3 (did you mean minor?)"),
        ('name = "cortex-a53"', 'name = "cortex-a57"', "name = 'cortex-a57': allowed: 'cortex-a53"),
        ("load = { value = 3", "load = { value = 1", "latencies.load = 1: allowed: more than the"),
        ("published: LLVM", "LLVM", "source = 'LLVM, llvm/lib/Target/AArch64"),
    ],
)
def test_a_wrong_pipeline_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "cortex-a53.toml"
    shutil.copy(PIPELINES / path.name, path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert message in refusal(load_pipeline, load_core("cortex-a53"), tmp_path)


def test_a_missing_pipeline_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"cortex-a53\.toml: No such file"):
        load_pipeline(load_core("cortex-a53"), tmp_path)
