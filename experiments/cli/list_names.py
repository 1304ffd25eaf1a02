# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope list``: names of one kind with one line each."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from experiments.cli.output import print_columns, print_json
from host.errors import RequestError, unknown

SUMMARY = "names of one kind with one line each"
EXAMPLE = "eascope list scenarios"

Objects = list[dict[str, Any]]


def _entry(name: str, summary: str | RequestError) -> dict[str, Any]:
    """What is listed of ``name``: its summary, or what is wrong with its file."""
    if isinstance(summary, RequestError):
        return {"name": name, "summary": f"broken: {summary}", "broken": str(summary)}
    return {"name": name, "summary": summary}


def _platforms() -> Objects:
    from configs.platform_file import list_platforms

    return [_entry(name, summary) for name, summary in list_platforms()]


def _variants() -> Objects:
    from kernels.variants import load_catalogue

    catalogue = load_catalogue()
    return [
        {
            "name": variant.name,
            "summary": variant.summary,
            "kernel": variant.kernel,
            "declares": dict(variant.declares),
            "source": variant.source,
        }
        for variant in catalogue.variants.values()
    ] + [_entry(name, error) for name, error in catalogue.broken.items()]


def _scenarios() -> Objects:
    from experiments.scenario import summaries

    return [_entry(name, summary) for name, summary in summaries()]


def _engines() -> Objects:
    from engines.registry import ENGINES

    return [{"name": name, "summary": summary} for name, summary in ENGINES.items()]


KINDS: dict[str, Callable[[], Objects]] = {
    "platforms": _platforms,
    "variants": _variants,
    "scenarios": _scenarios,
    "engines": _engines,
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The kind."""
    parser.add_argument("kind", metavar="KIND", help=" | ".join(KINDS))


def run(options: argparse.Namespace) -> int:
    """Print the names of a kind.

    :raises RequestError: for a kind that there is not.
    """
    if options.kind not in KINDS:
        raise unknown("kind", options.kind, KINDS)
    objects = KINDS[options.kind]()
    if options.json:
        print_json(objects)
    else:
        print_columns((entry["name"], entry["summary"]) for entry in objects)
    return 0
