# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope compare``: the missing runs of variants x seeds; table, drawings, report."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from eascope.configs.knobs import AXES
from eascope.experiments.arguments import count
from eascope.experiments.cli.dry_run import AxisPart, add_dry_run, dry_run
from eascope.experiments.cli.options import add_all, add_billing, add_cell, add_format, form_of
from eascope.experiments.cli.output import measured, print_json, shown
from eascope.experiments.cli.request import billing_of, machine_of, request_of, warn, warn_of
from eascope.host.cache import digest_of
from eascope.host.errors import RequestError

if TYPE_CHECKING:
    import polars as pl

    from eascope.analysis.bound import Machine
    from eascope.analysis.choice import Judged
    from eascope.analysis.compare import Comparison
    from eascope.analysis.energy_models import EnergyModels
    from eascope.experiments.runs.finished import BilledBy
    from eascope.experiments.runs.measure import Group
    from eascope.experiments.runs.request import Resolved

SUMMARY = "compare variants: run what is missing, print differences, write figures and a report"
EXAMPLE = "eascope compare mainline cas --platform juno-r2 --scenario eas/video-playback"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The variants, the number of seeds, the cell, the power model."""
    parser.add_argument(
        "variants", nargs="+", metavar="V", help="two variants or more; the first is the baseline"
    )
    parser.add_argument(
        "--seeds",
        type=count,
        default=1,
        metavar="N",
        help="runs per variant, with seeds 0 to N-1 (default 1)",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="directory for figures and report (default: one per comparison in runs/comparisons)",
    )
    parser.add_argument(
        "--null",
        action="store_true",
        help="also run an A/A test: mainline against a kernel that differs only in a comment, "
        "with other seeds, as the noise floor",
    )
    parser.add_argument(
        "--robust",
        nargs="?",
        const="",
        metavar="AXES",
        help="sensitivity analysis: also compare at the other values of the model axes (what is "
        "unknown of the board), one axis at a time; a claim holds only if it holds at every value; "
        f"AXES, as in --robust=dvfs,llc, selects from {', '.join(AXES)} (default: all)",
    )
    add_format(parser, "; with --all, of every measure")
    add_cell(parser)
    add_billing(parser)
    add_all(parser)
    add_dry_run(parser)


@dataclass(frozen=True)
class Asked:
    """The request.

    :param groups: of the asked energy model with all that is wanted, and of the usual one, if it is
        another.
    :param robust: whether axes are asked for whose values need runs.
    """

    variants: list[str]
    seeds: int
    groups: list[Group]
    robust: bool = False

    @property
    def resolved(self) -> list[Resolved]:
        """The cells by which variants are compared."""
        return [resolved for group in self.groups for resolved in group.resolved]

    @property
    def all_resolved(self) -> list[Resolved]:
        """All cells."""
        _, *more = self.groups[0].parts
        return [*self.resolved, *(resolved for part in more for resolved in part)]

    @property
    def billing(self) -> BilledBy:
        """How energies are computed."""
        return self.groups[0].billing

    @property
    def first(self) -> Resolved:
        """The baseline's first cell."""
        return self.groups[0].resolved[0]

    def machine(self) -> Machine:
        """The platform with the powers of the request."""
        return machine_of(self.billing, self.first.platform, self.first.activity)


@dataclass(frozen=True)
class Answered:
    """The results: the comparison, and further results that were asked for.

    :param models: under another energy model and the usual one.
    :param decided: decisions of EAS by variant.
    :param judged: whether they were right.
    :param digest: see `digest`.
    """

    result: Comparison
    models: EnergyModels | None
    decided: Mapping[str, pl.DataFrame]
    judged: Mapping[str, Judged]
    digest: str


@dataclass(frozen=True)
class Drawn:
    """Figures and report of a comparison."""

    folder: Path
    figures: Mapping[str, Sequence[Path]]
    report: Path


def run(options: argparse.Namespace) -> int:
    """Execute missing runs, draw, and print.

    :raises EascopeError: the request is wrong, or a run failed.
    """
    from eascope.analysis.paper import paper
    from eascope.experiments.runs.comparisons import comparison_folder
    from eascope.experiments.runs.writable import check_runs_place, check_writable

    check_runs_place()
    form = form_of(options)
    out = None if options.out is None else Path(options.out).absolute()
    if out is not None:
        check_writable("--out", out)
    if options.dry_run:
        return dry_run(options, lambda: _planned(asked_of(options)))
    asked = asked_of(options)
    answered = answer(asked)
    folder = out or comparison_folder(words(asked), answered.digest)
    drawn = draw(folder, answered)
    if form == "json":
        _print_object(answered, drawn)
    elif form != "text":
        print(paper(answered.result, form, whole=options.all), end="")
    else:
        _print_text(answered, drawn, whole=options.all, robust=asked.robust)
    return 0


