# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope scenario``: rt-app's JSON to a scenario, and a scenario's tasks to rt-app's JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from eascope.experiments.cli.output import print_json, shown
from eascope.host.errors import RequestError, unknown

SUMMARY = "make a scenario from rt-app's JSON, or rt-app's JSON from a scenario"
EXAMPLE = "eascope scenario import video-short.json"

#: What ``eascope scenario`` can be asked to do.
VERBS = ("import", "export")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The file or the scenario, and what is written."""
    parser.add_argument(
        "verb",
        metavar="import|export",
        help="import: a file of rt-app as a scenario; export: a scenario's tasks for rt-app",
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="import: a JSON file of rt-app, with what workgen adds; export: a scenario, see: "
        "eascope list scenarios",
    )
    parser.add_argument("--name", metavar="X", help="import: write X.toml (default: as the JSON)")
    parser.add_argument(
        "--rt-app", action="store_true", help="export: as rt-app's JSON, which LISA reads, too"
    )
    parser.add_argument(
        "--platform",
        metavar="P",
        default="juno-r2",
        help="export: board whose CPUs and capacities names stand for (default juno-r2)",
    )
    parser.add_argument("--out", metavar="FILE", help="write this file")


def run(options: argparse.Namespace) -> int:
    """Write the file; say what is meant otherwise in it.

    :raises RequestError: a wrong source; nothing is written then.
    """
    if options.verb not in VERBS:
        raise unknown("scenario command", options.verb, VERBS)
    text, notes = (_import if options.verb == "import" else _export)(options)
    name = options.name or Path(options.source).stem
    out = options.out or (f"{name}.toml" if options.verb == "import" else None)
    if out is None:
        print(text, end="")
        return 0
    path = Path(out)
    if path.exists():
        raise RequestError(f"--out {path}: is there: allowed: the name of a new file")
    path.write_text(text)
    if options.json:
        print_json({"file": str(path), "notes": notes})
    else:
        print("\n".join([shown(path), *(f"  {note}" for note in notes)]))
    return 0


def _import(options: argparse.Namespace) -> tuple[str, list[str]]:
    """The scenario's text, and what is meant otherwise here than on a board."""
    from eascope.experiments.rtapp_json import read, text_of
    from eascope.host.strict import parse_toml

    path = Path(options.source)
    if path.suffix != ".json":
        raise RequestError(f"scenario import {options.source}: allowed: a .json file of rt-app")
    text = text_of(path)
    return text, list(read(path.name, parse_toml(path.name, text)["rt_app"]).notes)


def _export(options: argparse.Namespace) -> tuple[str, list[str]]:
    """rt-app's JSON, and what it cannot say."""
    from eascope.configs.inherit import activity_of
    from eascope.configs.platform_file import load_platform
    from eascope.experiments.rtapp import exported
    from eascope.experiments.scenario_file import load_scenario
    from eascope.host.proc import say

    if not options.rt_app:
        raise RequestError("scenario export: --rt-app is missing: allowed: --rt-app")
    platform = load_platform(options.platform)
    document, unsaid = exported(
        load_scenario(options.source, platform), platform, activity_of(platform)
    )
    if not document["tasks"]:
        raise RequestError(f"scenario export {options.source}: it has no tasks, only programs")
    notes = [f"not in rt-app's JSON: {words}" for words in unsaid]
    if not options.out:
        for note in notes:
            say(f"  {note}")
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n", notes
