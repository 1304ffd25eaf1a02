# SPDX-License-Identifier: GPL-2.0-or-later
"""Bursts of work: what each thread did between two sleeps, what woke it, and what it woke.

Work is time on a CPU times the capacity of that CPU at the clock of that instant, in us of the
device's largest CPU at its top clock. So a burst in which the clock changes counts right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from eascope.analysis.recordings.device import Device
from eascope.analysis.recordings.tables import SLEEPING, Ints, Recording, RecordingError

Floats = npt.NDArray[np.float64]
#: What woke a thread.
THREAD, OUTSIDE, UNKNOWN = "thread", "timer or interrupt", "unknown"
#: A burst of this length hides how much more the thread would do.
SATURATED_US = 100_000


@dataclass(frozen=True)
class Bursts:
    """Of a window of a recording.

    :ivar slices: ``pid prio cpu t0 t1 work burst slept lost``: stays of threads on CPUs, times in
        ns; ``lost``: its end is that of another thread's stay, so an event is missing.
    :ivar bursts: ``pid begin t0 t1 work wait cause waker waker_burst offset``. ``begin`` is the
        wake-up, or the first time on a CPU without one; ``offset`` is the work that the waker had
        done by then in its own burst.
    """

    begin_ns: int
    end_ns: int
    slices: pl.DataFrame
    bursts: pl.DataFrame

    @property
    def us(self) -> float:
        """Length of the window."""
        return (self.end_ns - self.begin_ns) / 1000


class Work:
    """Work that a CPU does from the begin of the window on, at the recorded clocks.

    :ivar assumed: for each CPU until when its clock is not known, and what it is taken to be.
    """

    def __init__(self, recording: Recording, device: Device, begin_ns: int, end_ns: int) -> None:
        self.courses: dict[int, tuple[Ints, Ints, npt.NDArray[Any], npt.NDArray[Any]]] = {}
        self.assumed: dict[int, tuple[int, int]] = {}
        speeds = device.speeds()
        for cpu in device.cpus:
            cluster = device.cluster_of(cpu)
            rows = recording.freq.filter(pl.col("cpu").is_in(cluster.cpus)).filter(
                pl.col("cpu") == cpu
            )
            times, khz = rows["t_ns"].to_numpy(), rows["khz"].to_numpy()
            if not len(times):  # the clock of another CPU of the cluster, or its top
                mates = recording.freq.filter(pl.col("cpu").is_in(cluster.cpus))
                times, khz = mates["t_ns"].to_numpy(), mates["khz"].to_numpy()
            inside = (times > begin_ns) & (times < end_ns)
            before = np.flatnonzero(times <= begin_ns)
            if len(before):
                first = int(khz[before[-1]])
            else:  # the event is a change, so the clock was most likely another one
                first = _usual(times, khz, recording.end_ns) if len(times) else cluster.top_khz
                self.assumed[cpu] = (int(min([*times[:1], end_ns])), first)
            at = np.concatenate([[begin_ns], times[inside]]).astype(np.int64)
            clock = np.concatenate([[first], khz[inside]]).astype(np.int64)
            speed = clock * speeds[cpu]
            done = np.concatenate([[0.0], np.cumsum(np.diff(at) * speed[:-1])])
            self.courses[cpu] = (at, clock, speed, done)

    def until(self, cpu: int, times: Ints) -> Floats:
        """Work in us from the window's begin until ``times``, in ns."""
        at, _, speed, done = self.courses[cpu]
        place = np.clip(np.searchsorted(at, times, side="right") - 1, 0, None)
        found: Floats = (done[place] + (times - at[place]) * speed[place]) / 1000
        return found


def _usual(times: Ints, khz: Ints, end_ns: int) -> int:
    """The clock that there was for most of the time since the first event."""
    known, place = np.unique(khz, return_inverse=True)
    stays = np.diff(times, append=end_ns)
    return int(known[np.bincount(place, weights=stays).argmax()])


