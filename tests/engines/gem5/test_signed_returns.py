# SPDX-License-Identifier: GPL-2.0-or-later
"""Hints that sign return addresses leave them alone, on every core type of a real gem5."""

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.engines.gem5.layout import LAYOUT
from eascope.engines.gem5.process import supervise
from eascope.experiments.characterisation.measure import STALL_S, request
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from eascope.rootfs.headers import INCLUDE

pytestmark = [pytest.mark.gem5]

#: Other registers are written between the hints, as a renaming core gives each write a new one.
PROGRAM = """
#include "m5ops.h"
	.globl _start, __udelay, __const_udelay
_start:	ldr	x9, =0x30c50830			/* RES1: nothing is on, so signing is off */
	msr	sctlr_el2, x9
	isb
	mov	x9, #1000
	mov	x30, #0x123
1:	hint	#25			/* paciasp */
	add	x10, x9, #3
	mul	x11, x10, x9
	hint	#29			/* autiasp */
	cmp	x30, #0x123
	b.ne	2f
	subs	x9, x9, #1
	b.ne	1b
	mov	x0, #0
	.inst	M5_INSTRUCTION(M5_EXIT)
2:	mov	x0, #0
	mov	x1, #7
	.inst	M5_INSTRUCTION(M5_FAIL)
3:	b	3b
__udelay:				/* gem5 wants a kernel to have these */
__const_udelay:
	ret
"""


@pytest.mark.parametrize("cluster", [0, 1], ids=["minor", "o3"])
def test_a_signed_return_address_is_not_lost(tmp_path: Path, juno: Platform, cluster: int) -> None:
    source, program = tmp_path / "hints.S", tmp_path / "hints.elf"
    source.write_text(PROGRAM)
    link = [
        f"-Wl,-Ttext={LAYOUT.ram:#x}",
        "-Wl,-e,_start",
        "-Wl,--omagic",
        "-Wl,--no-warn-rwx-segments",
    ]
    flags = ["-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", f"-I{INCLUDE}", *link]
    run([arm64_tool("gcc"), *flags, "-o", program, source])
    asked = request(juno, juno.clusters[cluster])
    asked["vmlinux"] = str(program)
    folder = tmp_path / "gem5"
    folder.mkdir()
    assert supervise(asked, folder, "exit", STALL_S, None).cause == "exit"
