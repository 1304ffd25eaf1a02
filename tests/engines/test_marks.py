# SPDX-License-Identifier: GPL-2.0-or-later
"""The marks of the guest agent have the same numbers in the agent, on our side and inside gem5."""

from __future__ import annotations

import re

from engines import records
from engines.gem5.inside import session
from rootfs.image import AGENT

MARKS = ("READY", "START", "STOP")


def test_the_agents_marks_have_one_number_each() -> None:
    (listed,) = re.findall(r"enum mark \{(.*?)\}", (AGENT / "agent.h").read_text(), re.DOTALL)
    agent = {name: int(number) for name, number in re.findall(r"MARK_(\w+) = (\d+)", listed)}
    assert tuple(agent) == MARKS
    assert agent == {name: getattr(records, name) for name in MARKS}
    assert agent == {name: getattr(session, name) for name in MARKS}
