# SPDX-License-Identifier: GPL-2.0-or-later
"""What is read of a build: the compiler's error, events and symbols."""

import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from eascope.host.errors import EascopeError
from eascope.host.proc import TAIL_LINES, CommandFailed
from eascope.host.toolchain import arm64_tool
from eascope.kernels import kconfig
from eascope.kernels.events import built_events, qualified, trace_symbols
from eascope.kernels.kconfig import compile_errors

#: As two jobs leave it: the one that failed, then what the other one and every make still print.
LOG = """\
  CC      kernel/sched/core.o
  CC      kernel/fork.o
../kernel/sched/core.c: In function 'f':
../kernel/sched/core.c:157:39: error: 'not_there' undeclared here (not in a function)
  157 | __read_mostly int scheduler_running = not_there;
      |                                       ^~~~~~~~~
../kernel/sched/core.c:157:39: note: each undeclared identifier is reported only once
../kernel/sched/core.c:160:1: warning: unused
  160 | int x;
make[5]: *** [../scripts/Makefile.build:229: kernel/sched/core.o] Error 1
  CC      kernel/exit.o
make[4]: *** [../scripts/Makefile.build:478: kernel/sched] Error 2
make[4]: *** Waiting for unfinished jobs....
""" + "".join(f"  CC      kernel/part{number}.o\n" for number in range(20))
LOG += (
    "make[1]: *** [/tree/Makefile:1945: .] Error 2\nmake: *** [Makefile:224: __sub-make] Error 2\n"
)

ERROR = """\
kernel/sched/core.c:157:39: error: 'not_there' undeclared here (not in a function)
  157 | __read_mostly int scheduler_running = not_there;
      |                                       ^~~~~~~~~"""


def test_errors_come_with_their_lines_of_source() -> None:
    assert compile_errors(LOG) == ERROR


@pytest.mark.parametrize(
    "line",
    [
        "a.c:3: fatal error: x.h: No such file or directory",
        "a.S:7: Error: unknown mnemonic `x'",
        "fair.c:(.text+0x12): undefined reference to `f'",
        "aarch64-linux-gnu-ld: cannot find a.o",
        'ERROR: modpost: "f" [a.ko] undefined!',
        "/tree/Makefile:7: *** missing separator.  Stop.",
        "kernel/sched/Kconfig:3: syntax error",
    ],
)
def test_errors_of_every_tool_are_recognized(line: str) -> None:
    assert compile_errors(f"  CC x.o\n{line}\nmake: *** [Makefile:224: x] Error 2\n") == line


def test_of_many_errors_the_first_are_shown() -> None:
    log = "".join(f"a.c:{number}:1: error: x\n" for number in range(1, 100))
    lines = compile_errors(log).splitlines()
    assert (lines[0], len(lines)) == ("a.c:1:1: error: x", TAIL_LINES)


def test_without_a_known_error_all_but_makes_lines_are_left() -> None:
    assert compile_errors("  CC x.o\nKilled\nmake: *** [Makefile:2: x] Error 137\n") == (
        "  CC x.o\nKilled"
    )


def test_a_build_ends_with_the_compilers_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def failing(command: list[str], **_: Any) -> bytes:
        raise CommandFailed(command, 2, LOG, "kernel build")

    monkeypatch.setattr(kconfig, "run", failing)
    monkeypatch.setattr(kconfig, "need", lambda program, _: program)
    with pytest.raises(CommandFailed) as caught:
        kconfig.make(tmp_path, tmp_path, ["Image"], tmp_path / "log")
    head, *shown = str(caught.value).splitlines()
    assert head.startswith("kernel build: command failed with exit code 2: make -C ")
    assert [line[2:] for line in shown] == ERROR.splitlines()


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


#: Name, info (type in the low half), section, address.
SYMBOLS = [
    ("", 0, 0, 0),
    ("trace.c", 4, 0xFFF1, 0),
    ("tracing_mark_write", 0x12, 1, 0xFFFF800080200000),
    ("$x", 0, 1, 0xFFFF800080200000),
    ("$d", 0, 1, 0xFFFF800080200010),
    ("elsewhere", 0x12, 0, 0xFFFF800080200020),
    ("tracing_raw_write", 0x12, 1, 0xFFFF800080200100),
    ("_text", 0x10, 1, 0xFFFF800080000000),
]


def vmlinux(path: Path, symbols: list[tuple[str, int, int, int]]) -> Path:
    """An ELF file that has nothing but symbols, in sections 1 (them) and 2 (their names)."""
    names, table = b"\0", b""
    for name, info, section, value in symbols:
        table += struct.pack("<IBBHQQ", len(names) if name else 0, info, 0, section, value, 0)
        names += name.encode() + b"\0" if name else b""
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        *(b"\x7fELF\x02\x01\x01", 2, 183, 1, 0, 0, 64 + len(table) + len(names)),
        *(0, 64, 0, 0, 64, 3, 0),
    )
    sections = [
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        (0, 2, 0, 0, 64, len(table), 2, 0, 8, 24),
        (0, 3, 0, 0, 64 + len(table), len(names), 0, 0, 1, 0),
    ]
    data = header + table + names
    path.write_bytes(data + b"".join(struct.pack("<IIQQQQIIQQ", *section) for section in sections))
    return path


def test_the_marks_writer_and_what_follows_it(tmp_path: Path) -> None:
    assert trace_symbols(vmlinux(tmp_path / "vmlinux", SYMBOLS)) == (
        ("ffff800080200000", "tracing_mark_write"),
        ("ffff800080200100", "tracing_raw_write"),
    )


@pytest.mark.parametrize("broken", [b"", b"\x7fELF\x01\x01", b"\x7fELF\x02\x01" + b"\xff" * 60])
def test_no_kernel_is_one_line(tmp_path: Path, broken: bytes) -> None:
    (path := tmp_path / "vmlinux").write_bytes(broken)
    with pytest.raises(EascopeError, match=r"symbols of the kernel: .*: not readable") as wrong:
        trace_symbols(path)
    assert "\n" not in str(wrong.value)


def test_a_kernel_without_it(tmp_path: Path) -> None:
    with pytest.raises(EascopeError, match="has no symbol tracing_mark_write"):
        trace_symbols(vmlinux(tmp_path / "vmlinux", SYMBOLS[-1:]))
