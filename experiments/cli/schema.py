# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope schema``: JSON Schema of a kind of file, with which editors complete and check it."""

from __future__ import annotations

import argparse

from eascope.experiments.cli.explain import KINDS, declared
from eascope.experiments.cli.output import print_json
from eascope.host.keys import schema

#: What a file by difference says of its own (`configs.delta`).
_OWN = {
    "base": {"type": "string", "description": "the scenario from which this one starts"},
    "remove": {"type": "array", "items": {"type": "string"}},
}

SUMMARY = "print the JSON Schema of a kind of file, for editors"
EXAMPLE = "eascope schema scenario"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The kind."""
    parser.add_argument("kind", metavar="KIND", help=" | ".join(KINDS))


def run(options: argparse.Namespace) -> int:
    """Print the schema.

    :raises RequestError: for a kind whose keys are not declared.
    """
    draft = "https://json-schema.org/draft/2020-12/schema"
    own = schema(declared(options.kind))
    if options.kind == "scenario":
        by_difference = {
            "properties": {**_OWN, "summary": own["properties"]["summary"]},
            "propertyNames": {"enum": [*_OWN, *own["properties"]]},
            "required": ["base", "summary"],
        }
        own = {"if": {"required": ["base"]}, "then": by_difference, "else": own}
    print_json({"$schema": draft, "title": options.kind, **own})
    return 0
