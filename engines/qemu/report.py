# SPDX-License-Identifier: GPL-2.0-or-later
"""What the plugin's lines say: how far the run is, marks, OPP transitions, how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from eascope.engines.records import Mark

#: How a run ended well, as the plugin says it; ``fail`` is the guest's, all else the engine's.
EXIT, FAIL = "exit", "fail"


class End(NamedTuple):
    """How the run ended (`EXIT`, `FAIL` or another word), and what was said of it."""

    kind: str
    text: str


@dataclass
class Report:
    """What was said so far; ``transitions`` are requests and completed ones by cluster."""

    marks: list[Mark] = field(default_factory=list)
    transitions: dict[int, tuple[int, int]] = field(default_factory=dict)
    end: End | None = None

    def take(self, word: str, rest: str) -> None:
        """Take one line, which begins with ``word``."""
        if word == "mark":
            number, t_ns, mono_ns = (int(value) for value in rest.split())
            self.marks.append(Mark(number, t_ns, mono_ns))
        elif word == "dvfs":
            cluster, requested, completed = (int(value) for value in rest.split())
            self.transitions[cluster] = (requested, completed)
        elif word == "end":
            kind, _, text = rest.partition(" ")
            self.end = End(kind, text)
