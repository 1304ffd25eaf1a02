# SPDX-License-Identifier: GPL-2.0-or-later
"""A plugin of pytest: writes which checks there are, how each ends and why, a line of JSON each."""

import base64
import json
import os
import re
import resource
import signal
import zlib
from collections.abc import Generator, Iterable
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
#: Ends that say that the kernel is wrong.
KILLS = ("assertion", "warning", "simulated-time limit")
#: How the check that runs has ended.
_line: dict[str, str] = {}
#: In a coverage run, of each fixture that checks share: its name, what it executes, and how long
#: it took.
_shared: dict[pytest.FixtureDef[Any], tuple[str, bytes, float]] = {}
#: The time that shared fixtures took within the check that runs.
_apart_s: list[float] = []
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
    """How a check ends that raises ``error``.

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
    return "error" if text.startswith(("fast engine:", "QEMU")) else "assertion"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write each check with the kernels that it boots."""
    if session.config.option.collectonly:
        for item in session.items:
            names = [name for mark in item.iter_markers("kernels") for name in mark.args]
            _write({"check": item.nodeid, "kernels": names})


def _cpu_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _bits() -> Path:
    """Where a QEMU that starts now writes what it executes; the file is removed."""
    bits = Path(f"{os.environ[LINES]}.bits")
    bits.unlink(missing_ok=True)
    os.environ[COVER] = f"{os.environ[COVER].partition('out=')[0]}out={bits}"
    return bits


def _read(bits: Path) -> bytes:
    return bits.read_bytes() if bits.is_file() else b""


def either(found: Iterable[bytes]) -> bytes:
    """The bits that any of ``found`` has."""
    whole = 0
    for bits in found:
        whole |= int.from_bytes(bits, "little")
    return whole.to_bytes((whole.bit_length() + 7) // 8, "little")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """In a coverage run, keep apart what a fixture executes that checks share."""
    if COVER not in os.environ or fixturedef.scope == "function":
        return (yield)
    began, bits = _cpu_s(), _bits()
    try:
        return (yield)
    finally:
        took = _cpu_s() - began
        _apart_s.append(took)
        name = f"{fixturedef.baseid}::{fixturedef.argname}[{getattr(request, 'param', '')}]"
        _shared[fixturedef] = name, _read(bits), took
        _bits()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a check within the bound, and write how it ends; what kills a mutant is the last one.

    In a coverage run it executes what its fixtures do, too, whichever check has set them up.
    """

    def stop(*_: object) -> None:
        raise TooSlow

    option = COVER in os.environ
    bits = _bits() if option else Path()
    began = _cpu_s()
    _line.clear()
    _apart_s.clear()
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(int(os.environ.get(BOUND, "0")))
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    runtestprotocol(item, nextitem=nextitem)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    signal.alarm(0)
    cpu_s = _cpu_s() - began - sum(_apart_s)
    if option:
        assert isinstance(item, pytest.Function)
        fixtures = [each for of in item._fixtureinfo.name2fixturedefs.values() for each in of]
        shared = [_shared[each] for each in fixtures if each in _shared]
        seen = either([_read(bits), *(executed for _, executed, _ in shared)])
        _line["seen"] = base64.b64encode(zlib.compress(seen)).decode()
        _line["boot"] = " ".join(sorted(name for name, executed, _ in shared if executed))
        cpu_s += sum(took for _, _, took in shared)
    elif _line["end"] in KILLS:
        item.session.shouldfail = "a mutant is killed"
    elif _line["end"] == "too slow":
        item.session.shouldfail = "a check was stopped in the middle"
    _write({"check": item.nodeid, **_line, "cpu_s": round(cpu_s, 1)})
    return True


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Keep how a check has ended: the first failure counts."""
    error = call.excinfo.value if call.excinfo is not None else None
    if _line.get("end", "passed") == "passed" and (error is not None or call.when == "call"):
        skipped = isinstance(error, pytest.skip.Exception)
        _line["end"] = "passed" if error is None else "skipped" if skipped else end_of(error)
        _line["says"] = next(iter(str(error or "").strip().splitlines()), "")[:200]
