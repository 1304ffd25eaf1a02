# SPDX-License-Identifier: GPL-2.0-or-later
"""Constraints of a campaign, such as ``little.cpus + big.cpus <= 8``; they hold for every cell.

An expression compares names (axes and keys of the campaign), numbers and texts in quotes, with
``+ - * / == != < <= > >= in and or not``. Nothing else is evaluated.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from host.errors import RequestError, names_allowed

#: What an expression may consist of, in words.
ALLOWED = "names of axes, numbers, texts in quotes, + - * /, comparisons, in, and, or, not"
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
#: Operands of ``*`` and of texts that are longer would only be a way to fill the memory.
_LONGEST = 400


@dataclass(frozen=True)
class Constraint:
    """An expression, parsed, and its text."""

    text: str
    tree: ast.expr

    def holds(self, values: Mapping[str, object]) -> bool:
        """Whether it is true of a cell with ``values`` by name.

        :raises RequestError: a name without a value, or operands of different types.
        """
        try:
            return bool(_value(self.tree, values))
        except (TypeError, ZeroDivisionError) as error:
            raise RequestError(f"constraint {self.text!r}: {error}") from error


def read_constraint(text: str) -> Constraint:
    """The constraint ``text``.

    :raises RequestError: any other text.
    """
    try:
        if len(text) > _LONGEST:
            raise SyntaxError("too long")
        tree = ast.parse(text.strip(), mode="eval").body
        _check(tree)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise RequestError(f"constraint {text[:_LONGEST]!r}: allowed: {ALLOWED}") from error
    return Constraint(text, tree)


def _check(node: ast.expr) -> None:
    """Refuse everything that `_value` does not know.

    :raises ValueError: there is such a thing.
    """
    parts: list[ast.expr]
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            parts = []
        case ast.Name() | ast.Attribute():
            _name(node)
            parts = []
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _BINARY:
            parts = [left, right]
        case ast.Compare(left=left, ops=signs, comparators=others):
            if not all(type(sign) in _COMPARE for sign in signs):
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
    """The dotted name that ``node`` is."""
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    if isinstance(node, ast.Name):
        return node.id
    raise ValueError("name")


def _value(node: ast.expr, values: Mapping[str, object]) -> Any:  # noqa: ANN401 - of any axis
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name() | ast.Attribute():
            name = _name(node)
            if name not in values:
                raise RequestError(
                    f"constraint: unknown name {name!r}{names_allowed(name, values)}"
                )
            return values[name]
        case ast.BinOp(left=left, op=operation, right=right):
            return _BINARY[type(operation)](_value(left, values), _value(right, values))
        case ast.Compare(left=left, ops=signs, comparators=others):
            before = _value(left, values)
            for sign, other in zip(signs, others, strict=True):
                after = _value(other, values)
                if not _COMPARE[type(sign)](before, after):
                    return False
                before = after
            return True
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_value(part, values) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_value(part, values) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, values)
        case ast.UnaryOp(operand=operand):
            return -_value(operand, values)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_value(element, values) for element in elements]
    raise ValueError(ast.dump(node))
