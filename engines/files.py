# SPDX-License-Identifier: GPL-2.0-or-later
"""The file that every engine leaves in the same form besides its records: counters as parquet."""

from __future__ import annotations

from pathlib import Path

import polars as pl


def write_counters(table: pl.DataFrame, path: Path) -> None:
    """Parquet with bytes that depend on the rows alone (and on polars' version)."""
    table.write_parquet(path, compression="zstd", statistics=False, use_pyarrow=False)
