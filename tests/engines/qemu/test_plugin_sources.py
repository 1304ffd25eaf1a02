# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin's sources: headers that include each other in one direction."""

from __future__ import annotations

from pathlib import Path

import pytest

from eascope.engines.qemu.build import _code


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
