# SPDX-License-Identifier: GPL-2.0-or-later
"""Pipelines of the detailed CPU models: every core has one, and a wrong file is one line."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

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


WRONG = [
    ('model = "minor"', 'model = "o3"'),
    ('model = "minor"', 'model = "miner"'),
    ('name = "cortex-a53"', 'name = "cortex-a57"'),
    ("load = { value = 3", "load = { value = 1"),
    ("published: LLVM", "LLVM"),
]


def test_a_wrong_pipeline_is_one_line(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    text, lines = (PIPELINES / "cortex-a53.toml").read_text(), {}
    for old, new in WRONG:
        assert old in text
        (tmp_path / "cortex-a53.toml").write_text(text.replace(old, new, 1))
        line = refusal(load_pipeline, load_core("cortex-a53"), tmp_path)
        lines[new] = line.removeprefix(str(tmp_path))
    assert lines == snapshot


def test_a_missing_pipeline_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"cortex-a53\.toml: No such file"):
        load_pipeline(load_core("cortex-a53"), tmp_path)
