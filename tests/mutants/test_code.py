# SPDX-License-Identifier: GPL-2.0-or-later
"""What of an object's code a mutant changes."""

from tests.mutants.code import changed, functions

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


def test_a_function_that_is_gone_is_changed_throughout_and_a_new_one_nowhere() -> None:
    assert changed({"a": ["nop", "ret"]}, {"b": ["ret"]}) == {"a": [0, 1], "b": []}
