# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope explain``: a key of a person's file, as it is declared."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from eascope.experiments.cli.output import print_json
from eascope.host.errors import RequestError, names_allowed, shown, unknown

SUMMARY = "say what a key of a file is, what it may be, and which keys are below it"
EXAMPLE = "eascope explain scenario.task.phase.run_us"

#: Module and class by the kind of file; keys of other kinds are not declared.
KINDS = {
    "core": ("configs.core", "Core"),
    "scenario": ("experiments.scenario_file", "ScenarioFile"),
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


def run(options: argparse.Namespace) -> int:
    """Print the key, or with ``--json`` its JSON Schema.

    :raises RequestError: for a kind or a key that there is not.
    """
    from eascope.host.keys import entries_of, schema

    kind, *path = options.key.split(".")
    below, lines, rules = entries_of(declared(kind)), [f"{kind}: a file"], schema(declared(kind))
    for at, name in enumerate(path):
        if name not in below:
            where = ".".join([kind, *path[:at]])
            raise RequestError(f"no key {shown(name)} in {where}{names_allowed(name, below)}")
        own = below[name]
        lines = [f"{options.key}: {own.key.summary}", f"  {own.allowed}; {own.need}"]
        below, rules = own.below, own.schema
    if options.json:
        print_json(rules)
    else:
        print("\n".join([*lines, *(f"  {name}: {own.key.summary}" for name, own in below.items())]))
    return 0
