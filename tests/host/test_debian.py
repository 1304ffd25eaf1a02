# SPDX-License-Identifier: GPL-2.0-or-later
"""apt's own state: what is asked, and how often."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from eascope.host import debian
from eascope.host.debian import PrivateApt


def test_apt_is_asked_once_until_the_lists_are_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))
    state = PrivateApt("arm64")
    asked: list[str] = []

    def run(command: list[str], **_: object) -> bytes:
        if command[0] != "apt-cache":
            return b""
        asked.append(command[-2])
        candidate = b"  Candidate: 1.2\n"
        fields = b"Package: hello\nVersion: 1.2\nSHA256: ab\nFilename: pool/hello.deb\n"
        return candidate if command[-2] == "policy" else fields + b"Architecture: arm64\n"

    monkeypatch.setattr(debian, "run", run)
    monkeypatch.setattr(PrivateApt, "_held", lambda _: nullcontext())
    monkeypatch.setattr(debian, "mirrors", lambda: dict.fromkeys(("main", "security"), "mirror"))
    first = state.resolve("hello")
    assert first["version"] == "1.2"
    assert first == state.resolve("hello") == state.resolve("hello")
    assert asked == ["policy", "show"]
    state.resolve("hello", "trixie")
    state.refresh()
    state.resolve("hello")
    assert asked == ["policy", "show", "policy", "policy", "show"]  # of a version only once
