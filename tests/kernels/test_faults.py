# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel that does not compile: what is printed last is the compiler's error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eascope.host.proc import TAIL_LINES, CommandFailed
from eascope.kernels import kconfig
from eascope.kernels.faults import compile_errors

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
