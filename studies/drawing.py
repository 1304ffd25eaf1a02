# SPDX-License-Identifier: GPL-2.0-or-later
"""The drawing of a record's page: each study's ``page.py`` declares its own pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.results.origin import ResultRecord


@dataclass(frozen=True)
class Drawing:
    """The parts of a page.

    :ivar kind: the type of its record.
    :ivar parts: by name; its notes set each in its place.
    :ivar also: further figures for its notes, such as the change of any cell.
    :ivar draw: writes its drawings into a folder that has the page's name; None: it has none.
    """

    kind: type[ResultRecord]
    parts: Callable[[Any], Mapping[str, str]]
    also: Callable[[Any], Mapping[str, str]] = lambda record: {}
    draw: Callable[[Any, Path], None] | None = None
