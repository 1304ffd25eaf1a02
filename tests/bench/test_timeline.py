# SPDX-License-Identifier: GPL-2.0-or-later
"""The timeline of a report in headless Chromium: time to open, frames per second, size.

Needs Debian's chromium (or its path as CHROMIUM) and the package playwright. The bounds are on the
processor time of the page's process (the least of five), as other load of the host would matter.
"""

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from eascope.analysis.report import document
from eascope.analysis.timeline import MOST, Mark, Track, html, island
from eascope.configs.platform_file import load_platform
from tests.support.measuring import Keep

pytestmark = pytest.mark.long

SECONDS, THREADS = 5, 40
MOST_OPEN_S, LEAST_FPS, MOST_BYTES = 1.0, 30.0, 5_000_000
#: Pans and zooms over the whole window, a frame each; gives their number and seconds.
FRAMES = """() => new Promise((done) => {
  const keys = [...Array(6).fill("w"), ...Array(60).fill("d"), ...Array(60).fill("a"), "s", "s"];
  keys.push(...Array(60).fill("d"), "s", "s", "s", "s", ...Array(60).fill("a"));
  const canvas = document.getElementById("timeline-view"), begin = performance.now();
  let frames = 0;
  const next = () => {
    if (frames === keys.length) done([frames, (performance.now() - begin) / 1000]);
    else {
      canvas.dispatchEvent(new KeyboardEvent("keydown", { key: keys[frames++] }));
      requestAnimationFrame(next);
    }
  };
  requestAnimationFrame(next);
})"""


