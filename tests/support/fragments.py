# SPDX-License-Identifier: GPL-2.0-or-later
"""Fragments of a kernel's configuration with other options than the kernel has."""

from collections.abc import Mapping

from eascope.kernels.kconfig import options


def changed_fragment(text: str, changed: Mapping[str, str]) -> str:
    """``text`` with options set (``y``), off (``n``) or left to Kconfig (empty)."""
    kept = [line for line in text.splitlines() if not set(options(line)) & set(changed)]
    for key, value in changed.items():
        if value == "n":
            kept.append(f"# CONFIG_{key} is not set")
        elif value:
            kept.append(f"CONFIG_{key}={value}")
    return "\n".join(kept) + "\n"
