# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest images by name, and the list of what they have."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.experiments.runs.guest_image import COPIES, guest_image
from eascope.host.cache import sha256_file
from eascope.host.errors import EascopeError, RequestError
from eascope.host.record import RecordError
from eascope.rootfs import debian
from eascope.rootfs.content import CONTENT, GuestData, load_content
from eascope.rootfs.image import ImageArtefact, initramfs, program_names
from eascope.rootfs.images import PROVIDER_VARIABLE, UNITS, provider_asked, with_archive
from eascope.rootfs.provenance import ImageProvenance
from tests.support.newc import parse
from tests.support.records import image_provenance
from tests.support.refusals import refusal
from tests.support.waiting import call

COMMAND = (sys.executable, "-m", "eascope.experiments.runs.guest_image")


def test_the_minimal_image_is_what_it_was() -> None:
    """Its bytes are part of the key of every run without programs: nothing here adds to them."""
    minimal = guest_image("minimal")
    assert minimal == initramfs(COPIES)
    entries = parse(minimal.path.read_bytes())
    content = load_content()
    here = {
        program.path[1:] for program in content.programs.values() if "minimal" in program.images
    }
    assert here <= {*entries}
    only = {
        program.path[1:] for program in content.programs.values() if program.images == ("programs",)
    }
    assert not only & {*entries}
    assert {f"bin/{name}" for name in program_names()} <= here
    assert {f"bin/{name}" for name in UNITS} <= only


@pytest.mark.guest
def test_the_programs_image_is_the_minimal_one_and_more() -> None:
    image, minimal = guest_image("programs"), guest_image("minimal")
    data = image.path.read_bytes()
    start = minimal.path.read_bytes()
    provided = (debian.debian_programs() / "programs.cpio").read_bytes()
    assert data.startswith(start + provided)
    ours = parse(data[len(start) + len(provided) :])
    assert {f"bin/{name}" for name in UNITS} < {*ours}
    assert image.provenance.sha256 == sha256_file(image.path)
    assert image.provenance.provided
    assert image.provenance.provided.packages["rt-tests"]
    assert set(image.provenance.members) == {*UNITS}
    entries = parse(provided)
    for program in load_content().provided():
        content = entries[program.path[1:]][1]
        if program.path != program.file:
            assert content == program.file.encode()
            content = entries[program.file[1:]][1]
        assert content[:5] == b"\x7fELF\x02", program.name
    assert entries["usr/bin/postgres"][1] == b"/usr/lib/postgresql/17/bin/postgres"
    assert entries["lib/ld-linux-aarch64.so.1"][1][:4] == b"\x7fELF"
    assert "usr/lib/aarch64-linux-gnu/libc.so.6" in entries
    assert b"server:x:100:100" in entries["etc/passwd"][1]


def test_names_that_there_are_not() -> None:
    with pytest.raises(RequestError, match=r"image 'program'.*did you mean programs"):
        guest_image("program")
    with pytest.raises(RequestError, match="image provider 'arch'"):
        guest_image("programs", "arch")


def test_the_environment_names_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROVIDER_VARIABLE, raising=False)
    assert provider_asked() == "debian"
    monkeypatch.setenv(PROVIDER_VARIABLE, "arch")
    with pytest.raises(
        RequestError, match=rf"{PROVIDER_VARIABLE} = 'arch': allowed: one of debian"
    ):
        provider_asked()


def test_an_archive_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "image").write_bytes(b"first" * 100)
    image = ImageArtefact(tmp_path / "image", image_provenance())
    more = with_archive(image, b"second", "data")
    assert more.path.read_bytes() == b"first" * 100 + b"second"
    assert more.provenance.prepared == "data"
    assert more.provenance.agent == image.provenance.agent
    assert more.provenance.sha256 == sha256_file(more.path)
    assert with_archive(image, b"third!", "data").path != more.path


