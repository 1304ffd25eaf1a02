# SPDX-License-Identifier: GPL-2.0-or-later
"""The report: one file that needs nothing else, with everything that a reader must know."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from eascope.analysis import figures, report
from eascope.analysis.answer import answers
from eascope.analysis.choice import Judged
from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.engine import error_words
from eascope.analysis.glance import leading_lines
from eascope.analysis.run_diff import RunDiff
from eascope.configs.platform_file import load_platform
from tests.analysis.test_decisions import decided
from tests.support.records import controls_record

Compared = Callable[[int], Comparison]
_VOID = {"meta", "br", "path", "use", "rect", "circle", "line", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """Checks nesting; collects identifiers, references and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href", "data", "poster", "srcset", "action"):
                self.references.append(value or "")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag


def first_seed(of: Comparison) -> RunDiff:
    return RunDiff.of(of.platform, *(of.variants[name][0] for name in of.names[:2]))


@pytest.fixture(scope="module")
def page(compared: Compared, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    drawn = figures.write(compared(2), folder / "figures")
    diff = first_seed(compared(2))
    return report.write(compared(2), drawn, folder / "report.html", diff=diff).read_text()


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    parsed = Page()
    parsed.feed(page)
    parsed.close()
    assert parsed.open == []
    assert parsed.references
    assert all(reference.startswith("#") for reference in parsed.references)
    assert not parsed.tags & {"link", "img", "iframe", "object", "embed"}
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert not re.search(r"https?://|@import|url\((?!#)|file://", without_namespaces)
    assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|\bimport\(|sendBeacon", page)
    assert "default-src 'none'" in page


def test_identifiers_are_unique_and_references_resolve(page: str) -> None:
    parsed = Page()
    parsed.feed(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    known = set(parsed.ids)
    assert {reference[1:] for reference in parsed.references} <= known
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= known


def test_the_report_has_provenance_figures_and_every_measure(page: str, compared: Compared) -> None:
    error = escape(error_words(compared(2).variants["mainline"][0]))
    for words in (
        f"Engine <b>qemu</b> ({error}; busy loops elided)",
        "2 seeds",
        "Fewer than 10 seeds: values only, no test",
        "all variation comes from the seeds",
        "only 2 of the 20 seeds required",
        "a source",
        "Assumed values",
        "one instruction per cycle",
        "power of one busy CPU measured",
        "rate_limit_us",
        "on (read back)",
        "off (read back)",
        "Values by seed",
        "mainline-0",  # the runs that it stands on
        "cas-1",
    ):
        assert words in page, words
    assert page.count("<svg ") == 4
    for line in compared(2).lines:
        assert line.row.label in page


def test_the_report_is_deterministic_and_undated(
    compared: Compared, tmp_path: Path, page: str
) -> None:
    drawn = figures.write(compared(2), tmp_path / "again")
    assert report.page(compared(2), drawn, diff=first_seed(compared(2))) == page
    assert str(tmp_path) not in page


def test_text_is_escaped(compared: Compared) -> None:
    good = compared(1)
    run = good.variants["mainline"][0]
    odd = controls_record(others={"<b>odd</b>": "<script>alert(1)</script>"})
    changed = replace(run, cell=replace(run.cell, controls=odd))
    text = report.page(comparison(good.platform, {**good.variants, "mainline": [changed]}), {})
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_options_of_a_patch_are_next_to_its_kernel(compared: Compared) -> None:
    good = compared(1)
    run = good.variants["cas"][0]
    built = replace(run.cell.kernel, name="mine", options=("options taken: CONFIG_FIELD=y",))
    changed = replace(run, cell=replace(run.cell, kernel=built))
    text = report.page(comparison(good.platform, {**good.variants, "cas": [changed]}), {})
    assert f"mine {built.version}; options taken: CONFIG_FIELD=y<" in text


def test_figures_of_another_board_are_listed(compared: Compared) -> None:
    good = compared(1)
    borrowed = tuple(load_platform("pixel6").borrowed)
    assert borrowed

    def page_of(figures: tuple[str, ...]) -> str:
        runs = {
            name: [replace(item, cell=replace(item.cell, borrowed=figures)) for item in some]
            for name, some in good.variants.items()
        }
        return report.page(comparison(good.platform, runs), {})

    text = page_of(borrowed)
    assert "Borrowed values" in text
    assert "juno-sched-energy.dtsi" in text
    assert "Borrowed values" not in page_of(())


def test_the_verdicts_come_first_and_what_does_not_differ_is_folded(
    page: str, compared: Compared
) -> None:
    """Every measure is in the page once."""
    order = re.findall(r'<section id="(\w+)">', page)
    assert order[:3] == ["expectations", "parts", "why"]
    why = page[page.index('<section id="why">') :].partition("</section>")[0]
    assert "A: mainline" in why
    assert "repeat: eascope diff " in why
    assert order.index("figures") < order.index("measures") < order.index("timeline")
    island = page[page.index('id="answer">') :].removeprefix('id="answer">')
    facts = json.loads(island.partition("</script>")[0])
    assert len(facts["verdicts"]) == len(compared(2).verdicts)
    assert facts["answer"] == list(answers(compared(2)))
    assert facts["runs"] == {name: [f"{name}-0", f"{name}-1"] for name in compared(2).names}
    measures = page[page.index('<section id="measures">') :].partition("</section>")[0]
    shown, folded = measures.split("<details>")
    first, rest = (part.count("<tr><td") for part in (shown, folded))
    assert first + rest == len(compared(2).lines)
    assert len(leading_lines(compared(2))) <= first < rest


def test_whether_choices_were_right_stands_beside_why(compared: Compared) -> None:
    table = decided(("small", 0, 4, "least energy", "0:1:30:0:9 4:1:20:0:7"))
    judged = {"cas": Judged(8, 6, 2, 1.5, 1, 0.25, 4, 0, 2, 3.5)}
    text = report.page(compared(2), {}, decided={"cas": table}, judged=judged)
    section = text[text.index('<section id="decisions">') :].partition("</section>")[0]
    cells = re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", section[section.index("search errs") :])
    assert [cell for cell in cells if re.fullmatch(r"[\d.]+%?", cell)][:8] == [
        "8",
        "75%",
        "25%",
        "1.50",
        "12%",
        "0.25",
        "25%",
        "3.50",
    ]
