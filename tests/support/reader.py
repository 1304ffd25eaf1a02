# SPDX-License-Identifier: GPL-2.0-or-later
"""Somebody who types commands into a checkout: what they write goes into a copy of this one."""

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from eascope.host.cache import cache_root
from tests.support.command import changed
from tests.support.printed import ASSIGNMENT
from tests.support.repo import REPO
from tests.support.toy_linux import git
from tests.support.waiting import call


@dataclass(frozen=True)
class Reader:
    """Somebody with a checkout, a home and files in the folder that they are in."""

    checkout: Path
    home: Path

    def type(self, text: str) -> subprocess.CompletedProcess[str]:
        """A printed command, with one seed."""
        words = shlex.split(text.replace("~", str(self.home)))
        env = {}
        while ASSIGNMENT.match(words[0]):
            name, _, env[name] = words.pop(0).partition("=")
        if words[0] == "git":
            return call(words, dict(os.environ))
        arguments = words[1:]
        if "--seeds" in arguments:
            arguments = changed(arguments, "--seeds", "1")
        environment = {
            **os.environ,
            "EASCOPE_CACHE": str(cache_root()),
            "EASCOPE_RUNS": str(self.checkout / "runs"),
            "PYTHONPATH": str(self.checkout),
            **env,
        }
        # Where `-m` and PYTHONPATH have the copy, it comes before the installed checkout.
        command = [
            "env",
            "-C",
            str(self.checkout),
            sys.executable,
            "-m",
            "eascope.experiments.cli.main",
        ]
        return call([*command, *arguments], environment)


def reader_in(folder: Path) -> Reader:
    """A reader with a copy of the checkout in ``folder``, and an empty home."""
    checkout, home = folder / "checkout", folder / "home"
    for name in git(REPO, "ls-files", "-z").split("\0"):
        if name and os.path.lexists(REPO / name):
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            # The package's rooms are links: without them it would be the installed one.
            shutil.copy2(REPO / name, checkout / name, follow_symlinks=False)
    home.mkdir()
    return Reader(checkout, home)
