# SPDX-License-Identifier: GPL-2.0-or-later
"""Variants in words, for ``eascope list variants --long``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from eascope.kernels.naming import releases_of
from eascope.kernels.switches import switch_words

if TYPE_CHECKING:
    from eascope.kernels.variants import Variant


def object_of(variant: Variant) -> dict[str, Any]:
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


def lines_of(variant: Variant) -> list[str]:
    """The same as lines of text."""
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
