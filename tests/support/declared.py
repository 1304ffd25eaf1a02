# SPDX-License-Identifier: GPL-2.0-or-later
"""The declared keys of a kind of file."""

from collections.abc import Iterator
from typing import Any

from eascope.host.keys import Entry, entries_of


def all_keys(kind: Any) -> Iterator[tuple[str, Entry]]:
    """The keys of the dataclass ``kind``, and all below them, with their dotted paths."""
    todo = [*entries_of(kind).items()]
    for path, entry in todo:
        yield path, entry
        todo += ((f"{path}.{name}", below) for name, below in entry.below.items())
