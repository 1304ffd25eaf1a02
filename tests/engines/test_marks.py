# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers that C, assembler and Python have each for themselves: marks, operations, limits.

Most of these files are in the keys of runs, so no shared header can be put in their place.
"""

from __future__ import annotations

import re

import pytest

from configs.platform_file import MAX_CPUS
from engines import records
from engines.gem5.board import BOARD
from engines.gem5.eliding_copy import TABLE_CPUS
from engines.gem5.inside import session
from host.imports import REPO
from rootfs.image import AGENT

MARKS = ("READY", "START", "STOP")


def test_the_agents_marks_have_one_number_each() -> None:
    (listed,) = re.findall(r"enum mark \{(.*?)\}", (AGENT / "agent.h").read_text(), re.DOTALL)
    agent = {name: int(number) for name, number in re.findall(r"MARK_(\w+) = (\d+)", listed)}
    assert tuple(agent) == MARKS
    assert agent == {name: getattr(records, name) for name in MARKS}
    assert agent == {name: getattr(session, name) for name in MARKS}
    plugin = (REPO / "engines/qemu/plugin/channel.c").read_text()
    known = {name: int(number) for name, number in re.findall(r"define MARK_(\w+) (\d+)", plugin)}
    assert known == {name: agent[name] for name in ("START", "STOP")}


#: gem5's names of its pseudo operations (include/gem5/asm/generic/m5ops.h) and their numbers.
OPERATIONS = {
    "quiesce_ns": 0x02,
    "quiesce_cycle": 0x03,
    "rpns": 0x07,
    "exit": 0x21,
    "fail": 0x22,
    "checkpoint": 0x43,
    "write_file": 0x4F,
    "read_file": 0x50,
    "work_begin": 0x5A,
}


@pytest.mark.parametrize(
    ("source", "used"),
    [
        (
            "rootfs/agent/transport-m5ops.c",
            ["exit", "fail", "checkpoint", "write_file", "read_file", "work_begin"],
        ),
        ("engines/gem5/eliding_copy.S", ["quiesce_cycle", "quiesce_ns", "rpns"]),
        ("engines/gem5/boot/boot.S", ["fail"]),
        ("studies/characterisation/guest.S", ["work_begin", "exit"]),
    ],
)
def test_operations_of_gem5_have_one_number_each(source: str, used: list[str]) -> None:
    words = re.findall(r"0x(ff[0-9a-f]{2}01[0-9a-f]{2})\b", (REPO / source).read_text())
    numbers = [int(word, 16) for word in words if word != "ff000110"]  # a comment's, with none
    assert numbers == [0xFF000110 | OPERATIONS[name] << 16 for name in used]


def test_every_engine_has_room_for_the_cpus_of_a_platform() -> None:
    header = (REPO / "engines/qemu/plugin/machine.h").read_text()
    (plugin,) = re.findall(r"define MAX_CPUS (\d+)", header)
    assert min(TABLE_CPUS, int(plugin)) >= MAX_CPUS


def test_gem5s_memory_begins_where_its_board_says() -> None:
    """The script is in the keys of runs and imports nothing of ours, so it has the address, too."""
    machine = (REPO / "engines/gem5/inside/machine.py").read_text()
    ((ram, tree),) = re.findall(r"LOAD_OFFSET, DTB_OFFSET = (\w+), (\w+)", machine)
    assert int(ram, 0) == BOARD.ram
    assert int(ram, 0) + int(tree, 0) - 8 == BOARD.release_address
