# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope``: the command line (DESIGN.md, section 4).

Exit codes: 0 done, 1 the work failed, 2 the request is wrong, 130 interrupted. An error is one
line on stderr (a failed command adds the end of its log), never a traceback, unless eascope itself
is at fault and ``EASCOPE_DEBUG`` would be of use to whoever mends it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from experiments.arguments import count, natural
from experiments.cli import commands, power
from experiments.cli.characterise import PARTS, characterise
from host.errors import EascopeError, nearest

PROGRAM = "eascope"

#: Commands in the order of their help: one line of meaning, an example.
COMMANDS = {
    "doctor": ("what is present, missing, and how to get it", "eascope doctor"),
    "list": ("names of one kind with one line each", "eascope list scenarios"),
    "run": (
        "run one cell, unless it is there already",
        "eascope run --platform juno-r2 --variant mainline --scenario smoke",
    ),
    "compare": (
        "run what is missing; table of differences, figures, report",
        "eascope compare mainline cas --platform juno-r2 --scenario eas/video-playback",
    ),
    "show": ("one run: what it was and what came out", "eascope show 3f9a"),
    "status": ("every run and its state", "eascope status"),
    "characterise": (
        "measure speeds on gem5's detailed cores: workload kernels, a whole system",
        "eascope characterise juno-r2 --show",
    ),
    "verify": ("compare runs and cache with their recorded digests", "eascope verify"),
    "em": ("the kernel's energy model beside the derived power, OPP by OPP", "eascope em juno-r2"),
    "derive": (
        "finished runs by another power model, without simulating again",
        "eascope derive --power derived",
    ),
    "power": (
        "power of measured events, by a core's calibrated model",
        "eascope power predict --core cortex-a15 --csv rows.csv",
    ),
}
WORK = {
    "doctor": commands.doctor,
    "list": commands.list_names,
    "run": commands.run,
    "compare": commands.compare,
    "show": commands.show,
    "status": commands.status,
    "characterise": characterise,
    "verify": commands.verify,
    "em": power.em,
    "derive": power.derive,
    "power": power.power,
}


