# SPDX-License-Identifier: GPL-2.0-or-later
"""The version of eascope in records: the package's, with the commit of the checkout."""

import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from eascope.host.version import eascope_version

NUMBER = version("eascope")


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of one commit with a file of code and a record."""
    git(tmp_path, "init", "-q")
    for name in ("code.py", "research/a/record.json", "docs/page.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def test_the_version_names_the_commit(checkout: Path) -> None:
    commit = git(checkout, "rev-parse", "--short=12", "HEAD")
    assert eascope_version(checkout) == f"{NUMBER} ({commit})"


def test_the_version_counts_commits_since_a_tag(checkout: Path) -> None:
    git(checkout, "tag", "v0.1")
    assert eascope_version(checkout) == f"{NUMBER} (v0.1)"
    git(checkout, "commit", "-q", "--allow-empty", "-m", "second")
    commit = git(checkout, "rev-parse", "--short=12", "HEAD")
    assert eascope_version(checkout) == f"{NUMBER} (v0.1-1-g{commit})"


def test_changed_code_is_said_and_a_campaigns_own_files_are_not(checkout: Path) -> None:
    unchanged = eascope_version(checkout)
    (checkout / "research" / "a" / "record.json").write_text("2\n")
    (checkout / "docs" / "page.md").write_text("2\n")
    assert eascope_version(checkout) == unchanged
    (checkout / "code.py").write_text("2\n")
    assert eascope_version(checkout) == unchanged.replace(")", ", changed)")


def test_the_version_without_a_checkout_is_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert eascope_version(tmp_path) == NUMBER
    git(tmp_path, "init", "-q")  # no commit yet
    assert eascope_version(tmp_path) == NUMBER
    monkeypatch.setenv("PATH", "")
    assert eascope_version(tmp_path) == NUMBER


def test_a_hooks_repository_is_not_meant(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = eascope_version(checkout)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert eascope_version(checkout) == expected
