# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope doctor`` on a system without Debian's tools, and what ``--fix`` installs."""

import json
import os
import shutil
from collections.abc import Sequence
from typing import Any

import pytest

from eascope.experiments import doctor
from eascope.host.proc import CommandFailed
from tests.support.command import inside, output_of


def test_a_host_that_is_not_debian_is_told_what_it_lacks_and_of_the_container(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacking = {"apt-get", "dpkg-query", "dpkg-deb", "bison", "aarch64-linux-gnu-gcc"}
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name in lacking else which(name))
    checks = {load["check"]: load for load in json.loads(output_of("doctor", "--json", code=1))}
    found = checks["system packages"]
    assert not found["ok"]
    missing = found["detail"].partition("missing commands: ")[2].split()
    assert missing == ["apt-get", "dpkg-deb", "bison", "aarch64-linux-gnu-gcc"]
    assert "podman build" in found["remedy"]


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is run on a Debian that lacks a package; sudo wants a password."""
    asked: list[list[str]] = []

    def run(command: Sequence[Any], **_: object) -> bytes:
        asked.append([*map(str, command)])
        if command[0] == "sudo":
            raise CommandFailed(asked[-1], 1, "a password is required")
        lacking = set() if any("install" in each for each in asked) else {"bison"}
        have = [name for name in doctor._wanted() if name not in lacking]
        return "".join(f"{name} ii \n" for name in have).encode()

    monkeypatch.setattr(doctor, "run", run)
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(doctor, "CHECKS", (doctor._packages,))
    return asked


def test_fix_installs_what_is_missing(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "bison" in output_of("doctor", code=1)
    commands.clear()
    assert output_of("doctor", "--fix").startswith("ok  system packages")
    _, update, install, _ = commands
    assert update[:1] + update[-1:] == ["apt-get", "update"]
    assert install[:3] == ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    assert "bison" in install


def test_fix_prints_the_line_that_it_may_not_run(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    done = inside("doctor", "--fix")
    line = "eascope: error: doctor --fix: run once: sudo apt-get install --no-install-recommends"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{line} bison\n")


def test_fix_knows_only_debian(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    done = inside("doctor", "--fix")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "podman build -t eascope ." in done.stderr
