# SPDX-License-Identifier: GPL-2.0-or-later
"""The command that makes a record, as the record names it."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def command_of(study: str, arguments: Sequence[str] | None) -> str:
    """``python -m studies.STUDY`` with ``arguments``, by default those of this process.

    ``--folder`` is left out: it says where a record was written, not how it was made.
    """
    given = sys.argv[1:] if arguments is None else arguments
    return " ".join([f"python -m studies.{study}", *_without_folder(given)])


def _without_folder(arguments: Sequence[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for argument in arguments:
        if not skip and not argument.startswith("--folder"):
            kept.append(argument)
        skip = argument == "--folder"
    return kept
