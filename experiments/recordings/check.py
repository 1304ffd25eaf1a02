# SPDX-License-Identifier: GPL-2.0-or-later
"""An imported recording, run under mainline, beside the recording: one table and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eascope.analysis.recordings.beside import (
    Window,
    agreement,
    percentile,
    window_figures,
)
from eascope.analysis.recordings.bursts import bursts_of
from eascope.analysis.recordings.read import read_recording
from eascope.analysis.recordings.tables import RecordingError
from eascope.analysis.window import Window as MarkedWindow
from eascope.analysis.window import read_window
from eascope.configs.platform import Cluster, Platform
from eascope.engines.records import COUNTERS, MARKS, TRACE
from eascope.experiments.recordings.importing import Imported
from eascope.experiments.runs.measure import measured
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.runs.store import Run
from eascope.host.table import Table
from eascope.power.model import SHARED_PART

#: What `replay` writes into the trace at each begin of the recording.
MARKER = "eascope: recording begins"
#: Mean absolute error in points and correlation that a published model of a device's load has.
BAR = (2.58, 0.93)
#: Clocks of a cluster that the table lists.
CLOCKS = 4


@dataclass(frozen=True)
class Beside:
    """A run of an imported recording beside it: the table as text, and its figures."""

    run: Run
    text: str
    figures: dict[str, Any]


def check(made: Imported, scenario: Path, platform: str) -> Beside:
    """Run an imported scenario under mainline, unless the run is there, beside its recording.

    :raises EascopeError: the run failed.
    """
    # The device's limits of clocks, where it had some.
    limited = "[source_conditions]" in scenario.read_text()
    names = resolve(Request(platform, "mainline", str(scenario), source_conditions=limited))
    (done,) = measured([names], lambda _, done: done)
    return Beside(done, *check_run(made, done.path, names.platform))


def check_run(made: Imported, run: Path, platform: Platform) -> tuple[str, dict[str, Any]]:
    """The table, and its figures.

    :raises RecordingError: the recording does not begin within the run's window.
    """
    window = read_window(run / MARKS)
    ours = read_recording(run / TRACE)
    ours = replace(ours, freq=_clocks(run, platform, window))
    marks = ours.mark.filter(pl.col("text").str.contains(MARKER, literal=True))
    start, stop = window.t0_ns - window.offset_ns, window.t1_ns - window.offset_ns
    times = marks["t_ns"].to_numpy()
    # A model has no begin: it is compared as a whole.
    near = int(times[int(np.abs(times - start).argmin())]) if marks.height else start
    same = made.bursts.begin_ns - near  # from the run's clock to the recording's
    begin, end = max(near, start), min(near + made.bursts.end_ns - made.bursts.begin_ns, stop)
    if end <= begin:
        raise RecordingError(f"{run}: the recording does not begin within its window")
    device = made.device
    own = replace(
        device,
        clusters=tuple(
            replace(of, cpus=cluster.cpus, khz=tuple(opp.khz for opp in cluster.opps))
            for of, cluster in zip(device.clusters, platform.clusters, strict=True)
        ),
    )
    theirs = bursts_of(made.recording, device, begin + same, end + same)
    recorded = window_figures(made.recording, device, theirs)
    simulated = window_figures(ours, own, bursts_of(ours, own, begin, end))
    return _table(made, recorded, simulated, platform, model=not marks.height)


def _clocks(run: Path, platform: Platform, window: MarkedWindow) -> pl.DataFrame:
    """The clocks in force, which the engine counted: the trace has requests alone."""
    table = pl.read_parquet(run / COUNTERS).filter(pl.col("cpu") == SHARED_PART)
    rows = [
        (t0 - window.offset_ns, cpu, khz)
        for index, t0, khz in table.select("cluster", "t0_ns", "khz").iter_rows()
        for cpu in platform.clusters[index].cpus
    ]
    made = pl.DataFrame(sorted(rows), schema=["t_ns", "cpu", "khz"], orient="row")
    return made.cast(pl.Int64)


def _table(
    made: Imported, recorded: Window, ours: Window, platform: Platform, *, model: bool
) -> tuple[str, dict[str, Any]]:
    rows: list[tuple[str, str, str, str]] = []
    figures: dict[str, Any] = {}

    def row(name: str, unit: str, theirs: float | None, own: float | None) -> None:
        figures[name] = {"unit": unit, "recorded": theirs, "simulated": own}
        rows.append((name, unit, _shown(theirs), _shown(own)))

    places = {
        of.name: [made.device.cpus.index(cpu) for cpu in of.cpus] for of in made.device.clusters
    }
    for place, cpu in enumerate(made.device.cpus):
        row(f"busy, CPU {cpu}", "%", 100 * recorded.busy[place], 100 * ours.busy[place])
    for name, its in places.items():
        row(f"busy, {name}", "%", 100 * recorded.busy[its].mean(), 100 * ours.busy[its].mean())
    row("work", "ms", recorded.work / 1000, ours.work / 1000)
    for name in places:
        shares = [_shares(of.clocks[name]) for of in (recorded, ours)]
        most = sorted(set().union(*shares), key=lambda khz: -sum(of.get(khz, 0) for of in shares))
        for khz in sorted(most[:CLOCKS]):
            both = (of.get(khz, 0.0) if of else None for of in shares)
            row(f"clock, {name} at {khz / 1000:.0f} MHz", "%", *both)
        row(f"clock, {name}, mean", "MHz", *(_mean(of.clocks[name]) for of in (recorded, ours)))
        row(
            f"clock while busy, {name}",
            "MHz",
            *(_mean(of.running[name]) for of in (recorded, ours)),
        )
    for name in places:
        if recorded.idle[name]:
            for state in sorted({*recorded.idle[name], *ours.idle[name]}):
                both = (100 * of.idle[name].get(state, 0.0) for of in (recorded, ours))
                row(f"idle, {name}, state {state}", "%", *both)
    for words, key in (("wake-up to CPU", "waits"), ("waiting for a CPU", "queued")):
        if made.recording.wake.height:
            for share in (0.5, 0.95, 0.99):
                both = (percentile(getattr(of, key), share) for of in (recorded, ours))
                row(f"{words}, p{share * 100:.0f}", "us", *both)
    row("migrations", "1/s", *(of.migrations / of.seconds for of in (recorded, ours)))
    for name in places:
        if any(of.name == name for of in platform.clusters):
            both = (_priced_mj(of.running[name], platform.cluster(name)) for of in (recorded, ours))
            row(f"energy of busy CPUs, {name}", "mJ", *both)
    for rail, joules in _rails(made).items():
        row(f"rail {rail}", "mJ", joules, None)
    heads = ("", "unit", "recorded", "simulated")
    text = Table.of(heads, rows, left=2).text()
    if model:
        return f"{text}\n\na model: its course in time is drawn, and is not compared", figures
    found = {
        "all": agreement(recorded.bins.mean(axis=0), ours.bins.mean(axis=0)),
        "clusters": agreement(*(_by(of.bins, places) for of in (recorded, ours))),
        "cpus": agreement(recorded.bins, ours.bins),
    }
    figures["agreement"] = {name: vars(of) for name, of in found.items()}
    errors = {
        name: f"{of.error:.2f} %, "
        + ("unknown" if of.correlation is None else f"{of.correlation:.2f}")
        for name, of in found.items()
    }
    sentence = (
        "utilization by 100 ms, mean absolute error and correlation: all CPUs together "
        f"{errors['all']};\nby cluster {errors['clusters']}; by CPU {errors['cpus']} "
        f"(published bar {BAR[0]} %, {BAR[1]})"
    )
    return f"{text}\n\n{sentence}", figures


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if abs(value) < 1000 else f"{value:.0f}"


def _shares(clocks: Mapping[int, float]) -> dict[int, float]:
    whole = sum(clocks.values()) or 1.0
    return {khz: 100 * time / whole for khz, time in clocks.items()}


def _mean(clocks: Mapping[int, float]) -> float | None:
    whole = sum(clocks.values())
    return sum(khz * time for khz, time in clocks.items()) / whole / 1000 if whole else None


def _by(bins: np.ndarray, places: Mapping[str, list[int]]) -> np.ndarray:
    return np.array([bins[its].mean(axis=0) for its in places.values()])


def _priced_mj(running: Mapping[int, float], cluster: Cluster) -> float:
    """Energy of busy time at each clock, at the nearest OPP's power."""
    energy = 0.0
    for khz, time in running.items():
        energy += time * min((abs(khz - opp.khz), opp.power_uw) for opp in cluster.opps)[1]
    return energy / 1e6


def _rails(made: Imported) -> dict[str, float]:
    """Energy in mJ of each rail within the window, from its samples' own times."""
    begin, end = made.bursts.begin_ns, made.bursts.end_ns
    found = {}
    rails = made.recording.rail.unique(["name", "t_ns"], keep="first").sort("t_ns")
    for (name,), rows in rails.group_by(["name"], maintain_order=True):
        times, energy = rows["t_ns"].to_numpy(), rows["uj"].to_numpy()
        if len(times) > 1:
            first, last = np.interp([begin, end], times, energy)
            found[str(name)] = float(last - first) / 1000
    return found
