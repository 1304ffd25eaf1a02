# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages say in their first lines which variants stand for an author's series, written anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from analysis.results.origin import RESULTS
from kernels.variants import load_variants
from studies.authors import author_of, written_anew
from studies.draw import DRAWINGS
from studies.notes import PAGES

#: Pages whose own texts say so: the scoreboard, and those of campaigns.
OTHERWISE = [name for name in DRAWINGS if name == "hardware" or name.startswith("campaign-")]


def texts(value: Any) -> Iterator[str]:
    """All keys and texts of a record."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in pairs:
            yield str(key)
            yield from texts(part)
    elif isinstance(value, str):
        yield value


def test_the_declaration_says_whose_series_a_variant_stands_for() -> None:
    of = {name: author_of(name) for name in load_variants()}
    assert {name for name, author in of.items() if author == "Xia"} == {
        *("max-nospare0", "uclamp-sum", "sum-spare0"),
    }
    assert {name for name, author in of.items() if author == "Guittot"} == {
        *("feec-a", "feec-a1", "feec-b", "feec-c", "feec-d", "push-v8", "push-v8-stuck"),
    }
    assert set(of.values()) == {"", "Xia", "Guittot"}
    assert author_of("push-v8@7.3") == "Guittot"
    assert author_of("a variant that is gone") == ""


def test_the_sentence_names_variants_by_author() -> None:
    words = written_anew(["mainline", "feec-b", "uclamp-sum", "feec-b-plus", "feec-d", "feec-b"])
    assert "feec-b, feec-d (Guittot); uclamp-sum (Xia). [The author's own patches]" in words
    assert written_anew(["mainline", "cas"]).startswith("No variant of this page")


@pytest.mark.parametrize("name", [name for name in DRAWINGS if name not in OTHERWISE])
def test_a_page_names_them_before_its_question(name: str) -> None:
    record = json.loads((RESULTS / f"{name}.json").read_text())
    record.pop("origin")
    known = {text for text in texts(record) if author_of(text)}
    first, question, _ = (PAGES / f"{name}.md").read_text().partition("\n## Question\n")
    assert question
    if known:
        (sentence,) = (line for line in first.splitlines() if "are written anew" in line)
        named = sentence.partition("variants.md): ")[2].partition(". [")[0]
        assert all(variant in named for variant in known)
