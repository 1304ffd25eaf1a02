# SPDX-License-Identifier: GPL-2.0-or-later
"""In each Python of a coverage run: QEMU loads ``cover.c``, too. ``EASCOPE_COVER``: its option."""

import os

from eascope.engines.qemu import command, engine
from eascope.engines.qemu.settings import QemuSettings


def _covered(settings: QemuSettings, files: command.BootFiles) -> list[str]:
    words = command.command(settings, files)
    return [*words[:-2], "-plugin", os.environ["EASCOPE_COVER"], *words[-2:]]


if "EASCOPE_COVER" in os.environ:
    vars(engine)["command"] = _covered
