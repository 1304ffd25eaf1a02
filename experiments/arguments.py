# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of command-line options that ``eascope`` and other commands share."""

from __future__ import annotations

import argparse


def natural(text: str) -> int:
    """An option's integer from 0, at most what 63 bits hold.

    :raises argparse.ArgumentTypeError: what is allowed.
    """
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number < 2**63:
        raise argparse.ArgumentTypeError(f"{text!r}: allowed: an integer from 0")
    return number


def count(text: str) -> int:
    """An option's number of things: at least one.

    :raises argparse.ArgumentTypeError: what is allowed.
    """
    return between(1, 1000, text)


def between(least: int, most: int, text: str) -> int:
    """An option's integer from ``least`` to ``most``.

    :raises argparse.ArgumentTypeError: what is allowed.
    """
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{text!r}: allowed: an integer from {least} to {most}")
    return number
