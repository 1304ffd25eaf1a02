# SPDX-License-Identifier: GPL-2.0-or-later
"""What an image was made from: typed, and the same JSON that runs have had from the start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eascope.host.record import RecordError
from eascope.rootfs.provenance import ImageProvenance, ProvidedPrograms

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


def test_everything_has_a_name_and_a_type() -> None:
    image = ImageProvenance.decode(PROGRAMS, "f")
    assert image.rt_app.wheel == image.trace_cmd.wheel == "lisa-linux 3.1.0"
    assert image.busybox.version == "1:1.37.0-6+b9"
    assert {name: copy.sha256 for name, copy in image.copies.items()} == {
        "rt-app-elided-gem5": DIGEST,
        "rt-app-elided-hint": DIGEST,
    }
    assert image.provided == ProvidedPrograms("debian", {"rt-tests": "2.6-1.1"}, DIGEST)
    assert (image.image, image.prepared) == ("programs", "data of postgres")
    plain = ImageProvenance.decode(MINIMAL, "f")
    assert (plain.image, plain.provided, plain.members, plain.prepared) == ("", None, {}, "")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"agent": None}, "f: agent = None: allowed: an object"),
        ({"busybox": {"package": "x"}}, "f: busybox.version is missing: allowed: a text"),
        ({"rt-app": {"sha256": DIGEST}}, "f: rt-app.from is missing: allowed: a text"),
        ({"rt-app-elided-new": "x"}, "f: rt-app-elided-new = 'x': allowed: an object"),
        ({"with": 3}, "f: with = 3: allowed: a text"),
    ],
)
def test_what_is_wrong_is_one_line(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(RecordError) as caught:
        ImageProvenance.decode(MINIMAL | changes, "f")
    assert str(caught.value) == line
