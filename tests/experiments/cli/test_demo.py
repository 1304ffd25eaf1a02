# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope demo`` is the comparison of the front page, and ``make demo`` is ``eascope demo``."""

import re

from eascope.experiments.cli.demo import COMPARED
from tests.support.command import json_inside, output_of
from tests.support.repo import REPO


def test_the_demo_is_the_comparison_that_its_help_names() -> None:
    plan = json_inside("demo", "--dry-run")
    assert plan == json_inside("compare", *COMPARED.split(), "--dry-run")
    assert f"eascope compare {COMPARED}" in " ".join(output_of("demo", "--help").split())


def test_make_demo_is_eascope_demo() -> None:
    text = (REPO / "Makefile").read_text()
    recipe = re.search(r"^demo: setup .*\n((?:\t.*\n)+)", text, re.MULTILINE)
    assert recipe
    assert recipe[1] == "\t@$(EASCOPE) demo\n"
    assert "@$(EASCOPE) demo --out " in text, "the README's drawing is of it"


def test_the_front_page_describes_it() -> None:
    caption = re.search(r"Output of `make demo` \((.*?)\)", (REPO / "README.md").read_text())
    assert caption
    variants, scenario, seeds, _ = caption[1].split(", ")
    words = COMPARED.split()
    assert variants == f"{words[0]} against {words[1]}"
    assert scenario == f"`{words[words.index('--scenario') + 1]}`"
    assert seeds == f"{words[words.index('--seeds') + 1]} seeds"
