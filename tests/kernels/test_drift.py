# SPDX-License-Identifier: GPL-2.0-or-later
"""Which patches of a series still apply: clean, fuzzy and failing ones are distinguished."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.kernels import drift
from eascope.kernels.drift import drifts, main, report
from eascope.kernels.releases import RELEASES
from eascope.kernels.source import Source
from eascope.kernels.variants import Kernel, load_catalogue
from tests.support.toy_linux import LINES

Toy = Callable[[str], tuple[Path, Path]]
OURS = Source("6.12.0", "6.12.0-1", "0" * 64)
BETWEEN = Source("7.2.0", "7.2.0-1", "0" * 64)
HUNK = (
    "@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+line five\n line 6\n line 7\n line 8\n"
)


def kernel(series: Path) -> Kernel:
    """A kernel of the toy's series alone."""
    return Kernel("toy", "", ("toy",), (), own=(series,))


def add(series: Path, number: int, old: str, new: str) -> None:
    """One more patch, which makes ``old`` of the file ``new``, without anything around it."""
    first = (series / "0001-change.patch").read_text()
    line = LINES.splitlines().index(old) + 1
    hunk = f"@@ -{line},1 +{line},1 @@\n-{old}\n+{new}\n"
    (series / f"{number:04}-more.patch").write_text(first.replace(HUNK, hunk))
    with (series / "series").open("a") as order:
        order.write(f"{number:04}-more.patch\n")


def tried(toy: Toy, text: str, source: Source = OURS) -> drift.Drift:
    """What becomes of the toy's only patch on a file that has ``text``."""
    tree, series = toy(text)
    (outcome,) = drifts(source, [kernel(series)], tree)
    assert (tree / "file.c").read_text() == text, "it is tried on a copy"
    return outcome


@pytest.mark.parametrize(
    ("text", "counts", "words"),
    [
        (LINES, ["1", "0", "0", "0 of 1"], ""),
        ("new\n" * 20 + LINES, ["1", "0", "0", "0 of 1"], ""),
        (LINES.replace("line 2", "line two"), ["0", "1", "0", "0 of 1"], "1 of 1 hunks need fuzz"),
        (LINES.replace("line 5", "line V"), ["0", "0", "1", "1 of 1"], "1 of 1 hunks fail"),
        (
            LINES.replace("line 5", "line five"),
            ["0", "0", "1", "1 of 1"],
            "1 of 1 hunks fail, it is already applied",
        ),
    ],
    ids=["clean", "offset", "fuzzy", "failing", "there"],
)
def test_a_patch_is_clean_fuzzy_or_failing(
    toy: Toy, text: str, counts: list[str], words: str
) -> None:
    outcome = tried(toy, text)
    assert outcome.row == [
        "Linux 6.12.0 (linux-source-6.12 6.12.0-1)",
        "toy",
        "series",
        "1",
        *counts,
    ]
    assert outcome.failed == bool(words)
    lines = report([outcome]).splitlines()
    assert len(lines) == (3 if words else 2)
    assert not words or lines[-1] == f"toy/0001-change.patch on {OURS.label}: {words}"


def test_a_file_that_is_gone_fails(toy: Toy) -> None:
    tree, series = toy(LINES)
    (tree / "file.c").unlink()
    (outcome,) = drifts(OURS, [kernel(series)], tree)
    assert outcome.row[-2:] == ["1", "1 of 1"]


def test_the_next_patch_is_tried_on_the_hunks_that_applied(toy: Toy) -> None:
    """The first patch has a hunk for line 1, which applies, and one for line 5, which does not."""
    tree, series = toy(LINES.replace("line 5", "line V"))
    add(series, 2, "line 9", "line nine")
    add(series, 3, "line 1", "line i")
    first = series / "0001-change.patch"
    first.write_text(
        first.read_text().replace(HUNK, f"@@ -1,1 +1,1 @@\n-line 1\n+line one\n{HUNK}")
    )
    (outcome,) = drifts(OURS, [kernel(series)], tree)
    assert [(patch.failed, patch.hunks) for patch in outcome.tried] == [(1, 2), (0, 1), (1, 1)]
    assert outcome.row[3:] == ["3", "1", "0", "2", "2 of 4"]


def test_a_series_is_tried_on_top_of_the_series_below(toy: Toy, tmp_path: Path) -> None:
    """The second series needs the first; each is tried once, whatever number of kernels has it."""
    tree, series = toy(LINES)
    upper = tmp_path / "upper"
    shutil.copytree(series, upper)
    patch = upper / "0001-change.patch"
    patch.write_text(patch.read_text().replace("-line 5", "-line five").replace("+line five", "+V"))
    under = kernel(series)
    both = under.with_series(upper)
    drifts_found = drifts(OURS, [under, both], tree)
    assert [item.row[1] for item in drifts_found] == ["toy", "upper (on toy)"]
    assert not any(item.failed for item in drifts_found)


def test_only_a_release_that_a_series_is_kept_for_must_be_clean(toy: Toy) -> None:
    outcome = tried(toy, LINES.replace("line 5", "line V"), BETWEEN)
    assert outcome.row[-2:] == ["1", "1 of 1"]
    assert not outcome.failed


def test_a_series_that_this_release_has_not_is_not_tried(toy: Toy) -> None:
    tree, series = toy(LINES)
    (series / "series").rename(series / "series-7.3")
    assert drifts(OURS, [kernel(series)], tree) == []


@pytest.mark.parametrize(("text", "code"), [(LINES, 0), (LINES.replace("line 5", "line V"), 1)])
def test_the_command_prints_the_table_and_fails_with_a_patch(
    toy: Toy,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    code: int,
) -> None:
    tree, series = toy(text)
    monkeypatch.setattr(drift, "sources", lambda: [OURS])
    monkeypatch.setattr(drift, "tried_on", lambda source, _: drifts(source, [kernel(series)], tree))
    assert main([]) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["source", "series"]
    assert lines[1].endswith(f"{code} of 1")


def test_an_unknown_kernel_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bas"]) == 2
    assert "unknown kernel 'bas' (did you mean base?)" in capsys.readouterr().err


@pytest.mark.long
def test_every_series_on_every_source_that_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    """Prints the table; what a series is not kept for may fail."""
    kernels = list(load_catalogue().kernels.values())
    drifts_found = [item for source in drift.sources() for item in drift.tried_on(source, kernels)]
    with capsys.disabled():
        print(f"\n{report(drifts_found)}")
    assert {item.source.release.name for item in drifts_found} == set(RELEASES)
    assert not [item.row for item in drifts_found if item.failed]
