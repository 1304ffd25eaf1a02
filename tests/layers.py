# SPDX-License-Identifier: GPL-2.0-or-later
"""Which room may import which, and what in the tree breaks that.

The imports are read from the sources, so those in functions and under ``TYPE_CHECKING`` count too.
``python -m tests.layers`` prints how many modules, arrows and circles there are, those of the C
programs too, the two largest functions, and every breach; with ``--markdown`` it prints the table
and the drawing as ARCHITECTURE.md shows them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support import c_files

ROOT = Path(__file__).resolve().parents[1]

#: Stands for every engine: what has a folder below ``engines`` with a file ``engine.py``.
ANY_ENGINE = "engines.NAME"
ENGINE_ROOMS = tuple(
    f"engines.{path.parent.name}" for path in sorted(ROOT.glob("engines/*/engine.py"))
)

#: Room -> the rooms that its modules may import besides their own, from the bottom up: a room
#: names only rooms above it in this table. A module is in the room with the longest name that its
#: own name begins with, so ``engines.qemu.engine`` is in ``engines.qemu``.
TABLE: dict[str, tuple[str, ...]] = {
    "host": (),
    "configs": ("host",),
    "rootfs": ("host",),
    "kernels": ("host", "configs"),
    # What runs inside a simulator, on the simulator's own Python.
    f"{ANY_ENGINE}.inside": (),
    # What engines leave in a run's folder, for those who write it and those who read it.
    "engines.records": ("host", "rootfs"),
    "power": ("host", "configs", "engines.records"),
    # How long work takes on a core, for engines and for those who read their runs.
    "engines.timing": ("host", "configs"),
    # The contract of an engine, and what engines share.
    "engines": ("host", "configs", "rootfs", "engines.records"),
    ANY_ENGINE: (
        *("host", "configs", "power", "rootfs", f"{ANY_ENGINE}.inside", "engines.records"),
        *("engines.timing", "engines"),
    ),
    "engines.registry": ("host", "engines", ANY_ENGINE),
    "analysis": (
        *("host", "configs", "power", "rootfs", "kernels", "engines.records"),
        *("engines.timing",),
    ),
    "experiments": (
        *("host", "configs", "power", "rootfs", "kernels", "engines.records"),
        *("engines.timing", "engines", "engines.registry", "analysis"),
    ),
    # Runs programs on gem5 that are no cells, so it knows its parts.
    "experiments.characterisation": (
        *("host", "configs", "rootfs", "engines.gem5.inside", "engines.records"),
        *("engines.timing", "engines", "engines.gem5", "analysis", "experiments"),
    ),
    # Nothing imports it: the project's own investigations.
    "research": (
        *("host", "configs", "power", "engines.records", "engines.timing", "engines.gem5"),
        *("analysis", "experiments", "experiments.characterisation"),
    ),
    "experiments.cli": (
        *("host", "configs", "power", "kernels", "engines.records", "engines.timing"),
        *("engines.registry", "analysis", "experiments"),
        "experiments.characterisation",
    ),
}


def _rooms() -> dict[str, tuple[str, ...]]:
    """`TABLE` with the rooms of every engine in the place of `ANY_ENGINE`."""
    rooms: dict[str, tuple[str, ...]] = {}
    for room, allowed in TABLE.items():
        for name in _of_engines(room):
            rooms[name] = tuple(
                other
                for each in allowed
                for other in _of_engines(each)
                # An engine's row is about rooms of the same engine, any other about those of all.
                if room == name or each == other or other.startswith(f"{name}.")
            )
    return rooms


def _of_engines(room: str) -> list[str]:
    """A row's rooms: of an engine's row, those of every engine that has such a folder."""
    if not room.startswith(ANY_ENGINE):
        return [room]
    names = [room.replace(ANY_ENGINE, engine) for engine in ENGINE_ROOMS]
    return [name for name in names if ROOT.joinpath(*name.split(".")).is_dir()]


ROOMS = _rooms()

#: Room -> the only packages from outside that it may import besides the standard library. Other
#: rooms may import what pyproject.toml names.
OUTSIDE: dict[str, tuple[str, ...]] = {
    "engines.gem5.inside": ("m5", "_m5"),
}

#: The folders whose C files use each other.
C_PROGRAMS = (
    *("engines/qemu/plugin", "rootfs/agent", "rootfs/members"),
    *("tests/guest", "tests/kernels/stress"),
)

#: What tests may import of tests: helpers lie there, never in a test module or a conftest.
HELPERS = ("tests.support", "tests.layers")


@dataclass(frozen=True)
class Import:
    """Line ``line`` of the file ``path`` (relative to the root) needs ``name``."""

    path: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: imports {self.name}"


@dataclass(frozen=True)
class ModuleTree:
    """The modules below a root.

    ``modules`` are files by module, ``arrows`` the imports between two of them by (importer,
    imported), ``others`` all further imports by importer.
    """

    modules: Mapping[str, str]
    arrows: Mapping[tuple[str, str], Import]
    others: Mapping[str, tuple[Import, ...]]


def read_tree(root: Path = ROOT) -> ModuleTree:
    """The modules below ``root`` and what they import; tests are no part of it."""
    modules: dict[str, str] = {}
    for path in sorted(root.glob("*/**/*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[0] == "tests" or not all(part.isidentifier() for part in parts):
            continue
        modules[_module(path, root)] = path.relative_to(root).as_posix()
    arrows: dict[tuple[str, str], Import] = {}
    other_imports: dict[str, tuple[Import, ...]] = {}
    for module, file in modules.items():
        for line, name, member in _imports(module, root / file):
            whole = f"{name}.{member}" if f"{name}.{member}" in modules else name
            if whole in modules:
                arrows.setdefault((module, whole), Import(file, line, whole))
            else:
                other_imports[module] = (*other_imports.get(module, ()), Import(file, line, name))
    return ModuleTree(modules, arrows, other_imports)


def read_c_tree(folder: Path) -> ModuleTree:
    """The C files of a program: a module is a source and its header, an arrow a use."""
    names = {name: f"{folder.name}/{name}" for name in c_files.modules(folder)}
    arrows: dict[tuple[str, str], Import] = {}
    for use in c_files.uses(folder):
        if use.user != use.used:
            file = f"{folder.name}/{use.file}"
            arrows.setdefault((use.user, use.used), Import(file, use.line, use.name))
    return ModuleTree(names, arrows, {})


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(module: str, path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, module and member of each import of a file; the member may be a module itself."""
    package = module.split(".")
    if path.name != "__init__.py":
        package.pop()
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name, ""
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            for name in node.names:
                yield node.lineno, origin, name.name


