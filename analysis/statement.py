# SPDX-License-Identifier: GPL-2.0-or-later
"""Statements such as ``energy_j.total[cas] > energy_j.total[mainline]``: their grammar.

Grammar (no part of it is ever given to Python's own evaluator):

    statement  = comparison { "and" comparison }
    comparison = (sum | share) ("<" | "<=" | ">" | ">=" | "==" | "!=") sum
    share      = "share" "(" comparison ")"
    sum        = product { ("+" | "-") product }
    product    = factor { ("*" | "/") factor }
    factor     = "-" factor | "(" sum ")" | number ["%"] | function "(" sum {"," sum} ")" | measure
    function   = "min" | "max" | "abs"
    measure    = key { "." key } [ "[" variant "]" ]

A measure is a dotted path into ``result.json``. A key with other characters than letters, digits
and ``_`` is in double quotes. A measure without a variant is that of the expectation's own variant.
A share is that of the seeds in which its comparison is met; beside it stands a number.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from eascope.host.errors import RequestError, shown
from eascope.host.record import child

#: (path, variant or "") to a number; raises :class:`Absent` when there is none.
Lookup = Callable[[tuple[str, ...], str], float]

COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
#: Of the seeds in which a comparison is met.
SHARE = "share"
_FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max, "abs": abs}
_OPERATIONS: dict[str, Callable[..., float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    **_FUNCTIONS,
}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<quoted>\"[^\"]*\")|(?P<variant>\[\s*[\w.+@-]+\s*\])"
    r"|(?P<sign><=|>=|==|!=|[-+*/()<>.,%]))"
)
_KEY = re.compile(r"\w+")


class ExpectationError(RequestError):
    """A statement that does not follow the grammar; one line with the position."""


class Absent(Exception):
    """A measure that the result does not have."""


@dataclass(frozen=True)
class MeasurePath:
    """A path into ``result.json``, of one variant (``""``: the expectation's own)."""

    path: tuple[str, ...]
    variant: str

    def value(self, lookup: Lookup) -> float:
        """Its value in ``lookup``."""
        return lookup(self.path, self.variant)

    @property
    def measures(self) -> Iterator[MeasurePath]:
        """Itself."""
        yield self


@dataclass(frozen=True)
class Operation:
    """An operator or function with its operands; a number is one without operands.

    :param percent: whether the number was written in percent.
    """

    name: str
    operands: tuple[Term, ...] = ()
    number: float = 0.0
    percent: bool = False

    def value(self, lookup: Lookup) -> float:
        """The value, with measures from ``lookup``.

        :raises ZeroDivisionError: where something is divided by zero.
        """
        if not self.operands:
            return self.number
        return _OPERATIONS[self.name](*(operand.value(lookup) for operand in self.operands))

    @property
    def measures(self) -> Iterator[MeasurePath]:
        """All measures in it, from left to right."""
        for operand in self.operands:
            yield from operand.measures


@dataclass(frozen=True)
class Share:
    """The share of seeds in which a comparison is met; of one run, 1 or 0."""

    part: Part

    def value(self, lookup: Lookup) -> float:
        """1 where the values of ``lookup``, which are one run's, meet the comparison, else 0."""
        return float(self.part.met(lookup))

    @property
    def measures(self) -> Iterator[MeasurePath]:
        """All measures in it, from left to right."""
        return self.part.measures


Term = MeasurePath | Operation | Share


def number(value: float, percent: bool = False) -> Operation:
    """A number as a term; ``value`` of 1 % is 0.01."""
    return Operation("number", number=value, percent=percent)


def constant(term: Term) -> float | None:
    """The value of a term without measures; None for one that has some, or divides by zero."""
    if next(iter(term.measures), None) is not None:
        return None
    try:
        return term.value(_nothing)
    except ZeroDivisionError:
        return None


def _nothing(path: tuple[str, ...], _variant: str) -> float:
    raise Absent(".".join(path))


@dataclass(frozen=True)
class Part:
    """One comparison of a statement."""

    left: Term
    sign: str
    right: Term

    def met(self, lookup: Lookup) -> bool:
        """Whether the values of ``lookup`` meet it."""
        return COMPARE[self.sign](self.left.value(lookup), self.right.value(lookup))

    @property
    def measures(self) -> Iterator[MeasurePath]:
        """All measures of both sides, from left to right."""
        yield from self.left.measures
        yield from self.right.measures


@dataclass(frozen=True)
class Statement:
    """A parsed statement."""

    text: str
    parts: tuple[Part, ...]

    @property
    def measures(self) -> tuple[MeasurePath, ...]:
        """All measures, from left to right."""
        return tuple(measure for part in self.parts for measure in part.measures)

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants that it mentions, sorted."""
        return tuple(sorted({measure.variant for measure in self.measures if measure.variant}))

    @property
    def paths(self) -> tuple[str, ...]:
        """Dotted paths of its measures, sorted."""
        return tuple(sorted({".".join(measure.path) for measure in self.measures}))

    def evaluate(self, lookup: Lookup) -> tuple[list[tuple[float, float]], bool]:
        """Both sides of every comparison, and whether all are met.

        :raises Absent: when a measure does not exist, or a division by zero leaves none.
        """
        sides = []
        met = True
        for part in self.parts:
            try:
                values = part.left.value(lookup), part.right.value(lookup)
            except ZeroDivisionError as error:
                raise Absent("division by zero") from error
            sides.append(values)
            met = met and COMPARE[part.sign](*values)
        return sides, met


def parse(text: str) -> Statement:
    """Parse a statement.

    :raises ExpectationError: one line with the position, the text there, and what is allowed.
    """
    return _Parser(text).statement()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
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
            f"expectation {shown(self.text)}: character {position + 1}: found {instead}: "
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
        statement = Statement(self.text, tuple(parts))
        if not statement.measures:
            raise self.error(0, "a statement about at least one measure")
        return statement

    def comparison(self) -> Part:
        if self.tokens[self.at][1] != SHARE or self.follows != "(":
            return self.compared(self.sum())
        self.at += 2
        inner = self.compared(self.sum())
        self.close()
        if next(inner.measures, None) is None:
            raise self.wrong(f"{SHARE} of a comparison of measures")
        part = self.compared(Share(inner))
        if constant(part.right) is None:
            raise self.wrong(f"a number beside {SHARE}")
        return part

    def compared(self, left: Term) -> Part:
        sign = self.take(*COMPARE)
        if not sign:
            raise self.wrong(" ".join(COMPARE))
        return Part(left, sign, self.sum())

    @property
    def follows(self) -> str:
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)][1]

    def sum(self) -> Term:
        value = self.product()
        while sign := self.take("+", "-"):
            value = Operation(sign, (value, self.product()))
        return value

    def product(self) -> Term:
        value = self.factor()
        while sign := self.take("*", "/"):
            value = Operation(sign, (value, self.factor()))
        return value

    def factor(self) -> Term:
        kind, value, _ = self.tokens[self.at]
        if self.take("-"):
            return Operation("-", (number(0.0), self.factor()))
        if self.take("("):
            inner = self.sum()
            self.close()
            return inner
        if kind == "number":
            self.at += 1
            percent = bool(self.take("%"))
            return number(float(value) / (100 if percent else 1), percent)
        if kind == "name" and self.follows == "(" and value in _FUNCTIONS:
            self.at += 2
            return self.call(value)
        if kind == "name" and value != "and" and self.follows != "(":
            return self.measure()
        raise self.wrong(f"a measure, a number, '(' or {', '.join(_FUNCTIONS)}")

    def call(self, name: str) -> Operation:
        arguments = [self.sum()]
        while self.take(","):
            arguments.append(self.sum())
        self.close()
        if name == "abs" and len(arguments) != 1:
            raise self.wrong("abs with one argument")
        if name != "abs" and len(arguments) < 2:
            raise self.wrong(f"{name} with two arguments or more")
        return Operation(name, tuple(arguments))

    def close(self) -> None:
        if not self.take(")"):
            raise self.wrong("')'")

    def measure(self) -> MeasurePath:
        keys = [self.key()]
        while self.take("."):
            keys.append(self.key())
        variant = ""
        kind, value, _ = self.tokens[self.at]
        if kind == "variant":
            self.at += 1
            variant = value[1:-1].strip()
        return MeasurePath(tuple(keys), variant)

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
