# SPDX-License-Identifier: GPL-2.0-or-later
"""Which lines are broken, in which order, and what a mutant is known by."""

import random

from tests.mutants.source import Line, Mutant, drawn, mutants_of

MESSAGE = (
    "sched/toy: Push\n\nTasks are pushed if a CPU has spare room. A pinned task stays, unless its "
    "CPU is gone.\n\nSigned-off-by: someone\n"
)
TEXT = """\
int toy(int room, int spare)
{
	if (spare < room)
		return 1;
	if (is_pinned(p) && cpu_online(cpu))
		return 2;
	return 3;
}
"""


def toy(text: str = TEXT, *numbers: int) -> list[Mutant]:
    line = Line(1, "toy/0001-push.patch", MESSAGE)
    return mutants_of("toy.c", text, dict.fromkeys(numbers or (3, 5, 6), line))


def test_only_the_queues_lines_are_broken() -> None:
    assert {mutant.line for mutant in toy()} == {3, 5, 6}
    assert {mutant.line for mutant in toy(TEXT, 7)} == {7}


def test_the_nearest_sentence_is_that_of_the_same_words() -> None:
    sentences = {mutant.line: mutant.sentence for mutant in toy(TEXT, 3, 5)}
    assert sentences[3] == "Tasks are pushed if a CPU has spare room."
    assert sentences[5] == "A pinned task stays, unless its CPU is gone."


def test_the_lot_is_a_function_of_the_queue_and_the_seed() -> None:
    mutants = toy()
    shuffled = random.Random(0).sample(mutants, len(mutants))
    assert drawn(mutants, 1) == drawn(shuffled, 1)
    assert drawn(mutants, 1) != drawn(mutants, 2)
    assert len(drawn(mutants, 1)) == len({mutant.id for mutant in mutants}) == len(mutants)


def test_each_line_comes_once_before_any_comes_again() -> None:
    assert {mutant.line for mutant in drawn(toy(), 7)[:3]} == {3, 5, 6}


def test_exceptions_are_conditions_next_to_a_sentence_that_makes_one() -> None:
    found = drawn(toy(), 1, exceptions=True)
    assert {mutant.line for mutant in found} == {5}
    assert {mutant.operator for mutant in found} == {"negate", "branch", "and/or", "term"}


def test_a_patch_is_drawn_alone() -> None:
    assert drawn(toy(), 1, patch=1)
    assert not drawn(toy(), 1, patch=2)


def test_what_a_mutant_is_known_by_moves_with_its_lines() -> None:
    moved = toy("int other;\n\n" + TEXT, 5, 7, 8)
    assert [mutant.id for mutant in moved] == [mutant.id for mutant in toy()]


def test_the_edit_is_the_fault_and_nothing_else() -> None:
    for mutant in toy():
        before, after = TEXT.splitlines(), mutant.edit.edited(TEXT).splitlines()
        differing = [n for n, (a, b) in enumerate(zip(before, after, strict=True), 1) if a != b]
        assert differing == [mutant.line]
        assert after[mutant.line - 1] == mutant.new