class Parser(argparse.ArgumentParser):
    """argparse, with errors as one line and examples that can be copied whole."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        """Exit 2 with one line that says where help is."""
        print(f"{PROGRAM}: error: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)


def _control_us(text: str) -> int:
    number = natural(text)
    if not 1 <= number <= 100_000:
        raise argparse.ArgumentTypeError(f"{text!r}: allowed: an integer from 1 to 100000")
    return number


def _cell_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--platform", required=True, metavar="P", help="the board, see: eascope list platforms"
    )
    parser.add_argument(
        "--scenario", required=True, metavar="S", help="the workload, see: eascope list scenarios"
    )
    parser.add_argument(
        "--engine", default="qemu", metavar="E", help="qemu (default, fast) or gem5 (reference)"
    )
    parser.add_argument(
        "--mode",
        metavar="M",
        help="of gem5: elided (default, atomic CPUs), elided-detailed, timing or detailed",
    )
    parser.add_argument("--full", action="store_true", help="the scenario's full duration")
    parser.add_argument(
        "--no-elide", action="store_true", help="execute rt-app's busy loop instead of eliding it"
    )
    controls = parser.add_argument_group("controls, to see whether a result hangs on them")
    for name, meaning in (
        ("rate-limit", "least time between two requests of schedutil"),
        ("transition-latency", "how long a change of the OPP takes"),
    ):
        controls.add_argument(
            f"--{name}-us", type=_control_us, metavar="US", help=f"{meaning} (the platform's)"
        )
    controls.add_argument(
        "--speeds", default="board", metavar="S",
        help="how fast core types execute the busy loop, capacities in the device tree included: "
        "board (default) or measured (on gem5's cores)",
    )  # fmt: skip
    controls.add_argument(
        "--no-delay-dequeue", action="store_true", help="EEVDF's delayed dequeue off"
    )
    controls.add_argument(
        "--decisions", action="store_true",
        help="record why EAS chose each CPU (candidates, energies) and say so in the report; "
        "a run of its own, since recording takes the guest's time",
    )  # fmt: skip
    _told_options(controls)


def _told_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """What the kernel is told of power."""
    parser.add_argument(
        "--em", default="published", metavar="M", help="powers that the kernel is told: published "
        "(default) or derived; energy is computed from the same power whatever it is told",
    )  # fmt: skip
    parser.add_argument(
        "--em-error", action="append", default=[], metavar="CLUSTER=X%",
        help="tell the kernel a wrong power of one cluster, such as big=+20%%; may be repeated",
    )  # fmt: skip


def make_parser() -> Parser:
    """The parser of the whole command line."""
    parser = Parser(
        prog=PROGRAM,
        description="Joules and milliseconds of Linux scheduler changes on simulated big.LITTLE.",
        epilog=f"example: {COMMANDS['compare'][1]}",
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    made = {}
    for name, (meaning, example) in COMMANDS.items():
        made[name] = subparsers.add_parser(
            name, help=meaning, description=f"{meaning}.", epilog=f"example: {example}"
        )
        made[name].add_argument("--json", action="store_true", help="print JSON on stdout")
    made["list"].add_argument("kind", metavar="KIND", help=" | ".join(commands.KINDS))
    made["run"].add_argument(
        "--variant", required=True, metavar="V", help="see: eascope list variants"
    )
    made["run"].add_argument(
        "--seed",
        type=natural,
        default=0,
        metavar="N",
        help="seed of the tasks' start offsets (default 0)",
    )
    _cell_options(made["run"])
    made["compare"].add_argument(
        "variants", nargs="+", metavar="V", help="two or more, the first is the baseline"
    )
    made["compare"].add_argument(
        "--seeds", type=count, default=1, metavar="N", help="runs per variant, seeds 0..N-1"
    )
    _cell_options(made["compare"])
    made["show"].add_argument("run", metavar="RUN", help="its directory, or how its name begins")
    made["characterise"].add_argument("platform", metavar="P", help="see: eascope list platforms")
    made["characterise"].add_argument(
        "--show", action="store_true", help="print what was measured before; measure nothing"
    )
    made["characterise"].add_argument(
        "--only", choices=PARTS, help="one part: "
        + "; ".join(f"{name}, {meaning}" for name, meaning in PARTS.items()),
    )  # fmt: skip
    made["verify"].add_argument(
        "runs", nargs="*", metavar="RUN", help="only these runs (default: all, and the cache)"
    )
    for name, default in (("run", "published"), ("compare", "published"), ("show", "published"),
                          ("derive", "derived")):  # fmt: skip
        made[name].add_argument(
            "--power", default=default, metavar="M",
            help=f"where energy comes from: published or derived (default {default})",
        )  # fmt: skip
    made["derive"].add_argument(
        "runs", nargs="*", metavar="RUN", help="only these runs (default: all that are finished)"
    )
    made["em"].add_argument(
        "platform", metavar="PLATFORM", help="the board, see: eascope list platforms"
    )
    _told_options(made["em"])
    made["power"].add_argument("verb", metavar="predict", help="predict: add a column power_w")
    made["power"].add_argument("--core", metavar="C", help="a core with counted events: cortex-a15")
    made["power"].add_argument(
        "--csv", metavar="FILE", help="rows with the columns that power-models/calibration names"
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the return value is the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    signal.signal(signal.SIGTERM, _interrupt)
    parser = make_parser()
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        name = arguments[0]
        parser.error(
            f"unknown command {name!r}{nearest(name, COMMANDS)}: allowed: {', '.join(COMMANDS)}"
        )
    try:
        options = parser.parse_args(arguments)
        if options.command is None:
            parser.print_help()
            return 2
        code = WORK[options.command](options)
        sys.stdout.flush()
        return code
    except EascopeError as error:
        print(f"{PROGRAM}: error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"\n{PROGRAM}: interrupted; the same command continues", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has seen enough; nothing more can be said to them.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if os.environ.get("EASCOPE_DEBUG"):
            raise
        print(f"{PROGRAM}: error: {error.filename or 'system'}: {error.strerror}", file=sys.stderr)
        return 1


def _interrupt(number: int, frame: object) -> NoReturn:
    """SIGTERM ends a command as Ctrl-C does."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())
