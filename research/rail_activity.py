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

Here they are Debian's arm64 programs (`PACKAGES`), with 2 MiB of random bytes (a fixed seed) in
tmpfs. sha256sum is bookworm's, which hashes in C as the board's did; trixie's asks libcrypto,
which would use instructions that the board lacks. openssl has ``-iter 1`` in addition: the
derivation of the key is a part in a thousand of the board's 20 s, but not of a short run.
cachekiller is `line_stores.c`. The board ran 32-bit code; these are 64-bit.

**Where.** gem5's detailed cores of platform `exynos5422` (mode `detailed`, tracing off), variant
`mainline`. A program runs on the first CPU of each cluster; all other CPUs idle. The two of a run
share no L2, and of two that share the DRAM at most one misses the L2: (little, big) are (hash,
cachekiller), (cachekiller, hash), (gzip-9, encrypt), (encrypt, gzip-9).

**When.** Atomic CPUs for 8 ms from the start of the programs at the fastest OPP; then the detailed
cores, 2 ms at the fastest OPP for cold caches and predictors, not counted; then 1.25 ms at each of
three OPPs per cluster, from the slowest on (little 600, 1000 and 1300 MHz, big 200, 1000 and 1800
MHz). The first pair has 20, 5 and 2.5 ms, 8 MiB of input, and two OPPs more per cluster (800 and
1100 MHz; 600 and 1400 MHz). All others were cut so before any figure was there, because that run
took more than an hour of a busy machine.

