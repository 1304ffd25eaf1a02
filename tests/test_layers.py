# SPDX-License-Identifier: GPL-2.0-or-later
"""Rooms import as `tests.layers.ROOMS` says, and no files import each other in a circle."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.layers import (
    C_PROGRAMS,
    OUTSIDE,
    ROOMS,
    ROOT,
    breaches,
    circle_lines,
    circles,
    helper_breaches,
    largest_functions,
    read_c_tree,
    read_tree,
    room_of,
    unused_entries,
)
from tests.support.folders import ABOVE_AND_BELOW, folder_circles


def write(root: Path, files: dict[str, str]) -> Path:
    """A made-up tree: sources by path."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_no_import_goes_upward_or_is_undeclared() -> None:
    tree = read_tree()
    assert len(tree.modules) > 100
    assert len(tree.arrows) > 400
    assert breaches(tree) == []


def test_no_circles_between_files() -> None:
    assert circle_lines(read_tree()) == []


def test_the_table_allows_nothing_that_nobody_uses() -> None:
    tree = read_tree()
    assert unused_entries(tree) == []
    more = {**ROOMS, "power": (*ROOMS["power"], "rootfs")}
    assert unused_entries(tree, more) == ["power imports nothing of rootfs"]


def test_no_circles_between_folders() -> None:
    assert folder_circles(read_tree()) == []
    assert {ROOT / folder for folder in ABOVE_AND_BELOW} <= set(ROOT.glob("*/**"))


@pytest.mark.parametrize(
    ("files", "line"),
    [
        (
            {
                "research/a/plan.py": "from research.b import page\n",
                "research/b/page.py": "",
                "research/b/run.py": "from research.a import record\n",
                "research/a/record.py": "",
            },
            "circle of research/a, research/b: research/a/plan.py:1: imports research.b.page; "
            "research/b/run.py:1: imports research.a.record",
        ),
        (
            {
                "power/a.py": "from power.b import c\n",
                "power/b/c.py": "",
                "power/b/d.py": "from power import e\n",
                "power/e.py": "",
            },
            "power and power/b import each other: power/a.py:1: imports power.b.c",
        ),
    ],
)
def test_a_circle_of_folders_is_shown_where_no_files_form_one(
    files: dict[str, str], line: str, tmp_path: Path
) -> None:
    tree = read_tree(write(tmp_path, files))
    assert circle_lines(tree) == []
    assert folder_circles(tree) == [line]


@pytest.mark.parametrize("program", C_PROGRAMS)
def test_no_circles_between_files_of_a_c_program(program: str) -> None:
    tree = read_c_tree(ROOT / program)
    assert len(tree.modules) >= 6
    assert len(tree.arrows) >= len(tree.modules)
    assert circle_lines(tree) == []


def test_every_folder_of_c_files_is_a_known_program() -> None:
    """A folder whose files use each other has a header; others hold programs of one file."""
    folders = {
        path.parent.relative_to(ROOT).as_posix()
        for room in {room.split(".")[0] for room in ROOMS} | {"tests"}
        for path in (ROOT / room).rglob("*.h")
        if list(path.parent.glob("*.c"))
    }
    assert folders == set(C_PROGRAMS)


def test_every_room_exists() -> None:
    rooms = {room_of(module) for module in read_tree().modules}
    assert rooms == set(ROOMS)
    assert set(OUTSIDE) <= set(ROOMS)


def test_the_table_goes_upward_only() -> None:
    order = list(ROOMS)
    for room, allowed in ROOMS.items():
        assert [
            imported for imported in allowed if order.index(imported) >= order.index(room)
        ] == []
        assert len(set(allowed)) == len(allowed)


@pytest.mark.parametrize(
    ("module", "room"),
    [
        ("host", "host"),
        ("engines.base", "engines"),
        ("engines.qemu.engine", "engines.qemu"),
        ("engines.qemuish", "engines"),
        ("engines.gem5.inside.rows", "engines.gem5.inside"),
        ("experiments.cli.main", "experiments.cli"),
        ("elsewhere.thing", None),
    ],
)
def test_the_room_of_a_module(module: str, room: str | None) -> None:
    assert room_of(module) == room


