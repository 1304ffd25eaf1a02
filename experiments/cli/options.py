# SPDX-License-Identifier: GPL-2.0-or-later
"""Options that several commands share, and a parser whose errors are one line."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

from eascope.configs.billing import PUBLISHED
from eascope.configs.knobs import BILLINGS, CONTROLS, Knob
from eascope.experiments.arguments import between
from eascope.host.errors import RequestError, names_allowed

PROGRAM = "eascope"
#: What argparse says, and what all other errors would.
_WORDS = (
    (r"argument (\S+): not allowed with argument (\S+)", r"\1 cannot be combined with \2"),
    (r"argument (\S+): expected (?:at least )?one argument", r"\1: its value is missing"),
    (r"argument (\S+):(?= ')", r"\1"),
    (r"argument (?=\S+:)", ""),
    (r"the following arguments are required: ([^,]*)$", r"\1 is missing"),
    (r"the following arguments are required: (.*)", r"\1 are missing"),
    ("unrecognized arguments:", "no such option or argument:"),
)


def worded(message: str) -> str:
    """A message of argparse as all other errors read."""
    for theirs, ours in _WORDS:
        message = re.sub(f"^{theirs}", ours, message)
    return message


class Parser(argparse.ArgumentParser):
    """argparse, with errors as one line and examples that can be copied whole."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - argparse's own
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse, but an option's optional value comes only after ``=``.

        argparse would take the next positional argument as this value.
        """
        bare = {
            name
            for action in self._actions
            if action.nargs == "?"
            for name in action.option_strings
        }
        given = sys.argv[1:] if args is None else args
        return super().parse_known_args([f"{a}=" if a in bare else a for a in given], namespace)

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401
        """One of the choices, or a line as for all other names."""
        if action.choices is not None and value not in action.choices:
            what = "/".join(action.option_strings) or action.metavar or action.dest
            known = names_allowed(str(value), action.choices)
            raise argparse.ArgumentError(None, f"{what} {str(value)!r}{known}")

    def error(self, message: str) -> NoReturn:
        """Exit 2 with one line that names the help."""
        lacks = message.startswith("the following arguments are required") and self.epilog
        told = worded(message) + (f"; {self.epilog}" if lacks else "")
        print(f"{PROGRAM}: error: {told} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)


def add_cell(
    parser: argparse.ArgumentParser,
    *,
    required: bool = True,
    own: bool = True,
    scenario: bool = True,
) -> None:
    """What ``run`` and ``compare`` simulate: platform, scenario, engine, controls.

    :param own: with options that name kernels.
    :param scenario: with the scenario as an option.
    """
    parser.add_argument(
        "--platform",
        required=required,
        metavar="P",
        help="platform (board model), see: eascope list platforms",
    )
    if scenario:
        parser.add_argument(
            "--scenario",
            required=required,
            metavar="S",
            help="workload, see: eascope list scenarios; or a .toml file, or a .json of rt-app",
        )
    group = parser.add_argument_group("simulation")
    group.add_argument(
        "--engine",
        metavar="E",
        help="simulator, see: eascope list engines (default: the first in the list)",
    )
    group.add_argument(
        "--mode",
        metavar="M",
        help="mode of the engine, if it has modes (default: the first)",
    )
    group.add_argument("--full", action="store_true", help="run for the scenario's full duration")
    group.add_argument(
        "--no-elide", action="store_true", help="execute rt-app's busy loop, do not elide it"
    )
    if own:
        _add_own(parser.add_argument_group("kernels of your own"))
    else:
        parser.set_defaults(kernel=[], patch=[], boot=[], switch=[])
    _add_controls(parser.add_argument_group("settings, to see whether a result depends on them"))


def _add_own(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="NAME=TREE[@REF]",
        help="your git tree, at commit REF or with uncommitted changes: NAME is mainline built "
        "from it, VARIANT@NAME another variant built from it; may be repeated",
    )
    group.add_argument(
        "--patch",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="your patch, applied after the base series: NAME (default: from the file name) is "
        "mainline with it, NAME@7.3 the same on Linux 7.3; may be repeated: patches with the same "
        "NAME are applied in the order given; a file of lines CONFIG_NAME=VALUE sets kernel "
        "options",
    )
    group.add_argument(
        "--boot",
        action="append",
        default=[],
        metavar="NAME=ARGUMENTS",
        help="boot arguments, added to those of NAME: your kernel, patch or variant of this name, "
        "or a new name for mainline with them; may be repeated",
    )
    group.add_argument(
        "--switch",
        action="append",
        default=[],
        metavar="NAME:PATH=VALUE",
        help="write VALUE to PATH (sysctl, debugfs, cgroup) in the guest before the run, for NAME "
        "as with --boot; the guest reads it back",
    )


def _add_controls(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--source-conditions",
        action="store_true",
        help="set the options below as in the scenario's original posting "
        "([source_conditions]), except those given on the command line",
    )
    for knob in CONTROLS.values():
        if knob.option:
            add_knob(group, knob)
    add_energy_model(group)


class Unstated(str):
    """The default of an option: who gives the option gets a plain text."""


def add_knob(parser: argparse.ArgumentParser | argparse._ArgumentGroup, knob: Knob) -> None:
    """The option of a knob, whose value in the parsed options is the knob's own."""
    options: dict[str, Any] = {"dest": knob.name, "default": knob.default, "help": knob.help}
    if isinstance(knob.default, str):
        options["default"] = Unstated(knob.default)
    if knob.kind is bool:
        options |= {"action": "store_const", "const": knob.default is False}
    else:
        options["metavar"] = knob.place
    if knob.kind is int:
        options["type"] = partial(between, *knob.span[:2])
    if knob.kind is tuple:
        options |= {"action": "append", "default": []}
    parser.add_argument(knob.flag, **options)


def add_energy_model(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """The energy model that the kernel is given."""
    parser.add_argument(
        "--em",
        default=PUBLISHED,
        metavar="M",
        help="energy model of the kernel, which EAS uses: published (default) or derived; --power "
        "sets the power model that energy is computed with",
    )
    parser.add_argument(
        "--em-error",
        action="append",
        default=[],
        metavar="CLUSTER=X%",
        help="scale one cluster's power in the kernel's energy model, such as big=+20%%; may be "
        "repeated",
    )


def add_format(parser: argparse.ArgumentParser, more: str = "") -> None:
    """The form of the output.

    :param more: what else the help says.
    """
    parser.add_argument(
        "--format",
        choices=("text", "md", "csv", "json", "latex"),
        default="text",
        help="output: text (default), JSON as with --json, or only the table as Markdown, CSV or "
        f"LaTeX (booktabs){more}",
    )


def form_of(options: argparse.Namespace) -> str:
    """The form of the output that is asked for; text or JSON without `add_format`.

    :raises RequestError: by --json and --format, two forms.
    """
    form = str(getattr(options, "format", "text"))
    if options.json and form not in ("text", "json"):
        raise RequestError(f"--json with --format {form}: one of the two")
    return "json" if options.json else form


def add_all(parser: argparse.ArgumentParser) -> None:
    """The option that prints every measure."""
    parser.add_argument("--all", action="store_true", help="print every measure")


def add_power(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """The power model that energy is computed with."""
    add_knob(parser, replace(BILLINGS["power"], default=default))


def add_billing(parser: argparse.ArgumentParser) -> None:
    """All that energy is computed with."""
    for knob in BILLINGS.values():
        if knob.option:
            add_knob(parser, knob)
