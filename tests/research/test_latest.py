# SPDX-License-Identifier: GPL-2.0-or-later
"""The page ``latest`` and its feed, drawn from records."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from eascope.configs.platform import Platform
from research import latest
from research.latest import committed, feed, page, write
from tests.support.markdown import anchors, links
from tests.support.outcomes import outcome
from tests.support.repo import REPO

OLD = {"platform": "pixel6", "scenario": "smoke", "conditions": "platform", "variant": "cas"}
OLD |= {"baseline": "mainline"}


def old(change: float, low: float | None, high: float | None, **more: Any) -> dict[str, Any]:
    """A row of a record without the column ``checked``."""
    return {**OLD, "change": change, "low": low, "high": high, **more}


def of(*cells: dict[str, Any], seeds: int = 20) -> str:
    return page({"uclamp": {"seeds": seeds, "cells": cells}, "elision": {}})


def test_a_row_is_that_of_a_check(juno: Platform) -> None:
    row = outcome(juno, energy=0.9, p99=1.25)
    checked = [*row.cells()[1:], "a note"]
    text = of(
        old(-10, -11, -9, checked=checked, conditions="source"),
        old(0, None, None, variant="mainline"),
    )
    head, cells, _, note, *_ = text.partition("```text\n")[2].splitlines()[1:]
    assert (head, note) == ("smoke (setup of its source)", "a note")
    assert re.split("  +", cells) == ["", "pixel6", *map(str, checked[:4])]
    assert "mainline against" not in text


@pytest.mark.parametrize(
    ("ends", "seeds", "row"),
    [
        ((-11.0, -9.0), 20, ["-10.0 (-11.0..-9.0)*", "-", "-", "better (energy)"]),
        ((9.0, 11.0), 20, ["+10.0 (+9.0..+11.0)*", "-", "-", "worse (energy)"]),
        ((-1.0, 3.0), 20, ["+1.0 (-1.0..+3.0)", "-", "-", "no difference seen (energy)"]),
        ((9.0, 11.0), 19, ["+10.0 (+9.0..+11.0)*", "-", "-", "not tested"]),
        ((None, None), 20, ["+1.0", "-", "-", "not tested"]),
    ],
)
def test_an_older_record_has_the_energy_alone(
    ends: tuple[float | None, float | None], seeds: int, row: list[str]
) -> None:
    low, high = ends
    change = 1.0 if low is None or high is None else (low + high) / 2
    line = of(old(change, low, high), seeds=seeds).splitlines()[-3]
    assert re.split("  +", line) == ["", "pixel6", *row]


def test_releases_are_apart_and_anchors_are_names() -> None:
    cells = [old(1, 0.5, 2), old(1, 0.5, 2, variant="cas@7.3", baseline="mainline@7.3")]
    text = of(*cells)
    assert re.findall("^##+ .*", text, re.MULTILINE) == [
        *("## Linux 7.3", "### cas@7.3 against mainline@7.3"),
        *("## Linux 6.12", "### cas against mainline"),
    ]
    assert {"cas-against-mainline", "cas73-against-mainline73"} < anchors(text)


def test_all_links_of_the_drawn_page_hold(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    assert write(tmp_path) == [{"Latest": "docs/latest.md"}]
    text = (tmp_path / "docs" / "latest.md").read_text()
    assert text.count("```text\n") > 20
    assert len(anchors(text)) == len(re.findall("^#+ ", text, re.MULTILINE))
    for _, target in links(text):
        assert target == latest.FEED or (REPO / "docs" / target).is_file(), target


def test_the_feed_has_an_entry_for_each_committed_record() -> None:
    commits = {
        "uclamp": ("ab12", "2026-11-30T05:51:22+00:00"),
        "boards": ("cd34", "2026-11-29T05:51:22+00:00"),
        "new": ("", ""),
    }
    root = ET.fromstring(feed(commits))
    atom = "{http://www.w3.org/2005/Atom}"
    assert root.tag == f"{atom}feed"
    assert root.findtext(f"{atom}updated") == "2026-11-30T05:51:22+00:00"
    entries = root.findall(f"{atom}entry")
    assert [entry.findtext(f"{atom}title") for entry in entries] == ["uclamp", "boards"]
    (link,) = entries[0].iter(f"{atom}link")
    assert link.get("href") == "results/uclamp.html"
    assert "ab12" in str(entries[0].findtext(f"{atom}summary"))
    names = [str(each.text) for each in root.iter(f"{atom}id")]
    assert len({*names}) == 3
    assert feed(commits) == feed(dict(reversed(commits.items())))
    assert feed({}).count(b"<entry>") == 0


def test_a_records_commit_is_known() -> None:
    commit, date = committed("uclamp")
    assert re.fullmatch("[0-9a-f]{40} 20..-..-..T.*", f"{commit} {date}")
    assert committed("no-such-study") == ("", "")
