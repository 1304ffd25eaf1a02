# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope export``: a finished run in the format of another tool."""

from __future__ import annotations

import argparse
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.experiments.cli.options import add_power
from eascope.experiments.cli.output import print_json, shown
from eascope.experiments.cli.request import billing_of
from eascope.host.errors import RequestError

SUMMARY = "write a run's trace for Perfetto, or its platform for LISA"
EXAMPLE = "eascope export 3f9a --perfetto"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The run, the format, the file and the power model."""
    parser.add_argument(
        "run", metavar="RUN", help="directory of the run, or the beginning of its name"
    )
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--perfetto", action="store_true", help="a trace for ui.perfetto.dev")
    formats.add_argument(
        "--lisa", action="store_true", help="LISA's plat_info of the run's trace.dat"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="file to write (default: RUN.perfetto-trace, RUN.plat_info.yml)",
    )
    add_power(parser)


def plat_info(platform: Platform) -> str:
    """What LISA's ``PlatformInfo.from_yaml_map()`` reads of a board: CPUs, capacities, clocks."""
    lines = [
        "platform-info:",
        "  conf:",
        f"    name: {platform.name}",
        "    abi: arm64",
        "    os: linux",
    ]
    lines += [f"    cpus-count: {len(platform.cpus)}", "    cpu-capacities:", "      orig:"]
    lines += [f"        {cpu}: {capacity}" for cpu, capacity in enumerate(platform.capacities)]
    lines.append("    freq-domains:")
    lines += [f"    - {[*cluster.cpus]}" for cluster in platform.clusters]
    lines.append("    freqs:")
    for cluster in platform.clusters:
        lines += [f"      {cpu}: {[opp.khz for opp in cluster.opps]}" for cpu in cluster.cpus]
    return "\n".join(lines) + "\n"


def run(options: argparse.Namespace) -> int:
    """Write the file.

    :raises EascopeError: no run has that name, it is not finished or damaged, or the file is there.
    """
    from eascope.analysis.perfetto import perfetto
    from eascope.experiments.runs.finished import derived_by, platform_of
    from eascope.experiments.runs.store import find_run

    billing = billing_of(options)
    if not (options.perfetto or options.lisa):
        raise RequestError("export: --perfetto or --lisa is missing")
    if options.lisa and options.power:
        raise RequestError(
            f"--power {options.power} works only with --perfetto; LISA has no power values"
        )
    chosen = find_run(options.run)
    if chosen.state != "done":
        raise RequestError(
            f"{shown(chosen.path)}: {chosen.state}; only finished runs can be exported"
        )
    ending = "perfetto-trace" if options.perfetto else "plat_info.yml"
    path = Path(options.out or f"{chosen.path.name[:12]}.{ending}")
    if path.exists():
        raise RequestError(f"--out {path} already exists; choose another name")
    platform = platform_of(chosen)
    if options.perfetto:
        path.write_bytes(perfetto(derived_by(chosen, billing), platform))
    else:
        path.write_text(plat_info(platform))
    print_json({"file": str(path)}) if options.json else print(shown(path))
    return 0
