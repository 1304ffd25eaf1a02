# SPDX-License-Identifier: GPL-2.0-or-later
"""Which checks are asked of a mutant after one that did not answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutants import checks
from tests.mutants.checks import Check


def test_who_does_not_answer_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are those that share its boot; the others are, by another pytest."""
    boots = {"a": "one", "b": "one", "c": "", "d": "two", "e": "two"}
    ends = {"a": "too slow", "c": "too slow", "d": "passed", "e": "assertion"}
    runs: list[str] = []

    def made_up(folder: Path, *names: str, **env: str) -> Iterator[dict[str, str]]:
        runs.append("".join(names))
        for name in names:
            yield {"check": name, "end": ends[name]}
            if ends[name] != "passed":
                return

    monkeypatch.setattr(checks, "_pytest", made_up)
    asked = [Check(name, name, "passed", 1, b"", boot) for name, boot in boots.items()]
    found = [(line["check"], line["end"]) for line in checks.ask(asked, tmp_path)]
    assert dict(found) == ends
    assert runs == ["abcde", "cde", "de"]