def test_a_wrong_list_is_one_line(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    text, lines = CONTENT.read_text(), []
    path = tmp_path / "content.toml"
    for old, new in (
        ('from = "lisa"', 'from = "liza"'),
        ('images = ["programs"]', 'images = ["big"]'),
    ):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        lines.append(refusal(load_content, path).removeprefix(str(tmp_path)))
    assert lines == snapshot


def unpacked(root: Path) -> None:
    """What packages would leave: this machine's own shell, as every program of the list."""
    for program in load_content().provided():
        path = root / program.file[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy("/bin/sh", path)
    for data in load_content().data:
        for name in data.files:
            (root / name[1:]).parent.mkdir(parents=True, exist_ok=True)
            (root / name[1:]).write_text("data")


def test_what_the_packages_lack_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = load_content()
    with pytest.raises(EascopeError, match=r"content.toml: /usr/bin/cyclictest is in none of"):
        debian._archive(content, tmp_path)
    unpacked(tmp_path)
    with pytest.raises(EascopeError, match=r"is linked with \S+, which no package has"):
        debian._archive(content, tmp_path)
    monkeypatch.setattr(debian, "_needed", lambda program: [])
    entries = parse(debian._archive(content, tmp_path).data())
    assert entries["usr/bin/cyclictest"][1] == Path("/bin/sh").read_bytes()
    assert entries["usr/share/postgresql/17"][1] == b"data"
    assert isinstance(content.data[0], GuestData)


@pytest.mark.guest
def test_the_command_prints_the_paths() -> None:
    done = call([*COMMAND])
    assert done.returncode == 0
    paths = [Path(line) for line in done.stdout.split()]
    assert paths == [guest_image("minimal").path, guest_image("programs").path]
    done = call([*COMMAND, "none"])
    assert done.returncode == 2
    assert "image 'none'" in done.stderr
    assert json.loads(guest_image("programs").path.with_name("provenance.json").read_bytes())


DIGEST = "0123456789abcdef" * 4
#: As in a run's ``cell.json``, but for the digests.
MINIMAL: dict[str, Any] = {
    "agent": {
        "compiler": "aarch64-linux-gnu-gcc 12.2.0",
        "libc_sha256": DIGEST,
        "sha256": {"agent": DIGEST},
    },
    "busybox": {
        "architecture": "arm64",
        "package": "busybox-static",
        "sha256": DIGEST,
        "version": "1:1.37.0-6+b9",
    },
    "overlay": {"bin/perf": DIGEST},
    "programs": {"launch": DIGEST, "ping-pong": DIGEST},
    "rt-app": {"from": "lisa-linux 3.1.0", "sha256": DIGEST},
    "rt-app-elided-gem5": {"sha256": DIGEST},
    "rt-app-elided-hint": {"sha256": DIGEST},
    "sha256": DIGEST,
    "trace-cmd": {"from": "lisa-linux 3.1.0", "sha256": DIGEST},
}
PROGRAMS: dict[str, Any] = {
    **MINIMAL,
    "image": "programs",
    "members": {"member": DIGEST},
    "provided": {
        "packages": {"rt-tests": "2.6-1.1"},
        "packages_sha256": DIGEST,
        "provider": "debian",
    },
    "with": "data of postgres",
}


@pytest.mark.parametrize("content", [MINIMAL, PROGRAMS], ids=["minimal", "programs"])
def test_the_file_is_what_it_was(content: dict[str, Any], tmp_path: Path) -> None:
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    path = tmp_path / "provenance.json"
    path.write_text(text)
    read = ImageProvenance.read(path)
    read.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == text


WRONG: tuple[dict[str, Any], ...] = (
    {"agent": None},
    {"busybox": {"package": "x"}},
    {"rt-app": {"sha256": DIGEST}},
    {"rt-app-elided-new": "x"},
    {"with": 3},
)


def test_what_is_wrong_is_one_line(snapshot: SnapshotAssertion) -> None:
    lines = []
    for changes in WRONG:
        with pytest.raises(RecordError) as caught:
            ImageProvenance.decode(MINIMAL | changes, "f")
        lines.append(str(caught.value))
    assert lines == snapshot