def window_of(recording: Recording, text: str) -> tuple[int, int]:
    """``FROM..TO`` in s, of the recording's clock or after its begin; either may be left out.

    :raises RecordingError: not such a text, or nothing is there.
    """
    if not text:
        return recording.begin_ns, recording.end_ns
    allowed = f"FROM..TO in s, within 0..{recording.seconds:.3f} or the recording's own clock"
    first, dots, last = text.partition("..")
    try:
        begin = round(float(first) * 1e9) if first else 0
        end = round(float(last) * 1e9) if last else recording.end_ns - recording.begin_ns
    except ValueError:
        dots = ""
        begin = end = 0
    if not dots:
        raise RecordingError(f"--window: {text!r}: allowed: {allowed}")
    if begin < recording.begin_ns or not first:
        begin += recording.begin_ns
    if end < recording.begin_ns or not last:
        end += recording.begin_ns
    inside = recording.switch.filter(pl.col("t_ns").is_between(begin, end)).height
    if end <= begin or not inside:
        raise RecordingError(f"--window: {text!r} contains no sched_switch; expected {allowed}")
    return begin, min(end, recording.end_ns)


def bursts_of(recording: Recording, device: Device, begin_ns: int, end_ns: int) -> Bursts:
    """The bursts of all threads but idle ones in a window.

    :raises RecordingError: nobody ran in it.
    """
    slices = _slices(recording, begin_ns, end_ns)
    if not slices.height:
        raise RecordingError(f"{recording.path}: no thread ran within the window")
    work = Work(recording, device, begin_ns, end_ns)
    slices = slices.with_columns(pl.lit(0.0).alias("from"), pl.lit(0.0).alias("work"))
    parts = []
    for (cpu,), rows in slices.group_by(["cpu"], maintain_order=True):
        known = int(str(cpu))
        first = work.until(known, rows["t0"].to_numpy())
        last = work.until(known, rows["t1"].to_numpy())
        parts.append(rows.with_columns(pl.Series("from", first), pl.Series("work", last - first)))
    slices = pl.concat(parts).sort("pid", "t0")
    fresh = (pl.col("pid") != pl.col("pid").shift(1)) | pl.col("slept").shift(1)
    slices = slices.with_columns(
        (fresh.fill_null(value=True).cast(pl.Int64).cum_sum() - 1).alias("burst"),
        (pl.col("t0") - pl.col("t1").shift(1)).alias("gap"),
    ).with_columns(
        (pl.col("work").cum_sum().over("burst") - pl.col("work")).alias("before"),
        pl.when(pl.col("burst") == pl.col("burst").shift(1)).then("gap").otherwise(0).alias("gap"),
    )
    bursts = slices.group_by("burst", maintain_order=True).agg(
        pl.col("pid").first(),
        pl.col("t0").first(),
        pl.col("t1").last(),
        pl.col("work").sum(),
        pl.col("cpu").first(),
        pl.col("gap").sum().alias("preempted"),
    )
    bursts = _woken(recording, bursts, slices, work)
    return Bursts(begin_ns, end_ns, slices, bursts)


def _slices(recording: Recording, begin_ns: int, end_ns: int) -> pl.DataFrame:
    """Stays of threads on CPUs within the window; ``slept``: whether it left the CPU to sleep."""
    switch = recording.switch
    left = switch.with_columns(
        pl.col("t_ns").shift(-1).over("cpu").fill_null(end_ns).alias("t1"),
        (pl.col("prev_state").shift(-1).over("cpu").fill_null(0) & SLEEPING != 0).alias("slept"),
        pl.col("prev_pid").shift(-1).over("cpu").fill_null(-1).alias("left"),
    ).with_columns(
        ((pl.col("left") >= 0) & (pl.col("left") != pl.col("next_pid"))).alias("lost"),
    )
    stays = left.select(
        pl.col("next_pid").alias("pid"),
        pl.col("next_prio").alias("prio"),
        "cpu",
        pl.col("t_ns").alias("t0"),
        *("t1", "slept", "lost"),
    )
    # Who ran when the recording began is known from the first switch of each CPU.
    first = (
        switch.group_by("cpu", maintain_order=True)
        .first()
        .select(
            pl.col("prev_pid").alias("pid"),
            pl.col("prev_prio").alias("prio"),
            "cpu",
            pl.lit(recording.begin_ns, pl.Int64).alias("t0"),
            pl.col("t_ns").alias("t1"),
            (pl.col("prev_state") & SLEEPING != 0).alias("slept"),
            pl.lit(value=False).alias("lost"),
        )
    )
    whole = pl.concat([first, stays]).filter(
        (pl.col("pid") > 0) & (pl.col("t1") > begin_ns) & (pl.col("t0") < end_ns)
    )
    return whole.with_columns(
        pl.col("t0").clip(begin_ns, end_ns),
        (pl.col("slept") & (pl.col("t1") <= end_ns)).alias("slept"),
        pl.col("t1").clip(begin_ns, end_ns),
    ).filter(pl.col("t1") > pl.col("t0"))


