# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope explain``: a key of a person's file, as it is declared."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from eascope.experiments.cli.output import print_json
from eascope.host.errors import RequestError, names_allowed, shown, unknown
from eascope.host.keys import Entry, entries_of, schema

SUMMARY = "describe a key of a file: its meaning, its allowed values and the keys below it"
EXAMPLE = "eascope explain scenario.task.phase.run_us"

#: Module and class by the kind of file that a person writes.
KINDS = {
    "activity": ("configs.activity", "ActivityFile"),
    "campaign": ("experiments.sweeps.campaign_file", "CampaignFile"),
    "core": ("configs.core", "Core"),
    "pipeline": ("configs.pipeline", "PipelineFile"),
    "platform": ("configs.platform_file", "PlatformFile"),
    "program-activity": ("configs.program_activity", "ProgramFile"),
    "scenario": ("experiments.scenario_file", "ScenarioFile"),
    "system-activity": ("configs.system_activity", "SystemFile"),
    "variant": ("kernels.variants", "OwnFile"),
    "variants": ("kernels.variants", "VariantsFile"),
}


def declared(kind: str) -> Any:  # noqa: ANN401 - a dataclass
    """The class that declares the keys of a kind of file.

    :raises RequestError: for a kind that has none.
    """
    if kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    module, name = KINDS[kind]
    return getattr(import_module(f"eascope.{module}"), name)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The key."""
    parser.add_argument("key", metavar="KEY", help=f"KIND or KIND.KEY, of {' | '.join(KINDS)}")


def keys_at(path: str) -> tuple[Entry | None, Mapping[str, Entry]]:
    """The key at ``KIND.KEY...``, None for the kind alone, and the keys below it.

    :raises RequestError: for a kind or a key that there is not.
    """
    kind, *names = path.split(".")
    own, below = None, entries_of(declared(kind))
    for at, name in enumerate(names):
        if name not in below:
            where = ".".join([kind, *names[:at]])
            raise RequestError(f"no key {shown(name)} in {where}{names_allowed(name, below)}")
        own = below[name]
        below = own.below
    return own, below


def run(options: argparse.Namespace) -> int:
    """Print the key, or with ``--json`` its JSON Schema.

    :raises RequestError: for a kind or a key that there is not.
    """
    own, below = keys_at(options.key)
    if options.json:
        print_json(own.schema if own else schema(declared(options.key)))
        return 0
    print(f"{options.key}: {own.key.summary if own else 'a file'}")
    if own:
        print(f"  {own.allowed}; {own.need}")
    for name, inner in below.items():
        print(f"  {name}: {inner.key.summary}")
    return 0
