# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of docs/recipes/extend.md, executed from the page's own text."""

import re
import shutil
import textwrap
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from eascope.analysis import derive, rows
from eascope.analysis.measures import MEASURES, registry
from eascope.analysis.records.cell import CELL, CellRecord
from eascope.configs.devicetree import device_tree_source
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.base import Engine
from eascope.engines.records import MARKS, read_marks
from eascope.engines.registry import ENGINES, get_engine
from eascope.experiments.runs import measure
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.scenario_file import load_scenario
from eascope.host.strict import read_toml
from eascope.kernels import variants
from eascope.kernels.variants import VARIANTS, load_catalogue
from tests.support.command import output_of
from tests.support.repo import REPO
from tests.support.synthetic import make_run

PAGE = (REPO / "docs/recipes/extend.md").read_text()


def blocks(title: str) -> list[str]:
    """The blocks of code of a section."""
    section = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    found = re.findall(r"(?:^(?:    .*)?\n)+", section, re.MULTILINE)
    return [text for block in found if (text := textwrap.dedent(block).strip("\n"))]


def executed(*texts: str) -> dict[str, Any]:
    """The names that blocks of Python define."""
    # A dataclass looks for its own module.
    names: dict[str, Any] = {"__name__": __name__}
    for text in texts:
        exec(compile(text, "extend.md", "exec"), names)
    return names


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The page's scenario and platform as files."""
    paths = {name: tmp_path / f"{name}.toml" for name in ("scenario", "platform")}
    for name, path in paths.items():
        (text,) = blocks(f"A {name}")
        path.write_text(text)
    return paths


@pytest.fixture
def variant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The page's variant, in a copy of the catalogue that stands for ours."""
    (text,) = blocks("A variant")
    copy = tmp_path / VARIANTS.name
    copy.write_text(VARIANTS.read_text().replace("[planned]", f"{text}\n\n[planned]"))
    monkeypatch.setattr(
        variants, "read_toml", lambda path: read_toml(copy if path == VARIANTS else path)
    )
    load_catalogue.cache_clear()
    yield re.findall(r"\[variant\.(.*)\]", text)[0]
    monkeypatch.undo()
    load_catalogue.cache_clear()


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the page's measure and its test define; every run is measured by it."""
    monkeypatch.setattr(registry, "REGISTERED", [])
    names = executed(*blocks("A measure"))
    for module in (derive, rows):
        monkeypatch.setattr(module, "MEASURES", (*MEASURES, names["low_opp"]))
    # Another process would import the package as it is, without this measure.
    monkeypatch.setattr(measure, "derivers", lambda _count: nullcontext(derive.derive_each))
    return names


def test_scenario_platform_and_variant_are_read(files: dict[str, Path], variant: str) -> None:
    board = load_platform(files["platform"])
    assert [cluster.name for cluster in board.clusters] == ["little", "big", "mid"]
    assert [task.name for task in load_scenario(str(files["scenario"]), board).tasks] == [
        *("pulse", "capped")
    ]
    request = Request(str(files["platform"]), variant, str(files["scenario"]))
    assert resolve(request).variant.switches[0][1] == "0"


def test_the_measures_own_test_and_its_row(
    measured: dict[str, Any], tmp_path: Path, juno: Platform
) -> None:
    measured["test_low_opp"]()
    cell = CellRecord.read(make_run(tmp_path, juno, "mainline", 0) / CELL)
    labels = [row.label for row in rows.rows(juno, cell) if row.path[0] == "low_opp"]
    assert labels == ["little at its lowest OPP", "big at its lowest OPP"]


@pytest.mark.guest
@pytest.mark.usefixtures("measured")
def test_all_four_in_one_comparison(files: dict[str, Path], variant: str) -> None:
    options = ("--platform", str(files["platform"]), "--scenario", str(files["scenario"]))
    text = output_of("compare", "mainline", variant, *options, "--seeds", "1", "--all")
    assert variant in text
    assert "mid at its lowest OPP" in text


def test_the_engine_has_what_the_contract_asks_for(
    tmp_path: Path, juno: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(make_run(tmp_path, juno, "mainline", 0), "recorded")
    kind = executed(*blocks("An engine"))["REPLAY"]
    monkeypatch.setitem(ENGINES, kind.name, kind)
    engine = get_engine("replay")
    assert {name for name in vars(Engine) if name[0] != "_"} <= {*dir(engine)}
    assert device_tree_source(juno, engine.layout)
    assert resolve(Request("juno-r2", "mainline", "smoke", engine="replay")).engine == engine
    out = tmp_path / "out"
    done = engine.run(None, out)  # type: ignore[arg-type]  # it looks at no machine
    assert done.sim_s == read_marks(out / MARKS)[-1].t_ns / 1e9
