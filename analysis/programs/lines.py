# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines that a program printed, with searches and errors for parsers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eascope.host.errors import EascopeError, one_line

#: A number, and one that is not 0, as groups of a pattern.
NUMBER = r"(\d+(?:\.\d+)?)"
POSITIVE = r"((?=[\d.]*[1-9])\d+(?:\.\d+)?)"
#: No program prints one; Python would refuse to read it, or to divide it.
_TOO_LONG = re.compile(r"\d{19}")
#: Of a line in a message.
_SHOWN = 120


class OutputError(EascopeError):
    """An output that cannot be parsed; one line: file, line, what was expected."""


@dataclass(frozen=True)
class Output:
    """The measures in a program's output.

    :param measures: by name; the name's end is the unit.
    :param operations: the number of its operations; None: not stated.
    :param rate: operations per second by the guest's clock; None: not stated.
    """

    measures: Mapping[str, float] = field(default_factory=dict)
    operations: float | None = None
    rate: float | None = None


@dataclass(frozen=True)
class Lines:
    """An output, line by line.

    :param path: where it was read from, for messages.
    """

    path: Path
    lines: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> Lines:
        """The file at ``path``.

        :raises OutputError: when it cannot be read as text.
        """
        try:
            return cls(path, tuple(path.read_text().splitlines()))
        except (OSError, UnicodeDecodeError) as error:
            raise OutputError(f"{path}: not readable: {error}") from error

    def error(self, what: str, number: int | None = None) -> OutputError:
        """The message that ``what`` is wrong, with the line.

        :param number: of the line, from 0; None: the last one that is not empty.
        """
        place = "the last line" if number is None else f"line {number + 1}"
        if number is None:
            filled = [index for index, line in enumerate(self.lines) if line.strip()]
            if not filled:
                return OutputError(f"{self.path}: {what}: it is empty")
            number = filled[-1]
        shown = one_line(self.lines[number].strip())[:_SHOWN]
        return OutputError(f"{self.path}: {what}: {place} is {shown!r}")

    def beginning(self, start: str, pattern: str) -> re.Match[str]:
        """The first line that begins with ``start``, which ``pattern`` describes as a whole.

        Both leave out the white space around a line.

        :raises OutputError: no such line, or it has another form.
        """
        for number, line in enumerate(self.lines):
            text = line.strip()
            if text.startswith(start):
                return self.match(number, pattern)
        raise self.error(f"no line begins with {start!r}")

    def match(self, number: int, pattern: str) -> re.Match[str]:
        """The line with this number, from 0, which ``pattern`` describes as a whole.

        :raises OutputError: the line has another form.
        """
        text = self.lines[number].strip()
        match = re.fullmatch(pattern, text)
        if match is None or _TOO_LONG.search(text):
            raise self.error(f"expected a line like {pattern!r}", number)
        return match

    def number(self, start: str, pattern: str) -> float:
        """The number in the group of ``pattern``; raises as `beginning` does."""
        return float(self.beginning(start, pattern)[1])
