# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope power``, ``em``, ``derive``: what the power models say, without simulating."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from host.errors import EascopeError, RequestError, unknown

#: What ``eascope power`` can be asked to do.
VERBS = ("predict",)


def power(options: argparse.Namespace) -> int:
    """Rows of measured events with the power that the core's calibrated model gives them."""
    from power.predict import predicted, write_csv

    if options.verb not in VERBS:
        raise unknown("power command", options.verb, VERBS)
    for name in ("core", "csv"):
        if getattr(options, name) is None:
            raise RequestError(f"power {options.verb}: --{name} is missing: allowed: --{name} NAME")
    rows = predicted(options.core, Path(options.csv))
    if options.json:
        print(json.dumps(rows, indent=1, sort_keys=True, ensure_ascii=False))
    else:
        write_csv(rows, sys.stdout)
    return 0


def em(options: argparse.Namespace) -> int:
    """The kernel's energy model beside the derived power, OPP by OPP."""
    from configs.inherit import activity_of
    from configs.platform_file import load_platform
    from power.em import em_rows, records, text
    from power.given import told_model

    platform = load_platform(options.platform)
    told = told_model(options.em, options.em_error)
    rows = em_rows(platform, activity_of(platform), told)
    if options.json:
        print(json.dumps(records(rows), indent=1, sort_keys=True))
    else:
        print(text(rows))
    return 0


def derive(options: argparse.Namespace) -> int:
    """Energy and measures of finished runs by another power model; nothing is simulated."""
    from experiments.runs import all_runs, find_run
    from power.choice import check_power

    check_power(options.power)
    runs = [find_run(name) for name in options.runs] if options.runs else all_runs()
    objects = [_derived(run, options.power) for run in runs if run.state == "done" or options.runs]
    if options.json:
        print(json.dumps(objects, indent=1, sort_keys=True))
    else:
        for one in objects:
            name = f"{Path(one['run']).name[:12]}  {one.get('what', '')}"
            if "problem" in one:
                print(f"{name}  {one['problem']}")
            else:
                print(f"{name}  {one['energy_j'] * 1e3:.2f} mJ  {one['host_s']:.2f} s")
        good = [one for one in objects if "problem" not in one]
        spent = sum(one["host_s"] for one in good)
        print(f"{len(good)} of {len(objects)} runs by {options.power} power in {spent:.1f} s")
    return 1 if any("problem" in one for one in objects) else 0


def _derived(run: Any, power: str) -> dict[str, Any]:
    """One run by ``power``: total energy and host seconds, or what is wrong with it."""
    from experiments.finished import derived_by

    found: dict[str, Any] = {"run": str(run.path), "power": power}
    begin = time.monotonic()
    try:
        if run.state != "done":
            raise EascopeError(f"{run.state}: only a finished run has an energy")
        cell = run.cell
        found["what"] = f"{cell['variant']} {cell['scenario']} seed {cell['seed']}"
        derived = derived_by(run, power)
        found |= {"energy_j": derived.result["energy_j"]["total"], "derived": str(derived.path)}
    except EascopeError as error:
        found["problem"] = str(error)
    found["host_s"] = round(time.monotonic() - begin, 3)
    return found