def room_of(module: str) -> str | None:
    """The room of a module; none where the table has none for it."""
    names = [room for room in ROOMS if f"{module}.".startswith(f"{room}.")]
    return max(names, key=len, default=None)


def breaches(tree: ModuleTree) -> list[str]:
    """Every import that the table forbids: one line each with file, line, import and reason."""
    lines = [
        f"{file}: is in no room: allowed: a module of {', '.join(ROOMS)}"
        for module, file in tree.modules.items()
        if room_of(module) is None
    ]
    for (module, imported), where in tree.arrows.items():
        room, target = room_of(module), room_of(imported)
        if room is None or target is None or target == room or target in ROOMS[room]:
            continue
        way = "upward" if _row(target) > _row(room) else "undeclared"
        allowed = ", ".join(ROOMS[room]) or "nothing of other rooms"
        lines.append(f"{where}: {way} from {room} to {target}: allowed: {allowed}")
    for module, imports in tree.others.items():
        lines += (reason for where in imports if (reason := _foreign(module, where)))
    return sorted(lines)


def _row(room: str) -> int:
    """Where a room stands in `TABLE`: all engines in the same row."""
    return next(row for row, name in enumerate(TABLE) if room in _of_engines(name))


def _foreign(module: str, where: Import) -> str:
    """Why an import of something that is no module of the tree is wrong; empty when it is not."""
    top = where.name.split(".")[0]
    if top == "tests":
        return f"{where}: nothing imports tests"
    if top in {room.split(".")[0] for room in ROOMS}:
        return f"{where}: there is no such module"
    allowed = OUTSIDE.get(room_of(module) or "")
    if allowed is None or top in sys.stdlib_module_names or top in allowed:
        return ""
    return f"{where}: allowed: the standard library, {', '.join(allowed)}"


def helper_breaches(root: Path = ROOT) -> list[str]:
    """Every import by a test of something in ``tests`` that is no helper: one line each."""
    return [
        f"{path.relative_to(root)}:{line}: imports {name}: allowed from tests: {', '.join(HELPERS)}"
        for path in sorted((root / "tests").rglob("*.py"))
        for line, name, member in _imports(_module(path, root), path)
        if name.split(".")[0] == "tests"
        and not any(f"{name}.{member}.".startswith(f"{helper}.") for helper in HELPERS)
    ]


