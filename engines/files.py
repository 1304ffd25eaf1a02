# SPDX-License-Identifier: GPL-2.0-or-later
"""The file that every engine leaves in the same form besides its records: counters as parquet."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from eascope.engines.records import COUNTER_COLUMNS
from eascope.host.errors import EascopeError


def write_counters(table: pl.DataFrame, path: Path) -> None:
    """Parquet with bytes that depend on the rows alone (and on polars' version).

    :raises EascopeError: when a column is missing that every engine's rows have.
    """
    if missing := [name for name in COUNTER_COLUMNS if name not in table.columns]:
        raise EascopeError(f"{path.name}: the engine's rows lack {', '.join(missing)}")
    table.write_parquet(path, compression="zstd", statistics=False, use_pyarrow=False)
