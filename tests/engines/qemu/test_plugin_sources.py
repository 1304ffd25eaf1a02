# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin's sources: headers that include each other in one direction."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eascope.engines.qemu.build import SOURCES, _code, options
from eascope.host.proc import need, run

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
    run([compiler, *flags, *options(), "-include", SOURCES / header, "-x", "c", "/dev/null"])


@pytest.mark.parametrize("source", sorted(path.name for path in SOURCES.glob("*.c")))
def test_a_source_includes_its_own_header_first(source: str) -> None:
    own = Path(source).with_suffix(".h").name
    if own in HEADERS:
        assert included(SOURCES / source)[0] == own


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ('puts("a // b"); /* more */ f();', True),
        ('\tputs("a // b");   // more\n\n\tf();', False),
        ('puts("a // c"); f();', False),
        ('puts("a // b"); g();', False),
        ('/* one\n two */\nputs("a // b");   f(); // x', True),
        ('puts("a // b"); f(\'"\'); /* " */', False),
    ],
)
def test_only_code_is_in_the_digest(text: str, same: bool, tmp_path: Path) -> None:
    first, second = tmp_path / "a.c", tmp_path / "b.c"
    first.write_text('puts("a // b");   f();')
    second.write_text(text)
    assert (_code(first) == _code(second)) is same
