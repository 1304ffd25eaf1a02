# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope list``: the names of one kind, one per line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from eascope.experiments.cli.output import print_columns, print_json
from eascope.host.errors import RequestError, unknown
from eascope.kernels.naming import releases_of
from eascope.kernels.switches import switch_words

if TYPE_CHECKING:
    from eascope.kernels.variants import Variant

SUMMARY = "list platforms, variants, scenarios, engines or campaigns, one per line"
EXAMPLE = "eascope list scenarios"

Objects = list[dict[str, Any]]


def _entry(name: str, summary: str | RequestError) -> dict[str, Any]:
    """The listed text for ``name``: its summary, or its file's fault."""
    if isinstance(summary, RequestError):
        return {"name": name, "summary": f"broken: {summary}", "broken": str(summary)}
    return {"name": name, "summary": summary}


def _platforms() -> Objects:
    from eascope.configs.platform_file import list_platforms, load_platform

    entries = []
    for name, summary in list_platforms():
        entry = _entry(name, summary)
        if "broken" not in entry:
            billing = load_platform(name).billing
            entry |= {"power": {"default": billing.default, "offers": list(billing.offers)}}
            entry["billed"] = billing.words
        entries.append(entry)
    return entries


def _variants() -> Objects:
    from eascope.kernels.variants import load_catalogue

    catalogue = load_catalogue()
    short = ("name", "summary", "kernel", "declares", "source")
    return [
        {key: _object_of(variant)[key] for key in short} for variant in catalogue.variants.values()
    ] + [_entry(name, error) for name, error in catalogue.broken.items()]


def _scenarios() -> Objects:
    from eascope.experiments.scenario.names import summaries

    return [_entry(name, summary) for name, summary in summaries()]


def _engines() -> Objects:
    from eascope.engines.registry import DEFAULT_ENGINE, ENGINES

    default = {DEFAULT_ENGINE: " (the default)"}
    return [
        _entry(kind.name, kind.summary + default.get(kind.name, ""))
        | {"modes": [_entry(mode, summary) for mode, summary in kind.modes.items()]}
        for kind in ENGINES.values()
    ]


def _campaigns() -> Objects:
    from eascope.experiments.sweeps.campaign_file import campaign_summaries

    return [_entry(name, summary) for name, summary in campaign_summaries()]


KINDS: dict[str, Callable[[], Objects]] = {
    "platforms": _platforms,
    "variants": _variants,
    "scenarios": _scenarios,
    "engines": _engines,
    "campaigns": _campaigns,
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The kind."""
    parser.add_argument("kind", metavar="KIND", help=" | ".join(KINDS))
    parser.add_argument(
        "--long",
        action="store_true",
        help="variants: also print source, deviations and switches",
    )


def run(options: argparse.Namespace) -> int:
    """Print the names of a kind.

    :raises RequestError: for a kind that there is not, and for ``--long`` of another than variants.
    """
    if options.kind not in KINDS:
        raise unknown("kind", options.kind, KINDS)
    if options.long and options.kind != "variants":
        raise RequestError("--long works only with: list variants")
    if options.long:
        return _long(as_json=options.json)
    objects = KINDS[options.kind]()
    if options.json:
        print_json(objects)
    else:
        print_columns(
            line
            for entry in objects
            for line in (
                (entry["name"], entry["summary"]),
                *((("  --power", entry["billed"]),) if "billed" in entry else ()),
                *((f"  --mode {mode['name']}", mode["summary"]) for mode in entry.get("modes", ())),
            )
        )
    return 0


def _long(*, as_json: bool) -> int:
    from eascope.kernels.variants import load_catalogue

    catalogue = load_catalogue()
    broken = [_entry(name, error) for name, error in catalogue.broken.items()]
    if as_json:
        print_json([*map(_object_of, catalogue.variants.values()), *broken])
    else:
        blocks = [_lines_of(variant) for variant in catalogue.variants.values()]
        blocks += [[f"{entry['name']}: {entry['summary']}"] for entry in broken]
        print("\n\n".join("\n".join(block) for block in blocks))
    return 0


def _object_of(variant: Variant) -> dict[str, Any]:
    """All declarations of a variant, for JSON."""
    return {
        "name": variant.name,
        "summary": variant.summary,
        "source": variant.source,
        "deviations": list(variant.deviations),
        "kernel": variant.kernel,
        "releases": releases_of(variant),
        "dtb": variant.dtb,
        "boot": variant.boot,
        "switches": [list(switch) for switch in variant.switches],
        "declares": asdict(variant.declares),
    }


def _lines_of(variant: Variant) -> list[str]:
    """The declarations of a variant as lines of text, for ``--long``."""
    lines = [variant.name, f"  {variant.summary}", f"  source: {variant.source}"]
    lines += [f"  deviates: {deviation}" for deviation in variant.deviations]
    return [*lines, *(f"  {name}: {value}" for name, value in _settings(variant))]


def _settings(variant: Variant) -> Iterator[tuple[str, str]]:
    eas = "on" if variant.declares.eas else "off"
    yield "kernel", variant.kernel
    yield "releases", " ".join(releases_of(variant))
    if variant.dtb != "std":
        yield "device tree", variant.dtb
    if variant.boot:
        yield "boot arguments", variant.boot
    yield "switches", " ".join(switch_words(variant.switches)) or "none"
    yield "declares", f"EAS {eas}, governor {variant.declares.governor}"
