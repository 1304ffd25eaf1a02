# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the cost of a wake-up: ``results/wakeup-cost.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.results.comparisons import Spread
from analysis.results.origin import ResultRecord
from host.record import Record


@dataclass(frozen=True)
class VariantCost(Record):
    """Instructions per wake-up of a variant, over seeds, by form.

    :param change_percent: from the first variant; empty for that one.
    """

    name: str
    instructions: Mapping[str, Spread]
    change_percent: Mapping[str, float]


@dataclass(frozen=True)
class Queue(Record):
    """Lines that the patches of a queue add and remove; ``stated`` is the source's number."""

    name: str
    added: int
    removed: int
    stated: str


@dataclass(frozen=True)
class WakeUpCost(ResultRecord):
    """Half the slope between ping-pongs of two lengths.

    :param round_trips: of the short and of the long ping-pong.
    :param forms: the CPUs of the threads, and the parts of a wake-up that remain.
    """

    platform: str
    round_trips: tuple[int, int]
    seeds: int
    forms: Mapping[str, str]
    variants: tuple[VariantCost, ...]
    queues: tuple[Queue, ...]
