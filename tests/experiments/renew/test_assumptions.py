# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorded ranges over model axes belong to the files of today."""

import pytest

from eascope.analysis.known.assumptions import FILE, AssumedCell, Assumptions, inputs_of
from tests.support.cells import prepared


@pytest.mark.usefixtures("artefacts")
@pytest.mark.parametrize("each", Assumptions.read(FILE).cells, ids=lambda each: each.scenario)
def test_its_files_are_as_they_were_measured(each: AssumedCell) -> None:
    """Else the answer that README prints has no range over axes that need runs."""
    record = prepared(
        platform=each.platform,
        scenario=each.scenario,
        source_conditions=each.source_conditions,
    ).record
    files = {name: digest for name, digest in each.inputs.items() if "kernel of" not in name}
    now = inputs_of([record])
    assert {name: now[name] for name in files} == files, "measure it again: make assumptions"
