# SPDX-License-Identifier: GPL-2.0-or-later
"""What each command of ``eascope`` does. Each returns its exit code; errors are raised."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from configs.platform_file import list_platforms
from host.cache import MANIFEST, cache_root, check_artefact, runs_root
from host.errors import EascopeError, RequestError, unknown
from host.proc import say
from host.table import Table

if TYPE_CHECKING:  # at run time each command imports what it needs, so that --help is quick
    from analysis.derive import Derived
    from configs.platform import Platform
    from experiments.cell import Cell, Names, Request
    from experiments.controls import Controls
    from experiments.runs import Run
    from power.given import ToldModel

Objects = list[dict[str, Any]]


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False))


def _print_columns(rows: Iterable[Iterable[Any]], heads: Sequence[str] | None = None) -> None:
    """Aligned columns of texts, the last one as long as it is; ``heads``: with a first line."""
    cells = [[str(cell) for cell in row] for row in rows]
    if cells:
        table = Table.of(heads or [""] * len(cells[0]), cells, left=len(cells[0]))
        print(table.text(heads=heads is not None))


def doctor(options: argparse.Namespace) -> int:
    """What is present, what is missing and how to get it."""
    from experiments.doctor import OPTIONAL, diagnose

    checks = diagnose()
    missing = [one for one in checks if not one["ok"] and one["check"] not in OPTIONAL]
    if options.json:
        _print_json(checks)
    else:
        _print_columns(
            (
                "ok" if one["ok"] else "MISSING" if one in missing else "absent",
                one["check"],
                one["detail"],
            )
            for one in checks
        )
        for one in checks:
            if not one["ok"]:
                print(f"{one['check']}: {one['remedy']}")
    return 1 if missing else 0


def _platforms() -> Objects:
    return [{"name": name, "summary": summary} for name, summary in list_platforms()]


def _variants() -> Objects:
    from kernels.variants import load_variants

    return [
        {
            "name": variant.name,
            "summary": variant.summary,
            "kernel": variant.kernel,
            "declares": dict(variant.declares),
            "source": variant.source,
        }
        for variant in load_variants().values()
    ]


def _scenarios() -> Objects:
    from experiments.scenario import summaries

    return list(summaries())


def _engines() -> Objects:
    from engines.registry import ENGINES

    return [{"name": name, "summary": summary} for name, summary in ENGINES.items()]


def _campaigns() -> Objects:
    return []


KINDS: dict[str, Callable[[], Objects]] = {
    "platforms": _platforms,
    "variants": _variants,
    "scenarios": _scenarios,
    "engines": _engines,
    "campaigns": _campaigns,
}


def list_names(options: argparse.Namespace) -> int:
    """Names of one kind with one line each."""
    if options.kind not in KINDS:
        raise unknown("kind", options.kind, KINDS)
    objects = KINDS[options.kind]()
    if options.json:
        _print_json(objects)
    else:
        _print_columns((one["name"], one["summary"]) for one in objects)
    return 0


def _request(options: argparse.Namespace, variant: str, seed: int, told: ToldModel) -> Request:
    """The cell that ``run`` and ``compare`` are asked for."""
    from experiments.cell import Request

    return Request(
        options.platform,
        variant,
        options.scenario,
        options.engine,
        seed,
        options.full,
        not options.no_elide,
        _controls(options),
        told,
        options.mode,
    )


def run(options: argparse.Namespace) -> int:
    """One cell, unless it is there already."""
    from analysis.compare import comparison
    from analysis.decisions import of_first_runs
    from analysis.decisions import text as text_of
    from experiments.cell import find, prepare
    from experiments.finished import derived_by, platform_of
    from experiments.pool import run_all
    from power.choice import check_power
    from power.given import told_model

    told = told_model(options.em, options.em_error)
    check_power(options.power)
    names = find(_request(options, options.variant, options.seed, told))
    _warn(names)
    cell = prepare(names)
    [(done, derived)] = run_all([cell], lambda _, one: (one, derived_by(one, options.power)))
    if options.json:
        host = done.host
        _print_json(
            {
                **derived.result,
                "run": str(done.path),
                "host_s": host["host_s"],
                "mips": host["mips"],
                **({"parts_s": host["parts_s"]} if "parts_s" in host else {}),
            }
        )
    else:
        print(comparison(platform_of(done), {names.variant.name: [derived]}).text())
        print(text_of(of_first_runs({names.variant.name: [derived]})), end="")
        if "parts_s" in done.host:
            parts = done.host["parts_s"].items()
            print("host time: " + ", ".join(f"{name} {spent:.1f} s" for name, spent in parts))
        print(f"run: {_shown(done.path)}")
    return 0


def _controls(options: argparse.Namespace) -> Controls:
    from experiments.controls import Controls

    return Controls(
        *(options.rate_limit_us, options.transition_latency_us),
        *(not options.no_delay_dequeue, options.decisions, options.speeds),
    )


def _warn(names: Names) -> None:
    """Say what a person should know of a request before it is run."""
    from experiments.cell import rate_warnings, wrong_capacities

    if wrong := wrong_capacities(names):
        say(f"warning: {wrong}")
    for text in rate_warnings(names):
        say(f"warning: {text}")


def compare(options: argparse.Namespace) -> int:
    """What is missing of variants x seeds; table, figures, report."""
    from analysis.beside import Beside
    from analysis.compare import comparison
    from analysis.decisions import of_first_runs
    from analysis.decisions import text as text_of
    from analysis.figures import write as write_figures
    from analysis.report import write as write_report
    from experiments.cell import find, prepare
    from experiments.finished import derived_by, platform_of
    from experiments.pool import run_all
    from power.choice import check_power
    from power.given import USUAL, told_model

    names_of = list(dict.fromkeys(options.variants))
    if len(names_of) < 2:
        raise RequestError(f"compare needs two variants or more, got {', '.join(names_of)}")
    asked = told_model(options.em, options.em_error)
    check_power(options.power)
    # Verdicts under another energy model stand beside those under the usual one.
    models = [asked] if asked.usual else [asked, USUAL]
    found = [
        find(_request(options, variant, seed, told))
        for told in models
        for variant in names_of
        for seed in range(options.seeds)
    ]
    first = found[0]
    _warn(first)
    cells = [prepare(names) for names in found]

    def after(cell: Cell, one: Run) -> tuple[Platform, Derived]:
        derived = derived_by(one, options.power)
        # What is expected may have been written down after the run: the scenario's word counts. And
        # older records do not say what was set otherwise.
        newer = {key: cell.record[key] for key in ("expect", "set_otherwise")}
        return platform_of(one), replace(derived, cell={**derived.cell, **newer})

    read = run_all(cells, after)
    platform, derived = read[0][0], [one for _, one in read]
    per_model = len(names_of) * options.seeds
    compared = [
        comparison(
            platform,
            {
                variant: derived[start + number * options.seeds :][: options.seeds]
                for number, variant in enumerate(names_of)
            },
        )
        for start in range(0, len(derived), per_model)
    ]
    result = compared[0]
    beside = None if asked.usual else Beside(usual=compared[1], asked=result)
    folder = _comparison_folder(first, options.seeds, names_of, options.power)
    figures = write_figures(result, folder)
    decided = of_first_runs(result.variants)
    for variant, table in decided.items():
        table.write_parquet(folder / f"decisions.{variant}.parquet")
    report = write_report(result, figures, folder / "report.html", beside, decided)
    if options.json:
        _print_json(
            {
                "platform": first.platform.name,
                "scenario": first.scenario.name,
                "engine": result.engine,
                "variants": {name: result.summary(name) for name in result.names},
                "differences": result.differences_json(),
                **({} if beside is None else {"energy_models": beside.record()}),
                "report": str(report),
                "figures": {name: [str(path) for path in paths] for name, paths in figures.items()},
            }
        )
    else:
        print(result.text())
        if beside is not None:
            print(beside.text())
        print(text_of(decided), end="")
        kinds = sorted({path.suffix for paths in figures.values() for path in paths})
        print(f"figures: {_shown(folder)}/: {', '.join(figures)} ({', '.join(kinds)})")
        print(f"report:  {_shown(report)}")
    return 0


def _comparison_folder(first: Names, seeds: int, variants: list[str], power: str) -> Path:
    """Where a comparison's figures and report go; made anew, for it is derived from runs."""
    request = first.request
    parts = [first.scenario.name, first.platform.name, request.engine, *variants]
    parts += [f"{seeds}-seeds"] if seeds > 1 else []
    parts += ["full"] if request.full else []
    parts += [first.engine.mode] if first.engine.mode else []
    parts += ["no-elide"] if not request.elide else []
    parts += request.controls.words
    parts += [] if power == "published" else [f"{power}-power"]
    parts += [] if request.told.usual else ["em", request.told.source]
    parts += [f"{name}{error:+g}" for name, error in request.told.errors]
    folder = runs_root() / "comparisons" / "_".join(part.replace("/", "-") for part in parts)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _shown(path: Path) -> str:
    """``path`` as a person here would type it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _run_object(one: Run) -> dict[str, Any]:
    """A run in words, as status, show and verify print it."""
    shown: dict[str, Any] = {"run": str(one.path), "state": one.state}
    try:
        cell = one.cell
        shown |= {
            key: cell[key]
            for key in ("platform", "variant", "scenario", "engine", "seed", "duration", "elide")
        }
        if cell.get("mode"):
            shown["mode"] = cell["mode"]
        if one.state == "done":
            shown |= {key: one.host[key] for key in ("host_s", "mips", "sim_s")}
            if "parts_s" in one.host:
                shown["parts_s"] = one.host["parts_s"]
        elif one.state == "failed":
            shown["cause"] = json.loads((one.path / "failed.json").read_bytes())["cause"]
    except (EascopeError, OSError, KeyError, ValueError) as error:
        shown["state"] = "broken"
        shown["cause"] = str(error)
    return shown


def status(options: argparse.Namespace) -> int:
    """Every run there is and its state."""
    from experiments.runs import all_runs

    objects = [_run_object(one) for one in all_runs()]
    if options.json:
        _print_json(objects)
        return 0
    for one in objects:
        one["run"] = Path(one["run"]).name[:12]
        one["time"] = f"{one['host_s']:.1f} s" if "host_s" in one else one.get("cause", "")
    columns = ("run", "state", "platform", "variant", "scenario", "engine", "seed", "time")
    rows = [[one.get(column, "-") for column in columns] for one in objects]
    _print_columns(rows, columns)
    print(f"{len(objects)} runs in {_shown(runs_root())}")
    return 0


def show(options: argparse.Namespace) -> int:
    """One run: what it was, how it ended, and its result."""
    from analysis.compare import comparison
    from analysis.decisions import of_first_runs
    from analysis.decisions import text as text_of
    from experiments.finished import derived_by, platform_of
    from experiments.runs import find_run
    from power.choice import check_power

    check_power(options.power)
    one = find_run(options.run)
    shown = _run_object(one)
    text = ""
    if one.state == "done":
        derived = derived_by(one, options.power)
        shown["result"] = derived.result
        text = comparison(platform_of(one), {one.cell["variant"]: [derived]}).text()
        text += "\n" + text_of(of_first_runs({one.cell["variant"]: [derived]}))
    elif one.state == "failed":
        failed = json.loads((one.path / "failed.json").read_bytes())
        shown["failed"] = failed
        text = "\n".join(failed.get("console_tail", []) + failed.get("log_tail", []))
    if options.json:
        _print_json([shown])
    else:
        _print_columns(
            (key, value) for key, value in shown.items() if key not in ("result", "failed")
        )
        print(text.rstrip("\n"))
    return 0


def verify(options: argparse.Namespace) -> int:
    """Compare runs and cache entries with the digests that they were written with."""
    from experiments.runs import all_runs, check, find_run

    runs = [find_run(name) for name in options.runs] if options.runs else all_runs()
    objects = [_run_object(one) | {"problems": check(one)} for one in runs]
    if not options.runs:
        objects += [_verify_cache(path.parent) for path in _manifests()]
    bad = [one for one in objects if one["problems"]]
    if options.json:
        _print_json(objects)
    else:
        for one in bad:
            print("\n".join(one["problems"]))
        print(f"{len(objects) - len(bad)} of {len(objects)} as they were written")
    return 1 if bad else 0


def _manifests() -> list[Path]:
    return sorted(cache_root().glob(f"*/*/{MANIFEST}"))


def _verify_cache(folder: Path) -> dict[str, Any]:
    shown: dict[str, Any] = {"cache": str(folder), "state": "done", "problems": []}
    try:
        check_artefact(folder)
    except EascopeError as error:
        shown |= {"state": "broken", "problems": [str(error)]}
    return shown
