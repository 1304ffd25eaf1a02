# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the patch of a series from which on a statement holds.

Each step is compared with the kernel below the series. Seeds are added while the verdict is
undecided. All verdicts of a search together are wrong with at most one chance in twenty, however
often a step is looked at; that is why ten seeds may decide here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, takewhile

from eascope.analysis.compare import Comparison
from eascope.analysis.ranges import ranges_of
from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.verdict import HOLDS, LEVEL, REFUTED, UNDECIDED, Effect, Verdict
from eascope.analysis.rows import PER_WORK
from eascope.analysis.statement import EQUAL, parse
from eascope.analysis.statistics import ENOUGH
from eascope.analysis.verdict_text import measured_words, printed, stated_words
from eascope.analysis.verdicts import Results, judge
from eascope.experiments.runs.cell import kernel_code
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.ladder import built
from eascope.experiments.runs.measure import Group, compare, seeded
from eascope.experiments.runs.pool import Work, seconds_for
from eascope.experiments.runs.request import Resolved
from eascope.experiments.scenario.checks import wrong_measure
from eascope.host.errors import EascopeError, RequestError
from eascope.host.proc import duration, say
from eascope.kernels.build import estimate_s
from eascope.kernels.steps import Step

#: The variants of a statement: the kernel below the series, and a step.
BASE, PATCHED = "base", "patched"
#: Seeds of the first look at a step.
FIRST = ENOUGH
SKIPPED = "does not build"


def energy_statement(text: str) -> str:
    """The statement of ``--energy +2%``: energy of the same work rises by at least that.

    :raises RequestError: it is no change in percent.
    """
    match = re.fullmatch(r"([+-])(\d{1,3}(?:\.\d{1,3})?)%", text)
    percent = float(f"{match[1]}{match[2]}") if match else 0.0
    if not percent or percent <= -100:
        raise RequestError(f"--energy {text!r}: allowed: a change such as +2% or -0.5%")
    per_work = ".".join(PER_WORK)
    return f"{per_work}[{PATCHED}] {'<>'[percent > 0]} {100 + percent:g}% * {per_work}[{BASE}]"


def check_statement(text: str, resolved: Resolved) -> None:
    """Refuse a statement that no runs of these cells can decide.

    :raises RequestError: what is wrong with it.
    """
    statement = parse(text)
    for variant in statement.variants:
        if variant not in (BASE, PATCHED):
            raise RequestError(f"--statement: variant {variant!r}: allowed: {BASE}, {PATCHED}")
    if wrong := wrong_measure(resolved.scenario, text):
        raise RequestError(f"--statement: {wrong[0]!r}: allowed: {wrong[1]}")
    if any(part.sign in EQUAL for part in statement.parts):
        raise RequestError("--statement: runs cannot decide == and !=; use < <= > >=")


def seed_counts(most: int) -> list[int]:
    """10, 20, 40, ... ``most``."""
    return [*takewhile(lambda seeds: seeds < most, (FIRST * 2**n for n in count())), most]


def most_tests(steps: int) -> int:
    """Tests that find the first of ``steps`` where it holds, if any, where none is skipped."""
    return steps.bit_length()


