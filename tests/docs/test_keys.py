# SPDX-License-Identifier: GPL-2.0-or-later
"""Every key that a reader of files asks for stands on the page about those files."""

import re
from collections.abc import Callable

import pytest

from eascope.configs.activity import ActivityFile
from eascope.configs.core import Core, list_cores, load_core
from eascope.configs.pipeline import load_pipeline
from eascope.configs.platform_file import PlatformFile, load_platform
from eascope.configs.program_activity import ProgramFile
from eascope.configs.system_activity import SystemFile
from eascope.experiments.scenario.names import names as scenario_names
from eascope.experiments.scenario_file import ScenarioFile, load_scenario
from eascope.experiments.sweeps.campaign_file import CampaignFile
from eascope.host.strict import StrictTable
from eascope.kernels.variants import Kernel, Variant
from tests.support.declared import all_keys
from tests.support.markdown import code_words
from tests.support.repo import REPO


def pipelines() -> None:
    for name in list_cores():
        load_pipeline(load_core(name))


def scenarios() -> None:
    juno = load_platform("juno-r2")
    for name in scenario_names():
        load_scenario(name, juno)


#: By page: a part of the files' names, what reads them, and keys that a file names itself.
READERS: dict[str, tuple[str, Callable[[], object], str]] = {
    "pipeline": ("pipelines/", pipelines, r""),
    "scenarios": ("scenarios/", scenarios, r"expect\.finding"),
}


@pytest.mark.parametrize("page", READERS)
def test_every_key_is_on_its_page(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    part, read, chosen = READERS[page]
    asked = set()
    has = StrictTable.has

    def noting(table: StrictTable, key: str) -> bool:
        if part in table.file:
            asked.add(re.sub(r"\[\d+\]", "", table.key(key)))
        return has(table, key)

    monkeypatch.setattr(StrictTable, "has", noting)
    read()
    keys = {key.rpartition(".")[2] for key in asked if not re.fullmatch(chosen, key)}
    assert len(keys) > 5
    pages = [page, *(["controls"] if page == "scenarios" else [])]
    text = "".join((REPO / f"docs/reference/{name}.md").read_text() for name in pages)
    words = {word for _, code in code_words(text) for word in re.findall(r"[\w-]+", code)}
    assert keys <= words, keys - words


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("activity", ActivityFile),
        ("activity", ProgramFile),
        ("activity", SystemFile),
        ("campaigns", CampaignFile),
        ("core", Core),
        ("platform", PlatformFile),
        ("scenarios", ScenarioFile),
        ("variants", Kernel),
        ("variants", Variant),
    ],
)
def test_every_declared_key_is_on_its_page(page: str, kind: type) -> None:
    pages = [page, *(["controls"] if page in ("campaigns", "platform") else [])]  # it has the knobs
    text = "".join((REPO / f"docs/reference/{name}.md").read_text() for name in pages)
    words = {word for _, code in code_words(text) for word in re.findall(r"[\w-]+", code)}
    keys = {path.rpartition(".")[2] for path, _ in all_keys(kind)}
    assert len(keys) > 2
    assert keys <= words, keys - words
