# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches without effect on a real kernel, from the import to a comparison that is refused."""

import struct
from pathlib import Path

import pytest

from eascope.kernels.build import KernelArtefact, kernel
from eascope.kernels.elf import Elf
from eascope.kernels.naming import variant_named
from eascope.kernels.own import read_own
from tests.support.reader import reader_in

pytestmark = [pytest.mark.long, pytest.mark.guest]

MAIL = """\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: A Stranger <stranger@example.org>
Date: Sat, 28 Nov 2026 12:00:00 +0000
Subject: [PATCH] sched/fair: {subject}

---
--- a/kernel/sched/fair.c
+++ b/kernel/sched/fair.c
"""
#: Half of the slice, for an option that no Kconfig has.
VOID = """\
@@ -76,8 +76,13 @@
  *
  * (default: 0.70 msec * (1 + ilog(ncpus)), units: nanoseconds)
  */
+#ifdef CONFIG_DESKTOP_TWEAKS
+unsigned int sysctl_sched_base_slice			= 350000ULL;
+static unsigned int normalized_sysctl_sched_base_slice	= 350000ULL;
+#else
 unsigned int sysctl_sched_base_slice			= 700000ULL;
 static unsigned int normalized_sysctl_sched_base_slice	= 700000ULL;
+#endif
 
 const_debug unsigned int sysctl_sched_migration_cost	= 500000UL;
 
"""
#: All lines below it have another number, which `WARN()` and others put into the object.
COMMENT = """\
@@ -1,4 +1,5 @@
 // SPDX-License-Identifier: GPL-2.0
+/* A line more. */
 /*
  * Completely Fair Scheduling (CFS) Class (SCHED_NORMAL/SCHED_BATCH)
  *
"""
SYMBOL = "CONFIG_DESKTOP_TWEAKS: no Kconfig of this tree declares it, code for it is not compiled"
COMPARE = "eascope compare mainline {} --platform juno-r2 --scenario smoke --seeds 1"
SAME = "variants 'mainline' and '{}' have the same kernel code: at most line numbers differ"


def warned_lines(built: KernelArtefact) -> list[int]:
    """The numbers of lines in the kernel's table of bugs and warnings."""
    elf = Elf(built.vmlinux.read_bytes())
    (table,) = (section for section in elf.sections if section.name == "__bug_table")
    return [line for _, _, line, _ in struct.iter_unpack("<iiHH", elf.data(table))]


def test_code_for_an_option_that_nobody_declares_is_named_and_refused(tmp_path: Path) -> None:
    reader = reader_in(tmp_path)
    patch = reader.checkout / "tweak.patch"
    patch.write_text(MAIL.format(subject="Halve the slice") + VOID)
    done = reader.type("eascope series import tweak.patch --name slice")
    assert done.returncode == 0, done.stderr
    assert f"  warning: {SYMBOL} (kernel/sched/fair.c)\n" in done.stderr
    done = reader.type(COMPARE.format("slice"))
    assert done.returncode == 2, done.stderr
    assert f"warning: slice: {SYMBOL} (kernel/sched/fair.c)\n" in done.stderr
    assert "warning: slice builds the same kernel code as base: its patches" in done.stderr
    refusal = done.stderr.splitlines()[-1]
    assert SAME.format("slice") in refusal
    assert SYMBOL in refusal
    assert not [*(reader.checkout / "runs").glob("*/trace.dat")], "nothing was run"


def test_numbers_of_lines_are_no_code(tmp_path: Path) -> None:
    reader = reader_in(tmp_path)
    patch = reader.checkout / "comment.patch"
    patch.write_text(MAIL.format(subject="Say more") + COMMENT)
    done = reader.type(f"{COMPARE.format('comment')} --patch comment.patch")
    assert done.returncode == 2, done.stderr
    assert "warning: comment builds the same kernel code as base: its patches" in done.stderr
    assert SAME.format("comment") in done.stderr.splitlines()[-1]
    # They do differ: the kernel's own table has them.
    spec, _ = variant_named("comment", read_own([], [str(patch)]))
    lines = [warned_lines(kernel(name)) for name in ("base", spec)]
    moved = {after - before for before, after in zip(*lines, strict=True)}
    assert moved == {0, 1}
