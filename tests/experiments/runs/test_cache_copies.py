# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope cache push`` and ``pull``: by digest, whole or absent."""

import json
from pathlib import Path

import pytest

from eascope.experiments.cli.main import main
from eascope.host.cache import MANIFEST, artefact, cache_root, check_artefact, entries
from eascope.host.proc import need
from eascope.host.toolchain import said_of
from eascope.host.transfer import DIGESTS
from tests.support.command import output_of, refused

pytestmark = pytest.mark.usefixtures("own_cache")


def entry(kind: str, text: str = "") -> Path:
    def build(work: Path) -> None:
        (work / "file").write_text(text or kind)
        (work / "link").symlink_to("file")

    return artefact(kind, {"a": kind}, build)


def flip(folder: Path) -> None:
    (folder / "file").write_bytes(b"x" * (folder / "file").stat().st_size)


def test_what_was_pushed_is_pulled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = [entry("kernel"), entry("initramfs")]
    packages = cache_root() / "qemu" / "packages-amd64.json"
    packages.parent.mkdir()
    packages.write_text("[]")
    assert said_of("kernel", lambda: ["gcc 12"]) == ("gcc 12",)
    names = sorted(path.relative_to(cache_root()) for path in result)
    shared = str(tmp_path / "shared")
    assert main(["cache", "push", shared]) == 0
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "node"))
    assert main(["cache", "pull", shared]) == 0
    assert sorted(path.relative_to(cache_root()) for path in entries()) == names
    for path in entries():
        check_artefact(path)
        assert (path / "link").is_symlink()
    assert (cache_root() / "qemu" / "packages-amd64.json").read_text() == "[]"
    # A node without a compiler names the one that built what was copied.
    assert said_of("kernel", lambda: need("no-such-gcc", "gcc")) == ("gcc 12",)
    # An artefact that is there is not built.
    assert artefact("kernel", {"a": "kernel"}, lambda _: pytest.fail("built")).is_dir()
    assert output_of("cache", "pull", shared) == "copied 0 of 0.0 MB, 2 were there, 0 damaged\n"


def test_only_the_kinds_that_are_asked_for(tmp_path: Path) -> None:
    entry("kernel")
    entry("initramfs")
    assert main(["cache", "push", str(tmp_path / "shared"), "kernel"]) == 0
    kinds = sorted(path.parent.name for path in (tmp_path / "shared").glob(f"*/*/{MANIFEST}"))
    assert len(kinds) == 1
    assert list((tmp_path / "shared").glob("initramfs/[!.]*")) == []


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_a_damaged_artefact_is_named_and_stops_no_other(
    direction: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry("kernel")
    entry("initramfs")
    shared = tmp_path / "shared"
    source = cache_root()
    if direction == "pull":
        assert main(["cache", "push", str(shared)]) == 0
        monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "node"))
        source = shared
    target = shared if direction == "push" else tmp_path / "node"
    (bad,) = source.glob("kernel/[!.]*")
    flip(bad)
    output = json.loads(output_of("cache", direction, str(shared), "--json", code=1))
    assert output["damaged"] == [
        f"cache entry {bad} is corrupt: file does not match its recorded SHA-256: "
        "remove that folder and run again"
    ]
    assert [name.partition("/")[0] for name in output["copied"]] == ["initramfs"]
    assert [path.name for path in target.glob("kernel/[!.]*")] == []


def test_a_damaged_copy_is_not_overwritten_and_named(tmp_path: Path) -> None:
    entry("kernel")
    shared = tmp_path / "shared"
    assert main(["cache", "push", str(shared)]) == 0
    (copy,) = shared.glob("kernel/[!.]*")
    flip(copy)
    assert f"cache entry {copy} is corrupt" in output_of("cache", "push", str(shared), code=1)


def test_package_lists_that_were_changed_are_not_pulled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry("kernel")
    note = cache_root() / "apt" / "arm64" / "ready"
    note.parent.mkdir(parents=True)
    note.write_text("bookworm")
    shared = tmp_path / "shared"
    assert main(["cache", "push", str(shared)]) == 0
    (shared / "apt" / "arm64" / "ready").write_text("other")
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "node"))
    assert f"ready: does not match its SHA-256 in {DIGESTS}" in output_of(
        "cache", "pull", str(shared), code=1
    )
    assert not (cache_root() / "apt" / "arm64" / "ready").exists()


def test_a_cache_keeps_the_lists_that_it_has(tmp_path: Path) -> None:
    entry("kernel")
    note = cache_root() / "apt" / "arm64" / "ready"
    note.parent.mkdir(parents=True)
    note.write_text("ours")
    other = tmp_path / "shared" / "apt" / "arm64" / "ready"
    other.parent.mkdir(parents=True)
    other.write_text("theirs")
    assert main(["cache", "push", str(tmp_path / "shared")]) == 0
    assert other.read_text() == "theirs"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pull", "{tmp}/nowhere"], "nowhere: contains no cache entries"),
        (["push", "{tmp}/cache"], "this is the cache itself"),
        (["push", "{tmp}/shared", "kernle"], "unknown kind 'kernle'"),
        (["push", "{tmp}/file/below"], "expected a writable directory"),
    ],
)
def test_bad_input(arguments: list[str], message: str, tmp_path: Path) -> None:
    entry("kernel")
    (tmp_path / "file").write_text("")
    before = sorted(tmp_path.rglob("*"))
    error = refused("cache", *(text.format(tmp=tmp_path) for text in arguments))
    assert message in error
    assert sorted(tmp_path.rglob("*")) == before
