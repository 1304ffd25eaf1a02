# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that every engine leaves in the same form: counters as parquet, marks."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl


def write_counters(table: pl.DataFrame, path: Path) -> None:
    """Parquet with bytes that depend on the rows alone (and on polars' version)."""
    table.write_parquet(path, compression="zstd", statistics=False, use_pyarrow=False)


def write_marks(marks: list[tuple[int, int, int]], path: Path) -> None:
    """``marks.json``: id, ns since power-on and the guest's CLOCK_MONOTONIC of each mark."""
    entries = [{"id": ident, "t_ns": at, "mono_ns": mono} for ident, at, mono in marks]
    path.write_text(json.dumps(entries, indent=1) + "\n")
