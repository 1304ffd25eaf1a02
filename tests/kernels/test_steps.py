# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of a series: which kernels they are, and what is no series."""

from pathlib import Path

import pytest

from eascope.kernels import variants
from eascope.kernels.naming import kernel_named, variant_named
from eascope.kernels.patch_series import series_patches
from eascope.kernels.steps import steps_of
from eascope.kernels.variants import SERIES, load_catalogue
from tests.support.refusals import refusal
from tests.support.series import numbered
from tests.support.toy_linux import LINES, git


@pytest.fixture(autouse=True)
def _own_cache(own_cache: Path) -> None:
    """Series of steps are artefacts."""


def test_files_give_a_kernel_for_each_number_of_patches(tmp_path: Path) -> None:
    steps, own = steps_of(str(numbered(tmp_path / "My Idea", 3)))
    assert [step.subject for step in steps] == [
        *("without the series", "Change 1", "Change 2", "Change 3")
    ]
    assert [step.variant for step in steps] == ["base", "my-idea-1", "my-idea-2", "my-idea"]
    usual = variant_named("mainline")[1]
    for count, step in enumerate(steps):
        kernel, variant = variant_named(step.variant, own)
        assert (kernel.name, variant.name, variant.switches) == (
            *[step.variant] * 2,
            usual.switches,
        )
        [base, *all_series] = kernel.folders(SERIES)
        assert base == SERIES / "base"
        texts = [patch.read_text() for series in all_series for patch in series_patches(series)]
        assert ["new" in text for text in texts] == [True] * count
        assert [text.count(f"+new {n}\n") for n, text in enumerate(texts, 1)] == [1] * count
    assert variant_named("base", own)[0] == kernel_named("base"), "it is built once"


def test_a_series_by_name_has_what_it_stands_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of ours; a variant of a person's own, on another variant and on another one's kernel."""
    steps, own = steps_of("sum-push@7.3")
    kernels = [variant_named(step.variant, own)[0] for step in steps]
    assert [kernel.name for kernel in kernels[:2]] == ["sum@7.3", "sum-push-1@7.3"]
    assert kernels[-1] == kernel_named("sum-push@7.3")
    assert {kernel.series[:2] for kernel in kernels} == {("base", "sum")}
    assert {kernel.release for kernel in kernels} == {"7.3"}
    for name, base in (("low", "cas"), ("high", "low")):
        folder = numbered(tmp_path / name, 2)
        text = f'summary = "x"\nbase = "{base}"\nboot = "a.{name}=1"\n'
        patches = ", ".join(f'"{file}"' for file in sorted(folder.iterdir()))
        (tmp_path / f"{name}.toml").write_text(f"{text}patches = [{patches}]\n")
    monkeypatch.setattr(variants, "own_folder", lambda _: tmp_path)
    load_catalogue.cache_clear()
    try:
        steps, own = steps_of("high")
        low, cas = kernel_named("low"), variant_named("cas")[1]
        whole = variant_named("high")[0]
    finally:
        load_catalogue.cache_clear()
    made = [variant_named(step.variant, own) for step in steps]
    assert [kernel.name for kernel, _ in made] == ["low", "high-1", "high"]
    assert (made[0][0], made[-1][0]) == (low, whole)
    assert made[1][0].series == ("base", "low", "high-1")
    assert {(variant.boot, variant.switches) for _, variant in made} == {
        ("a.low=1 a.high=1", cas.switches)
    }


def test_commits_of_a_tree_are_steps_as_they_are_there(linux: Path) -> None:
    (linux / "a.c").write_text(LINES)
    git(linux, "commit", "--quiet", "--all", "--message=three")
    steps, own = steps_of("old..main", str(linux))
    assert [step.subject for step in steps] == ["one", "two", "three"]
    heads = [git(linux, "rev-parse", name) for name in ("old", "v7.3.4", "main")]
    assert [step.variant for step in steps] == [f"g{head[:12]}" for head in heads]
    kernel, variant = variant_named(steps[1].variant, own)
    assert kernel.tree is not None
    assert (kernel.tree.ref, variant.switches) == (heads[1], variant_named("mainline")[1].switches)


def test_what_is_no_series_is_one_line(linux: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for words, *arguments in (
        ("no such series or file (did you mean feec?): allowed: blocked-tick, feec, ", "fec"),
        ("no such series or file: allowed: blocked-tick, feec, ", "mainline"),
        ("no such file; expected an mbox", "../no..such"),
        ("no file *.patch or *.eml", str(tmp_path / "empty")),
        (f"no commit; expected A..B, where {linux} has commits", "main..old", str(linux)),
        (f"'no' is no commit, branch or tag of the git tree {linux}", "old..no", str(linux)),
        ("range 'sum'; expected A..B", "sum", str(linux)),
        ("is no commit, branch or tag of the git tree", "a..b", str(tmp_path / "empty")),
    ):
        assert words in refusal(steps_of, *arguments)
