# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope diff``: two runs, decision by decision."""

from __future__ import annotations

import argparse
import gc
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from eascope.experiments.arguments import between, count, natural
from eascope.experiments.cli.options import Parser, add_cell, add_format, add_power, form_of
from eascope.experiments.cli.output import print_json
from eascope.experiments.cli.request import billing_of, request_of, warn, warn_of
from eascope.host.cache import write_atomic
from eascope.host.errors import RequestError
from eascope.kernels.switches import FORCED_LINES

if TYPE_CHECKING:
    from eascope.analysis.records.cell import CellRecord
    from eascope.analysis.run_diff import RunDiff
    from eascope.configs.platform import Platform
    from eascope.experiments.runs.finished import BilledBy
    from eascope.experiments.runs.request import Resolved
    from eascope.experiments.runs.store import Run

SUMMARY = "show where two runs diverge, decision by decision, and what each difference costs"
#: Options that write a file.
FILES = ("html", "perfetto", "svg")
EXAMPLE = "eascope diff mainline uclamp-sum --scenario eas/video-playback --platform juno-r2"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The two runs and the power model; or two variants, and what is simulated."""
    for name in ("a", "b"):
        parser.add_argument(
            name,
            metavar="RUN|V",
            help="folder of a run, or the beginning of its name; with --scenario a variant, "
            "simulated if missing",
        )
    parser.add_argument(
        "--any",
        action="store_true",
        help="compare runs that differ in more than the variant, also on platforms with as many "
        "CPUs in each cluster, and print which keys differ",
    )
    parser.add_argument(
        "--counterfactual",
        nargs="?",
        type=_forced,
        metavar="[first:]N",
        help="re-run A, forcing the first differing wake-up to the CPU B chose; =N: the N "
        "wake-ups after which the energies diverge most, each alone and all at once; =first:N: the "
        "first one of each of the N threads that make most of the difference",
    )
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="of the variants' runs (default 0)"
    )
    seeds.add_argument(
        "--seeds",
        type=count,
        metavar="N",
        help="of two variants: seeds 0 to N-1, and what each kind of difference costs; with "
        "--counterfactual the means over seeds",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="also write what is printed, and a timeline of both runs, as one HTML page",
    )
    parser.add_argument(
        "--svg",
        metavar="FILE",
        help="also draw the 50 ms around the first difference: CPUs, clocks and power of both",
    )
    parser.add_argument(
        "--perfetto",
        metavar="FILE",
        help="also write both runs as a ZIP that ui.perfetto.dev opens as two machines on one "
        "time axis",
    )
    add_cell(parser, required=False)
    add_power(parser)
    add_format(parser)


def _forced(text: str) -> tuple[int, bool]:
    """How many decisions, and whether each is the first that differs of its thread.

    :raises argparse.ArgumentTypeError: what is allowed.
    """
    number = text.removeprefix("first:")
    try:
        return between(1, FORCED_LINES, number if text else "1"), number != text or not text
    except argparse.ArgumentTypeError as error:
        known = f"allowed: N or first:N, N an integer from 1 to {FORCED_LINES}"
        raise argparse.ArgumentTypeError(f"{text!r}: {known}") from error


def run(options: argparse.Namespace) -> int:
    """Print in what the runs differ.

    :raises RequestError: no run has that name, or the two cannot be compared.
    :raises EascopeError: a run failed.
    """
    # Decisions are many objects and no garbage: to look for some takes a sixth of the time.
    usual = gc.get_threshold()
    gc.set_threshold(1_000_000)
    try:
        return _diff(options)
    finally:
        gc.set_threshold(*usual)


def _diff(options: argparse.Namespace) -> int:
    from eascope.analysis.run_diff import RunDiff
    from eascope.analysis.run_diff_text import SPANS, record, said, spans_table, text
    from eascope.experiments.runs.finished import derived_with_platform
    from eascope.experiments.runs.store import find_run
    from eascope.experiments.runs.writable import check_writable

    form = form_of(options)
    files = {name: Path(given).absolute() for name in FILES if (given := getattr(options, name))}
    for name, path in files.items():
        if options.counterfactual or options.seeds:
            raise RequestError(f"--{name}: of two runs; leave --counterfactual and --seeds out")
        check_writable(f"--{name}", path.parent)
    for one, other in combinations(files, 2):
        if files[one].resolve() == files[other].resolve():
            raise RequestError(f"--{one} and --{other}: both would write {files[one]}")
    billing = billing_of(options)
    runs: list[Run] = []
    asked = _asked(options, billing)
    if not asked:
        runs = [_finished(find_run(name)) for name in (options.a, options.b)]
        check(*(each.cell for each in runs), anything=options.any)
        names = [each.cell.platform for each in runs]
        if options.counterfactual and names[0] != names[1]:
            both = " and ".join(names)
            raise RequestError(f"--counterfactual: of runs on one platform, not on {both}")
    if options.counterfactual:
        from eascope.experiments.runs.counterfactual import resolved_of

        return _counterfactual(options, asked or [resolved_of(each) for each in runs], billing)
    if asked and options.seeds:
        return _over_seeds(options, asked, billing)
    if asked:
        from eascope.experiments.runs.counterfactual import runs_of

        platforms, derived = [each.platform for each in asked], runs_of(asked, billing)
    else:
        found = [derived_with_platform(each, billing) for each in runs]
        derived, platforms = [each for each, _ in found], [each for _, each in found]
        _check_shape(*platforms)
    if "html" in files and len({each.name for each in platforms}) > 1:
        raise RequestError("--html: of runs on one platform")
    diff = RunDiff.of(platforms[0], *derived, other=platforms[1])
    if "svg" in files and diff.same:
        warn_of([f"{files.pop('svg')} was not written: no decision differs between the two runs"])
    made = {path: _file(name, diff, options.repeat) for name, path in files.items()}
    for path, content in made.items():
        write_atomic(path, content)
    if form == "json":
        print_json(record(diff, options.repeat))
    elif form == "text":
        print(text(diff, options.repeat), end="")
    else:
        print(spans_table(diff).formatted(form, said(diff), SPANS), end="")
    return 0


def _file(name: str, diff: RunDiff, command: str) -> bytes:
    """What the option ``name`` writes."""
    if name == "svg":
        from eascope.analysis.figures.divergence import svg

        return svg(diff).encode()
    if name == "perfetto":
        from eascope.analysis.perfetto import both

        return both(diff)
    from eascope.analysis.report import diff_page

    return diff_page(diff, command).encode()


def _counterfactual(options: argparse.Namespace, asked: list[Resolved], billing: BilledBy) -> int:
    """Print what decisions of B explain, of one seed or over seeds."""
    from eascope.analysis import counterfactual_seeds
    from eascope.analysis.counterfactual import LATENCY
    from eascope.experiments.runs.counterfactual import counterfactuals

    pairs = [(asked[0], asked[1])]
    if options.seeds:
        seeds = range(options.seeds)
        pairs = [(asked[0].with_seed(seed), asked[1].with_seed(seed)) for seed in seeds]
    most, first = options.counterfactual
    found = counterfactuals(pairs, billing, most, first=first)
    form, one = form_of(options), found[0]
    if form == "json":
        seeds_too = counterfactual_seeds.record(found, options.repeat) if options.seeds else None
        print_json(seeds_too or one.record(options.repeat))
    elif form == "text":
        over = counterfactual_seeds.text(found, options.repeat) if options.seeds else None
        print(over or one.text(options.repeat), end="")
    elif options.seeds:
        answer = counterfactual_seeds.answer(found)
        print(counterfactual_seeds.table(found).formatted(form, answer), end="")
    else:
        print(one.table.formatted(form, one.answer, LATENCY), end="")
    return 0


def _over_seeds(options: argparse.Namespace, asked: list[Resolved], billing: BilledBy) -> int:
    """Print what each kind of difference costs, of pairs with the same seed."""
    from eascope.analysis.diff_kinds import KINDS, kinds_record, kinds_table
    from eascope.analysis.run_diff import RunDiff
    from eascope.experiments.runs.counterfactual import runs_of
    from eascope.experiments.runs.measure import seeded

    runs = runs_of(seeded(asked, options.seeds), billing)
    pairs = zip(runs[: options.seeds], runs[options.seeds :], strict=True)
    diffs = [RunDiff.of(asked[0].platform, *pair) for pair in pairs]
    form = form_of(options)
    if form == "json":
        print_json({**kinds_record(diffs), "command": options.repeat})
        return 0
    if form != "text":
        print(kinds_table(diffs).formatted(form, note=KINDS), end="")
        return 0
    print(f"A: {options.a}\nB: {options.b}\n")
    print(f"{KINDS}\n{kinds_table(diffs).text()}\n\nrepeat: {options.repeat}")
    return 0


def _asked(options: argparse.Namespace, billing: BilledBy) -> list[Resolved]:
    """The two variants' cells; empty where runs are named.

    :raises RequestError: a wrong name, or an option that runs which are there cannot follow.
    """
    from eascope.experiments.runs.request import resolve
    from eascope.experiments.runs.writable import check_runs_place
    from eascope.power.given import given_model

    if not (options.scenario and options.platform):
        parser = Parser()
        add_options(parser)
        for name, usual in vars(parser.parse_args(["", ""])).items():
            of_runs = name in ("a", "b", "any", "counterfactual", "power", "format", *FILES)
            if not of_runs and getattr(options, name) != usual:
                raise RequestError(
                    f"--{name.replace('_', '-')}: finished runs stay as they are; give two "
                    "variants with --scenario and --platform"
                )
        return []
    if options.any:
        raise RequestError("--any: of finished runs; two variants differ in nothing else")
    check_runs_place()
    model = given_model(options.em, options.em_error)
    variants = (options.a, options.b)
    asked = [resolve(request_of(options, each, options.seed, model)) for each in variants]
    asked[0].request.own.check_used(variants)
    billing.check(asked[0])
    warn(asked[0], options.power, asked[1:])
    return asked


def _finished(run: Run) -> Run:
    if run.state != "done":
        raise RequestError(f"{run.path}: {run.state}: only finished runs are compared")
    return run


def check(a: CellRecord, b: CellRecord, *, anything: bool = False) -> None:
    """Refuse runs that differ in more than the variant.

    :param anything: what differs is no matter.
    :raises RequestError: naming the first key that differs.
    """
    from eascope.analysis.run_diff import compared_keys

    keys, others = compared_keys(a), compared_keys(b)
    for key, value in {} if anything else keys.items():
        if value != others.get(key):
            raise RequestError(
                f"these runs cannot be compared: {key} is {value} in A and {others.get(key)} in B; "
                "they may differ only in the variant; --any compares them all the same"
            )


def _check_shape(a: Platform, b: Platform) -> None:
    """Refuse platforms whose CPUs are not those of the other.

    :raises RequestError: naming the clusters of both.
    """
    mine, others = ([each.cpus for each in one.clusters] for one in (a, b))
    if mine != others:
        words = [f"{one.name} has {_cpus(one)}" for one in (a, b)]
        raise RequestError(
            f"these runs cannot be compared: clusters of CPUs: {words[0]}, {words[1]}"
        )


def _cpus(platform: Platform) -> str:
    return " + ".join(str(len(each.cpus)) for each in platform.clusters)
