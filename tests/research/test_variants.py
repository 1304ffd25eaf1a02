# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of variants: what each is, sets and showed, and the list that leads to all of them."""

import re

import pytest

from eascope.host.errors import RequestError
from eascope.kernels.variants import load_catalogue
from research import variants
from research.draw import INDEX, records_of, rows
from research.plan import STUDIES
from research.variants import PAGES, every_variant


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return every_variant()


def test_the_committed_pages_are_what_is_declared_and_recorded(pages: dict[str, str]) -> None:
    assert {path.stem: path.read_text() for path in PAGES.glob("*.md")} == pages, "make generate"


def test_the_list_has_each_variant_once(pages: dict[str, str]) -> None:
    """And leads to its section on the page of its family."""
    listed = re.findall(r"\[([\w-]+)\]\(([\w-]+)\.md#\1\)", pages[INDEX])
    assert sorted(name for name, _ in listed) == sorted(
        variant.name for variant in load_catalogue().shipped()
    )
    assert all(f"\n## {name}\n" in pages[page] for name, page in listed)


def test_a_section_has_source_switches_and_results(pages: dict[str, str]) -> None:
    page = pages["feec"].partition("\n## feec-b\n")[2].partition("\n## ")[0]
    assert "**Source:** " in page
    assert "**Deviations:**\n\n* as [mainline](base.md#mainline)\n* " in page
    assert "switches `feec_mode=1` `feec_pd_opp=0`" in page
    verdicts = records_of(STUDIES / "eas-pixel6")["record"]["verdicts"]
    word = rows(verdicts, variant="feec-b")[0]["verdict"]
    count = len(rows(verdicts, variant="feec-b", verdict=word))
    showed = page.partition("[eas-pixel6]")[2].partition("](../results")[0]
    assert re.search(
        rf": energy .* compared with mainline .*; expectations: .*{count} {word}", showed
    )


def test_a_group_that_nobody_wrote_about_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "group_of", lambda variant: "other")
    with pytest.raises(RequestError, match=r"^variants\.md\.in: .*; expected each of \['other'\]$"):
        every_variant()
