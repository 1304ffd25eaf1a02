# SPDX-License-Identifier: GPL-2.0-or-later
"""A plugin of pytest: writes which checks there are, how each ends and why, a line of JSON each."""

import json
import os
import re
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from eascope.engines.base import EngineFailed
from tests.support.stress import SPLAT

#: The file of lines, and the seconds of the host's time that a check may take.
LINES, BOUND = "EASCOPE_CHECKS", "EASCOPE_CHECK_BOUND"
#: The option of ``cover.c`` for QEMU; the plugin puts in the file.
COVER = "EASCOPE_COVER"
#: How the checks have ended that are covered.
_ends: dict[str, dict[str, Any]] = {}
#: What an engine or an agent says of a run or a program that goes on for too long.
LIMIT = re.compile(
    r"has not ended after|still running after|the guest is dead|no simulated progress"
)


class TooSlow(BaseException):
    """The check has taken longer than the bound."""


def _write(line: dict[str, Any]) -> None:
    with Path(os.environ[LINES]).open("a") as lines:
        lines.write(json.dumps(line) + "\n")


def end_of(error: BaseException) -> str:
    """How a check ends that raises ``error``: each but the last two says that the kernel is wrong.

    A failed line of the guest's script is an assertion, as `expect` is and as the exit status of a
    program that looks by itself.
    """
    text = str(error)
    if isinstance(error, TooSlow):
        return "too slow"
    if not isinstance(error, AssertionError | EngineFailed | pytest.fail.Exception):
        return "error"
    if LIMIT.search(text.partition("\n")[0] if isinstance(error, EngineFailed) else text):
        return "simulated-time limit"
    if "guest panic" in text or (isinstance(error, EngineFailed) and SPLAT.search(text)):
        return "warning"
    return "assertion"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write each check with its marks."""
    if session.config.option.collectonly:
        for item in session.items:
            names = [name for mark in item.iter_markers("kernels") for name in mark.args]
            marks = sorted({mark.name for mark in item.iter_markers()})
            _write({"check": item.nodeid, "kernels": names, "marks": marks})


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Bound a check; where it is covered, share no fixture with others, and write what it took."""

    def stop(*_: object) -> None:
        raise TooSlow

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(int(os.environ.get(BOUND, "0")))
    option = os.environ.get(COVER, "")
    if option:
        bits = Path(f"{os.environ[LINES]}.bits")
        bits.unlink(missing_ok=True)
        os.environ[COVER] = re.sub(r"out=.*", f"out={bits}", option)
        began = _cpu_s()
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    runtestprotocol(item, nextitem=None if option else nextitem)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    signal.alarm(0)
    if option:
        kept = bits.with_name(f"{_ends[item.nodeid]['n']}.bits")
        if bits.is_file():
            bits.rename(kept)
        _write({**_ends[item.nodeid], "cpu_s": _cpu_s() - began, "bits": str(kept)})
    return True


def _cpu_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Write how a check has ended."""
    error = call.excinfo.value if call.excinfo is not None else None
    if error is None and call.when != "call":
        return
    says = next(iter(str(error or "").strip().splitlines()), "")[:200]
    skipped = isinstance(error, pytest.skip.Exception)
    end = "passed" if error is None else "skipped" if skipped else end_of(error)
    line = {"check": item.nodeid, "end": end, "says": says}
    if COVER not in os.environ:
        _write(line)
    elif _ends.get(item.nodeid, line)["end"] == "passed":
        _ends[item.nodeid] = {**line, "n": len(_ends)}
