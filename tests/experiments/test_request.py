# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests: what is refused or cautioned of before anything is built."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from eascope.experiments.cautions import wrong_capacities
from eascope.experiments.controls import Controls
from eascope.experiments.request import resolve
from eascope.host.errors import RequestError
from eascope.kernels.own import read_own
from eascope.kernels.variants import load_catalogue
from tests.support.cells import REQUEST, Artefacts


@pytest.mark.parametrize(
    ("mode", "elide", "speeds", "words"),
    [
        ("elided", True, "board", ""),
        ("elided-detailed", True, "measured", ""),
        ("elided", False, "board", "little 383 instead of 810"),  # 950 to 1200 MHz
        ("timing", False, "measured", "little 329 instead of 810"),
        ("detailed", False, "board", "little 383 instead of 329; --speeds measured corrects them"),
        ("detailed", False, "measured", ""),
    ],
)
def test_capacities_that_gem5_does_not_have_are_told(
    mode: str, elide: bool, speeds: str, words: str
) -> None:
    controls = Controls(speeds=speeds)
    names = resolve(replace(REQUEST, engine="gem5", mode=mode, elide=elide, controls=controls))
    warning = wrong_capacities(names)
    assert words in warning
    assert bool(words) == bool(warning)
    # A platform that nobody has characterised can be run all the same.
    unknown = replace(names, activity=replace(names.activity, measured=()))
    if mode == "detailed":
        assert "is not known: eascope characterise measures it" in wrong_capacities(unknown)
    elif speeds == "board":
        assert wrong_capacities(unknown) == warning


@pytest.mark.parametrize(
    ("variant", "statement", "message"),
    [
        ("cass", "migrations > 3", r"expect\[\d\]\.variant = 'cass': .*\(did you mean cas\?\)"),
        (
            "cas",
            "migrations > migrations[mainlin]",
            r"expect\[\d\]\.statement = 'mainlin': .*\(did you mean mainline\?\)",
        ),
    ],
)
def test_unknown_variant_in_expect(
    artefacts: Artefacts, tmp_path: Path, variant: str, statement: str, message: str
) -> None:
    path = tmp_path / "x.toml"
    extra = f'\n[[expect]]\nvariant = "{variant}"\nstatement = "{statement}"\nsource = "none"\n'
    path.write_text(resolve(REQUEST).scenario.path.read_text() + extra)
    with pytest.raises(RequestError, match=message) as caught:
        resolve(replace(REQUEST, scenario=str(path)))
    assert str(caught.value).startswith(f"{path}: ")


def test_a_variant_of_the_command_may_be_expected_of(
    artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    patch = tmp_path / "margin.patch"
    patch.write_text("--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n")
    path = tmp_path / "x.toml"
    extra = '\n[[expect]]\nvariant = "margin"\nstatement = "migrations > 3"\nsource = "none"\n'
    path.write_text(resolve(REQUEST).scenario.path.read_text() + extra)
    own = read_own([], [str(patch)])
    request = resolve(replace(REQUEST, scenario=str(path), own=own))
    assert request.scenario.expect[-1].variant == "margin"
    with pytest.raises(RequestError, match="'margin': allowed"):
        resolve(replace(REQUEST, scenario=str(path)))


def test_planned_variants_are_expected_of_and_not_run(
    artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = "soon"
    with_one = replace(load_catalogue(), planned={planned: "not built yet"})
    for room in ("eascope.experiments.request", "eascope.kernels.naming"):
        monkeypatch.setattr(f"{room}.load_catalogue", lambda: with_one)
    path = tmp_path / "x.toml"
    extra = f'\n[[expect]]\nvariant = "{planned}"\nstatement = "migrations > 3"\nsource = "none"\n'
    path.write_text(resolve(REQUEST).scenario.path.read_text() + extra)
    assert resolve(replace(REQUEST, scenario=str(path))).scenario.expect[-1].variant == planned
    with pytest.raises(
        RequestError, match=f"variant '{planned}' has no kernel yet.*: eascope list v"
    ):
        resolve(replace(REQUEST, variant=planned))
