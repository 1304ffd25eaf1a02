# SPDX-License-Identifier: GPL-2.0-or-later
"""``experiments/sources.toml`` and ``statements.toml``: who measured and who stated what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eascope.configs.platform_file import PLATFORMS
from eascope.host.keys import Placed, WrongValue, key
from eascope.host.strict import read_toml

FILE = Path(__file__).parents[1] / "sources.toml"
#: What the sources state, sentence by sentence.
STATED = FILE.with_name("statements.toml")


def _platforms() -> list[str]:
    return [path.stem for path in PLATFORMS.glob("*.toml")]


@dataclass(frozen=True)
class Document:
    """A source."""

    title: str = key("its title")
    url: str = key("its address, where one is known", default="")


@dataclass(frozen=True, kw_only=True)
class Measurement(Placed):
    """A measurement: its author and its board."""

    document: str = key("a name of Literature.documents")
    who: str = key("its author")
    url: str = key("of the message itself, where it is known", default="")
    board: str = key("the board on which it was made")
    platform: str = key("our platform of the same board", choices=_platforms, default="")
    stand_in: str = key("what is compared instead", choices=_platforms, default="")
    conditions: str = key("kernel and settings")

    def check(self) -> None:
        """A board is ours, or another one stands in."""
        if self.platform and self.stand_in:
            raise WrongValue("stand_in", self.stand_in, "not together with platform")


@dataclass(frozen=True)
class Literature:
    """The contents of the file, in its order."""

    documents: Mapping[str, Document] = key("sources, by name", name="document")
    measured: Mapping[str, Measurement] = key("measurements, by name")

    def check(self) -> None:
        """What is named is there."""
        for own in self.measured.values():
            own.place.one_of("document", self.documents)


def _documents() -> Mapping[str, Document]:
    return sources().documents


@dataclass(frozen=True, kw_only=True)
class Stated(Placed):
    """A sentence of a source."""

    number: int = key("by which a statement names it", 1, 999)
    document: str = key("its source", choices=_documents)
    says: str = key("the sentence")
    untested: str = key("why no scenario's statement says it; empty: one does", default="")


@dataclass(frozen=True)
class _StatedFile:
    statement: tuple[Stated, ...] = key("sentences", count=(1, 999))

    def check(self) -> None:
        seen: set[int] = set()
        for one in self.statement:
            if one.number in seen:
                raise one.place.error("number", "a number that no other statement has")
            seen.add(one.number)


@cache
def stated() -> dict[int, Stated]:
    """The committed sentences, by their numbers.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    return read_stated(STATED)


def read_stated(path: Path) -> dict[int, Stated]:
    """Read a file of sentences.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    file = read_toml(path).decoded(_StatedFile)
    return {one.number: one for one in file.statement}


def measurements() -> tuple[str, ...]:
    """Names that ``measured`` of an expectation may have."""
    return tuple(sources().measured)


@cache
def sources() -> Literature:
    """The committed file.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    return read_sources(FILE)


def read_sources(path: Path) -> Literature:
    """Read a file of sources.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    return read_toml(path).decoded(Literature)
