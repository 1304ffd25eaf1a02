# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts, what is asked again and what is not, and the report, with builds and checks made up."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from eascope.host.errors import RequestError
from tests.mutants import __main__ as machine
from tests.mutants.checks import Check, cheapest_first
from tests.mutants.code import Changed
from tests.mutants.plugin import KILLS
from tests.mutants.source import Mutant, drawn
from tests.mutants.test_source import toy

ORDER = drawn(toy(), 1)
QUICK, SLOW = (Check(name, f"key of {name}", "passed", s, b"") for name, s in (("a", 1), ("b", 2)))


class Killed(BaseException):
    """What stops the machine in the middle."""


class Made:
    """A maker whose builds and ends are tables, by the number of the mutant in `ORDER`."""

    def __init__(self, builds: Sequence[str | Changed], ends: Mapping[int, list[str]]) -> None:
        self.builds, self.ends = builds, ends
        self.checks = [QUICK, SLOW]
        self.done: list[str] = []
        self.at = 0

    def build(self, mutant: Mutant) -> str | Changed:
        self.at = ORDER.index(mutant)
        self.done.append(f"build {self.at}")
        return self.builds[self.at]

    def reaching(self, changed: Changed) -> list[Check]:
        return [check for check in self.checks if "toy" in changed]

    def ask(self, asked: Sequence[Check]) -> Iterator[Mapping[str, str]]:
        for check in asked:
            self.done.append(f"{check.name} on {self.at}")
            end = self.ends.get(self.at, ["passed", "passed"])["ab".index(check.name[0])]
            if end == "killed here":
                raise Killed
            yield {"check": check.name, "end": end, "says": "why"}
            if end in KILLS:
                return


CHANGED: Changed = {"toy": [1]}


def ran(made: Made, path: Path, most: int = 2) -> str:
    journal = machine.Journal(path)
    tried, same = machine.run(ORDER, most, journal, made, lambda line: None)  # type: ignore[arg-type]
    return machine.report(tried, journal.found, same)


@pytest.mark.parametrize(
    ("ends", "last"),
    [
        (["passed", "passed"], "0 of 1 killed"),
        (["passed", "assertion"], "1 of 1 killed"),
        (["warning", "passed"], "1 of 1 killed"),
        (["simulated-time limit", "passed"], "1 of 1 killed"),
        (["too slow", "passed"], "0 of 1 killed"),
        (["error", "passed"], "0 of 1 killed"),
    ],
)
def test_what_kills(ends: list[str], last: str, tmp_path: Path) -> None:
    text = ran(Made([CHANGED], {0: ends}), tmp_path / "journal", 1)
    assert text.splitlines()[-1] == last
    assert ("checks that reach it" in text) == last.startswith("0")


def test_the_order_of_checks(tmp_path: Path) -> None:
    """By the time for a kill, with what earlier mutants tell; who shares a boot stays together."""
    together = [Check(name, name, "passed", s, b"", "boot") for name, s in (("c", 6), ("d", 3))]
    journal = machine.Journal(tmp_path / "journal")
    begins = {check.name: journal.odds(check) for check in (QUICK, SLOW)}
    assert begins == {"a": 0.1, "b": 0.1}
    ordered = cheapest_first([*together, SLOW, QUICK], journal.odds)
    assert [check.name for check in ordered] == ["a", "b", "d", "c"]
    for mutant in ORDER[:2]:  # a: 1 s at 1/12; b: 2 s at 3/12
        for name, end in (("a", "passed"), ("b", "assertion")):
            journal.note(mutant, key=name, check=name, end=end, says="")
    assert [check.name for check in cheapest_first([QUICK, SLOW], journal.odds)] == ["b", "a"]


def test_equal_code_and_what_does_not_compile_are_no_mutants(tmp_path: Path) -> None:
    made = Made(["equal", "not compiled", CHANGED], {2: ["assertion", "passed"]})
    text = ran(made, tmp_path / "journal", 1)
    assert text.splitlines()[-2].startswith("1 equal, 1 not compiled, 0 marked as equivalent")
    assert text.splitlines()[-1] == "1 of 1 killed"


def test_no_check_is_asked_that_does_not_reach_it(tmp_path: Path) -> None:
    made = Made([{"elsewhere": [1]}], {})
    assert ran(made, tmp_path / "journal", 1).endswith("0 of 1 killed")
    assert made.done == ["build 0"]


def test_killed_anywhere_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    broken = Made([CHANGED, CHANGED], {1: ["passed", "killed here"]})
    with pytest.raises(Killed):
        ran(broken, path)
    path.write_text(path.read_text() + '{"mutant": "half a li')
    whole = Made([CHANGED, CHANGED], {1: ["passed", "assertion"]})
    assert ran(whole, path).endswith("1 of 2 killed")
    assert whole.done == ["build 1", "b on 1"]
    assert ran(Made([], {}), path).endswith("1 of 2 killed")


def test_a_new_check_is_asked_of_survivors_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    ran(Made([CHANGED, CHANGED], {0: ["assertion", "passed"]}), path)
    later = Made([CHANGED, CHANGED], {1: ["assertion", "passed"]})
    later.checks = [Check("a new one", "new key", "passed", 3, b"")]
    assert ran(later, path).endswith("2 of 2 killed")
    assert later.done == ["build 1", "a new one on 1"]


def test_a_check_that_was_too_slow_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    assert ran(Made([CHANGED], {0: ["passed", "too slow"]}), path, 1).endswith("0 of 1 killed")
    later = Made([CHANGED], {0: ["passed", "assertion"]})
    assert ran(later, path, 1).endswith("1 of 1 killed")
    assert later.done == ["build 0", "b on 0"]


def test_what_is_marked_is_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "equivalent.toml"
    monkeypatch.setattr(machine, "EQUIVALENT", file)
    entry = f'["{ORDER[0].id}"]\nfile = "toy.c"\nline = "a"\nfault = "b"\n'
    file.write_text(f'{entry}reason = "it is the same"\n')
    made = Made(["", CHANGED], {})
    text = ran(made, tmp_path / "journal", 1)
    assert "1 marked as equivalent" in text
    assert made.done == ["build 1", "a on 1", "b on 1"]
    file.write_text(f'{entry}reason = ""\n')
    with pytest.raises(RequestError, match="allowed: file, line, fault and a reason"):
        ran(made, tmp_path / "journal", 1)