def circles(tree: ModuleTree) -> list[list[str]]:
    """Sets of two or more modules that each reach all others of their set, each set sorted."""
    after: dict[str, list[str]] = {module: [] for module in tree.modules}
    before: dict[str, list[str]] = {module: [] for module in tree.modules}
    for module, imported in tree.arrows:
        if module != imported:
            after[module].append(imported)
            before[imported].append(module)
    left = set(tree.modules)
    circles_found = []
    while left:
        start = min(left)
        together = _reach(start, after) & _reach(start, before)
        left -= together
        if len(together) > 1:
            circles_found.append(sorted(together))
    return sorted(circles_found)


def _reach(start: str, edges: Mapping[str, list[str]]) -> set[str]:
    reached, todo = {start}, [start]
    while todo:
        for module in edges[todo.pop()]:
            if module not in reached:
                reached.add(module)
                todo.append(module)
    return reached


def circle_lines(tree: ModuleTree) -> list[str]:
    """One line for each circle, with the imports that close it."""
    lines = []
    for members in circles(tree):
        inner = [
            str(where)
            for (module, imported), where in tree.arrows.items()
            if module in members and imported in members
        ]
        lines.append(f"circle of {', '.join(members)}: {'; '.join(inner)}")
    return lines


def unused_entries(tree: ModuleTree, table: Mapping[str, Sequence[str]] = ROOMS) -> list[str]:
    """Every entry of the table by which nothing is imported; one line each.

    An entry of an engine's row counts as used where any engine uses it.
    """
    used = {(_general(module), _general(imported)) for module, imported in tree.arrows}
    entries = {
        (_named(room), _named(other)): f"{_named(room)} imports nothing of {_named(other)}"
        for room, allowed in table.items()
        for other in allowed
    }
    return [line for entry, line in entries.items() if entry not in used]


def _general(module: str) -> str:
    """The row of a module's room, the same for all engines."""
    return _named(room_of(module) or "")


def _named(room: str) -> str:
    """A room with `ANY_ENGINE` in the place of an engine's name."""
    for engine in ENGINE_ROOMS:
        if f"{room}.".startswith(f"{engine}."):
            return room.replace(engine, ANY_ENGINE)
    return room


def largest_functions(tree: ModuleTree, root: Path = ROOT, count: int = 2) -> list[tuple[int, str]]:
    """Lines and place (``file:name``) of the functions with the most lines, the largest first."""
    functions = [
        ((node.end_lineno or node.lineno) - node.lineno + 1, f"{file}:{node.name}")
        for file in tree.modules.values()
        for node in ast.walk(ast.parse((root / file).read_bytes(), file))
        if isinstance(node, ast.FunctionDef)
    ]
    return sorted(functions, key=lambda item: (-item[0], item[1]))[:count]


def markdown() -> str:
    """The table of rooms as ARCHITECTURE.md shows it."""
    rows = (
        f"| `{room}` | {', '.join(f'`{name}`' for name in allowed) or 'nothing'} |"
        for room, allowed in TABLE.items()
    )
    return "\n".join(["| room | may import |", "|---|---|", *rows]) + "\n"


def drawing() -> str:
    """The rooms as a Mermaid graph in Markdown: an arrow for each import no other arrows imply."""
    uses = {room: {_named(other) for other in TABLE[room]} - {room} for room in reversed(TABLE)}
    below: dict[str, set[str]] = {}
    for room in TABLE:
        below[room] = uses[room].union(*(below[other] for other in uses[room]))
    ids = {room: room.replace(".", "_") for room in uses}
    boxes = [f'    {ids[room]}["{room}"]' for room in uses]
    arrows = [
        f"    {ids[room]} --> {ids[other]}"
        for room, others in uses.items()
        for other in sorted(others)
        if not any(other in below[between] for between in others)
    ]
    return "\n".join(["```mermaid", "flowchart TD", *boxes, *arrows, "```"]) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Print the figures and every breach; 1 when there is one.

    :param arguments: ``--markdown`` prints the table and the drawing of rooms instead.
    """
    if arguments == ["--markdown"]:
        print(f"{markdown()}\n{drawing()}", end="")
        return 0
    tree = read_tree()
    wrong = breaches(tree) + unused_entries(tree) + circle_lines(tree) + helper_breaches()
    for program in C_PROGRAMS:
        c_tree = read_c_tree(ROOT / program)
        wrong += circle_lines(c_tree)
        print(
            f"{program}: {len(c_tree.modules)} C modules, {len(c_tree.arrows)} arrows, "
            f"{len(circles(c_tree))} circles"
        )
    print(
        f"{len(tree.modules)} modules, {len(tree.arrows)} arrows, {len(circles(tree))} circles, "
        f"{len(breaches(tree))} imports that the table forbids"
    )
    largest = (f"{place} ({lines} lines)" for lines, place in largest_functions(tree))
    print(f"largest functions: {', '.join(largest)}")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