HOST = {"host/__init__.py": "", "host/errors.py": "import sys\n"}


@pytest.mark.parametrize(
    ("files", "line"),
    [
        (
            {"host/a.py": "from power.b import c\n", "power/b.py": ""},
            "host/a.py:1: imports power.b: upward from host to power: "
            "allowed: nothing of other rooms",
        ),
        (
            {"kernels/a.py": "\nfrom power import b\n", "power/b.py": ""},
            "kernels/a.py:2: imports power.b: upward from kernels to power: allowed: host, configs",
        ),
        (
            {"configs/a.py": "def f():\n    import power.b\n", "power/b.py": ""},
            "configs/a.py:2: imports power.b: upward from configs to power: allowed: host",
        ),
        (
            {
                "configs/a.py": "from typing import TYPE_CHECKING\n"
                "if TYPE_CHECKING:\n    from power.b import C\n",
                "power/b.py": "",
            },
            "configs/a.py:3: imports power.b: upward from configs to power: allowed: host",
        ),
        (
            {"engines/base.py": "from engines.qemu import e\n", "engines/qemu/e.py": ""},
            "engines/base.py:1: imports engines.qemu.e: upward from engines to engines.qemu: "
            "allowed: host, configs, rootfs, engines.records",
        ),
        (
            {
                "engines/gem5/a.py": "from ..qemu.e import f\n",
                "engines/qemu/e.py": "",
            },
            "engines/gem5/a.py:1: imports engines.qemu.e: undeclared from engines.gem5 to "
            "engines.qemu: allowed: host, configs, power, rootfs, engines.gem5.inside, "
            "engines.records, engines.timing, engines",
        ),
        (
            {"engines/gem5/inside/a.py": "import json, m5.stats\nimport numpy\n"},
            "engines/gem5/inside/a.py:2: imports numpy: allowed: the standard library, m5, _m5",
        ),
        (
            {"engines/gem5/inside/a.py": "from host.errors import E\n"},
            "engines/gem5/inside/a.py:1: imports host.errors: undeclared from "
            "engines.gem5.inside to host: allowed: nothing of other rooms",
        ),
        (
            {
                "research/a.py": "from experiments.cli.main import m\n",
                "experiments/cli/main.py": "",
            },
            "research/a.py:1: imports experiments.cli.main: upward from research to "
            "experiments.cli: allowed: " + ", ".join(ROOMS["research"]),
        ),
        (
            {"host/a.py": "from tests.layers import ROOMS\n"},
            "host/a.py:1: imports tests.layers: nothing imports tests",
        ),
        (
            {"host/a.py": "import host.gone\n"},
            "host/a.py:1: imports host.gone: there is no such module",
        ),
        (
            {"attic/a.py": ""},
            "attic/a.py: is in no room: allowed: a module of " + ", ".join(ROOMS),
        ),
    ],
)
def test_a_wrong_import_is_one_line(tmp_path: Path, files: dict[str, str], line: str) -> None:
    assert breaches(read_tree(write(tmp_path, HOST | files))) == [line]


def test_an_import_that_the_table_allows_is_no_breach(tmp_path: Path) -> None:
    files = {
        "configs/a.py": "import numpy\nfrom host import errors\nfrom host.errors import E\n",
        "configs/b.py": "from configs import a\n",
        "engines/gem5/inside/run.py": "import m5\nfrom m5.objects import Cache\n",
        "tests/test_a.py": "from configs import a\n",
    }
    tree = read_tree(write(tmp_path, HOST | files))
    assert breaches(tree) == []
    assert set(tree.arrows) == {("configs.a", "host.errors"), ("configs.b", "configs.a")}