def _woken(
    recording: Recording, bursts: pl.DataFrame, slices: pl.DataFrame, work: Work
) -> pl.DataFrame:
    """Bursts with their wake-up: the last one between the burst before and its begin."""
    wakes = recording.wake.select(
        pl.col("t_ns").alias("woken"),
        "pid",
        "waker",
        "context",
        pl.col("cpu").alias("waker_cpu"),
        "target",
    ).sort("woken")
    joined = (
        bursts.with_columns(pl.col("t1").shift(1).over("pid").fill_null(0).alias("ended"))
        .sort("t0")
        .join_asof(
            wakes,
            left_on="t0",
            right_on="woken",
            by="pid",
            strategy="backward",
            check_sortedness=False,
        )
    )
    known = pl.col("woken").is_not_null() & (pl.col("woken") >= pl.col("ended"))
    # Without flags, and with sched_wakeup alone, the woken CPU's own interrupt is not told apart
    # from the thread that it interrupted.
    by_thread = (
        (pl.col("context") <= 0) & (pl.col("waker") > 0) & (pl.col("waker") != pl.col("pid"))
    )
    joined = joined.with_columns(
        pl.when(~known)
        .then(pl.lit(UNKNOWN))
        .when(by_thread)
        .then(pl.lit(THREAD))
        .otherwise(pl.lit(OUTSIDE))
        .alias("cause"),
        pl.when(known).then(pl.col("woken")).otherwise(pl.col("t0")).alias("begin"),
    ).with_columns((pl.col("t0") - pl.col("begin")).alias("wait"))
    return _with_waker(joined.sort("burst"), slices, work)


def _with_waker(bursts: pl.DataFrame, slices: pl.DataFrame, work: Work) -> pl.DataFrame:
    """The burst of the waker in which it woke, and the work that it had done in it by then."""
    ran = slices.select(
        pl.col("pid").alias("waker"),
        pl.col("t0").alias("ran"),
        pl.col("t1").alias("ran_until"),
        pl.col("cpu").alias("ran_on"),
        pl.col("burst").alias("waker_burst"),
        "before",
        "from",
    ).sort("ran")
    rows = bursts.sort("begin").join_asof(
        ran, left_on="begin", right_on="ran", by="waker", check_sortedness=False
    )
    there = (pl.col("cause") == THREAD) & (pl.col("begin") <= pl.col("ran_until"))
    rows = rows.with_columns(there.fill_null(value=False).alias("there"))
    offset = np.zeros(rows.height)
    for cpu in rows.filter(pl.col("there"))["ran_on"].unique():
        mine = np.flatnonzero(((rows["ran_on"] == cpu) & rows["there"]).to_numpy())
        part = rows[mine]
        done = work.until(int(cpu), part["begin"].to_numpy())
        offset[mine] = part["before"].to_numpy() + done - part["from"].to_numpy()
    return (
        rows.with_columns(
            pl.Series("offset", offset),
            pl.when(pl.col("there")).then("waker_burst").otherwise(-1).alias("waker_burst"),
            pl.when((pl.col("cause") == THREAD) & ~pl.col("there"))
            .then(pl.lit(UNKNOWN))
            .otherwise("cause")
            .alias("cause"),
        )
        .select(
            *("burst", "pid", "cpu", "begin", "t0", "t1", "work", "wait", "preempted"),
            *("cause", "waker", "waker_burst", "offset"),
        )
        .sort("burst")
    )
