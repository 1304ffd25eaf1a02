# SPDX-License-Identifier: GPL-2.0-or-later
"""What of an object's code a mutant changes."""

from pathlib import Path
from typing import Any

import pytest

from eascope.host.cache import artefact, check_artefact
from eascope.kernels.build import KernelArtefact
from tests.mutants import code
from tests.mutants.code import changed, compare, functions, place, withdraw

LISTING = """
toy.o:     file format elf64-littleaarch64

Disassembly of section .text:

0000000000000000 <other>:
   0:\tret

0000000000000004 <toy>:
   4:\tcmp\tw0, w1
   8:\tb.lt\t14 <toy+0x10>  // b.tstop
   c:\tbl\t0 <other>
\t\t\tc: R_AARCH64_CALL26\tother
  10:\tmov\tw0, #0x1
  14:\tret
"""
TOY = functions(LISTING)


def test_functions_are_instructions_without_addresses() -> None:
    assert TOY == {
        "other": ["ret"],
        "toy": ["cmp\tw0, w1", "b.lt\t<toy+0x10>", "bl\t<other> other", "mov\tw0, #0x1", "ret"],
    }
    assert changed(TOY, TOY) == {}


def with_toy(*lines: str) -> dict[str, list[str]]:
    return {**TOY, "toy": [*lines]}


def test_a_condition_is_where_it_is() -> None:
    after = with_toy("cmp\tw0, w1", "b.le\t<toy+0x10>", *TOY["toy"][2:])
    assert changed(TOY, after) == {"toy": [1]}


def test_a_branch_whose_target_moves_along_is_the_same() -> None:
    cmp, _, *rest = TOY["toy"]
    after = with_toy(cmp, "b.lt\t<toy+0x14>", rest[0], "nop", *rest[1:])
    # The two between which an instruction was added.
    assert changed(TOY, after) == {"toy": [2, 3]}


def test_a_branch_to_another_place_is_another_one() -> None:
    after = with_toy(TOY["toy"][0], "b.lt\t<toy+0xc>", *TOY["toy"][2:])
    assert changed(TOY, after) == {"toy": [1]}


def test_what_has_moved_within_a_section_is_the_same() -> None:
    before = {"a": ["adrp\tx0, 0 .data+0x8", "ret"]}
    assert changed(before, {"a": ["adrp\tx0, 0 .data+0x10", "ret"]}) == {}
    assert changed(before, {"a": ["adrp\tx0, 0 .bss+0x8", "ret"]}) == {"a": [0]}


def test_a_function_that_is_gone_is_changed_throughout_and_a_new_one_nowhere() -> None:
    assert changed({"a": ["nop", "ret"]}, {"b": ["ret"]}) == {"a": [0, 1], "b": []}


def test_a_mutant_lies_in_its_kernels_place_of_another_cache_alone(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_cache.mkdir()

    def build(folder: Path) -> None:
        for name in ("Image", "vmlinux", "config"):
            (folder / name).write_text(f"the kernel's {name}")

    whole = artefact("kernel", {"name": "toy"}, build)
    unknown: Any = None  # where its source is from
    kernel = KernelArtefact(
        "toy", whole / "Image", whole / "vmlinux", whole / "config", "", unknown
    )
    monkeypatch.setenv("EASCOPE_CACHE", str(code.own_cache()))
    for name in ("Image", "vmlinux"):
        (tmp_path / name).write_text("a mutant's")
    for _ in range(2):
        place(kernel, tmp_path / "Image", tmp_path / "vmlinux")
        found = artefact("kernel", {"name": "toy"}, build)
        check_artefact(found)
        assert (found / "Image").read_text() == "a mutant's"
        assert (found / "config").read_text() == "the kernel's config"
        assert (whole / "Image").read_text() == "the kernel's Image"
    withdraw(kernel)
    assert artefact("kernel", {"name": "toy"}, build).resolve() == whole


def test_objects_of_the_same_code_and_data_are_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other strings and names of symbols are the same code."""
    listed = {
        "whole": (LISTING, "Contents of section .data:\n 0000 01\n"),
        "same": (LISTING, "Contents of section .data:\n 0000 01\n"),
        "data": (LISTING, "Contents of section .data:\n 0000 02\n"),
        "code": (LISTING.replace("cmp", "cmn"), "Contents of section .data:\n 0000 01\n"),
    }
    for name in listed:
        (tmp_path / name).mkdir()
        (tmp_path / name / "toy.o").write_text(name)
    monkeypatch.setattr(
        "tests.mutants.code._listing",
        lambda path, *how: listed[path.parent.name]["-s" in how],
    )
    found = {name: compare(tmp_path / "whole", tmp_path / name, "") for name in listed}
    assert found == {"whole": None, "same": None, "data": {}, "code": {"toy": [0]}}
