# SPDX-License-Identifier: GPL-2.0-or-later
"""One build at a time on machines that share a cache but not its locks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from eascope.host.cache import cache_root
from eascope.host.claims import locked_everywhere
from eascope.host.dry import NotBuilt, nothing_built, work_folder
from eascope.host.proc import say

T = TypeVar("T")
#: The lock of whoever builds, in the cache.
LOCK = ".building.lock"


def built_once(make: Callable[[], T]) -> T:
    """The artefact of ``make``, which builds it if the cache does not have it.

    :raises EascopeError: as ``make``.
    :raises NotBuilt: within `host.dry.nothing_built`, when it is not there.
    """
    if work_folder() is None:
        try:
            with nothing_built():
                make()
        except NotBuilt:
            with locked_everywhere(cache_root() / LOCK, _waiting):
                return make()
    return make()


def _waiting() -> None:
    say(f"  {cache_root()}: another process builds there, waiting for it")
