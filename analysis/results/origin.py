# SPDX-License-Identifier: GPL-2.0-or-later
"""What every record says of itself: which command made it, of what."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "results"
#: `Origin.made_from` of a record whose figures come from runs.
RUNS = "runs"


@dataclass(frozen=True)
class Origin:
    """Where a record's figures come from.

    :param command: what makes the record.
    :param made_from: ``runs``: figures at full precision; or the page that it was converted from,
        with the digits that the page showed.
    :param versions: of kernel, QEMU, gem5 and eascope, as far as they are known.
    """

    command: str
    made_from: str
    versions: dict[str, str] = field(default_factory=dict)
