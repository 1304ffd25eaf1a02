# SPDX-License-Identifier: GPL-2.0-or-later
"""Constraints of a campaign, such as ``little.cpus + big.cpus <= 8``; they hold for every cell.

An expression compares names (axes and keys of the campaign), numbers and texts in quotes, with
``+ - * / == != < <= > >= in and or not``. Nothing else is evaluated. Arithmetic takes numbers
alone, an order two numbers or two texts, and the whole is true or false.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from eascope.experiments.sweeps.point import AS_IS
from eascope.host.errors import RequestError, names_allowed, shown
from eascope.host.strict import INTEGER_BITS

#: What an expression may consist of, in words.
ALLOWED = (
    "names of axes, numbers, texts in quotes, + - * /, comparisons, in, and, or, not; together "
    "they are true or false"
)
_ARITHMETIC: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
}
_ORDER: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
#: All that an expression may have.
_NODES = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.List, ast.Tuple, ast.Load),
    *(ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, *_ARITHMETIC, *_ORDER),
    *(ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.And, ast.Or, ast.Not, ast.USub),
)
#: Longer texts and larger integers would only be a way to fill the memory.
_LONGEST = 400


@dataclass(frozen=True, eq=False)
class AsIs:
    """The value "as is" of an axis: the text, and where the base has a number, that number."""

    number: float | None
    base: str

    def __eq__(self, other: object) -> bool:
        """Whether ``other`` is the text, or the base's number."""
        if isinstance(other, AsIs):
            return None in (self.number, other.number) or self.number == other.number
        return other == AS_IS or (self.number is not None and other == self.number)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Constraint:
    """An expression, parsed, and its text."""

    text: str
    tree: ast.expr

    def holds(self, values: Mapping[str, object]) -> bool:
        """Whether it is true of a cell with ``values`` by name.

        :raises RequestError: a name without a value, or operands of other types.
        """
        try:
            return _truth(self.tree, values)
        except _Wrong as wrong:
            raise RequestError(f"constraint {shown(self.text)}: {wrong}") from wrong
        except (ZeroDivisionError, OverflowError) as error:
            raise RequestError(
                f"constraint {shown(self.text)}: {error}: allowed: numbers that can be divided"
            ) from error


class _Wrong(Exception):
    """What is wrong with an expression for the values of a cell, in words."""


def read_constraint(text: str) -> Constraint:
    """The constraint ``text``.

    :raises RequestError: any other text.
    """
    try:
        if len(text) > _LONGEST:
            raise SyntaxError("too long")
        tree = ast.parse(text.strip(), mode="eval").body
        _check(tree)
        if not _may_be_true(tree):
            raise SyntaxError("neither true nor false")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RequestError(f"constraint {shown(text)}: allowed: {ALLOWED}") from error
    return Constraint(text, tree)


def _check(tree: ast.expr) -> None:
    """Refuse everything that `_value` does not know.

    :raises ValueError: there is such a thing.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=bool() | str()):
                known = True
            case ast.Constant(value=number):
                known = isinstance(number, int | float) and abs(number) < 2**INTEGER_BITS
            case ast.Attribute(value=inner):
                known = isinstance(inner, ast.Name | ast.Attribute)
            case _:
                known = isinstance(node, _NODES)
        if not known:
            raise ValueError(ast.dump(node))


def _may_be_true(node: ast.expr) -> bool:
    """Whether ``node`` and all that it joins can be true or false; of a name, a cell decides."""
    match node:
        case ast.BoolOp(values=parts):
            return all(map(_may_be_true, parts))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _may_be_true(operand)
        case ast.Constant(value=value):
            return isinstance(value, bool)
    return isinstance(node, ast.Compare | ast.Name | ast.Attribute)


def _truth(node: ast.expr, values: Mapping[str, object]) -> bool:
    value = _value(node, values)
    if not isinstance(value, bool):
        raise _Wrong(f"{_shown(node, value)}: allowed: a comparison with it")
    return value


def _value(node: ast.expr, values: Mapping[str, object]) -> object:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name() | ast.Attribute():
            name = ast.unparse(node)
            if name not in values:
                raise _Wrong(f"unknown name {shown(name)}{names_allowed(name, values)}")
            return values[name]
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_value(element, values) for element in elements]
        case ast.BoolOp(op=joined, values=parts):
            truths = (_truth(part, values) for part in parts)
            return all(truths) if isinstance(joined, ast.And) else any(truths)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _truth(operand, values)
        case ast.UnaryOp(operand=operand):
            return -_number(operand, _value(operand, values), "-")
        case ast.BinOp(left=left, op=sign, right=right):
            word, computed = _ARITHMETIC[type(sign)]
            first, second = (_number(side, _value(side, values), word) for side in (left, right))
            return computed(first, second)
        case ast.Compare(left=left, ops=signs, comparators=others):
            pairs = zip(signs, pairwise([left, *others]), strict=True)
            return all(_compared(sign, *sides, values) for sign, sides in pairs)
    raise TypeError(ast.dump(node))


def _compared(
    sign: ast.cmpop, left: ast.expr, right: ast.expr, values: Mapping[str, object]
) -> bool:
    before, after = _value(left, values), _value(right, values)
    texts = isinstance(before, str) and isinstance(after, str)
    if isinstance(sign, ast.Eq | ast.NotEq):
        return (before == after) == isinstance(sign, ast.Eq)
    if isinstance(sign, ast.In | ast.NotIn):
        if not (texts or isinstance(after, list)):
            raise _Wrong(f"in: {_shown(right, after)}: allowed: a list such as [2, 4]")
        return operator.contains(after, before) == isinstance(sign, ast.In)  # type: ignore[arg-type]
    word, ordered = _ORDER[type(sign)]
    if not texts:
        before, after = _number(left, before, word), _number(right, after, word)
    return bool(ordered(before, after))


def _number(node: ast.expr, value: object, word: str) -> float:
    """A number as it is, and "as is" as the base's."""
    if isinstance(value, AsIs):
        if value.number is not None:
            return value.number
        raise _Wrong(
            f"{word}: {_shown(node, AS_IS)}, and {value.base} has no number there; write "
            f"{ast.unparse(node)} == {AS_IS!r} or ..., so that such cells are kept"
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise _Wrong(f"{word}: {_shown(node, value)}: allowed: numbers")


def _shown(node: ast.expr, value: object) -> str:
    """An operand with its value, such as ``variant = 'cas'``."""
    text = ast.unparse(node)
    return text if isinstance(node, ast.Constant) else f"{text} = {value!r}"