def track(name: str, intervals: int) -> Track:
    """A run of 8 CPUs with this number of intervals on all of them."""
    draws, ns, each = np.random.default_rng(1), SECONDS * 10**9, intervals // 8
    parts = []
    for cpu in range(8):
        edges = np.sort(draws.choice(ns, 2 * each, replace=False)).astype(np.int64)
        threads = [f"task{number}" for number in draws.integers(THREADS, size=each)]
        times = {"t0_ns": edges[::2], "t1_ns": edges[1::2]}
        woken = {"by": draws.integers(9, size=each), "wait": draws.integers(10**6, size=each)}
        parts.append(
            pl.DataFrame({"task": threads, "thread": threads, "cpu": cpu, **times, **woken})
        )
    at = np.arange(0, ns, 4_000_000)
    clock = {"khz": 10**6 + at % 7 * 10**5, "t0_ns": at, "t1_ns": at + 4_000_000}
    clocks = pl.concat([pl.DataFrame({"cluster": number, **clock}) for number in range(3)])
    nj = draws.integers(25_000, 225_000, size=ns // 250_000)
    return Track(name, ns, pl.concat(parts), clocks, nj, 250_000)


def page(path: Path, intervals: int, most: int) -> Path:
    """A page of two runs with this number of intervals together."""
    marks = [Mark((at, at + 1000), (0, 4), f"wake-up {at}") for at in range(0, 5 * 10**9, 10**6)]
    tracks = [track(name, intervals // 2) for name in ("mainline", "other")]
    around = [(at, at + 1000) for at in range(0, 5 * 10**9, 5 * 10**8)]
    data = island(load_platform("pixel6"), tracks, marks, around, most)
    body = f'<section id="timeline">{html(["mainline", "other"], data, "")}</section>'
    path.write_text(document("two runs", "", body))
    return path


@pytest.fixture
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
    chromium = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    if not chromium:
        pytest.skip("no chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(shown: Any, path: Path, address: str = "") -> Any:
    """The page, drawn."""
    shown.goto(path.as_uri() + address)
    shown.locator("#timeline-told", has_text="differ").wait_for()
    return shown


@pytest.mark.parametrize(
    ("intervals", "cut"), [(200_000, False), (1_000_000, False), (1_000_000, True)]
)
def test_a_page_opens_and_pans(
    browser: Any,
    tmp_path: Path,
    keep: Keep,
    intervals: int,
    cut: bool,
) -> None:
    made = page(tmp_path / "page.html", intervals, MOST if cut else 1 << 60)
    machine = browser.new_browser_cdp_session()

    def spent() -> float:
        """Processor seconds of the processes of pages until now."""
        every = machine.send("SystemInfo.getProcessInfo")["processInfo"]
        return float(sum(each["cpuTime"] for each in every if each["type"] == "renderer"))

    empty, took, waited = tmp_path / "empty.html", [], []
    empty.write_text("<p>empty</p>")
    shown = browser.new_page(viewport={"width": 1366, "height": 900})
    for _ in range(5):
        shown.goto(empty.as_uri())
        shown.wait_for_timeout(1500)  # what the browser does after its own start
        before, begin = spent(), time.monotonic()
        opened(shown, made)
        waited.append(time.monotonic() - begin)
        took.append(spent() - before)
    begun = spent()
    frames, wall = shown.evaluate(FRAMES)
    rate, size = frames / (spent() - begun), made.stat().st_size
    keep(
        f"{intervals} intervals",
        {
            **{"open, processor s": min(took), "wall s": min(waited), "MB": size / 1e6},
            **{"frames per processor s": rate, "per wall s": frames / wall},
        },
    )
    assert rate >= LEAST_FPS
    if size <= MOST_BYTES:
        assert min(took) <= MOST_OPEN_S
    assert size <= MOST_BYTES or not cut


def test_keys_pointer_address_and_print(browser: Any, tmp_path: Path) -> None:
    made, wrong, asked = page(tmp_path / "page.html", 2000, MOST), [], []
    shown = browser.new_page(viewport={"width": 1366, "height": 900})
    for event in ("console", "pageerror"):
        shown.on(event, lambda what: wrong.append(str(what)))
    shown.on("request", lambda request: asked.append(request.url))
    opened(shown, made)
    told, view = shown.locator("#timeline-told"), shown.locator("#timeline-view")

    def address() -> list[int]:
        shown.wait_for_timeout(400)  # it is written when a view has rested
        return [
            int(number) for number in shown.evaluate("location.hash").partition("=")[2].split(",")
        ]

    view.focus()
    shown.keyboard.press("n")
    assert told.inner_text() == "difference 1 of 5000: wake-up 0"
    shown.keyboard.press("n")
    assert told.inner_text() == "difference 2 of 5000: wake-up 1000000"
    shown.keyboard.press("ArrowDown")
    assert re.fullmatch(
        r"A, CPU 1, \S+, 0\.\d+ to 0\.\d+ s, \d+ MHz, \d+ mW(, woken .*)?", told.inner_text()
    )
    shown.keyboard.press("Home")
    assert address() == [0, SECONDS * 10**9]
    box = view.bounding_box()
    shown.mouse.move(box["x"] + 300, box["y"] + 60)
    shown.mouse.wheel(0, -300)
    begin, end = address()
    assert end - begin == pytest.approx(SECONDS * 10**9 / 2, rel=0.01)
    shown.mouse.down()
    shown.mouse.move(box["x"] + 500, box["y"] + 60, steps=3)
    shown.mouse.up()
    _, _, first, last = address()
    assert begin < first < last < end
    sums = shown.locator("#timeline-sums").inner_text()
    assert [line.split("\t")[0] for line in sums.splitlines()[1:]] == ["A", "B", "B - A"]
    narrow = browser.new_page(viewport={"width": 390, "height": 800})
    again = opened(narrow, made, shown.evaluate("location.hash"))
    assert again.evaluate("document.documentElement.scrollWidth") == 390
    assert again.locator("#timeline-sums").inner_text() == sums
    again.close()
    printed = shown.pdf()
    assert b"/Width 3000" in printed
    shown.keyboard.press("Escape")
    assert address() == [begin, end]
    assert wrong == []
    assert asked == [made.as_uri()]
