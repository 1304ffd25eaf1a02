# SPDX-License-Identifier: GPL-2.0-or-later
"""``docs/reference/command-line.md``, from the parsers, and ``controls.md``, from the knobs.

Tables of keys on other pages follow from the declarations. ``make generate`` writes the pages.
Tests assert that the committed pages are what the parsers and the declarations give.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from eascope.configs.knobs import AXES, BILLING, BILLINGS, CONTROLS, PLATFORM, Knob
from eascope.experiments.cli.explain import keys_at
from eascope.experiments.cli.verbs import make_parser
from eascope.host.table import Row, Table, TableCell

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGE, CONTROLS_PAGE = REFERENCE / "command-line.md", REFERENCE / "controls.md"
#: Pages with tables of keys; such a table, and what is before it.
KEYS_PAGES = [REFERENCE / f"{kind}.md" for kind in ("campaigns", "core", "platform", "scenarios")]
_KEYS = re.compile(r"(<!-- keys: (\S+) -->\n\n)(?:\|.*\n)*")
#: What a person writes of them.
PAGE_IN, CONTROLS_PAGE_IN = (
    Path(__file__).with_name(f"{page.name}.in") for page in (PAGE, CONTROLS_PAGE)
)


def controls_page() -> str:
    """The page of the knobs."""
    heads = ("key", "value", "default", "meaning", "option", "changes", "also in")
    axes = [
        (
            TableCell(name, "code"),
            ", ".join(f"`{knob.name}`" for knob in axis.knobs),
            axis.elsewhere and TableCell(axis.elsewhere, "code"),
            "; ".join(f"`{value.name}` ({value.source})" for value in axis.common),
        )
        for name, axis in AXES.items()
    ]
    return CONTROLS_PAGE_IN.read_text().format(
        controls=Table.of(heads, map(_knob, CONTROLS.values()), left=7).markdown(),
        billing=Table.of(heads, map(_knob, BILLINGS.values()), left=7).markdown(),
        axes=Table.of(("axis", "keys", "stated in", "values"), axes, left=4).markdown(),
    )


def _knob(knob: Knob) -> Row:
    default = str(knob.default).lower() if isinstance(knob.default, bool) else str(knob.default)
    if knob.default is None or knob.default == ():
        default = "the platform's" if knob.changes in (PLATFORM, BILLING) else "none"
    further = {"campaign": knob.swept, "source": knob.conditions}
    return (
        TableCell(knob.name, "code"),
        knob.values,
        default,
        f"`false`: {knob.meaning}" if knob.default is True else knob.meaning,
        TableCell(knob.flag, "code") if knob.option else "",
        knob.changes,
        ", ".join(name for name, present in further.items() if present),
    )


def with_keys(text: str) -> str:
    """A page with its tables of keys, each below the comment that says of what."""
    return _KEYS.sub(lambda found: f"{found[1]}{_keys(found[2])}\n", text)


def _keys(path: str) -> str:
    rows = (
        (TableCell(name, "code"), entry.allowed, entry.need, entry.key.summary)
        for name, entry in keys_at(path)[1].items()
    )
    return Table.of(("key", "value", "default", "meaning"), rows, left=4).markdown()


def page() -> str:
    """The page's text."""
    parser = make_parser()
    parts = [PAGE_IN.read_text(), *(_command(command) for command in _commands(parser))]
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
    lines = [f"## `{parser.prog}`", "", description, ""]
    # On one line, for any width of the terminal.
    usage = " ".join(parser.format_usage().split()).removeprefix("usage: ").replace(" [-h]", "")
    lines += [f"    {usage}", ""]
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
    CONTROLS_PAGE.write_text(controls_page())
    for path in KEYS_PAGES:
        path.write_text(with_keys(path.read_text()))
