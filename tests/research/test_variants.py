# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of variants: what each is, sets and showed, and the list that leads to all of them."""

import re

import pytest

from eascope.host.errors import RequestError
from eascope.kernels.switches import switch_words
from eascope.kernels.variants import load_catalogue
from research import variants
from research.draw import INDEX, records_of, rows
from research.plan import STUDIES
from research.variants import PAGES, every_variant, group_of


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return every_variant()


def test_the_committed_pages_are_what_is_declared_and_recorded(pages: dict[str, str]) -> None:
    assert {path.stem: path.read_text() for path in PAGES.glob("*.md")} == pages, "make generate"


def test_the_list_has_each_variant_once(pages: dict[str, str]) -> None:
    """And leads to its row, or to its deviations, on the page of its family."""
    listed = re.findall(r"\[([\w-]+)\]\(([\w-]+)\.md(#\1)?\)", pages[INDEX])
    assert sorted(name for name, *_ in listed) == sorted(
        variant.name for variant in load_catalogue().shipped()
    )
    for name, page, section in listed:
        row = f"\n| [{name}](#{name}) | " if section else f"\n| {name} | "
        assert pages[page].count(row) == 1, name
        assert pages[page].count(f"\n## {name}\n") == bool(section), name


def test_a_row_has_what_the_family_does_not_share(pages: dict[str, str]) -> None:
    shared, _, table = pages["feec"].partition("\n| variant |")
    assert "kernel `feec` of Linux 6.12 and 7.3; EAS on; governor schedutil" in shared
    row = re.search(r"\| \[feec-b\].*", table)
    assert row
    *_, sets, energy = row[0].split(" | ")
    assert {"`feec_mode=1`", "`feec_pd_opp=0`"} <= {*sets.split(", ")}
    assert not any(word in shared for word in sets.split(", "))
    verdicts = records_of(STUDIES / "eas-pixel6")["record"]["verdicts"]
    word = rows(verdicts, variant="feec-b")[0]["verdict"]
    count = len(rows(verdicts, variant="feec-b", verdict=word))
    showed = energy.partition("[eas-pixel6]")[2].partition("<br>")[0]
    assert re.search(rf": .* compared with mainline .*; claims: .*{word} {count}", showed)
    assert "\n## feec-b\n\n* as [mainline](base.md#mainline)\n* " in table


def test_every_setting_source_and_deviation_is_on_the_page(pages: dict[str, str]) -> None:
    for page in ("base", "sum", "schedmc"):
        shared = pages[page].partition("\n| variant |")[0]
        for variant in load_catalogue().shipped():
            if group_of(variant) != page:
                continue
            row = re.search(rf"\| \[?{variant.name}\b(?!-).*", pages[page])
            assert row, variant.name
            for word in (*switch_words(variant.switches), *variant.boot.split()):
                assert (f"`{word}`" in row[0]) != (f"`{word}`" in shared), (variant.name, word)
            source = re.sub("https://[^ ,;]+", r"<\g<0>>", variant.source)
            assert (f"Source: {source}." in row[0]) != (f": {source}; kernel" in shared)


def test_a_group_that_nobody_wrote_about_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "group_of", lambda variant: "other")
    with pytest.raises(RequestError, match=r"^variants\.md\.in: .*; expected each of \['other'\]$"):
        every_variant()
