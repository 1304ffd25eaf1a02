# SPDX-License-Identifier: GPL-2.0-or-later
"""The one line with which a wrong request is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from eascope.host.errors import RequestError


def refusal(call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """What ``call`` says when it refuses its arguments: one line."""
    with pytest.raises(RequestError) as caught:
        call(*arguments, **options)
    line = str(caught.value)
    assert "\n" not in line
    return line
