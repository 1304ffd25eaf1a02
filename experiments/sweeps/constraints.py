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
_BINARY: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
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
_COMPARE = (*_ORDER, ast.Eq, ast.NotEq, ast.In, ast.NotIn)
#: Longer texts and larger integers would only be a way to fill the memory.
_LONGEST = 400


@dataclass(frozen=True)
class AsIs:
    """The value "as is" of an axis: the text, and where the base has a number, that number."""

    number: float | None
    base: str

    def equals(self, other: object) -> bool:
        """Whether ``other`` is the text, or the base's number."""
        return other == AS_IS or (self.number is not None and other == self.number)


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


def _check(node: ast.expr) -> None:
    """Refuse everything that `_value` does not know.

    :raises ValueError: there is such a thing.
    """
    parts: list[ast.expr]
    match node:
        case ast.Constant(value=bool() | str()):
            parts = []
        case ast.Constant(value=int() | float() as number) if abs(number) < 2**INTEGER_BITS:
            parts = []
        case ast.Name() | ast.Attribute():
            _name(node)
            parts = []
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _BINARY:
            parts = [left, right]
        case ast.Compare(left=left, ops=signs, comparators=others):
            if not all(isinstance(sign, _COMPARE) for sign in signs):
                raise ValueError("comparison")
            parts = [left, *others]
        case ast.BoolOp(values=values):
            parts = values
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            parts = [operand]
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            parts = elements
        case _:
            raise ValueError("expression")
    for part in parts:
        _check(part)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    if isinstance(node, ast.Name):
        return node.id
    raise ValueError("name")


def _may_be_true(node: ast.expr) -> bool:
    """Whether ``node`` and all that it joins can be true or false; of a name, a cell decides."""
    match node:
        case ast.BoolOp(values=parts):
            return all(_may_be_true(part) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _may_be_true(operand)
        case ast.Constant(value=value):
            return isinstance(value, bool)
    return isinstance(node, ast.Compare | ast.Name | ast.Attribute)


def _truth(node: ast.expr, values: Mapping[str, object]) -> bool:
    match node:
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_truth(part, values) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_truth(part, values) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _truth(operand, values)
        case ast.Compare(left=left, ops=signs, comparators=others):
            operands = [left, *others]
            return all(
                _compared(before, sign, after, values)
                for (before, after), sign in zip(pairwise(operands), signs, strict=True)
            )
    value = _value(node, values)
    if not isinstance(value, bool):
        raise _Wrong(f"{_shown(node, value)}: allowed: a comparison with it")
    return value


def _compared(
    left: ast.expr, sign: ast.cmpop, right: ast.expr, values: Mapping[str, object]
) -> bool:
    before, after = _value(left, values), _value(right, values)
    match sign:
        case ast.Eq():
            return _equal(before, after)
        case ast.NotEq():
            return not _equal(before, after)
        case ast.In() | ast.NotIn():
            if isinstance(after, list):
                found = any(_equal(before, value) for value in after)
            elif isinstance(after, str) and isinstance(before, str):
                found = before in after
            else:
                raise _Wrong(f"in: {_shown(right, after)}: allowed: a list such as [2, 4]")
            return found == isinstance(sign, ast.In)
    word, ordered = _ORDER[type(sign)]
    if isinstance(before, str) and isinstance(after, str):
        return bool(ordered(before, after))
    return bool(ordered(_number(left, before, word), _number(right, after, word)))


def _equal(left: object, right: object) -> bool:
    if isinstance(left, AsIs) and isinstance(right, AsIs):
        return None in (left.number, right.number) or left.number == right.number
    if isinstance(left, AsIs):
        return left.equals(right)
    return right.equals(left) if isinstance(right, AsIs) else left == right


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


def _value(node: ast.expr, values: Mapping[str, object]) -> object:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name() | ast.Attribute():
            name = _name(node)
            if name not in values:
                raise _Wrong(f"unknown name {shown(name)}{names_allowed(name, values)}")
            return values[name]
        case ast.BinOp(left=left, op=operation, right=right):
            word, computed = _BINARY[type(operation)]
            operands = [_number(side, _value(side, values), word) for side in (left, right)]
            return computed(*operands)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, _value(operand, values), "-")
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_value(element, values) for element in elements]
    return _truth(node, values)
