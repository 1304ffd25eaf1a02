# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a built kernel, read from an ELF file that has the kernel's structures."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from eascope.host.errors import EascopeError
from eascope.host.toolchain import arm64_tool
from eascope.kernels.events import built_events, qualified

#: As <linux/trace_events.h> and <trace/trace_events.h> have it, and names that are no event's.
TOY = """
struct list_head { void *next, *prev; };
struct trace_event_class { const char *system; void *probe; };
struct trace_event_call { struct list_head list; struct trace_event_class *class; void *tp; };

static const char str__sched__trace_system_name[] = "sched";
static const char str__irq__trace_system_name[] = "irq";
static struct trace_event_class event_class_one = { str__sched__trace_system_name };
static struct trace_event_class event_class_two = { str__irq__trace_system_name };
struct trace_event_call event_sched_one = { .class = &event_class_one };
struct trace_event_call event_sched_other = { .class = &event_class_one };
struct trace_event_call event_irq_two = { .class = &event_class_two };
long event_count = 3;
long event_table[4] = { 1, 2, 3, 4 };
struct trace_event_call event_empty;

void _start(void) { event_count++; }
"""


def built(folder: Path, text: str) -> Path:
    """``text`` linked as a kernel is: at a fixed address, without relocations."""
    (folder / "toy.c").write_text(text)
    image = folder / "vmlinux"
    options = ["-nostdlib", "-static", "-no-pie", "-O1", "-w"]
    command = [arm64_tool("gcc"), *options, "-o", str(image), str(folder / "toy.c")]
    subprocess.run(command, check=True, capture_output=True)
    return image


def test_events_and_their_systems(tmp_path: Path) -> None:
    events = built_events(built(tmp_path, TOY))
    assert events == {"irq_two": ("irq",), "sched_one": ("sched",), "sched_other": ("sched",)}
    assert qualified(events) == ["irq:irq_two", "sched:sched_one", "sched:sched_other"]


def test_a_file_without_events_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(EascopeError, match="has no trace events"):
        built_events(built(tmp_path, "void _start(void) { }\n"))
