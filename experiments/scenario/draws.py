# SPDX-License-Identifier: GPL-2.0-or-later
"""Random draws of a seed: equal numbers on every host, each from a named sequence.

A sequence depends only on the seed and its name. So a task's draws do not change when another task
comes or goes, and every variant and engine gets the same draws. A uniform number is the SHA-256 of
seed, name and position. Logarithms and exponentials are `decimal`'s, which rounds them correctly;
those of C libraries differ in the last bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from itertools import count
from typing import TypeVar

Item = TypeVar("Item")

_CONTEXT = Context(prec=20, rounding=ROUND_HALF_EVEN)
_BITS = 64


class Draws:
    """A sequence of draws; ``names`` identify it."""

    def __init__(self, seed: int, *names: object) -> None:
        self._words = _words(" ".join(["eascope draw", str(seed), *map(str, names)]))

    def below(self, end: int) -> int:
        """A whole number in 0..end-1, all equally likely."""
        return next(self._words) * end >> _BITS

    def between(self, low: int, high: int) -> int:
        """A whole number in low..high, all equally likely."""
        return low + self.below(high - low + 1)

    def exponential(self) -> Decimal:
        """A number from the exponential distribution with mean 1."""
        with localcontext(_CONTEXT):
            return -self._unit().ln()

    def lognormal(self, cv: float) -> Decimal:
        """A number from the lognormal distribution with mean 1.

        :param cv: standard deviation divided by the mean.
        """
        with localcontext(_CONTEXT):
            variance = (1 + Decimal(str(cv)) ** 2).ln()
            return (self._normal() * variance.sqrt() - variance / 2).exp()

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """The items in an order of which all are equally likely."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def _unit(self) -> Decimal:
        """A number above 0 and up to 1."""
        return Decimal(next(self._words) + 1) / (1 << _BITS)

    def _normal(self) -> Decimal:
        """A number from the standard normal distribution, by the polar method."""
        while True:
            x, y = 2 * self._unit() - 1, 2 * self._unit() - 1
            square = x * x + y * y
            if 0 < square < 1:
                return x * (-2 * square.ln() / square).sqrt()


def _words(name: str) -> Iterator[int]:
    """Whole numbers of `_BITS` bits without an end."""
    for block in count():
        digest = hashlib.sha256(f"{name} {block}".encode()).digest()
        for start in range(0, len(digest), _BITS // 8):
            yield int.from_bytes(digest[start : start + _BITS // 8], "big")


def apportioned(weights: Sequence[Decimal], total: int) -> list[int]:
    """``total`` in whole parts in proportion to the weights: at most 1 off, and at least 1.

    The parts add up to ``total`` where none had to be raised to 1.
    """
    parts, before = [], 0
    with localcontext(_CONTEXT):
        whole, done = sum(weights), Decimal(0)
        for weight in weights:
            done += weight
            now = int((done * total / whole).to_integral_value())
            parts.append(max(1, now - before))
            before = now
    return parts
