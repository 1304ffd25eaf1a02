# SPDX-License-Identifier: GPL-2.0-or-later
"""The drawing of a record's page: each study's ``page.py`` declares its own pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.results.origin import ResultRecord


@dataclass(frozen=True)
class Drawing:
    """How a page is drawn.

    :ivar kind: what its record is.
    :ivar parts: by name; its notes set each in its place.
    :ivar also: what its notes may name besides, such as the change of any cell.
    """

    kind: type[ResultRecord]
    parts: Callable[[Any], Mapping[str, str]]
    also: Callable[[Any], Mapping[str, str]] = lambda record: {}
