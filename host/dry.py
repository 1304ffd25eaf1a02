# SPDX-License-Identifier: GPL-2.0-or-later
"""Dry runs: nothing is built, downloaded or kept.

Within `nothing_built`, artefacts of the cache are used. Cheap artefacts are made in a folder that
is removed at the end. Any other artefact raises `NotBuilt`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eascope.host.errors import EascopeError

#: Artefacts that are a file or two, made of what is at hand.
CHEAP = ("devicetree", "own-patches")

_folders: list[Path] = []


class NotBuilt(EascopeError):
    """An artefact is missing, and would be built or fetched.

    :param estimate: the time that this may take, in words; empty: not known.
    """

    def __init__(self, label: str, estimate: str = "") -> None:
        super().__init__(f"{label} is not there")
        self.label = label
        self.estimate = estimate


@contextmanager
def nothing_built() -> Iterator[None]:
    """Until the end, `artefact` and other code that fetches or writes asks `work_folder`."""
    with tempfile.TemporaryDirectory(prefix="eascope-") as folder:
        _folders.append(Path(folder))
        try:
            yield
        finally:
            _folders.pop()


def work_folder() -> Path | None:
    """The folder for what may be made within `nothing_built`; None outside of it."""
    return _folders[-1] if _folders else None


def refuse(label: str, estimate: str = "") -> None:
    """Within `nothing_built`, complain about an artefact that would be fetched or built.

    :raises NotBuilt: always there, never outside.
    """
    if _folders:
        raise NotBuilt(label, estimate)
