# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.rail_activity``: a rail measured with one program, moved to other programs.

The specification below was committed before any of its figures existed.

**Measured.** The rails of an Odroid XU3 by PARTSim (`old/examples/energy_table/odroid_tb.csv`,
2020): idle, and one CPU busy with hash, gzip-9, encrypt or cachekiller, on the A7 and the A15
cluster. Rails of the clusters only, so neither board nor DRAM.

**Programs.** Their commands are in PARTProf, the same author's profiler
(`embedded/confdir/tasks.sh`, `embedded/apps/cacheapp`): the input is random bytes in a RAM disk.

============ ===================================================================================
hash         ``sha256sum INPUT``
gzip-9       ``gzip -kqf -9 INPUT -S .out``
encrypt      ``openssl des3 -e -in INPUT -out INPUT.out -pbkdf2 -pass pass:abcdefghijk``
cachekiller  a byte stored to each line of 16 MiB (8 times its default 2 MiB) in turn, at ``-O0``
============ ===================================================================================

Here they are Debian's arm64 programs (`PACKAGES`), with 8 MiB of random bytes (a fixed seed) in
tmpfs. sha256sum is bookworm's, which hashes in C as the board's did; trixie's asks libcrypto,
which would use instructions that the board lacks. openssl has ``-iter 1`` in addition: the
derivation of the key is a part in a thousand of the board's 20 s, but not of a short run.
cachekiller is `line_stores.c`. The board ran 32-bit code; these are 64-bit.

**Where.** gem5's detailed cores of platform `exynos5422` (mode `detailed`, tracing off), variant
`mainline`. A program runs on the first CPU of each cluster; all other CPUs idle. The two of a run
share no L2, and of two that share the DRAM at most one misses the L2: (little, big) are (hash,
cachekiller), (cachekiller, hash), (gzip-9, encrypt), (encrypt, gzip-9).

**When.** Atomic CPUs for 20 ms from the start of the programs at the fastest OPP; then the detailed
cores, 5 ms at the fastest OPP for cold caches and predictors, not counted; then 2.5 ms at each of
five OPPs per cluster, as `eascope characterise --program` chooses them (little 600, 800, 1000, 1100
and 1300 MHz, big 200, 600, 1000, 1400 and 1800 MHz), from the slowest on.

**Counted.** Of the busy CPU its instructions and McPAT's events (`engines.gem5.inside.columns`),
the kernel's for it included, and those of its L2, per instruction; and the time of an instruction.

**Between OPPs.** The time of an instruction at a frequency f is C / f + M, the fit of
`engines.timing.kernel_time` over the five OPPs, also at the table's OPPs beyond them. Events per
instruction are linear in the period 1 / f between the two nearest of the five, and those of the
nearest beyond them.

**Derived dynamic power** of a program at f, for 1 V: the energies of `power.events` of one busy CPU
and its L2::

    D(f) = f e_cycle + (sum of e_i n_i(f)) / (C / f + M)

e_cycle is the clock of a busy CPU, which costs the same whatever that executes.

**Moved.** With P_idle the measured idle rail at the same OPP, which holds what is static (leakage)
and the clock of the shared part, and X the program that was metered::

    P_Y = P_idle + (P_X - P_idle) D_Y / D_X

The supply cancels. Nothing is fitted. X is hash here. This is the reading that counts; another one
is reported beside it, because "clock parts kept" can be read so, too. In it, the clock of the busy
CPU is kept in mW as the derived model has it at the table's supply V, and only the rest is moved::

    P_Y = P_idle + c + (P_X - P_idle - c) (D_Y - f e_cycle) / (D_X - f e_cycle),  c = V^2 f e_cycle

**Errors.** Predicted over measured rail less 1, by program, cluster and OPP, all OPPs of the table;
their mean, mean absolute and worst per program and cluster. Beside them the same of not moving at
all, P_Y = P_X. Also the ratio (P_Y - P_idle) / (P_X - P_idle) as measured and as derived.

**Then juno-r2**, whatever the errors are. X is sysbench (`sysbench-cpu` of the programs image, run
as above at all OPPs). Y is rt-app's busy loop: its events per instruction by `eascope
characterise`, at the speed that runs have, so at the board's own with ``--speeds hardware``. The
rail's slope per busy CPU is P_X and what a CPU in WFI adds is P_idle, both as the platform states
them; the cluster's part stays as it is.
"""

from __future__ import annotations

PLATFORM, VARIANT, METERED = "exynos5422", "mainline", "hash"

#: Debian's packages with the programs and their libraries, by suite.
PACKAGES = {
    "bookworm": ("coreutils",),
    "trixie": ("gzip", "openssl", "libc6", "libssl3t64", "zlib1g", "libzstd1"),
}
#: Commands by program, with the file of random bytes for ``{}``.
PROGRAMS = {
    "hash": "sha256sum {}",
    "gzip-9": "gzip -kqf -9 {} -S .out",
    "encrypt": "openssl des3 -e -in {0} -out {0}.out -pbkdf2 -iter 1 -pass pass:abcdefghijk",
    "cachekiller": "line-stores",
}
#: What runs at once on the first CPU of the little and of the big cluster.
PAIRS = (
    ("hash", "cachekiller"),
    ("cachekiller", "hash"),
    ("gzip-9", "encrypt"),
    ("encrypt", "gzip-9"),
)
INPUT_BYTES = 8 << 20
WARMUP_US, FIRST_US, LEVEL_US = 20_000, 5_000, 2_500
