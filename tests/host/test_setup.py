# SPDX-License-Identifier: GPL-2.0-or-later
"""``host/setup.sh`` goes on where it was interrupted; ``venv`` and ``pip`` are stand-ins."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.repo import REPO

#: ``python3 -m venv .venv``: the interpreter comes first, then pip, as with Python's own. It is
#: killed before or after pip is there, where a file says so.
MAKES_VENV = """#!/bin/sh
mkdir -p .venv/bin
cat >.venv/bin/python <<'EOF'
#!/bin/sh
[ "$2" = pip ] && [ -e .venv/pip ] || { echo "No module named pip" >&2; exit 1; }
[ "$3" != install ] || echo installed >>.venv/log
EOF
chmod +x .venv/bin/python
[ ! -e before-pip ] || kill -9 $$
touch .venv/pip
[ ! -e within-pip ] || kill -9 $$
echo made >>venvs
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What ``setup.sh`` needs of a checkout, and ``python3`` on its own."""
    (tmp_path / "host").mkdir()
    shutil.copy(REPO / "host" / "setup.sh", tmp_path / "host")
    (tmp_path / "host" / "system-packages.txt").write_text("# none\n")
    (tmp_path / "tools").mkdir()
    python = tmp_path / "tools" / "python3"
    python.write_text(MAKES_VENV)
    python.chmod(0o755)
    return tmp_path


def setup(checkout: Path) -> int:
    path = f"{checkout / 'tools'}:{os.environ['PATH']}"
    return subprocess.run(
        [checkout / "host" / "setup.sh"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        check=False,
    ).returncode


def test_a_finished_environment_is_kept(checkout: Path) -> None:
    assert setup(checkout) == 0
    assert setup(checkout) == 0
    assert (checkout / "venvs").read_text() == "made\n"
    assert (checkout / ".venv" / "log").read_text() == "installed\ninstalled\n"
    assert (checkout / ".venv" / "ready").exists()


@pytest.mark.parametrize("when", ["before-pip", "within-pip"])
def test_an_interrupted_environment_is_made_again(checkout: Path, when: str) -> None:
    (checkout / when).touch()
    assert setup(checkout) != 0
    assert (checkout / ".venv" / "bin" / "python").exists()
    assert not (checkout / ".venv" / "ready").exists()
    (checkout / when).unlink()
    assert setup(checkout) == 0
    assert (checkout / "venvs").read_text() == "made\n"
    assert (checkout / ".venv" / "ready").exists()


def test_an_environment_without_pip_and_without_a_mark_is_made_again(checkout: Path) -> None:
    assert setup(checkout) == 0
    (checkout / ".venv" / "pip").unlink()
    assert setup(checkout) == 0
    assert (checkout / "venvs").read_text() == "made\nmade\n"
