# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands before any figure: tasks that never ran or never ended, and other work."""

from __future__ import annotations

import dataclasses
from typing import Any

from analysis.attention import attention
from analysis.compare import Comparison, comparison
from analysis.derive import Derived
from analysis.glance import glance
from analysis.records.result import Deadlines
from analysis.report import page
from configs.platform import Platform
from tests.support.stated import stated


def changed(variant: str, seed: int, **result: Any) -> Derived:
    run = stated(variant, seed)
    return dataclasses.replace(run, result=dataclasses.replace(run.result, **result))


def compared(
    platform: Platform, mainline: list[dict[str, Any]], cas: list[dict[str, Any]]
) -> Comparison:
    """A run for each seed and variant, with these parts of its result."""
    return comparison(
        platform,
        {
            name: [changed(name, seed, **result) for seed, result in enumerate(results)]
            for name, results in (("mainline", mainline), ("cas", cas))
        },
    )


def test_nothing_to_say(platform: Platform) -> None:
    assert attention(compared(platform, [{}], [{}])) == []


def test_a_task_that_never_ran_is_named_first(platform: Platform) -> None:
    absent = {"run_share": {}, "deadlines": {"decode": Deadlines(60, 60, 0, 60)}}
    both = compared(platform, [{}, {}], [absent, {}])
    lines = attention(both)
    assert lines == [
        "decode never ran under cas in 1 of 2 seeds",
        "decode missed 31.5 of 60 deadlines under cas: 30 of its turns did not end in the window",
    ]
    assert glance(both).splitlines()[1:3] == lines
    text = page(both, {})
    assert text.index(lines[0]) < text.index("<nav>")
    assert attention(compared(platform, [absent], [absent]))[:2] == [
        "decode never ran under mainline",
        "decode never ran under cas",
    ]


def test_late_turns_alone_are_no_starvation(platform: Platform) -> None:
    late = {"deadlines": {"decode": Deadlines(60, 9, late=9, unfinished=0)}}
    assert attention(compared(platform, [late], [{}])) == []


def test_other_work_is_said(platform: Platform) -> None:
    slow, near, fast = ({"speed": {"decode": speed}} for speed in (0.5, 0.505, 0.9))
    assert attention(compared(platform, [slow], [fast])) == [
        "cas and mainline did different work (decode +80.0 %): energies are not of the same work"
    ]
    assert attention(compared(platform, [slow], [near])) == []
