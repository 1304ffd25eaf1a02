# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of rt-app for tasks that wait for memory: their marks and paths."""

from __future__ import annotations

import struct

from eascope.engines.qemu.eliding_copy import hint, hint_function, marked_function
from eascope.rootfs.elide import FUNCTION_BEGINS
from eascope.rootfs.image import RT_APP
from eascope.rootfs.mixture import MOST_MIXTURES, mixture_program


def test_a_copy_is_known_by_its_first_instructions() -> None:
    """No two copies, nor the executed and the plain eliding one, begin alike; one word differs."""
    numbers = range(1, MOST_MIXTURES + 1)
    begins = [struct.unpack_from("<4I", marked_function(number)) for number in numbers]
    begins += [FUNCTION_BEGINS, struct.unpack_from("<4I", hint_function())]
    assert len({*begins}) == MOST_MIXTURES + 2
    for number in numbers:
        assert marked_function(number)[4:] == hint_function()[4:]


def test_a_mark_is_a_hint_that_does_nothing_else() -> None:
    """Hints 0x60 to 0x7f are NOPs; the engine's own are the message and the two of turns."""
    for number in range(1, MOST_MIXTURES + 1):
        (word,) = struct.unpack_from("<I", marked_function(number))
        assert word == hint(word >> 5 & 0x7F)
        assert 0x63 <= word >> 5 & 0x7F <= 0x7F


def test_every_copy_has_a_path_of_the_same_length() -> None:
    paths = [mixture_program(number) for number in range(1, MOST_MIXTURES + 1)]
    assert {len(path) for path in [*paths, RT_APP]} == {len(RT_APP)}
    assert len({*paths}) == len(paths)
