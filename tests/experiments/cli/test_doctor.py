# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope doctor`` on a system without Debian's tools."""

import json
import shutil

import pytest

from tests.support.command import output_of


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
