# SPDX-License-Identifier: GPL-2.0-or-later
"""Options that several commands share, and a parser whose errors are one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

from eascope.configs.activity import ALL_CORES
from eascope.configs.billing import BILLED, PUBLISHED
from eascope.configs.core import PIPELINES
from eascope.experiments.arguments import at_most, between
from eascope.power.shared import STATED

PROGRAM = "eascope"


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

    def error(self, message: str) -> NoReturn:
        """Exit 2 with one line that names the help."""
        print(f"{PROGRAM}: error: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)


def _control_us(text: str) -> int:
    return at_most(100_000, text)


def add_cell(parser: argparse.ArgumentParser) -> None:
    """What ``run`` and ``compare`` simulate: platform, scenario, engine, controls."""
    parser.add_argument(
        "--platform", required=True, metavar="P", help="board model, see: eascope list platforms"
    )
    parser.add_argument(
        "--scenario", required=True, metavar="S", help="workload, see: eascope list scenarios"
    )
    parser.add_argument(
        "--engine",
        metavar="E",
        help="simulator, see: eascope list engines (default: the first in the list)",
    )
    parser.add_argument(
        "--mode",
        metavar="M",
        help="mode of the engine, if it has modes (default: its first)",
    )
    parser.add_argument("--full", action="store_true", help="take the scenario's full duration")
    parser.add_argument(
        "--no-elide", action="store_true", help="execute rt-app's busy loop instead of eliding it"
    )
    _add_own(parser.add_argument_group("kernels of your own"))
    _add_controls(parser.add_argument_group("controls, to see whether a result depends on them"))


def _add_own(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="NAME=TREE[@REF]",
        help="your git tree, at the commit REF or with uncommitted changes: NAME is mainline on "
        "it, VARIANT@NAME is another variant on it; may be repeated",
    )
    group.add_argument(
        "--patch",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="your patch, applied after our base queue: NAME (default: from the file's name) is "
        "mainline with it, NAME@7.3 the same on Linux 7.3; may be repeated, and patches with the "
        "same NAME are applied in the order given; a file with lines CONFIG_NAME=VALUE states "
        "options",
    )


def _add_controls(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--source-conditions",
        action="store_true",
        help="set the controls below as the scenario's source had them ([source_conditions]), "
        "except those on the command line",
    )
    group.add_argument(
        "--dvfs",
        default="model",
        metavar="D",
        help="how frequencies change: model (default: the same times on every platform) or board "
        "(the board's times, and schedutil's thread if the board uses it)",
    )
    for name, meaning in (
        ("rate-limit", "least time between two requests of schedutil"),
        ("transition-latency", "time that an OPP change takes"),
    ):
        group.add_argument(
            f"--{name}-us",
            type=_control_us,
            metavar="US",
            help=f"{meaning} (default: the platform's)",
        )
    _add_speeds(group)
    _add_other_controls(group)


def _add_speeds(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--speeds",
        default="board",
        metavar="S",
        help="speeds of the busy loop: board (default: in the ratio of the device tree's "
        "capacities), measured (on gem5's cores; the capacities follow) or hardware (measured on "
        "the board; the capacities stay)",
    )
    for name, low, high, meaning in (
        ("idle-exit", 0, 100, "time to leave an idle state deeper than WFI"),
        (
            *("kernel-rate", 10, 1000),
            "instructions per cycle of all code but the busy loop, on an engine that does not "
            "simulate pipelines",
        ),
    ):
        group.add_argument(
            f"--{name}-percent",
            type=partial(between, low, high),
            default=100,
            metavar="N",
            help=f"{meaning}, in percent of the platform's (default 100)",
        )
    group.add_argument(
        "--kernel-rate-of",
        choices=(ALL_CORES, *PIPELINES),
        default=ALL_CORES,
        help="the cores to which --kernel-rate-percent applies (default all)",
    )


def _add_other_controls(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--no-fast-switch",
        action="store_true",
        help="let schedutil's thread request frequencies and wait until each is in force, as on "
        "boards whose firmware switches",
    )
    group.add_argument(
        "--llc",
        metavar="L",
        help="which CPUs share the last-level cache: cluster (those of a cluster) or all (default: "
        "the platform's)",
    )
    group.add_argument(
        "--no-delay-dequeue", action="store_true", help="switch EEVDF's delayed dequeue off"
    )
    group.add_argument(
        "--no-noise",
        action="store_true",
        help="let a seed draw only the starts of threads, within 16 ms",
    )
    group.add_argument(
        "--reference",
        metavar="CORE@MHZ",
        help="count a scenario's work in microseconds of this core, such as cortex-a72@1200 "
        "(default: of the platform's largest CPU at its top OPP)",
    )
    group.add_argument(
        "--decisions",
        action="store_true",
        help="record and report why EAS chose each CPU (candidates, energies); such runs have "
        "other keys, because recording takes guest time",
    )
    group.add_argument(
        "--events",
        action="append",
        default=[],
        metavar="E[,E]",
        help="record more trace events, by name or group (eas, pelt, uclamp, cpufreq), for "
        "trace-cmd, KernelShark and LISA; such runs have other keys, too",
    )
    add_energy_model(group)


def add_energy_model(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """The energy model that the kernel is given."""
    parser.add_argument(
        "--em",
        default=PUBLISHED,
        metavar="M",
        help="powers that the kernel is given: published (default) or derived; --power chooses the "
        "powers that energy is computed with",
    )
    parser.add_argument(
        "--em-error",
        action="append",
        default=[],
        metavar="CLUSTER=X%",
        help="give the kernel wrong powers of one cluster, such as big=+20%%; may be repeated",
    )


def add_all(parser: argparse.ArgumentParser) -> None:
    """Whether every measure is printed."""
    parser.add_argument("--all", action="store_true", help="print every measure")


def add_power(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """The power model that energy is computed with."""
    parser.add_argument(
        "--power",
        default=default,
        metavar="M",
        help=f"powers that energy is computed with: {', '.join(BILLED)}; eascope list platforms "
        f"says which ones a platform offers (default: {default or 'as the platform states'})",
    )


def add_shared_power(parser: argparse.ArgumentParser) -> None:
    """The billing of the shared part of a cluster."""
    parser.add_argument(
        "--shared-power",
        default=STATED,
        metavar="S",
        help="power billed for the shared part of a cluster (L2, cluster logic): stated (default), "
        "off (nothing in cluster-sleep) or zero",
    )
