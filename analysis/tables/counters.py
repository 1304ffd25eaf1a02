# SPDX-License-Identifier: GPL-2.0-or-later
"""``intervals``: the engine's raw counters, checked, with the names of clusters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from eascope.analysis.window import Window
from eascope.configs.platform import Platform
from eascope.engines.records import COUNTER_COLUMNS, NO_CLUSTER
from eascope.host.errors import EascopeError
from eascope.power.model import SHARED_PART

#: Time of a CPU that is awake, and on its way into and out of idle states.
SPENT = ("active_ns", "entry_ns", "exit_ns")


def idle_columns(table: pl.DataFrame) -> list[str]:
    """``idle0_ns, idle1_ns, ..`` as far as the table has them, in the order of the states."""
    names: list[str] = []
    while f"idle{len(names)}_ns" in table.columns:
        names.append(f"idle{len(names)}_ns")
    return names


def intervals(
    path: Path,
    platform: Platform,
    window: Window,
    split: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> pl.DataFrame:
    """Read ``counters.parquet``; adds ``cluster_name``, sorts by cluster, cpu, t0.

    :param split: adds active and idle times to rows that have none (`analysis.tables.split`).
    :raises EascopeError: one line when a column is missing, a CPU's rows do not cover the window
        without gap, or the times in a row do not add up to its length.
    """
    if not path.is_file():
        raise EascopeError(f"{path}: there are no counters (counters.parquet is missing)")
    try:
        raw = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise EascopeError(f"{path}: not a readable parquet file: {str(error)[:120]}") from error
    absent = [name for name in COUNTER_COLUMNS if name not in raw.columns]
    if absent:
        raise EascopeError(f"{path}: column {absent[0]} is missing")
    raw = raw.filter(pl.col("cluster") != NO_CLUSTER)
    if "active_ns" not in raw.columns:
        if split is None:
            raise EascopeError(f"{path}: column active_ns is missing")
        raw = split(raw)
    absent = [name for name in SPENT if name not in raw.columns]
    raw = raw.with_columns(pl.lit(0, pl.Int64).alias(name) for name in absent)
    times = ["t0_ns", "t1_ns", "khz", "uv", *SPENT, *idle_columns(raw)]
    names = {cluster.index: cluster.name for cluster in platform.clusters}
    table = (
        raw.filter((pl.col("t0_ns") >= window.t0_ns) & (pl.col("t1_ns") <= window.t1_ns))
        .filter(pl.col("t1_ns") > pl.col("t0_ns"))
        .with_columns(pl.col(times).cast(pl.Int64), pl.col("cluster", "cpu").cast(pl.Int32))
        .with_columns(pl.col("cluster").replace_strict(names, default=None).alias("cluster_name"))
        .sort("cluster", "cpu", "t0_ns")
    )
    _check(path, table, platform, window)
    return table


def _check(path: Path, table: pl.DataFrame, platform: Platform, window: Window) -> None:
    if table["cluster_name"].null_count():
        raise EascopeError(f"{path}: has a cluster that platform {platform.name} does not have")
    parts = [*SPENT, *idle_columns(table)]
    wrong = table.filter(pl.sum_horizontal(parts) != pl.col("t1_ns") - pl.col("t0_ns"))
    if wrong.height:
        row = wrong.row(0, named=True)
        raise EascopeError(
            f"{path}: cpu {row['cpu']} at {row['t0_ns']} ns: active, entry, exit and idle times "
            f"add up to {sum(row[name] for name in parts)} ns in an interval of "
            f"{row['t1_ns'] - row['t0_ns']} ns"
        )
    seen = {}
    for (cluster, cpu), rows in table.group_by("cluster", "cpu", maintain_order=True):
        begin, end = rows["t0_ns"], rows["t1_ns"]
        whole = begin[0] == window.t0_ns and end[-1] == window.t1_ns
        if not whole or (begin[1:] != end[:-1]).any():
            raise EascopeError(f"{path}: the rows of cpu {cpu} do not cover the window without gap")
        seen[(cluster, cpu)] = True
    for cluster in platform.clusters:
        for cpu in (*cluster.cpus, SHARED_PART):
            if (cluster.index, cpu) not in seen:
                what = f"cpu {cpu}" if cpu != SHARED_PART else f"the shared part of {cluster.name}"
                raise EascopeError(f"{path}: rows of {what} are missing")


def frequency(table: pl.DataFrame) -> pl.DataFrame:
    """``frequency``: one row per stretch of a cluster at one clock rate.

    Columns: cluster, cluster_name, khz, uv, t0_ns, t1_ns.
    """
    shared = table.filter(pl.col("cpu") == SHARED_PART)
    run = (pl.col("khz") != pl.col("khz").shift(1)).fill_null(True).cum_sum().over("cluster")
    return (
        shared.with_columns(run.alias("stretch"))
        .group_by("cluster", "cluster_name", "stretch", maintain_order=True)
        .agg(
            pl.col("khz").first(),
            pl.col("uv").first(),
            pl.col("t0_ns").min(),
            pl.col("t1_ns").max(),
        )
        .drop("stretch")
        .sort("cluster", "t0_ns")
    )
