# SPDX-License-Identifier: GPL-2.0-or-later
"""Every declared key of a file stands on the page about those files."""

import re

import pytest

from eascope.configs.activity import ActivityFile
from eascope.configs.core import Core
from eascope.configs.pipeline import PipelineFile
from eascope.configs.platform_file import PlatformFile
from eascope.configs.program_activity import ProgramFile
from eascope.configs.system_activity import SystemFile
from eascope.experiments.scenario_file import ScenarioFile
from eascope.experiments.sweeps.campaign_file import CampaignFile
from eascope.kernels.variants import OwnFile, VariantsFile
from tests.support.declared import all_keys
from tests.support.markdown import code_words
from tests.support.repo import REPO


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
        ("pipeline", PipelineFile),
        ("variants", OwnFile),
        ("variants", VariantsFile),
    ],
)
def test_every_declared_key_is_on_its_page(page: str, kind: type) -> None:
    knobs = ["controls"] if page in ("campaigns", "platform", "scenarios") else []
    pages = [page, *knobs]
    text = "".join((REPO / f"docs/reference/{name}.md").read_text() for name in pages)
    words = {word for _, code in code_words(text) for word in re.findall(r"[\w-]+", code)}
    keys = {path.rpartition(".")[2] for path, _ in all_keys(kind)}
    assert len(keys) > 2
    assert keys <= words, keys - words
