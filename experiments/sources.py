# SPDX-License-Identifier: GPL-2.0-or-later
"""``experiments/sources.toml`` and ``statements.toml``: who measured and who stated what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eascope.configs.platform_file import PLATFORMS
from eascope.host.errors import missing_key
from eascope.host.strict import StrictTable, read_toml

FILE = Path(__file__).parent / "sources.toml"
#: What the sources state, sentence by sentence.
STATED = FILE.with_name("statements.toml")
_MOST_FIGURES = 999


@dataclass(frozen=True)
class Document:
    """A source. ``url`` is empty where no address is known."""

    title: str
    url: str


@dataclass(frozen=True)
class Measurement:
    """A measurement: its author and its board.

    :param document: a name of `Literature.documents`.
    :param url: of the message itself; empty where no address is known.
    :param platform: our platform of the same board; empty if there is none.
    :param stand_in: the platform that is compared instead; empty where there is none.
    """

    document: str
    who: str
    url: str
    board: str
    platform: str
    stand_in: str
    conditions: str


@dataclass(frozen=True)
class NotSimulated:
    """A figure for which there is no scenario, and the reason."""

    measured: str
    states: str
    missing: str


@dataclass(frozen=True)
class Literature:
    """The contents of the file, in its order."""

    documents: dict[str, Document]
    measured: dict[str, Measurement]
    not_simulated: tuple[NotSimulated, ...]


@dataclass(frozen=True)
class Stated:
    """A sentence of a source.

    :param document: a name of `Literature.documents`.
    :param untested: why no scenario's statement says it; empty where one does.
    """

    document: str
    says: str
    untested: str


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
    top, known = read_toml(path), sources().documents
    found: dict[int, Stated] = {}
    for table in top.tables("statement", 1, _MOST_FIGURES):
        number = table.integer("number", 1, _MOST_FIGURES, "")
        if number in found:
            raise table.error("number", "a number that no other statement has")
        document = table.text("document", known)
        found[number] = Stated(document, table.text("says"), _optional(table, "untested"))
        table.finish()
    top.finish()
    return found


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
    top = read_toml(path)
    documents = {name: _document(table) for name, table in _named(top, "document")}
    measured = {name: _measured(table, documents) for name, table in _named(top, "measured")}
    figures = tuple(
        _not_simulated(table, measured) for table in top.tables("not_simulated", 0, _MOST_FIGURES)
    )
    top.finish()
    return Literature(documents, measured, figures)


def _named(top: StrictTable, key: str) -> list[tuple[str, StrictTable]]:
    table = top.table(key)
    named = [(name, table.table(name)) for name in table.data]
    if not named:
        raise missing_key(top.file, key, "a table for each name")
    return named


def _document(table: StrictTable) -> Document:
    document = Document(table.text("title"), _optional(table, "url"))
    table.finish()
    return document


def _measured(table: StrictTable, documents: dict[str, Document]) -> Measurement:
    if table.has("platform") and table.has("stand_in"):
        raise table.error("stand_in", "not together with platform")
    measurement = Measurement(
        document=table.text("document", documents),
        who=table.text("who"),
        url=_optional(table, "url"),
        board=table.text("board"),
        platform=_platform(table, "platform"),
        stand_in=_platform(table, "stand_in"),
        conditions=table.text("conditions"),
    )
    table.finish()
    return measurement


def _not_simulated(table: StrictTable, measured: dict[str, Measurement]) -> NotSimulated:
    gap = NotSimulated(
        table.text("measured", measured), table.text("states"), table.text("missing")
    )
    table.finish()
    return gap


def _optional(table: StrictTable, key: str) -> str:
    return table.text(key) if table.has(key) else ""


def _platform(table: StrictTable, key: str) -> str:
    known = [path.stem for path in PLATFORMS.glob("*.toml")]
    return table.text(key, known) if table.has(key) else ""
