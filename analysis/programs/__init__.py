# SPDX-License-Identifier: GPL-2.0-or-later
"""Parsers of results: the output of a scenario's programs as measures with units.

A measure's name ends in its unit (``p99_us``, ``events_per_s``, ``time_s``). A name without a unit
is a count. If an output cannot be parsed, the run fails, and the error shows the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from eascope.analysis.programs import benches, cyclictest
from eascope.analysis.programs.lines import Lines, Output, OutputError
from eascope.analysis.records.cell import ProgramRecord

__all__ = ["MEASURES", "OPERATIONS", "PARSERS", "Output", "OutputError", "is_measure", "outputs"]

#: What reads the output of each program (`experiments.scenario.program_kinds.KINDS`).
PARSERS: Mapping[str, Callable[[Lines, Path], Output]] = {
    "ping-pong": benches.ping_pong,
    "perf-sched-pipe": benches.perf_pipe,
    "perf-bench-pipe": benches.perf_pipe,
    "perf-bench-messaging": benches.perf_messaging,
    "cyclictest": cyclictest.cyclictest,
    "hackbench": benches.hackbench,
    "sysbench-cpu": benches.sysbench_cpu,
    "stress-ng": benches.stress_ng,
    "schbench": benches.schbench,
    "pgbench": benches.pgbench,
    "policy-browser": benches.policy,
    "policy-migrate": benches.policy,
}
#: Measures of each program, as expectations may name them; ``<N>`` stands for a number, ``<name>``
#: for a name.
MEASURES: Mapping[str, Sequence[str]] = {
    "perf-bench-pipe": benches.PIPE,
    "perf-bench-messaging": benches.MESSAGING,
    "cyclictest": cyclictest.MEASURES,
    "hackbench": benches.HACKBENCH,
    "sysbench-cpu": benches.SYSBENCH,
    "stress-ng": benches.STRESS_NG,
    "schbench": benches.SCHBENCH,
    "pgbench": benches.PGBENCH,
    "policy-browser": benches.BROWSER,
    "policy-migrate": benches.MIGRATE,
}
#: The measure of how often a program did what it does, of those that say so.
OPERATIONS = "operations"
#: Programs whose own count must be the one that they were given.
COUNTED = ("ping-pong", "perf-sched-pipe", "perf-bench-pipe")


def is_measure(run: str, name: str) -> bool:
    """True if a program of the kind ``run`` may have the measure ``name``."""
    for known in (*MEASURES.get(run, ()), OPERATIONS):
        pattern = re.escape(known).replace("<N>", r"\d+").replace("<name>", r"[a-z0-9_]+?")
        if re.fullmatch(pattern, name):
            return True
    return False


def outputs(run: Path, programs: Sequence[ProgramRecord]) -> dict[str, Output]:
    """The output of every measured program of ``cell.json``, by name.

    :raises OutputError: one line when a program's output is wrong.
    """
    read = {}
    for program in programs:
        if program.role != "measured" or program.run not in PARSERS:
            continue
        try:
            read[program.name] = _output(run, program)
        except OutputError as error:
            raise OutputError(f"program {program.name} ({program.run}): {error}") from error
    return read


def _output(run: Path, program: ProgramRecord) -> Output:
    lines = Lines.read(run / program.log)
    output = PARSERS[program.run](lines, run / program.transactions)
    if program.run in COUNTED and output.operations != program.count:
        raise lines.error(f"does not state the time of {program.count} operations")
    return output
