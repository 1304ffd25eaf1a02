# SPDX-License-Identifier: GPL-2.0-or-later
"""Which variants of a page stand for an author's series, and that they are written anew."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kernels.variants import load_variants

#: Of a variant's source: an author and the title of a series, ``Xia: [RFC PATCH v2 0/7]``.
_SERIES = re.compile(r"(\w+): \[(?:RFC )?PATCH [^]]*\]")
#: How the source of other variants begins, which may name a series as well.
_NOT_OF_AN_AUTHOR = ("ours", "Linux ")
_RECIPE = "../recipes/your-patch.md#the-authors-own-series-next-to-ours"


def author_of(variant: str) -> str:
    """The author of the series that a variant stands for by its declaration; empty for others."""
    known = load_variants().get(variant.partition("@")[0])
    if known is None or known.source.startswith(_NOT_OF_AN_AUTHOR):
        return ""
    series = _SERIES.search(known.source)
    return series[1] if series else ""


def written_anew(variants: Iterable[str]) -> str:
    """The sentence for a page's first lines."""
    by_author: dict[str, list[str]] = {}
    for variant in dict.fromkeys(variants):
        if author := author_of(variant):
            by_author.setdefault(author, []).append(variant)
    if not by_author:
        return "No variant of this page stands for an author's series of patches."
    names = "; ".join(f"{', '.join(some)} ({author})" for author, some in by_author.items())
    return (
        "Variants that stand for an author's series are written anew by this project, from "
        "descriptions and not from the author's code, and [deviate](../reference/variants.md): "
        f"{names}. "
        f"[The author's own patches]({_RECIPE}) can be run next to them."
    )
