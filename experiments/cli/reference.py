# SPDX-License-Identifier: GPL-2.0-or-later
"""``docs/reference/command-line.md``, written from the parsers.

``python -m eascope.experiments.cli.reference`` writes the page, and
``docs/reference/variants.md``. Tests assert that the committed pages are what the parsers and the
declarations give.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from eascope.experiments.cli import variants_page
from eascope.experiments.cli.verbs import make_parser
from eascope.host.table import Row, Table, TableCell
from eascope.kernels.variants import load_catalogue

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "command-line.md"

HEAD = """\
# Command line

`make` sets up `.venv/bin/eascope`. This page is written from the parsers
(`python -m eascope.experiments.cli.reference`); `eascope COMMAND --help` prints the same.
`eascope --version` prints the version and its commit.

Exit codes: 0 done, 1 the work failed, 2 the request is wrong, 130 interrupted. An error is one line
on standard error. Commands read the variables under [environment](environment.md) and print the
measures under [measures](measures.md).
"""


def page() -> str:
    """The page's text."""
    parser = make_parser()
    parts = [HEAD, *(_command(command) for command in _commands(parser))]
    return "\n".join(parts)


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of all commands, in the order of the help; a command may have its own."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield command
                yield from _commands(command)


def _command(parser: argparse.ArgumentParser) -> str:
    """One command: what it does, its usage and example, its options by group."""
    description = (parser.description or "").strip()
    lines = [f"## `{parser.prog}`", "", description[:1].upper() + description[1:], ""]
    lines += [f"    {_usage(parser)}", ""]
    if parser.epilog:
        kind, _, example = parser.epilog.strip().partition(": ")
        lines += [f"{kind[:1].upper()}{kind[1:]}:", "", f"    {example}", ""]
    for group in parser._action_groups:
        rows = [_row(parser, action) for action in group._group_actions if _shown(action)]
        if rows:
            title = (group.title or "options").removeprefix("positional ")
            lines += [Table.of((title, "meaning"), rows, left=2).markdown(), ""]
    return "\n".join(lines)


def _shown(action: argparse.Action) -> bool:
    return action.help is not argparse.SUPPRESS and not isinstance(
        action, argparse._HelpAction | argparse._SubParsersAction
    )


def _usage(parser: argparse.ArgumentParser) -> str:
    """The usage on one line, for any width of the terminal, without ``--help``."""
    words = " ".join(parser.format_usage().split()).removeprefix("usage: ")
    return words.replace(" [-h]", "")


def _row(parser: argparse.ArgumentParser, action: argparse.Action) -> Row:
    formatter = parser._get_formatter()
    if action.option_strings:
        value = "" if action.nargs == 0 else f" {formatter._format_args(action, _metavar(action))}"
        name = ", ".join(action.option_strings) + value
    else:
        name = formatter._format_args(action, _metavar(action))
    meaning = formatter._expand_help(action) if action.help else ""
    required = " (required)" if action.option_strings and action.required else ""
    return TableCell(name, "code"), f"{meaning}{required}"


def _metavar(action: argparse.Action) -> str:
    return action.dest.upper()


if __name__ == "__main__":
    PAGE.write_text(page())
    variants_page.PAGE.write_text(variants_page.page(load_catalogue().shipped()))
