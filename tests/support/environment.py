# SPDX-License-Identifier: GPL-2.0-or-later
"""What a test may leave of the environment: everything as it was."""

from __future__ import annotations

from collections.abc import Mapping

#: pytest's own, which it changes between a test's parts.
_PYTEST = "PYTEST_CURRENT_TEST"


def changed_variables(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Names of variables that were set, changed or removed, in alphabetical order."""
    names = {*before, *after} - {_PYTEST}
    return sorted(name for name in names if before.get(name) != after.get(name))
