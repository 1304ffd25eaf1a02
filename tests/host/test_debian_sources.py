# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources of Debian's archive, with programs in apt's place."""

import hashlib
import os
import tarfile
from pathlib import Path

import pytest

from eascope.host import debian
from eascope.host.debian import PrivateApt
from eascope.host.debian_sources import SourceApt, unpacked
from eascope.host.errors import EascopeError
from eascope.host.proc import CommandFailed

LISTED = """\
cat <<END
Package: tool
Binary: tool, libtool
Version: 1:2.1-3

Package: tool
Version: 1:2.0+ds-1

Package: tool-else
Version: 9-1
END
"""
#: The newest version's tarball is not there, as on a mirror that lacks it.
GET = """\
case "$*" in
*--print-uris*2.1-3*) echo "'http://a/tool_2.1.orig.tar.xz' tool_2.1.orig.tar.xz 9 SHA256:00" ;;
*--print-uris*) echo "'http://a/tool.orig.tar.xz' tool_2.0+ds.orig.tar.xz 9 SHA256:{sha256}" ;;
*2.1-3*) echo "404 Not Found"; exit 100 ;;
*) cp {tarball} tool_2.0+ds.orig.tar.xz ;;
esac
"""


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceApt:
    source = tmp_path / "tool-2.0/file"
    source.parent.mkdir()
    source.write_text("one\n")
    tarball = tmp_path / "tar.xz"
    with tarfile.open(tarball, "w:xz") as archive:
        archive.add(source.parent, "tool-2.0")
    sha256 = hashlib.sha256(tarball.read_bytes()).hexdigest()
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in {
        "apt-cache": LISTED,
        "apt-get": GET.format(sha256=sha256, tarball=tarball),
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    apt = SourceApt()
    apt.archives.mkdir(parents=True)
    (apt.root / "ready").write_text(debian._WANTED)
    return apt


def test_the_newest_version_that_the_mirror_has(apt: SourceApt) -> None:
    tarball = apt.tarball(["absent", "tool"])
    assert (tarball.package, tarball.version) == ("tool", "2.0+ds")
    assert (unpacked(tarball) / "file").read_text() == "one\n"


def test_a_patch_is_applied(apt: SourceApt, tmp_path: Path) -> None:
    patch = tmp_path / "patch"
    patch.write_text("--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one\n+two\n")
    tarball = apt.tarball(["tool"])
    assert (unpacked(tarball, [patch]) / "file").read_text() == "two\n"
    patch.write_text(patch.read_text().replace("-one", "-three"))
    with pytest.raises(CommandFailed):
        unpacked(tarball, [patch])


def test_what_the_archive_lacks_is_named(apt: SourceApt) -> None:
    with pytest.raises(EascopeError, match=r"no sources of absent or none in the Debian archive$"):
        apt.tarball(["absent", "none"])
    apt.archives.joinpath("tool_2.0+ds.orig.tar.xz").unlink(missing_ok=True)
    (apt.archives.parent.parent.parent.parent / "tar.xz").write_bytes(b"another")
    with pytest.raises(EascopeError, match="has another SHA-256"):
        apt.tarball(["tool"])


@pytest.mark.parametrize(("ready", "writable", "locks"), [(1, 0, 0), (1, 1, 1), (0, 0, 1)])
def test_nothing_is_locked_where_nobody_could_write(
    ready: int, writable: int, locks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write anywhere but on a file system that is mounted read-only."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))
    apt = PrivateApt("arm64")
    apt.root.mkdir(parents=True)
    if ready:
        (apt.root / "ready").write_text(debian._WANTED)
    monkeypatch.setattr(os, "access", lambda *_: bool(writable))
    with apt._alone():
        assert (apt.root / "lock").exists() is bool(locks)
