# SPDX-License-Identifier: GPL-2.0-or-later
"""Statements such as ``energy_j.total[cas] > energy_j.total[mainline]``: their grammar.

Expectations of scenarios are about measures, constraints of campaigns about axes. Grammar (no part
of it is ever given to Python's own evaluator):

    statement  = all { "or" all }
    all        = one { "and" one }
    one        = "not" one | "(" statement ")" | comparison | share sign sum
    comparison = side sign side { sign side } | side ["not"] "in" "[" side { "," side } "]"
    share      = "share" "(" comparison ")"
    sign       = "<" | "<=" | ">" | ">=" | "==" | "!="
    side       = sum | "'" text "'"
    sum        = product { ("+" | "-") product }
    product    = factor { ("*" | "/") factor }
    factor     = "-" factor | "(" sum ")" | number ["%"] | "true" | "false" | measure
               | ("min" | "max" | "abs") "(" sum { "," sum } ")"
    measure    = key { "." key } [ "[" variant "]" ]

A measure is a dotted path into ``result.json``, in a constraint the name of an axis. A key with
other characters than letters, digits and ``_`` is in double quotes. A measure without a variant is
that of the expectation's own variant. A share is that of the seeds in which its comparison is met;
beside it stands a number. A truth value is 1 or 0. A text is equal to another one, or not.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from eascope.host.errors import RequestError, shown
from eascope.host.record import child

#: (path, variant or "") to a number or a text; raises :class:`Absent` when there is none.
Lookup = Callable[[tuple[str, ...], str], float | str]

COMPARE: dict[str, Callable[[float | str, float | str], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
EQUAL = ("==", "!=")
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
_JOINED: dict[str, Callable[[Iterable[bool]], bool]] = {
    "and": all,
    "or": any,
    "not": lambda met: not any(met),
}
_SIGN = "[<>=!]=|[<>]"
_SIGNS = f"{' '.join(COMPARE)} in"
#: Of a statement: a longer one may be too deep to evaluate.
MOST_CHARACTERS = 400
#: Longer numbers and exponents mean nothing.
_NUMBER = r"\d{1,18}(?:\.\d{1,18})?(?:[eE][-+]?\d{1,2})?(?![\w.])"
_MEASURE = r"(?!(?:and|or|not|in)\b)[A-Za-z_]\w*\b(?!\s*\()"


class Absent(Exception):
    """A measure that the result does not have."""


@dataclass(frozen=True)
class MeasurePath:
    """A path into ``result.json``, of one variant (``""``: the expectation's own)."""

    path: tuple[str, ...]
    variant: str

    @property
    def name(self) -> str:
        """As a statement has it, without quotes."""
        return ".".join(self.path) + (f"[{self.variant}]" if self.variant else "")

    def read(self, lookup: Lookup) -> float | str:
        """Its number or text in ``lookup``."""
        return lookup(self.path, self.variant)

    def value(self, lookup: Lookup) -> float:
        """Its number in ``lookup``.

        :raises RequestError: it is a text.
        """
        value = self.read(lookup)
        if isinstance(value, str):
            raise RequestError(f"{self.name} = {value!r}: allowed: a number, or == != in beside it")
        return value

    @property
    def measures(self) -> Iterator[MeasurePath]:
        """Itself."""
        yield self


@dataclass(frozen=True)
class Text(MeasurePath):
    """A text in quotes, as a measure that is the same of every run."""

    def read(self, lookup: Lookup) -> float | str:
        """The text."""
        return self.path[0]

    @property
    def measures(self) -> Iterator[MeasurePath]:
        """None."""
        return iter(())


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
    """One comparison of two terms."""

    left: Term
    sign: str
    right: Term

    def met(self, lookup: Lookup) -> bool:
        """True if the values of ``lookup`` meet it."""
        left, right = (
            side.read(lookup)
            if self.sign in EQUAL and isinstance(side, MeasurePath)
            else side.value(lookup)
            for side in (self.left, self.right)
        )
        return COMPARE[self.sign](left, right)

    @property
    def measures(self) -> Iterator[MeasurePath]:
        """All measures of both sides, from left to right."""
        yield from self.left.measures
        yield from self.right.measures


@dataclass(frozen=True)
class Joined:
    """Conditions joined by ``and`` or ``or``, or none of which is met: ``not``."""

    word: str
    conditions: tuple[Condition, ...]

    def met(self, lookup: Lookup) -> bool:
        """True if the values of ``lookup`` meet it; what does not matter any more is not read."""
        return _JOINED[self.word](condition.met(lookup) for condition in self.conditions)

    @property
    def measures(self) -> Iterator[MeasurePath]:
        """All measures in it, from left to right."""
        for condition in self.conditions:
            yield from condition.measures


Condition = Part | Joined


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
    """Parse an expectation: comparisons of numbers, joined by ``and``.

    :raises RequestError: one line with the position, the text there, and what is allowed.
    """
    return Statement(text, tuple(_parts(text, condition(text))))


def _parts(text: str, made: Condition) -> Iterator[Part]:
    if isinstance(made, Joined) and made.word == "and":
        for inner in made.conditions:
            yield from _parts(text, inner)
    elif isinstance(made, Part) and Text not in map(type, (made.left, made.right)):
        yield made
    else:
        raise RequestError(f"{shown(text)}: allowed: comparisons of numbers, joined by 'and'")


def condition(text: str) -> Condition:
    """Parse any statement.

    :raises RequestError: one line with the position, the text there, and what is allowed.
    """
    parser = _Parser(text)
    if len(text) > MOST_CHARACTERS:
        raise RequestError(f"{shown(text)}: allowed: up to {MOST_CHARACTERS} characters")
    try:
        made = parser.condition(parser.joined("or"))
    except RecursionError as error:
        raise RequestError(f"{shown(text)}: allowed: fewer parentheses") from error
    if text[parser.at :].strip():
        raise parser.wrong("'and', 'or', an operator, or the end")
    if next(made.measures, None) is None:
        parser.at = 0
        raise parser.wrong("a statement about a measure or an axis")
    return made


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def wrong(self, allowed: str) -> RequestError:
        rest = self.text[self.at :].lstrip()
        found = repr(rest[:12]) if rest else "its end"
        at = len(self.text) - len(rest) + 1
        return RequestError(
            f"{shown(self.text)}: character {at}: found {found}: allowed: {allowed}"
        )

    def take(self, pattern: str) -> str:
        match = re.compile(rf"\s*({pattern})").match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match[1] if match else ""

    def needed(self, pattern: str, allowed: str) -> str:
        if taken := self.take(pattern):
            return taken
        raise self.wrong(allowed)

    def condition(self, made: Term | Condition) -> Condition:
        if isinstance(made, Condition):
            return made
        raise self.wrong(_SIGNS)

    def term(self, made: Term | Condition, text: bool = False) -> Term:
        if isinstance(made, Condition) or (isinstance(made, Text) and not text):
            raise self.wrong("a number on both sides")
        return made

    def joined(self, word: str) -> Term | Condition:
        inner = self.single if word == "and" else lambda: self.joined("and")
        made = inner()
        while self.take(rf"{word}\b"):
            made = Joined(word, (self.condition(made), self.condition(inner())))
        return made

    def single(self) -> Term | Condition:
        if self.take(r"not\b"):
            return Joined("not", (self.condition(self.single()),))
        if self.take(rf"{SHARE}\s*\("):
            return self.share()
        left = self.sum()
        if word := self.take(r"not\s+in\b|in\b"):
            self.needed(r"\[", "a list such as [2, 4]")
            own, others = self.term(left, text=True), self.listed("]", text=True)
            equal = tuple(Part(own, "==", other) for other in others)
            return Joined("or" if word == "in" else "not", equal)
        made: Condition | None = None
        while sign := self.take(_SIGN):
            text = sign in EQUAL
            sides = self.term(left, text), self.term(left := self.sum(), text)
            part = Part(sides[0], sign, sides[1])
            made = Joined("and", (made, part)) if made else part
        if made or isinstance(left, Condition) or self.text[self.at :].lstrip()[:1] in ")":
            return made or left
        raise self.wrong(_SIGNS)

    def share(self) -> Part:
        inner = self.condition(self.single())
        if not isinstance(inner, Part) or isinstance(inner.left, Share) or not [*inner.measures]:
            raise self.wrong(f"{SHARE} of one comparison of measures")
        self.needed(r"\)", "')'")
        sign = self.needed(_SIGN, " ".join(COMPARE))
        right = self.term(self.sum())
        if constant(right) is None:
            raise self.wrong(f"a number beside {SHARE}")
        return Part(Share(inner), sign, right)

    def sum(self, signs: str = "[-+]") -> Term | Condition:
        inner = self.factor if signs == "[*/]" else lambda: self.sum("[*/]")
        made = inner()
        while sign := self.take(signs):
            made = Operation(sign, (self.term(made), self.term(inner())))
        return made

    def factor(self) -> Term | Condition:
        if self.take("-"):
            return Operation("-", (number(0.0), self.term(self.factor())))
        if self.take(r"\("):
            inner = self.joined("or")
            self.needed(r"\)", "')'")
            return inner
        if digits := self.take(_NUMBER):
            percent = bool(self.take("%"))
            return number(float(digits) / (100 if percent else 1), percent)
        if truth := self.take(r"(?i:true|false)\b"):
            return number(truth.lower() == "true")
        if text := self.take("'[^']*'"):
            return Text((text[1:-1],), "")
        if function := self.take(rf"(?:{'|'.join(_FUNCTIONS)})(?=\s*\()"):
            return self.call(function)
        if key := self.take(_MEASURE):
            return self.measure(key)
        functions = ", ".join(_FUNCTIONS)
        raise self.wrong(f"a measure or an axis, a number, 'text', '(' or {functions}")

    def listed(self, end: str, text: bool = False) -> tuple[Term, ...]:
        made = [self.term(self.sum(), text)]
        while self.take(","):
            made.append(self.term(self.sum(), text))
        self.needed(re.escape(end), f"'{end}'")
        return tuple(made)

    def call(self, name: str) -> Operation:
        self.take(r"\(")
        arguments = self.listed(")")
        if name == "abs" and len(arguments) != 1:
            raise self.wrong("abs with one argument")
        if name != "abs" and len(arguments) < 2:
            raise self.wrong(f"{name} with two arguments or more")
        return Operation(name, arguments)

    def measure(self, key: str) -> MeasurePath:
        keys = [key]
        while self.take(r"\."):
            allowed = "a key: letters, digits and _, or anything within double quotes"
            keys.append(self.needed(r'\w+|"[^"]*"', allowed).strip('"'))
        variant = ""
        if self.take(r"\["):
            variant = self.needed(r"[\w.+@-]+", "a variant's name")
            self.needed(r"\]", "']'")
        return MeasurePath(tuple(keys), variant)


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
