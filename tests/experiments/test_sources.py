# SPDX-License-Identifier: GPL-2.0-or-later
"""Every size that a scenario states has somebody who measured it, on a board."""

from __future__ import annotations

from pathlib import Path

import pytest

from eascope.configs.platform_file import load_platform
from eascope.experiments.scenario_file import load_scenario
from eascope.experiments.scenario_names import names
from eascope.experiments.sources import FILE, read_sources, sources
from eascope.host.errors import RequestError

ENTRIES = [
    (name, entry)
    for name in names()
    for entry in load_scenario(name, load_platform("pixel6")).expect
]


def test_every_size_of_a_scenario_names_who_measured_it() -> None:
    without = [
        (name, entry.variant, entry.statement)
        for name, entry in ENTRIES
        if (entry.size is not None or entry.size_percent is not None) and not entry.measured
    ]
    assert without == []


def test_every_measurement_is_used() -> None:
    used = {entry.measured for _, entry in ENTRIES}
    used |= {figure.measured for figure in sources().not_simulated}
    assert set(sources().measured) - used == set()


def test_every_document_has_a_measurement() -> None:
    known = sources()
    assert {each.document for each in known.measured.values()} == set(known.documents)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (('platform = "pixel6"', 'platform = "pixel9"'), ["platform = 'pixel9'", "pixel6"]),
        (('document = "eas-rework"', 'document = "eas"'), ["document = 'eas'", "eas-rework"]),
        (('board = "Pixel 6"', 'bord = "Pixel 6"'), ["measured.loehle.board"]),
        (
            ('platform = "pixel6"', 'platform = "pixel6"\nstand_in = "juno-r2"'),
            ["stand_in", "not together with platform"],
        ),
        (('measured = "guittot"', 'measured = "vincent"'), ["measured = 'vincent'", "guittot"]),
    ],
)
def test_a_wrong_file_of_sources_gives_one_line(
    tmp_path: Path, change: tuple[str, str], parts: list[str]
) -> None:
    path = tmp_path / "sources.toml"
    text = FILE.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    with pytest.raises(RequestError) as error:
        read_sources(path)
    assert "\n" not in str(error.value)
    for part in parts:
        assert part in str(error.value)
