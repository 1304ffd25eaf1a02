# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands for a reader's own patches, typed in where the reader has one.

The reader's patch changes a comment of the scheduler, so a kernel with it is built from another
one's objects. What the commands write into the checkout is written into a copy of it. Commands for
Linux 7.3 differ by the release alone and are left out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from experiments.null import PATCH
from host.cache import cache_root
from tests.support.command import changed
from tests.support.markdown import ROOT
from tests.support.printed import EASCOPE, Command, commands
from tests.support.toy_linux import git
from tests.support.waiting import call

pytestmark = [pytest.mark.long, pytest.mark.guest]

MAIL = "From me Thu Jan  1 00:00:00 1970\nFrom: Me <me@localhost>\n"
OWN = re.compile(r"my-idea")


@dataclass(frozen=True)
class Reader:
    """Somebody with a checkout, a home and files in the folder that they are in."""

    checkout: Path
    home: Path

    def type(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """A printed command, with one seed."""
        arguments = [word.replace("~", str(self.home)) for word in words[1:]]
        if "--seeds" in arguments:
            arguments = changed(arguments, "--seeds", "1")
        environment = {
            **os.environ,
            "EASCOPE_CACHE": str(cache_root()),
            "EASCOPE_RUNS": str(self.checkout / "runs"),
            "PYTHONPATH": str(self.checkout),
        }
        # Where `-m` and PYTHONPATH have the copy, it comes before the installed checkout.
        command = ["env", "-C", str(self.checkout), sys.executable, "-m", "experiments.cli.main"]
        return call([*command, *arguments], environment)


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """A copy of the checkout, the patch in every form that pages name."""
    checkout, home = tmp_path / "checkout", tmp_path / "home"
    for name in git(ROOT, "ls-files", "-z").split("\0"):
        if name and (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
    patch = PATCH.read_text()
    (home / "my-idea").mkdir(parents=True)
    (home / "my-idea" / "0001-my-idea.patch").write_text(MAIL + patch)
    (checkout / "v2.mbx").write_text(MAIL + patch.replace("[PATCH]", "[PATCH v2 1/1]"))
    (checkout / "my-idea.patch").write_text(patch)
    return Reader(checkout, home)


def printed(name: str, wanted: str = "") -> list[Command]:
    """The commands of a page that are about the reader's own, in their order."""
    return [
        command
        for command in commands(ROOT / name, (ROOT / name).read_text())
        if command.words[:1] == [EASCOPE]
        and OWN.search(command.text)
        and wanted in command.text
        and "@7.3" not in command.text
        and "--release 7.3" not in command.text
    ]


@pytest.mark.parametrize(
    ("page", "wanted", "count"),
    [
        ("README.md", "", 2),
        ("docs/recipes/your-patch.md", "", 2),
        ("docs/recipes/your-own-kernel.md", "--patch", 1),
    ],
)
def test_a_page_can_be_typed_in_with_a_patch(
    page: str, wanted: str, count: int, reader: Reader
) -> None:
    typed = printed(page, wanted)
    assert len(typed) == count
    for command in typed:
        done = reader.type(command.words)
        assert done.returncode == 0, f"{command.text}: {done.stderr}"
    assert "my-idea" in done.stdout.splitlines()[0]
