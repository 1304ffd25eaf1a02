# SPDX-License-Identifier: GPL-2.0-or-later
"""In each Python of a coverage run: QEMU loads ``cover.c``, too. ``EASCOPE_COVER``: its option."""

import os

from eascope.engines.qemu import engine

_command = engine.command


def _covered(*of):  # type: ignore[no-untyped-def]
    words = _command(*of)
    return [*words[:-2], "-plugin", os.environ["EASCOPE_COVER"], *words[-2:]]


if "EASCOPE_COVER" in os.environ:
    engine.command = _covered
