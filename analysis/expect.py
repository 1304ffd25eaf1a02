# SPDX-License-Identifier: GPL-2.0-or-later
"""Expectations: statements such as ``energy_j.total[cas] > energy_j.total[mainline]``.

Grammar (no part of it is ever given to Python's own evaluator):

    statement  = comparison { "and" comparison }
    comparison = sum ("<" | "<=" | ">" | ">=" | "==" | "!=") sum
    sum        = product { ("+" | "-") product }
    product    = factor { ("*" | "/") factor }
    factor     = "-" factor | "(" sum ")" | number ["%"] | function "(" sum {"," sum} ")" | measure
    function   = "min" | "max" | "abs"
    measure    = key { "." key } [ "[" variant "]" ]

A measure is a dotted path into ``result.json``; a key with other characters than letters, digits
and ``_`` stands in double quotes. Without a variant it is that of the expectation's own. With
several seeds the means are compared.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.records.cell import CellRecord, Expectation
from analysis.records.result import Judged, Result
from host.errors import RequestError
from host.record import child

#: (path, variant or "") to a number; raises :class:`Absent` when there is none.
Lookup = Callable[[tuple[str, ...], str], float]

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max, "abs": abs}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<quoted>\"[^\"]*\")|(?P<variant>\[\s*[\w.+-]+\s*\])"
    r"|(?P<sign><=|>=|==|!=|[-+*/()<>.,%]))"
)
_KEY = re.compile(r"\w+")


class ExpectationError(RequestError):
    """A statement that does not follow the grammar; one line with the position."""


class Absent(Exception):
    """A measure that the result does not have."""


@dataclass(frozen=True)
class Measure:
    """A path into ``result.json``, of one variant (``""``: the expectation's own)."""

    path: tuple[str, ...]
    variant: str


@dataclass(frozen=True)
class Statement:
    """A parsed statement."""

    text: str
    measures: tuple[Measure, ...]
    _parts: tuple[tuple[Callable[[Lookup], float], str, Callable[[Lookup], float]], ...]

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants that it mentions, sorted."""
        return tuple(sorted({measure.variant for measure in self.measures if measure.variant}))

    @property
    def paths(self) -> tuple[str, ...]:
        """Dotted paths of its measures, sorted."""
        return tuple(sorted({".".join(measure.path) for measure in self.measures}))

    def evaluate(self, lookup: Lookup) -> tuple[list[tuple[float, float]], bool]:
        """Both sides of every comparison, and whether all hold.

        :raises Absent: when a measure does not exist, or a division by zero leaves none.
        """
        sides = []
        holds = True
        for left, sign, right in self._parts:
            try:
                values = left(lookup), right(lookup)
            except ZeroDivisionError as error:
                raise Absent("division by zero") from error
            sides.append(values)
            holds = holds and _COMPARE[sign](*values)
        return sides, holds


def parse(text: str) -> Statement:
    """Parse a statement.

    :raises ExpectationError: one line that says what stands where and what is allowed.
    """
    return _Parser(text).statement()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        self.measures: list[Measure] = []
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                at = position + len(text[position:]) - len(text[position:].lstrip())
                raise self.error(at, "a measure, a number or an operator")
            kind = str(match.lastgroup)
            self.tokens.append((kind, match.group(kind), match.start(kind)))
            position = match.end()
        self.tokens.append(("end", "", len(text)))
        self.at = 0

    def error(self, position: int, allowed: str) -> ExpectationError:
        instead = repr(self.text[position : position + 12]) if self.text[position:] else "its end"
        return ExpectationError(
            f"expectation {self.text!r}: character {position + 1}: found {instead}: "
            f"allowed: {allowed}"
        )

    def wrong(self, allowed: str) -> ExpectationError:
        return self.error(self.tokens[self.at][2], allowed)

    def take(self, *signs: str) -> str:
        kind, value, _ = self.tokens[self.at]
        if kind in ("sign", "name") and value in signs:
            self.at += 1
            return value
        return ""

    def statement(self) -> Statement:
        parts = [self.comparison()]
        while self.take("and"):
            parts.append(self.comparison())
        if self.tokens[self.at][0] != "end":
            raise self.wrong("'and', an operator, or the end")
        if not self.measures:
            raise self.error(0, "a statement about at least one measure")
        return Statement(self.text, tuple(self.measures), tuple(parts))

    def comparison(self) -> tuple[Callable[[Lookup], float], str, Callable[[Lookup], float]]:
        left = self.sum()
        sign = self.take(*_COMPARE)
        if not sign:
            raise self.wrong(" ".join(_COMPARE))
        return left, sign, self.sum()

    def sum(self) -> Callable[[Lookup], float]:
        value = self.product()
        while sign := self.take("+", "-"):
            value = _binary(operator.add if sign == "+" else operator.sub, value, self.product())
        return value

    def product(self) -> Callable[[Lookup], float]:
        value = self.factor()
        while sign := self.take("*", "/"):
            value = _binary(operator.mul if sign == "*" else operator.truediv, value, self.factor())
        return value

    def factor(self) -> Callable[[Lookup], float]:
        kind, value, _ = self.tokens[self.at]
        if self.take("-"):
            inner = self.factor()
            return lambda lookup: -inner(lookup)
        if self.take("("):
            inner = self.sum()
            self.close()
            return inner
        if kind == "number":
            self.at += 1
            number = float(value) / (100 if self.take("%") else 1)
            return lambda lookup: number
        follows = self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        if kind == "name" and follows[1] == "(" and value in _FUNCTIONS:
            self.at += 2
            return self.call(_FUNCTIONS[value], value)
        if kind == "name" and value != "and" and follows[1] != "(":
            return self.measure()
        raise self.wrong(f"a measure, a number, '(' or {', '.join(_FUNCTIONS)}")

    def call(self, function: Callable[..., float], name: str) -> Callable[[Lookup], float]:
        arguments = [self.sum()]
        while self.take(","):
            arguments.append(self.sum())
        self.close()
        if name == "abs" and len(arguments) != 1:
            raise self.wrong("abs with one argument")
        if name != "abs" and len(arguments) < 2:
            raise self.wrong(f"{name} with two arguments or more")
        return lambda lookup: function(*(argument(lookup) for argument in arguments))

    def close(self) -> None:
        if not self.take(")"):
            raise self.wrong("')'")

    def measure(self) -> Callable[[Lookup], float]:
        keys = [self.key()]
        while self.take("."):
            keys.append(self.key())
        variant = ""
        kind, value, _ = self.tokens[self.at]
        if kind == "variant":
            self.at += 1
            variant = value[1:-1].strip()
        measure = Measure(tuple(keys), variant)
        self.measures.append(measure)
        return lambda lookup: lookup(measure.path, measure.variant)

    def key(self) -> str:
        kind, value, start = self.tokens[self.at]
        if kind == "number":  # a number token may hold a dot: cpu_busy.0, residency.little.450000
            match = _KEY.match(self.text, start)
            if match is not None and match.group() == value:
                self.at += 1
                return value
        if kind in ("name", "quoted"):
            self.at += 1
            return value.strip('"')
        raise self.wrong("a key: letters, digits and _, or anything within double quotes")


def _binary(
    function: Callable[[float, float], float],
    left: Callable[[Lookup], float],
    right: Callable[[Lookup], float],
) -> Callable[[Lookup], float]:
    return lambda lookup: function(left(lookup), right(lookup))


def value_at(result: object, path: Sequence[str]) -> float:
    """The number at a path of a `Result`; truth values are 1 and 0, list keys are indices.

    :raises Absent: when there is none.
    """
    here = result
    try:
        for key in path:
            here = child(here, key)
    except KeyError as error:
        raise Absent(".".join(path)) from error
    if not isinstance(here, int | float):
        raise Absent(".".join(path))
    return float(here)


def of_run(cell: CellRecord, result: Result) -> tuple[Judged, ...]:
    """``expect`` of one run: the statements that are about its own variant alone.

    What needs another variant, or a measure that the run cannot give, is absent.
    """
    own = cell.variant
    judged = []
    for expectation in cell.expect:
        statement = parse(expectation.statement)
        if expectation.variant != own or set(statement.variants) - {own}:
            continue
        try:
            sides, holds = statement.evaluate(lambda path, _variant: value_at(result, path))
        except Absent:
            continue
        value = sides[0][0] if len(sides) == 1 else tuple(sides)
        judged.append(Judged(expectation.statement, value, holds))
    return tuple(judged)


@dataclass(frozen=True)
class Verdict:
    """An expectation against several runs per variant.

    :param sides: both sides of every comparison, of the means over seeds; empty when absent.
    :param holds: None when a measure or a variant is absent.
    :param seeds_held: in how many of ``seeds`` it holds when each seed is taken alone.
    :param absent: why there is no answer.
    :param decided: whether other draws of the seeds give the same answer (`analysis.decided`);
        None without a test.
    :param finding: what is known of why it does not hold (`analysis.results.findings`).
    """

    variant: str
    statement: str
    source: str
    sides: tuple[tuple[float, float], ...] = ()
    holds: bool | None = None
    seeds_held: int = 0
    seeds: int = 0
    absent: str = ""
    finding: str = ""
    decided: bool | None = None

    @property
    def explained(self) -> str:
        """The finding, where the statement does not hold in every seed."""
        return self.finding if self.holds is not None and self.seeds_held < self.seeds else ""


#: A `Result` by variant and seed.
Results = Mapping[str, Mapping[int, object]]


def _alone(results: Results, seed: int, own: str) -> Lookup:
    return lambda path, variant: value_at(results[variant or own][seed], path)


def judge(expectation: Expectation, results: Results, finding: str = "") -> Verdict:
    """Judge one expectation over results of several variants: means, and every seed alone.

    :param finding: what is known of why it does not hold there.
    """
    statement = parse(expectation.statement)
    own = expectation.variant
    unknown = Verdict(own, expectation.statement, expectation.source)
    needed = {measure.variant or own for measure in statement.measures}
    missing = sorted(needed - set(results))
    if missing:
        return replace(unknown, absent=f"variant {missing[0]} was not run")
    seeds = sorted(set.intersection(*(set(results[variant]) for variant in needed)))
    if not seeds:
        return replace(unknown, absent="no seed is common to its variants")

    def mean(path: tuple[str, ...], variant: str) -> float:
        values = [value_at(results[variant or own][seed], path) for seed in seeds]
        return sum(values) / len(values)

    try:
        sides, holds = statement.evaluate(mean)
        held = sum(statement.evaluate(_alone(results, seed, own))[1] for seed in seeds)
    except Absent as error:
        return replace(unknown, seeds=len(seeds), absent=f"{error} is not measured")
    return replace(
        unknown,
        sides=tuple(sides),
        holds=holds,
        seeds_held=held,
        seeds=len(seeds),
        finding=finding,
    )