def test_a_circle_names_its_files_and_imports(tmp_path: Path) -> None:
    files = {
        "power/a.py": "from power import b\n",
        "power/b.py": "import power.c\n",
        "power/c.py": "def f():\n    from power.a import g\n",
        "power/d.py": "from power import a\n",
    }
    tree = read_tree(write(tmp_path, files))
    assert breaches(tree) == []
    assert circles(tree) == [["power.a", "power.b", "power.c"]]
    assert circle_lines(tree) == [
        "circle of power.a, power.b, power.c: power/a.py:1: imports power.b; "
        "power/b.py:1: imports power.c; power/c.py:2: imports power.a"
    ]


@pytest.mark.parametrize(
    ("files", "line"),
    [
        (
            {"a.h": '#include "b.h"\n', "b.h": "", "b.c": '#include "b.h"\n\n#include "a.h"\n'},
            "circle of a, b: c/a.h:1: imports b.h; c/b.c:3: imports a.h",
        ),
        (
            {
                "a.c": '#include "b.h"\nint ready(void)\n{\n\treturn 1;\n}\n',
                "b.h": "int ready(void);\n",
                "b.c": "/* ready */\nstatic int go(void)\n{\n\treturn ready();\n}\n",
            },
            "circle of a, b: c/a.c:1: imports b.h; c/b.c:4: imports ready",
        ),
        (
            {
                "a.c": "struct one all[3];\nvoid f(void)\n{\n\tg(1);\n}\n",
                "b.c": "void g(int i)\n{\n\tall[i].f = i;\n}\n",
            },
            "circle of a, b: c/a.c:4: imports g; c/b.c:3: imports all",
        ),
    ],
    ids=["includes", "a call back", "data"],
)
def test_a_circle_of_c_files_is_one_line(tmp_path: Path, files: dict[str, str], line: str) -> None:
    write(tmp_path, {f"c/{name}": text for name, text in files.items()})
    assert circle_lines(read_c_tree(tmp_path / "c")) == [line]


def test_a_callback_or_a_name_of_its_own_closes_no_circle(tmp_path: Path) -> None:
    files = {
        "c/low.h": "void low_add(void (*run)(void));\n",
        "c/low.c": '#include "low.h"\nvoid low_add(void (*run)(void))\n{\n\trun();\n}\n'
        "static int when(struct due own)\n{\n\treturn own.high;\n}\n",
        "c/high.c": '#include "low.h"\nint due = 0;\nvoid high(void)\n{\n\twhen("low");\n}\n'
        "static void when(const char *text)\n{\n}\n",
    }
    tree = read_c_tree(write(tmp_path, files) / "c")
    assert set(tree.arrows) == {("high", "low")}
    assert circles(tree) == []


def test_tests_take_helpers_from_support_alone() -> None:
    assert helper_breaches() == []


def test_a_helper_in_a_test_is_one_line(tmp_path: Path) -> None:
    files = {
        "tests/a/test_a.py": "from tests.a.test_b import one\nfrom tests.support.fake import two\n",
        "tests/a/test_b.py": "from tests import layers, support\nfrom host.errors import E\n",
        "tests/a/conftest.py": "def f():\n    from tests.conftest import three\n",
        "tests/a/test_c.py": "from . import conftest\n",
    }
    allowed = "allowed from tests: tests.support, tests.layers"
    assert helper_breaches(write(tmp_path, files)) == [
        f"tests/a/conftest.py:2: imports tests.conftest: {allowed}",
        f"tests/a/test_a.py:1: imports tests.a.test_b: {allowed}",
        f"tests/a/test_c.py:1: imports tests.a: {allowed}",
    ]


def test_the_largest_functions(tmp_path: Path) -> None:
    files = {
        "host/a.py": "def one():\n    return 1\n\n\ndef three():\n    a = 1\n    return a\n",
        "power/b.py": "class C:\n    def four(self):\n        a = 1\n        a += 2\n        pass",
    }
    tree = read_tree(write(tmp_path, files))
    assert largest_functions(tree, tmp_path) == [(4, "power/b.py:four"), (3, "host/a.py:three")]
