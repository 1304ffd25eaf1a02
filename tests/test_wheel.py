# SPDX-License-Identifier: GPL-2.0-or-later
"""The wheel: everything that the rooms have, the same bytes each time, and enough for the demo."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.repo import REPO
from tests.support.waiting import call

ROOMS = sorted(path.name for path in (REPO / "eascope").iterdir() if path.is_symlink())
#: Hidden folders are no package data; cargo reads this one, in a checkout (make power-models).
LEFT_OUT = {"eascope/power-models/.cargo/config.toml"}


def of_git(*paths: str) -> list[str]:
    """What git knows or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *paths]
    listed = subprocess.run(command, cwd=REPO, check=True, capture_output=True).stdout.decode()
    return [name for name in listed.split("\0") if name and os.path.lexists(REPO / name)]


def built(folder: Path) -> Path:
    """A wheel of a clean copy."""
    for name in of_git():
        (folder / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / name, folder / "copy" / name, follow_symlinks=False)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", str(folder)]
    done = call([*command, str(folder / "copy")], os.environ | {"SOURCE_DATE_EPOCH": "1700000000"})
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    return built(tmp_path_factory.mktemp("wheel"))


def test_all_of_the_rooms_is_in_the_wheel(wheel: Path) -> None:
    assert {"kernels", "rootfs", "engines", "experiments", "configs"} <= {*ROOMS}
    wanted = {f"eascope/{name}" for name in of_git(*ROOMS)} | {"eascope/__init__.py"}
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert wanted - names == LEFT_OUT
    assert names - wanted == set()


def test_the_wheel_is_reproducible(wheel: Path, tmp_path: Path) -> None:
    assert built(tmp_path).read_bytes() == wheel.read_bytes()


def test_the_wheel_is_enough_to_plan_the_demo(wheel: Path, tmp_path: Path) -> None:
    """In another folder, with an empty home."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    (tmp_path / "home").mkdir()
    environment = {name: value for name, value in os.environ.items() if "EASCOPE" not in name}
    environment |= {"PYTHONPATH": str(tmp_path / "site"), "HOME": str(tmp_path / "home")}
    environment.pop("XDG_CACHE_HOME", None)
    main = [sys.executable, "-m", "eascope.experiments.cli.main"]
    command = [*main, "demo", "--dry-run"]
    done = subprocess.run(
        command, cwd=tmp_path / "home", env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert " 40 of 40, about " in done.stdout