def answer(asked: Asked) -> Answered:
    """Execute missing runs, and compare.

    :raises EascopeError: the request is wrong, or a run failed.
    """
    return answers([asked])[0]


def answers(every: Sequence[Asked]) -> list[Answered]:
    """The same of several requests, whose runs are executed together.

    :raises EascopeError: as `answer`.
    """
    from eascope.analysis import choice
    from eascope.analysis.decisions import of_first_runs
    from eascope.analysis.energy_models import EnergyModels
    from eascope.experiments.runs.cell import check_kernels_differ, without_effect
    from eascope.experiments.runs.measure import compare, with_recorded
    from eascope.experiments.runs.writable import check_runs_place

    check_runs_place()
    keys = []
    for asked in every:
        warn(asked.first, asked.billing.power, asked.resolved)
        keys.append(digest(asked))  # builds what is missing
        check_kernels_differ(asked.resolved)
    # Several requests have one kernel.
    warn_of(dict.fromkeys(line for asked in every for line in without_effect(asked.resolved)))
    compared = iter(compare([group for asked in every for group in asked.groups]))
    answered = []
    for asked, key in zip(every, keys, strict=True):
        first, *usual = [next(compared) for _ in asked.groups]
        result = with_recorded(first)
        answered.append(
            Answered(
                result=result,
                models=EnergyModels(usual=usual[0], asked=result) if usual else None,
                decided=of_first_runs(result.variants),
                judged=choice.of_first_runs(result.variants, asked.machine),
                digest=key,
            )
        )
    return answered


def _planned(asked: Asked) -> tuple[list[Resolved], list[AxisPart]]:
    """All cells, and the values of axes to which the last of them belong."""
    group = asked.groups[0]
    cases = zip(group.cases.cases, group.parts[2:], strict=True)
    parts = [(case.axis, case.value.name, len(own)) for case, own in cases if asked.robust]
    return asked.all_resolved, parts


def asked_of(options: argparse.Namespace) -> Asked:
    """Every cell of the request, its names resolved.

    :raises RequestError: for the first name or value that is wrong.
    """
    from eascope.experiments.runs.axes import cases_for
    from eascope.experiments.runs.measure import Group, seeded
    from eascope.experiments.runs.request import null_requests, resolve
    from eascope.power.choice import power_of
    from eascope.power.given import DEFAULT_MODEL, given_model

    variants = list(dict.fromkeys(options.variants))
    if len(variants) < 2:
        times = " twice" if len(options.variants) > 1 else ""
        raise RequestError(f"compare needs two variants or more, got {', '.join(variants)}{times}")
    given = given_model(options.em, options.em_error)
    billing = billing_of(options)
    # Verdicts under another energy model are compared with those under the usual one.
    models = [given] if given.is_default else [given, DEFAULT_MODEL]
    firsts = [
        [resolve(request_of(options, variant, 0, model)) for variant in variants]
        for model in models
    ]
    first, *_ = firsts[0]
    first.request.own.check_used(variants)
    requests = null_requests(first.request, options.seeds) if options.null else []
    null = [resolve(request) for request in requests]
    billing = replace(billing, power=power_of(first.platform, billing.power))
    billing.check(first)
    cases = cases_for(options.robust, firsts[0], billing)
    groups = [Group(seeded(names, options.seeds), billing, null=null) for names in firsts]
    groups[0] = replace(groups[0], cases=cases)
    return Asked(variants, options.seeds, groups, robust=options.robust is not None)


