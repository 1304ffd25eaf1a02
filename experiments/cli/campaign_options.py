# SPDX-License-Identifier: GPL-2.0-or-later
"""The campaign of ``plan``, ``sweep``, ``table`` and ``status``: a name, a file, or options."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from eascope.configs.knobs import CONTROLS
from eascope.experiments.arguments import count
from eascope.experiments.cli.options import add_knob
from eascope.host.errors import RequestError

if TYPE_CHECKING:
    from eascope.experiments.sweeps.campaign import Campaign

#: Axes that are options, with what their values are.
AXES = {
    "platform": "platforms",
    "scenario": "scenarios",
    "variant": "variants",
    "engine": "engines (default: the first in the list)",
    "mode": "modes of the engine",
}


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """A campaign, or the axes of a one-off."""
    parser.add_argument(
        "campaign",
        nargs="?",
        metavar="CAMPAIGN",
        help="a name listed by eascope list campaigns, or a file; without it, the options below "
        "describe the campaign",
    )
    group = parser.add_argument_group("a campaign without a file (values separated by commas)")
    for key, text in AXES.items():
        group.add_argument(f"--{key}", metavar=key[0].upper(), help=text)
    group.add_argument(
        "--seeds",
        type=count,
        metavar="N",
        help="runs of each combination, with seeds 0 to N-1 (default 1)",
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUES",
        help="a platform key such as little.cpus=2,3,4 or 'big.opps=every 2nd', or a parameter "
        "such as controls.rate_limit_us=500,2000; may be repeated",
    )
    group.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="CONSTRAINT",
        help="keep only combinations for which this holds, such as 'little.cpus + big.cpus <= 8'; "
        "may be repeated",
    )
    add_knob(group, CONTROLS["reference"])


def campaign_of(options: argparse.Namespace) -> Campaign:
    """The campaign that is asked for.

    :raises RequestError: none, both, or one that is wrong.
    """
    from eascope.experiments.sweeps.campaign_file import load_campaign
    from eascope.experiments.sweeps.one_off import one_off

    axes = {key: value for key in AXES if (value := getattr(options, key)) is not None}
    others = {**axes, "set": options.set, "keep": options.keep, "reference": options.reference}
    given = [f"--{key}" for key, value in others.items() if value not in (None, [])]
    given += ["--seeds"] if options.seeds else []
    if given and options.campaign is None and not axes:
        raise RequestError(
            f"{given[0]} works only with a campaign: name one, or give --platform, --scenario and "
            "--variant"
        )
    if options.campaign is not None:
        if given:
            raise RequestError(f"{given[0]} cannot be combined with CAMPAIGN, whose file states it")
        return load_campaign(options.campaign)
    return one_off(axes, options.set, options.keep, options.seeds or 1, options.reference)


def is_campaign(options: argparse.Namespace) -> bool:
    """True if any option asks for a campaign."""
    keys = ("campaign", *AXES, "seeds", "reference", "set", "keep")
    return any(getattr(options, key) not in (None, []) for key in keys)


def out_file(option: str, text: str) -> Path:
    """The file that an option names.

    :param option: with its dashes.
    :raises RequestError: a folder that is not there, or a folder itself.
    """
    path = Path(text).absolute()
    if not text or text.endswith("/") or path.is_dir() or not path.parent.is_dir():
        raise RequestError(f"{option} {text!r}: expected a file in an existing directory")
    return path


def jobs_here() -> int:
    """Jobs at a time without ``-j``: one per core of this host."""
    return len(os.sched_getaffinity(0))
