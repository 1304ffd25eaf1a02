# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known of the fast engine's error against gem5, in words for captions and reports.

Read from the table of docs/results/engine-agreement.md, which `make engine-agreement` writes and
which is committed: what was measured stands in one place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "engine-agreement.md"

#: The page's first table: its head, and all that follows up to an empty line.
_TABLE = re.compile(r"^\| scenario \| variant \| gem5 \|.*?(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
#: scenario, variant, gem5's mode, difference of the fast engine's energy from gem5's, by how many
#: starts of the fast engine and of gem5.
_ROW = re.compile(
    r"^\| (?P<scenario>[^|]+) \| (?P<variant>[^|]+) \| (?P<mode>[^|]+) \| "
    r"(?P<energy>[+-]\d+\.\d+) %(?: \*)? \| \d+, (?P<starts>\d+) \|",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Agreed:
    """One cell on both engines; ``energy_percent`` is the fast engine's difference from gem5.

    Of the means; ``starts`` (seeds) is how many gem5 has.
    """

    scenario: str
    variant: str
    mode: str
    energy_percent: float
    starts: int


@cache
def agreed(page: Path = PAGE) -> tuple[Agreed, ...]:
    """Every cell of the page's table; none when there is no page."""
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    table = _TABLE.search(text)
    return tuple(
        Agreed(
            *(row["scenario"], row["variant"], row["mode"]),
            float(row["energy"]),
            int(row["starts"]),
        )
        for row in _ROW.finditer(table[0] if table else "")
    )


def engine_error(engine: str, scenario: str, page: Path = PAGE) -> str:
    """The engine's error of energy: in the cells of ``scenario``, or else in those of others.

    By the cells with most starts: one start says which placement was drawn, not how engines differ.
    """
    if engine == "gem5":
        return "the reference engine"
    known = agreed(page) if engine == "qemu" else ()
    here = [one for one in known if one.scenario == scenario]
    rows = here or known
    if not rows:
        return "its error against gem5 has not been measured yet"
    starts = max(one.starts for one in rows)
    rows = [one for one in rows if one.starts == starts]
    worst = max(abs(one.energy_percent) for one in rows)
    cells = f"{len(rows)} cell{'s' if len(rows) > 1 else ''}"
    where = "of this scenario" if here else "of other scenarios"
    means = f" (means over {starts} starts)" if starts > 1 else ""
    return f"its energy within {worst:.1f} % of gem5's in {cells} {where}{means}"
