# SPDX-License-Identifier: GPL-2.0-or-later
"""Every size that a scenario states has somebody who measured it, on a board."""

from __future__ import annotations

from pathlib import Path

import pytest

from eascope.experiments.sources import FILE, read_sources
from eascope.host.errors import RequestError


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
