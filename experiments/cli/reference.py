# SPDX-License-Identifier: GPL-2.0-or-later
"""``docs/reference/command-line.md``, from the parsers, and ``controls.md``, from the knobs.

Tables of keys on other pages follow from the declarations. ``make generate`` writes the pages.
Tests assert that the committed pages are what the parsers and the declarations give.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from eascope.configs.knobs import AXES, BILLING, BILLINGS, CONTROLS, PLATFORM, Knob
from eascope.experiments.cli.explain import keys_at
from eascope.experiments.cli.verbs import make_parser
from eascope.host.table import Row, Table, TableCell

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGE, CONTROLS_PAGE = REFERENCE / "command-line.md", REFERENCE / "controls.md"
#: Commands that an option of several is listed once for.
_COMMON = 3
#: Pages with tables of keys; such a table, and what is before it.
KEYS_PAGES = [
    REFERENCE / f"{kind}.md"
    for kind in ("campaigns", "core", "pipeline", "platform", "scenarios", "variants")
]
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
    """The page's text: options that several commands share, then each command."""
    commands = [*_commands(make_parser())]
    often = Counter(
        row
        for command in commands
        for row in dict.fromkeys(_row(command, own) for own in _options(command))
    )
    common = {row: None for row, count in often.items() if count >= _COMMON}
    groups = {
        group.title or "": [_row(command, action) for action in group._group_actions]
        for command in commands
        for group in _own_groups(command)
    }
    shared = {"common options": [*common], **groups}
    listed = (
        f"### {title[:1].upper()}{title[1:]}\n\n{_table('option', rows)}\n"
        for title, rows in shared.items()
    )
    text = PAGE_IN.read_text().format(shared="\n".join(listed).rstrip())
    return "\n".join([text, *(_command(command, common) for command in commands)])


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of all commands, in the order of the help; a command may have its own."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield command
                yield from _commands(command)


def _own_groups(parser: argparse.ArgumentParser) -> list[argparse._ArgumentGroup]:
    """The groups that a command takes from `experiments.cli`; the first two are argparse's."""
    return [group for group in parser._action_groups[2:] if group._group_actions]


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Options in no group that a command may be called without."""
    return [own for own in parser._optionals._group_actions if _shown(own) and not own.required]


def _command(parser: argparse.ArgumentParser, common: Collection[Row]) -> str:
    """One command: what it does, its usage and example, its options, and which others it takes."""
    groups = _own_groups(parser)
    elsewhere = [own for own in _options(parser) if _row(parser, own) in common]
    hidden = {*elsewhere, *(own for group in groups for own in group._group_actions)}
    own = [action for action in parser._actions if _shown(action) and action not in hidden]
    formatter = parser._get_formatter()
    formatter.add_usage(parser.usage, own, parser._mutually_exclusive_groups)
    # On one line, for any width of the terminal.
    usage = " ".join(formatter.format_help().split()).removeprefix("usage: ")
    also = [f"`{option.option_strings[-1]}`" for option in elsewhere if option.dest != "json"]
    links = [_link(group.title or "") for group in groups]
    kind, _, example = (parser.epilog or "").strip().partition(": ")
    lines = [f"## `{parser.prog}`", "", (parser.description or "").strip()]
    lines += [f"{kind[:1].upper()}{kind[1:]}: `{example}`"] if example else []
    lines += ["", f"    {usage}", ""]
    if also or links:
        lines += [f"Also: {', '.join([*also, *links])}.", ""]
    rows = [_row(parser, action) for action in sorted(own, key=lambda it: bool(it.option_strings))]
    if rows:
        lines += [_table("argument or option", rows), ""]
    return "\n".join(lines)


def _link(title: str) -> str:
    """A link to a group's section, by the beginning of its title."""
    anchor = re.sub(r"[^\w -]", "", title).replace(" ", "-").lower()
    return f"[{re.split('[,(]', title)[0].strip()}](#{anchor})"


def _table(title: str, rows: Iterable[Row]) -> str:
    return Table.of((title, "meaning"), rows, left=2).markdown()


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
