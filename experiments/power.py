"""``eascope power`` and ``eascope em``: what the power models say without a run."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from configs.host.errors import RequestError, unknown

#: What ``eascope power`` can be asked to do.
VERBS = ("predict",)


def power(options: argparse.Namespace) -> int:
    """Rows of measured events with the power that the core's calibrated model gives them."""
    from analysis.power.predict import predicted, write_csv

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
    from analysis.power.em import em_rows, records, text
    from configs.platform import load_platform

    rows = em_rows(load_platform(options.platform))
    if options.json:
        print(json.dumps(records(rows), indent=1, sort_keys=True))
    else:
        print(text(rows))
    return 0
