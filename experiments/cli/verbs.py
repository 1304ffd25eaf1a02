# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of ``eascope`` by name, and their parser.

Each command is a module with `SUMMARY`, `EXAMPLE`, `add_options` and `run`. The modules import
other rooms within `run`, so that ``--help`` is quick.
"""

from __future__ import annotations

import argparse
from typing import Protocol

from eascope.experiments.cli import (
    bisect,
    bound,
    cache,
    characterise,
    check,
    compare,
    demo,
    derive,
    diff,
    doctor,
    em,
    explain,
    export,
    gc,
    ladder,
    list_names,
    part,
    plan,
    run,
    scenario,
    schema,
    series,
    show,
    status,
    sweep,
    table,
    verify,
)
from eascope.experiments.cli.options import PROGRAM, Parser


class Verb(Protocol):
    """The contents of a command's module."""

    #: One line of meaning, for the list of commands.
    SUMMARY: str
    #: A whole command line.
    EXAMPLE: str

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments; ``--json`` has been added already."""

    def run(self, options: argparse.Namespace) -> int:
        """Run the command; returns the exit code."""


#: In the order of the help.
VERBS: dict[str, Verb] = {
    "doctor": doctor,
    "demo": demo,
    "list": list_names,
    "explain": explain,
    "schema": schema,
    "run": run,
    "compare": compare,
    "check": check,
    "diff": diff,
    "ladder": ladder,
    "bisect": bisect,
    "bound": bound,
    "plan": plan,
    "sweep": sweep,
    "table": table,
    "show": show,
    "export": export,
    "status": status,
    "characterise": characterise,
    "verify": verify,
    "gc": gc,
    "cache": cache,
    "em": em,
    "derive": derive,
    "series": series,
    "scenario": scenario,
    "part": part,
}


class _PrintVersion(argparse.Action):
    """Prints the version; git is asked only with this option."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        from eascope.host.version import eascope_version

        print(f"{PROGRAM} {eascope_version()}")
        parser.exit()


def make_parser() -> Parser:
    """The parser of the whole command line."""
    parser = Parser(
        prog=PROGRAM,
        description="Estimate the energy and latency effects of Linux scheduler changes on "
        "simulated big.LITTLE.",
        epilog=f"example: {compare.EXAMPLE}",
    )
    parser.add_argument(
        "--version", action=_PrintVersion, nargs=0, help="print the version and its commit"
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, verb in VERBS.items():
        own = subparsers.add_parser(
            name,
            help=verb.SUMMARY,
            description=f"{verb.SUMMARY[0].upper()}{verb.SUMMARY[1:]}.",
            epilog=f"example: {verb.EXAMPLE}",
        )
        own.add_argument("--json", action="store_true", help="print JSON on stdout")
        verb.add_options(own)
    return parser