def search(last: int, test: Callable[[int, int], str]) -> tuple[int, int]:
    """The first step where it holds, and the last tested one below; it holds at step ``last``.

    :param test: the word on a step, also given how many tests are left after it. A neighbour of a
        step that is skipped is tested instead. What lies between the two that are returned was
        skipped.
    """
    below, above, skipped = 0, last, set[int]()
    while steps := [step for step in range(below + 1, above) if step not in skipped]:
        middle = steps[len(steps) // 2]
        word = test(middle, most_tests(len(steps)) - 1)
        if word == SKIPPED:
            skipped.add(middle)
        elif word == HOLDS:
            above = middle
        else:
            below = middle
    return below, above


def judged(statement: str, results: Results, level: float) -> Verdict:
    """The verdict on runs of `BASE` and `PATCHED`.

    :raises EascopeError: the runs do not have a measure of it.
    """
    expected = [Expectation(PATCHED, statement, "eascope bisect")]
    (verdict,) = judge(expected, results, level=level, enough=ENOUGH)
    if not verdict.effects:
        raise EascopeError(f"{statement}: {verdict.reason}")
    return verdict


def decided(
    statement: str, results: Callable[[int], Results], counts: Sequence[int], level: float
) -> Verdict:
    """The verdict with the fewest of ``counts`` seeds that decide it, else with the most."""
    for seeds in counts:
        verdict = judged(statement, results(seeds), level)
        if verdict.verdict != UNDECIDED:
            break
    return verdict


def visible(effect: Effect) -> str:
    """The smallest effect at which it would hold, in words: ``> 2.8 %``."""
    if effect.low is None or effect.high is None:
        return ""
    half = (effect.high - effect.low) / 2
    ends = zip(effect.stated, (half, -half), strict=True)
    low, high = (None if end is None else float(f"{end + more:.3g}") for end, more in ends)
    return stated_words(replace(effect, stated=(low, high)))


@dataclass(frozen=True)
class Tested:
    """A step with its verdict; None where it does not build, or has the code of the base.

    :param compared: its runs next to those of the base.
    """

    step: int
    word: str
    why: str = ""
    verdict: Verdict | None = None
    compared: Comparison | None = None

    @property
    def results(self) -> Results:
        """The runs of the step and, next to them, of the base."""
        return _results(self.compared) if self.compared else {}

    @property
    def words(self) -> str:
        """``holds, +3.1 % (+2.9 .. +3.3), 10 seeds``."""
        if self.verdict is None:
            return self.why
        seeds = f"{self.verdict.seeds} seeds{f', {self.why}' if self.why else ''}"
        effect, possible = self.verdict.effects[0], ranges_of(self.verdict)[0]
        return f"{printed(self.word)}, {measured_words(effect, possible)}, {seeds}"


def _results(compared: Comparison) -> Results:
    return dict(zip((BASE, PATCHED), compared.results.values(), strict=True))


@dataclass
class Bisection:
    """A search in ``steps``.

    :param named: gives the cell of a step's first seed.
    :param most: seeds of the last look at a step.
    """

    steps: Sequence[Step]
    named: Callable[[int], Resolved]
    statement: str
    billing: BilledBy
    most: int
    tested: dict[int, Tested] = field(default_factory=dict)
    by_code: dict[str, Tested] = field(default_factory=dict)

    @property
    def last(self) -> int:
        """The step with the whole series."""
        return len(self.steps) - 1

    @property
    def level(self) -> float:
        """Of each verdict, so that all of them together have `LEVEL`."""
        looks = (1 + most_tests(self.last - 1)) * len(seed_counts(self.most))
        return 1 - (1 - LEVEL) / looks

    def budget(self, tests: int, base: bool = False) -> str:
        """What so many tests cost at most; ``base``: with the kernel below the series."""
        kernels = tests + base
        if not kernels:
            return "nothing"
        build_s, work = kernels * estimate_s(from_objects=False), Work.of_names(self.named(0))
        runs = [kernels * seeds for seeds in (FIRST, self.most)]
        low, high = (duration(build_s + seconds_for([work] * number)) for number in runs)
        return f"at most {kernels} builds, {runs[0]} to {runs[1]} runs, {low} to {high}"

    def found(self) -> tuple[Tested, Tested] | None:
        """The last step below and the first one where it holds; None if it does at none.

        :raises RequestError: it holds for the kernel below the series, too.
        :raises EascopeError: the last step does not build, or a run failed.
        """
        tests = 1 + most_tests(self.last - 1)
        say(f"  {self.last} steps: {self.budget(tests, base=True)}")
        base = Tested(0, REFUTED, "the kernel below the series")
        self.by_code = {kernel_code(self.named(0)): base}
        whole = self.test(self.last, tests - 1)
        if whole == SKIPPED:
            raise EascopeError(f"step {self.last}, the last one, {self.tested[self.last].why}")
        if whole != HOLDS:
            return None
        without = self.tested[self.last].results[BASE]
        if judged(self.statement, {BASE: without, PATCHED: without}, self.level).verdict == HOLDS:
            raise RequestError(
                f"{self.statement}: also holds for the kernel below the series; expected "
                "a statement that the series makes true"
            )
        below, above = search(self.last, self.test)
        return self.tested.get(below, base), self.tested[above]

    def test(self, step: int, left: int) -> str:
        """The word on a step; ``left``: tests after it."""
        names = self.named(step)
        code, broken = built(names)
        if broken:
            tested = Tested(step, SKIPPED, broken)
        elif code and (like := self.by_code.get(code)):
            tested = replace(like, step=step, why=f"same code as step {like.step}")
        else:
            tested = self._measured(step, names)
            self.by_code[code] = tested
        self.tested[step] = tested
        say(f"  step {step} of {self.last}: {tested.words}; left: {self.budget(left)}")
        return tested.word

    def _measured(self, step: int, resolved: Resolved) -> Tested:
        compared: list[Comparison] = []

        def results(seeds: int) -> Results:
            compared[:] = compare([Group(seeded([self.named(0), resolved], seeds), self.billing)])
            return _results(compared[0])

        verdict = decided(self.statement, results, seed_counts(self.most), self.level)
        return Tested(step, verdict.verdict, "", verdict, compared[0])
