# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin's sources: headers that include each other in one direction, numbers that agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engines import records
from engines.qemu import eliding_copy
from engines.qemu.build import SOURCES
from host.proc import need, run
from rootfs.image import AGENT

HEADERS = sorted(path.name for path in SOURCES.glob("*.h"))


def included(path: Path) -> list[str]:
    """The plugin's own headers that a file includes."""
    return re.findall(r'^#include "([^"]+)"$', path.read_text(), re.MULTILINE)


def reached(header: str, way: tuple[str, ...] = ()) -> set[str]:
    """All headers that ``header`` includes, at once or by way of others."""
    assert header not in way, f"circle: {' -> '.join([*way, header])}"
    headers = set()
    for direct in included(SOURCES / header):
        headers |= {direct} | reached(direct, (*way, header))
    return headers


def test_headers_include_each_other_in_one_direction() -> None:
    everything = {header: reached(header) for header in HEADERS}
    assert everything["virtual_time.h"] == set(), "the lowest"
    assert everything["qemu_internals.h"] == set(), "it knows nothing of the engine"
    most = max(len(headers) for headers in everything.values())
    assert most < len(HEADERS) - 1, "none has them all"


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_needs_no_other_before_it(header: str) -> None:
    compiler = need("gcc", "gcc libc6-dev")
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    run([compiler, *flags, "-include", SOURCES / header, "-x", "c", "/dev/null"])


@pytest.mark.parametrize("source", sorted(path.name for path in SOURCES.glob("*.c")))
def test_a_source_includes_its_own_header_first(source: str) -> None:
    own = Path(source).with_suffix(".h").name
    if own in HEADERS:
        assert included(SOURCES / source)[0] == own


def numbers(path: Path, pattern: str) -> dict[str, int]:
    """Names and numbers in a C source."""
    return {name: int(value, 0) for name, value in re.findall(pattern, path.read_text())}


def test_marks_have_the_agents_numbers() -> None:
    """Rows break at START and STOP: another number would leave the window without edges."""
    numbers_of_marks = numbers(SOURCES / "channel.c", r"#define MARK_(\w+) (\d+)")
    assert numbers_of_marks == {"START": records.START, "STOP": records.STOP}


def test_messages_have_the_agents_numbers() -> None:
    plugin = numbers(SOURCES / "channel.c", r"\bVERB_(\w+) = (\d+)")
    agent = numbers(AGENT / "transport-hint.c", r"\bHINT_(\w+) = (\d+)")
    assert plugin == agent | {"IDLE_STATE": 2}, "the idle state's is the kernel's"


def test_hints_are_those_of_the_eliding_copy() -> None:
    numbers_of_hints = numbers(SOURCES / "instrument.c", r"#define INSN_HINT_(\w+) (0x[0-9a-f]+)u")
    assert numbers_of_hints["4_TURNS"] == eliding_copy.hint(eliding_copy.HINT_BULK)
    assert numbers_of_hints["1_TURN"] == eliding_copy.hint(eliding_copy.HINT_SINGLE)
    assert eliding_copy.BULK_TURNS == 4
