# SPDX-License-Identifier: GPL-2.0-or-later
"""Imports that are read from the files' text."""

import subprocess
import sys
from pathlib import Path

import pytest

from eascope.analysis.derive import analysis_version
from eascope.host.imports import REPO, closure, code_digest

DERIVE = REPO / "analysis" / "derive.py"


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def test_imports_are_followed_wherever_they_stand(tmp_path: Path) -> None:
    write(
        tmp_path,
        a="import json\nimport eascope.room.b\nimport room.e\n",
        room__b="def f():\n    from eascope.room import c\n    from eascope.room.d import g\n",
        room__c="from eascope.room import a_name\n",
        room__d="",
        room__e="",
    )
    (tmp_path / "room" / "__init__.py").write_text("")
    paths = closure([tmp_path / "a.py"], tmp_path)
    names = {path.relative_to(tmp_path).as_posix() for path in paths}
    assert names == {"a.py", "room/__init__.py", "room/b.py", "room/c.py", "room/d.py"}


def test_an_added_import_changes_the_digest_as_does_the_imported_file(tmp_path: Path) -> None:
    def digest() -> str:
        return code_digest(closure((tmp_path / "a.py",), tmp_path))

    write(tmp_path, a="", b="x = 1\n")
    alone = digest()
    write(tmp_path, b="x = 2\n")
    assert digest() == alone
    write(tmp_path, a="import eascope.b\n")
    with_b = digest()
    assert with_b != alone
    write(tmp_path, b="x = 3\n")
    assert digest() not in (alone, with_b)


def test_the_derivations_digest_covers_every_module_that_it_loads() -> None:
    """What Python has loaded after an import of it, except what it would load later."""
    code = (
        "import sys, eascope.analysis.derive, eascope.power.choice\n"
        "print(*(m.__file__ for m in sys.modules.values() if getattr(m, '__file__', None)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=REPO)
    loaded = {Path(name).resolve() for name in done.stdout.decode().split()}
    ours = {path for path in loaded if path.is_relative_to(REPO) and ".venv" not in path.parts}
    assert DERIVE in ours
    assert ours - {REPO / "eascope" / "__init__.py"} <= closure(
        [DERIVE, REPO / "power" / "choice.py"]
    )
    assert len(analysis_version()) == 64


SUM = """import os
from room.parts import size as bytes_of


def total(path: str, more: int = 0) -> int:
    '''All bytes.'''
    return bytes_of(os.path.join(path, "x")) + more  # of one file
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("All bytes.", "Every byte.", True),
        ("  # of one file", "", True),
        ("room.parts", "other.room.parts", True),
        ("\n\n\n", "\n\n", True),
        ("    '''All bytes.'''\n", "", True),
        ("more: int = 0", "more: int = 1", False),
        ("+ more", "- more", False),
        ('"x"', '"y"', False),
        ("room.parts", "room.wholes", False),
        ("size as bytes_of", "length as bytes_of", False),
        ("import os\n", "import os\nos.nice(1)\n", False),
    ],
)
def test_words_and_places_change_no_digest(old: str, new: str, same: bool, tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "elsewhere.py"
    assert SUM.count(old) == 1
    first.write_text(SUM)
    second.write_text(SUM.replace(old, new))
    assert (code_digest([first]) == code_digest([second])) is same