def draw(folder: Path, answered: Answered) -> Drawn:
    """Write figures and report into ``folder``."""
    from eascope.analysis.figures import write as write_figures
    from eascope.analysis.report import write as write_report
    from eascope.analysis.run_diff import RunDiff
    from eascope.experiments.runs.comparisons import REPORT, publish

    figures: dict[str, list[Path]] = {}
    result, models, decided = answered.result, answered.models, answered.decided

    def fill(work: Path) -> None:
        drawn = write_figures(result, work)
        for variant, table in decided.items():
            table.write_parquet(work / f"decisions.{variant}.parquet")
        pair = [result.variants[name][0] for name in result.names[:2]]
        diff = RunDiff.of(result.platform, *pair)
        write_report(
            result,
            drawn,
            work / REPORT,
            models=models,
            decided=decided,
            judged=answered.judged,
            diff=diff,
        )
        for name, paths in drawn.items():
            figures[name] = [folder / path.name for path in paths]

    publish(folder, fill)
    return Drawn(folder, figures, folder / REPORT)


def words(asked: Asked) -> list[str]:
    """Words by which a person finds the comparison's folder."""
    from eascope.configs.knobs import words as knob_words

    first = asked.first
    request = first.request
    parts = [first.scenario.name, first.platform.name, request.engine, *asked.variants]
    parts += [f"{asked.seeds}-seeds"] if asked.seeds > 1 else []
    parts += ["null"] if asked.groups[0].null else []
    parts += ["full"] if request.full else []
    parts += [first.engine.mode] if first.engine.mode else []
    parts += ["no-elide"] if not request.elide else []
    parts += request.control_words
    billing = asked.billing
    usual = billing.power == first.platform.billing.default
    parts += knob_words(replace(billing, power=None) if usual else billing)
    parts += ["robust"] if asked.robust else []
    parts += [] if request.energy_model.is_default else ["em", request.energy_model.source]
    return [*parts, *(f"{name}{error:+g}" for name, error in request.energy_model.errors)]


def digest(asked: Asked) -> str:
    """Digest of all that distinguishes a comparison from others of the same words.

    A record has the simkey, the names, and the digests of platform, activity and scenario.
    """
    (_, null, *varied), cases = asked.groups[0].cells, asked.groups[0].cases.cases
    cells = [*(cell for group in asked.groups for cell in group.cells[0]), *null]
    axes = [
        # All that a value of an axis changes.
        [case.axis, case.value.name, dict(case.value.sets), [cell.asked for cell in own]]
        for case, own in zip(cases, varied, strict=True)
    ]
    return digest_of(
        {
            "cells": [cell.asked for cell in cells],
            **{key: value for key, value in vars(asked.billing).items() if value is not None},
            **({"axes": axes} if axes and asked.robust else {}),
        }
    )


def _print_object(answered: Answered, drawn: Drawn) -> None:
    from eascope.analysis.answer import answers
    from eascope.analysis.compare_json import differences_json, parts_json, variant_json
    from eascope.analysis.robust_text import robust_json
    from eascope.analysis.warnings import warnings

    result, models, judged = answered.result, answered.models, answered.judged
    figures = {name: [str(path) for path in paths] for name, paths in drawn.figures.items()}
    record = result.cell.encode()
    same = (
        "scenario",
        "engine",
        "mode",
        "duration",
        "elide",
        "controls",
        "set_otherwise",
        "inputs",
    )
    print_json(
        {
            "answer": answers(result),
            "warnings": warnings(result),
            "platform": result.platform.name,
            **{key: record[key] for key in same},
            "power_model": result.power_model.name,
            "energy_model": result.cell.energy_model.words,
            "variants": {name: variant_json(result, name) for name in result.names},
            "parts": parts_json(result),
            "differences": differences_json(result),
            **({} if models is None else {"energy_models": models.record()}),
            **({"choices": {name: asdict(j) for name, j in judged.items()}} if judged else {}),
            "robust": robust_json(result),
            "folder": str(drawn.folder),
            "report": str(drawn.report),
            "figures": figures,
        }
    )


def _print_text(answered: Answered, drawn: Drawn, *, whole: bool, robust: bool) -> None:
    from eascope.analysis.choice import text as judged_text
    from eascope.analysis.decisions import text as decisions_text
    from eascope.analysis.robust_text import robust_text

    print(measured(answered.result, whole=whole), end="")
    if answered.models is not None:
        print(answered.models.text())
    print(decisions_text(answered.decided) + judged_text(answered.judged), end="")
    if robust:
        print(robust_text(answered.result))
    kinds = sorted({path.suffix for paths in drawn.figures.values() for path in paths})
    print(f"figures: {shown(drawn.folder)}/: {', '.join(drawn.figures)} ({', '.join(kinds)})")
    print(f"report:  {shown(drawn.report)}")
