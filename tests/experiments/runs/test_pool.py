# SPDX-License-Identifier: GPL-2.0-or-later
"""Estimates of how long runs take: from runs of the same kind, and mended as they go on."""

import dataclasses
import sys
import threading
import time
from concurrent.futures import Future
from typing import Any

import pytest

from eascope.engines.gem5.engine import Gem5Engine
from eascope.engines.records import HOST
from eascope.engines.registry import get_engine
from eascope.experiments.runs import pool
from eascope.experiments.runs.cell import Cell
from eascope.experiments.runs.pool import (
    BESIDE_S,
    BOOT_S,
    Progress,
    by_machine,
    estimate_s,
    until_first_failure,
)
from eascope.experiments.runs.store import execute
from eascope.host.errors import EascopeError
from tests.support.fake import cell
from tests.support.records import host_record
from tests.support.waiting import until

GEM5 = {"engine": "gem5", "mode": "elided"}


def of_kind(key: str, **changes: Any) -> Cell:
    """A cell of 0.5 simulated s whose record says so."""
    plain = cell(key=key * 32)
    if "mode" in changes:
        engine = get_engine(changes["engine"], changes["mode"])
        fake: Any = plain.resolved.engine
        fake.host_s_per_s = engine.host_s_per_s
    return dataclasses.replace(plain, record=dataclasses.replace(plain.record, **changes))


def test_a_first_run_is_guessed_by_its_kind() -> None:
    elided = estimate_s([of_kind("aa", **GEM5)])
    assert elided == BOOT_S + Gem5Engine("elided").host_s_per_s(elide=True) * 0.5 + BESIDE_S
    assert estimate_s([of_kind("aa", **GEM5, elide=False)]) > 10 * elided


def test_earlier_runs_of_the_same_kind_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their processor time counts, because other work on the host adds to their host time."""
    for key, elide, cpu_s in (("aa", True, 3.0), ("ab", True, 5.0), ("bb", False, 300.0)):
        run = execute(of_kind(key, **GEM5, elide=elide))
        host_record(cpu_s=cpu_s, host_s=3 * cpu_s).write(run.path / HOST)
    assert estimate_s([of_kind("cc", **GEM5)]) == 4.0 + BESIDE_S
    assert estimate_s([of_kind("cc", **GEM5, elide=False)]) == 300.0 + BESIDE_S
    # Another scenario counts by its simulated time: 0.5 s, where those were of 1.5 s.
    assert estimate_s([of_kind("cc", **GEM5, scenario="other")]) == pytest.approx(
        4.0 / 3 + BESIDE_S
    )
    monkeypatch.setattr(pool, "workers", lambda: 2)
    four = [of_kind(key, **GEM5) for key in ("cc", "dd", "ee", "ff")]
    assert estimate_s(four) == (4.0 + BESIDE_S) * 4 / 2


@pytest.mark.parametrize(
    ("spent_s", "share", "words"),
    [
        (2.0, 0.1, "about 8.0 s left"),  # of an estimate of 10 s
        (4.0, 0.5, "about 4.0 s left"),  # by what has been done
        (20.0, 0.1, "about 3 min 00 s left"),  # the estimate was wrong
        (11.0, 0.0, "longer than was expected"),  # and nothing tells by how much
    ],
)
def test_what_is_left(
    spent_s: float,
    share: float,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(pool, "QUIET_S", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = Progress(2, 10.0)
    now[0] += spent_s
    progress.update("one", 2 * share)
    assert f"{share:.0%} of 2 runs, {words}" in capsys.readouterr().err


def test_cells_of_one_machine_come_after_each_other() -> None:
    """They differ by their script alone, and share a boot."""
    digests = [("a", "1"), ("b", "1"), ("a", "2"), ("b", "1"), ("a", "3")]
    cells = [
        of_kind(str(number), digests={"dtb": dtb, "script": script})
        for number, (dtb, script) in enumerate(digests)
    ]
    assert by_machine(cells) == [0, 2, 4, 1, 3]
    assert by_machine(cells, block=3) == [0, 2, 1, 3, 4]


def test_waiting_ends_with_the_first_failure_and_looks_at_each_future_once() -> None:
    class Counted(Future[str]):
        looked = 0

        def exception(self, timeout: float | None = None) -> BaseException | None:
            Counted.looked += 1
            return super().exception(timeout)

    futures = [Counted() for _ in range(300)]
    for future in futures[:-1]:
        future.set_result("done")
    all_done = []

    def wait() -> None:
        until_first_failure(futures)
        all_done.append(futures[-1].done())

    waiter = threading.Thread(target=wait)
    waiter.start()
    until(lambda: Counted.looked == 299, "a look at each future that is done")
    assert all_done == []
    futures[-1].set_result("done")
    waiter.join()
    assert all_done == [True]
    assert Counted.looked == 300

    failing = [Future[str]() for _ in range(3)]
    failing[1].set_exception(EascopeError("one"))
    until_first_failure(failing)  # though two have not ended