Afterwards: 8 ms were too few for openssl on the A7. Its windows have the mix of a start (37 %
branches and 4 % misses of the instruction cache, where the A15's have 1 and 0 %), so encrypt on the
littles is left out until it is run again; both pairs with it have 20 ms now.

**Counted.** Of the busy CPU its instructions and McPAT's events (`engines.gem5.inside.columns`),
the kernel's for it included, and those of its L2, per instruction; and the time of an instruction.

**Between OPPs.** The time of an instruction at a frequency f is C / f + M, the fit of
`engines.timing.kernel_time` over these OPPs, also at the table's OPPs beyond them. Events per
instruction are linear in the period 1 / f between the two nearest of these, and those of the
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

**Then juno-r2**, whatever the errors are. X is sysbench (``sysbench cpu --threads=1 --time=30 run``
with the files of the programs image, run as above at all OPPs, on both clusters at once, for it
misses no L2; 20 ms on atomic CPUs, because it is linked with many libraries). Y is rt-app's busy
loop: its events per instruction by `eascope characterise`, at the speed that runs have, so at the
board's own with ``--speeds hardware``. The rail's slope per busy CPU is P_X and what a CPU in WFI
adds is P_idle, both as the platform states them; the cluster's part stays as it is.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

from eascope.analysis.known.origin import Origin
from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.configs.program_events import (
    SCHEMA,
    ClusterEvents,
    encoded,
    events_path,
    load_events_of,
)
from eascope.engines.gem5.engine import Gem5Engine
from eascope.experiments.characterisation.program_events import (
    FIRST_US,
    LEVEL_US,
    WARMUP_US,
    Guest,
    evaluate,
    script,
)
from eascope.experiments.characterisation.record import write_measured
from eascope.experiments.runs.cell import machine_of
from eascope.experiments.runs.request import Request, resolve
from eascope.host.debian import apt
from eascope.host.errors import RequestError
from eascope.host.proc import Ending, run, say
from eascope.host.strict import read_json
from eascope.host.toolchain import arm64_tool
from eascope.host.version import eascope_version
from eascope.power.events import load_events
from eascope.power.moved import dynamic_of, moved
from eascope.rootfs.debian import debian_programs
from eascope.rootfs.newc import files_of
from eascope.rootfs.provenance import PROVENANCE, ProvidedPrograms
from research.draw import read
from research.plan import STUDIES
from research.run import table, write

STUDY = STUDIES / "power-validation"
RAILS, RECORD = STUDY / "rails.toml", STUDY / "rail-activity.json"
PLATFORM, VARIANT, METERED = "exynos5422", "mainline", "hash"
#: Any scenario of the minimal image: only its machine is used.
SCENARIO, MODE = "smoke", "detailed"

#: Debian's packages with the programs and their libraries, by suite.
PACKAGES = {
    "bookworm": ("coreutils",),
    "trixie": ("gzip", "openssl", "libc6", "libssl3t64", "zlib1g", "libzstd1"),
}
LOADER = "ld-linux-aarch64.so.1"
_C = (LOADER, "libc.so.6")
#: Commands by program, with the file of random bytes for ``{}``.
PROGRAMS = {
    "hash": "sha256sum {0}",
    "gzip-9": "gzip -kqf -9 {0} -S .out",
    "encrypt": "openssl des3 -e -in {0} -out {0}.out -pbkdf2 -iter 1 -pass pass:abcdefghijk",
    "cachekiller": "line-stores",
    "sysbench-cpu": "sysbench cpu --threads=1 --time=30 run",
}
#: Files of packages that each needs; those of the programs image are found by what they ask for.
FILES = {
    "hash": ("sha256sum", *_C),
    "gzip-9": ("gzip", *_C),
    "encrypt": ("openssl", *_C, "libssl.so.3", "libcrypto.so.3", "libz.so.1", "libzstd.so.1"),
    "cachekiller": (),
    "sysbench-cpu": ("sysbench",),
}
OWN_FILES = {"cachekiller": "line-stores"}
#: What runs at once on the first CPU of the little and of the big cluster, by platform.
PAIRS = {
    "exynos5422": (
        ("hash", "cachekiller"),
        ("cachekiller", "hash"),
        ("gzip-9", "encrypt"),
        ("encrypt", "gzip-9"),
    ),
    "juno-r2": (("sysbench-cpu", "sysbench-cpu"),),
}
#: Simulated time on atomic CPUs, where it is longer.
WARMUPS_US = {"encrypt": 20_000, "sysbench-cpu": 20_000}
INPUT_BYTES = 2 << 20
ELF = b"\x7fELF"
#: Where the guest has them.
PLACE, INPUT = "/tmp", "/tmp/input"
LINE_STORES = Path(__file__).resolve().parent / "line_stores.c"


@dataclass(frozen=True)
class Programs:
    """Files by name, what each program needs of them, and the packages that they are from."""

    files: Mapping[str, bytes]
    needs: Mapping[str, tuple[str, ...]]
    packages: str


def programs(platform: str) -> Programs:
    """The programs of a platform's `PAIRS`: Debian's files, or our own program.

    :raises EascopeError: when a package or the compiler is not to be had.
    """
    if "sysbench-cpu" in dict(PAIRS[platform]):
        return _of_image("sysbench-cpu")
    files, named = {}, []
    with tempfile.TemporaryDirectory(prefix="eascope-activity-") as place:
        root = Path(place)
        for suite, packages in PACKAGES.items():
            for deb in apt("arm64").download(list(packages), suite):
                deb.unpack(root)
                named.append(f"{deb.package} {deb.version}")
        wanted = {name for names in FILES.values() for name in names}
        for path in sorted(root.rglob("*")):
            if path.name in wanted and path.is_file() and path.read_bytes()[:4] == ELF:
                files[path.name] = path.read_bytes()
        built = root / "line-stores"
        flags = ("-O0", "-static", "-Wall", "-Wextra", "-Werror", "-Wl,--build-id=none")
        run([arm64_tool("gcc", libc=True), *flags, "-o", built, LINE_STORES], label=built.name)
        files[built.name] = built.read_bytes()
    needs = FILES | {program: (*FILES[program], name) for program, name in OWN_FILES.items()}
    return Programs(files, needs, ", ".join(named))


def _of_image(program: str) -> Programs:
    """A program of the programs image, with the libraries that it asks for."""
    folder = debian_programs()
    image = (folder / "programs.cpio").read_bytes()
    there = {path.rpartition("/")[2]: content for path, content in files_of(image).items()}
    files: dict[str, bytes] = {}
    waiting = [*FILES[program], LOADER]
    with tempfile.TemporaryDirectory(prefix="eascope-activity-") as place:
        while waiting:
            name = waiting.pop()
            if name not in files:
                path = Path(place) / name
                path.write_bytes(there[name])
                shown = run([arm64_tool("readelf"), "--dynamic", "--wide", path]).decode()
                waiting += re.findall(r"\(NEEDED\).*\[(.+)\]", shown)
                files[name] = there[name]
    packages = ProvidedPrograms.read(folder / PROVENANCE).packages
    name = FILES[program][0]
    return Programs(files, {program: tuple(files)}, f"{name} {packages[name]}")


def command(program: str, cpu: int, given: str) -> str:
    """What the agent spawns.

    :param given: the file of random bytes.
    """
    words = PROGRAMS[program].format(given)
    loaded = "" if program in OWN_FILES else f"{PLACE}/{LOADER} --library-path {PLACE} "
    return f"/bin/launch 0 {cpu} {loaded}{PLACE}/{words}"


def guest(pair: Sequence[str], own: Programs) -> Guest:
    """The files of two programs and what makes them ready."""
    names = dict.fromkeys(name for program in pair for name in own.needs[program])
    files = {f"{PLACE}/{name}": own.files[name] for name in names}
    executed = f"spawn chmod /bin/busybox chmod 755 {' '.join(files)}"
    if any("{" in PROGRAMS[program] for program in pair):
        files[INPUT] = random.Random(1).randbytes(INPUT_BYTES)
    warmup_us = max(WARMUPS_US.get(program, WARMUP_US) for program in pair)
    return Guest(files, (executed, "wait chmod"), warmup_us)


def observed(platform: Platform, pair: Sequence[str], own: Programs) -> pl.DataFrame:
    """Rows of a run of two programs, the first on the little cluster."""
    request = Request(
        platform=platform.name, variant=VARIANT, scenario=SCENARIO, engine="gem5", mode=MODE
    )
    commands = [
        command(program, cluster.cpus[0], INPUT)
        for program, cluster in zip(pair, platform.clusters, strict=True)
    ]
    machine = machine_of(resolve(request), script(platform, guest(pair, own), commands))
    with tempfile.TemporaryDirectory(prefix="eascope-activity-") as folder:
        return Gem5Engine(mode=MODE).observe(machine, Path(folder))


def measure(platform: Platform, directory: Path = ACTIVITY) -> None:
    """Run the platform's pairs, and write each into the files of its programs.

    :raises EascopeError: a run failed, or a program waited.
    """
    own = programs(platform.name)
    for pair in PAIRS[platform.name]:
        say(f"{pair[0]} on the littles, {pair[1]} on the bigs")
        keep(platform, pair, observed(platform, pair, own), own, directory)


def keep(
    platform: Platform, pair: Sequence[str], rows: pl.DataFrame, own: Programs, directory: Path
) -> None:
    """Write what a run gives of its programs, each on its cluster, into their files.

    What a file has of the other cluster stays.

    :raises EascopeError: as `evaluate`.
    """
    identity = Gem5Engine(mode=MODE).identity()
    warmup_us = max(WARMUPS_US.get(program, WARMUP_US) for program in pair)
    for program, cluster in zip(pair, platform.clusters, strict=True):
        path = events_path(platform, program, directory)
        clusters = dict(read_json(path).data["clusters"]) if path.is_file() else {}
        conditions = conditions_of(warmup_us, FIRST_US, LEVEL_US)
        clusters[cluster.name] = encoded(evaluate(program, cluster, rows), conditions)
        head = {"schema": SCHEMA, "platform": platform.name, "program": program}
        provenance = {
            "gem5": identity.version,
            "gem5_sha256": identity.binary_sha256,
            "packages": own.packages,
            "run": PROGRAMS[program].format("INPUT"),
            "command": f"python -m research.rail_activity --measure {platform.name}",
        }
        names = [each.name for each in platform.clusters if each.name in clusters]
        figures = {"clusters": {name: clusters[name] for name in names}}
        write_measured(path, head, provenance, figures)
        say(f"  {path}: {cluster.name}")


def conditions_of(warmup_us: int, first_us: int, level_us: int) -> str:
    """The conditions of a run, in words."""
    return (
        "the first CPU runs the program, all others idle, but one of the other cluster; on gem5's "
        "detailed cores, the kernel's work for it and its L2 included; "
        f"{warmup_us / 1000:g} ms on atomic CPUs, {first_us / 1000:g} ms that are not counted, "
        f"then {level_us / 1000:g} ms at each OPP"
    )


@dataclass(frozen=True)
class Point:
    """A metered rail, and what the rail of `METERED` gives for it; powers in mW.

    :param unmoved: the rail of `METERED`.
    :param predicted: that rail moved; ``clock_kept`` is the other reading.
    :param derived: ratio of the derived dynamic powers.
    """

    program: str
    cluster: str
    mhz: float
    idle: float
    measured: float
    unmoved: float
    predicted: float
    clock_kept: float
    derived: float

    @property
    def ratio(self) -> float:
        """The metered dynamic power, relative to that of `METERED`."""
        return (self.measured - self.idle) / (self.unmoved - self.idle)

    def percent(self, value: float) -> float:
        """Error of ``value`` in per cent."""
        return 100 * (value / self.measured - 1)

    @property
    def row(self) -> list[Any]:
        """A row of `POINTS`."""
        values = (self.predicted, self.unmoved, self.clock_kept)
        return [
            *(self.program, self.cluster, self.mhz, self.measured, *values),
            *(*map(self.percent, values), self.ratio, self.derived),
        ]


POINTS = (
    *("program", "cluster", "mhz", "measured_mw", "predicted_mw", "unmoved_mw", "clock_kept_mw"),
    *("percent", "unmoved_percent", "clock_kept_percent", "ratio", "derived_ratio"),
)
#: Errors of the predicted rail, of the unmoved one, and of the other reading.
ERRORS = (
    *("program", "cluster", "points"),
    *("mean", "mean_absolute", "worst", "unmoved_mean", "unmoved_mean_absolute", "unmoved_worst"),
    *("clock_kept_mean", "clock_kept_mean_absolute", "clock_kept_worst"),
    *("ratio", "derived_ratio"),
)


def points(
    platform: Platform, rails: Mapping[str, Any], events: Mapping[str, Mapping[str, ClusterEvents]]
) -> list[Point]:
    """Every metered rail of another program than `METERED`.

    :param rails: as ``rails.toml`` has them.
    :param events: of each program, by cluster; points are where both programs have some.
    """
    result = []
    for cluster in platform.clusters:
        power, rail = load_events(cluster.core.name), rails[cluster.name]
        for program in events:
            if program == METERED or any(
                cluster.name not in events[name] for name in (METERED, program)
            ):
                continue
            for place, mhz in enumerate(rail["mhz"]):
                khz, volts = round(1000 * mhz), rail["volts"][place]
                of, to = (
                    dynamic_of(power, events[name][cluster.name], khz)
                    for name in (METERED, program)
                )
                idle, metered = rail["idle"][place], rail[METERED][place]
                clock = 1000 * of.clock_w * volts**2
                result.append(
                    Point(
                        *(program, cluster.name, mhz, idle, rail[program][place], metered),
                        predicted=moved(idle, metered, to.all_w / of.all_w),
                        clock_kept=moved(idle + clock, metered, to.events_w / of.events_w),
                        derived=to.all_w / of.all_w,
                    )
                )
    return result


def errors(of: Sequence[Point]) -> list[list[Any]]:
    """Rows of `ERRORS`, by program and cluster."""
    groups: dict[tuple[str, str], list[Point]] = {}
    for point in of:
        groups.setdefault((point.program, point.cluster), []).append(point)
    rows = []
    for names, some in groups.items():
        row: list[Any] = [*names, len(some)]
        for kind in ("predicted", "unmoved", "clock_kept"):
            every = [point.percent(getattr(point, kind)) for point in some]
            row += [fmean(every), fmean(map(abs, every)), max(every, key=abs)]
        ratios = (fmean(point.ratio for point in some), fmean(point.derived for point in some))
        rows.append([*row, *ratios])
    return rows


def cores(events: Mapping[str, Mapping[str, ClusterEvents]]) -> Iterator[list[Any]]:
    """Rows of `CORES`: what gem5's cores make of each program, at the fastest OPP counted."""
    for program, clusters in events.items():
        for cluster in clusters.values():
            fastest = cluster.opps[-1]
            ipc = 1e6 / (fastest.khz * fastest.ns)
            residual = 100 * cluster.residual
            yield [program, cluster.name, ipc, cluster.cycles, cluster.memory_ns, residual]


CORES = ("program", "cluster", "ipc", "cycles", "memory_ns", "residual_percent")


def record_of(command: str) -> dict[str, Any]:
    """The record of all rails of the table.

    :raises RequestError: when `METERED` was not measured. Others are left out where they were not.
    """
    platform = load_platform(PLATFORM)
    programs = dict.fromkeys(program for pair in PAIRS[PLATFORM] for program in pair)
    events = {program: load_events_of(platform, program) for program in programs}
    if not events[METERED]:
        raise RequestError(f"{METERED}: no events: run {command} --measure {PLATFORM} (needs gem5)")
    every = points(platform, read(RAILS), events)
    versions = {"eascope": eascope_version()}
    return {
        "origins": [Origin(command, "metered rails and gem5's events", versions).encode()],
        "metered": METERED,
        "left_out": [
            f"{program} on {cluster.name}"
            for program, own in events.items()
            for cluster in platform.clusters
            if cluster.name not in own
        ],
        "errors": table(ERRORS, errors(every)),
        "points": table(POINTS, [point.row for point in every]),
        "cores": table(CORES, list(cores(events))),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and write the record; or, with ``--measure``, count events of programs."""
    parser = argparse.ArgumentParser(
        prog="python -m research.rail_activity", description=main.__doc__
    )
    parser.add_argument("--measure", choices=PAIRS, help="run its programs on gem5, and no more")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        if options.measure:
            measure(load_platform(options.measure))
        else:
            write(RECORD, record_of(parser.prog))
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
