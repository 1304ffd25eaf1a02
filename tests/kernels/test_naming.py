# SPDX-License-Identifier: GPL-2.0-or-later
"""Names with a release: one key for every variant, and what is wrong in one line."""

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.experiments.runs.request import Request, resolve
from eascope.host.errors import RequestError
from eascope.kernels import naming, variants
from eascope.kernels.naming import (
    kernel_named,
    kernel_names,
    releases_of,
    variant_named,
    variant_names,
    variants_of,
)
from eascope.kernels.patch_series import folders_of_series
from eascope.kernels.state import state_expectations
from eascope.kernels.variants import load_catalogue, load_variants
from tests.support.command import refused
from tests.support.refusals import refusal


def test_a_variant_of_a_release_is_the_same_on_another_kernel() -> None:
    usual = load_variants()["cas"]
    kernel, variant = variant_named("cas@7.3")
    assert (variant.name, variant.kernel) == ("cas@7.3", "base@7.3")
    assert (kernel.name, kernel.release) == ("base@7.3", "7.3")
    assert (kernel.series, kernel.fragments) == (("base",), ("base",))
    assert (variant.switches, variant.declares) == (usual.switches, usual.declares)


@pytest.mark.parametrize("name", ["idea.patch", "./idea.patch", "./linux"])
def test_a_patch_or_a_tree_is_not_an_unknown_variant(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("idea.patch").touch()
    Path("linux").mkdir()
    with pytest.raises(
        RequestError, match=f"variant '{name}' is a file; expected a name .*; --patch takes"
    ):
        variant_named(name)
    with pytest.raises(RequestError, match="unknown variant 'linux'"):
        variant_named("linux")


def test_without_a_release_nothing_is_otherwise() -> None:
    catalogue = load_catalogue()
    usual = [name for name in variant_names() if "@" not in name]
    assert len(usual) > 30
    for name in usual:
        variant = catalogue.variants[name]
        assert variant_named(name) == (catalogue.kernels[variant.kernel], variant)
    kernel, variant = variant_named("mainline@6.12")
    assert (kernel.name, kernel.release, variant.kernel) == ("base", "6.12", "base")


def test_the_guest_proves_the_release(juno: Platform) -> None:
    _, variant = variant_named("mainline@7.3")
    lines = state_expectations(variant, juno)
    proofs = [line[2] for line in lines if line[0] == "contains" and line[1].endswith("/variant")]
    assert "kernel=base@7.3 queue=" in proofs


def test_every_kernel_of_every_release_is_named() -> None:
    names = kernel_names()
    assert {name.partition("@")[0] for name in names} == set(load_catalogue().kernels)
    assert "base@7.3" in names
    # A series that 6.12 has not.
    assert "push@7.3" in names
    assert "push" not in names
    for name in names:
        assert kernel_named(name).name == name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mainline@7.4", "'mainline@7.4': unknown release '7.4': allowed: mainline@6.12, mainline"),
        ("mainline@", "'mainline@': unknown release '': allowed: mainline@6.12, mainline@7.3"),
        ("mainlin@7.3", "unknown variant 'mainlin@7.3' (did you mean mainline?)"),
        ("@7.3", "unknown variant '@7.3'"),
        (
            "push-v8",
            "'push-v8': the series push is not ported to Linux 6.12; use push-v8@7.3\n",
        ),
        (
            "push-v8@6.12",
            "'push-v8@6.12': the series push is not ported to Linux 6.12; use push-v8@7.3\n",
        ),
        ("mainline@7.3@7.3", "unknown release '7.3@7.3'"),
        (
            "mainline-clamps-first@7.3",
            "Linux 7.3 does not have its switches; use mainline-clamps-first@6.12",
        ),
    ],
)
def test_a_wrong_name_is_one_line(name: str, words: str) -> None:
    command = ["run", "--platform", "juno-r2", "--scenario", "smoke", "--variant", name]
    message = refused(*command)
    assert words in f"{message}\n"


def test_a_series_that_is_not_ported_says_what_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for series in folders_of_series(variants.SERIES):
        (tmp_path / series.name).mkdir()
        (tmp_path / series.name / "series").touch()
    (tmp_path / "base/series-7.3").touch()
    monkeypatch.setattr(naming, "SERIES", tmp_path)
    of_base = [
        name
        for name, variant in load_variants().items()
        if variant.kernel == "base" and not variant.releases
    ]
    assert refusal(variant_named, "uclamp-sum@7.3") == (
        "variant 'uclamp-sum@7.3': the series sum is not ported to Linux 7.3; "
        "use " + ", ".join(f"{name}@7.3" for name in of_base)
    )
    with pytest.raises(RequestError, match=r"kernel 'sum@7\.3': the series sum is not ported to"):
        kernel_named("sum@7.3")


def test_a_variant_is_of_the_releases_that_have_its_switches() -> None:
    variant = load_variants()["mainline-clamps-first"]
    assert variant.releases == ("6.12",)
    assert releases_of(variant) == ["6.12"]
    assert variant.name not in variants_of(load_catalogue(), "7.3")
    assert "mainline" in variants_of(load_catalogue(), "7.3")


def test_a_series_of_one_release_alone_is_found_by_a_tree_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def tree(version: str, patchlevel: str) -> None:
        fields = f"VERSION = {version}\nPATCHLEVEL = {patchlevel}\nSUBLEVEL = 0\n"
        (tmp_path / "Makefile").write_text(fields)

    monkeypatch.setenv("KERNEL_SRC", str(tmp_path))
    tree("7", "3")
    assert kernel_named("push").name == "push"
    tree("6", "12")
    with pytest.raises(RequestError, match=r"the series push is not ported to Linux 6\.12"):
        kernel_named("push")


def test_a_request_has_its_kernel() -> None:
    names = resolve(Request("juno-r2", "cas@7.3", "smoke"))
    assert (names.variant.name, names.kernel.name) == ("cas@7.3", "base@7.3")
