# SPDX-License-Identifier: GPL-2.0-or-later
"""A series by each name that people have for it, and the release that it is checked on."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from eascope.host.dry import NotBuilt
from eascope.host.errors import EascopeError, RequestError
from eascope.kernels import posted as module
from eascope.kernels.own import NO_OWN
from eascope.kernels.patching import PatchFailed
from eascope.kernels.posted import base_for, posted
from tests.support.toy_linux import git, toy_linux

IDENT = "20260101-fair-v2-0-abc@localhost"


@pytest.fixture
def linux(tmp_path: Path) -> Path:
    return toy_linux(tmp_path / "linux")


def mbox(linux: Path, *more: str) -> bytes:
    how = ("--stdout", "--base=old", "--no-signature", *more)
    return (git(linux, "format-patch", *how, "old..main") + "\n").encode()


def program(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ``b4`` that comes before any other."""
    (folder / "bin").mkdir()
    (folder / "bin/b4").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "bin/b4").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")


def test_each_name_gives_the_same_change(
    linux: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, folder = tmp_path / "mine.mbx", tmp_path / "mine"
    file.write_bytes(mbox(linux))
    folder.mkdir()
    (folder / "0001-two.patch").write_bytes(mbox(linux))
    (folder / "config").write_text("CONFIG_A=y\n")
    program(tmp_path, f'test "$4" = "{IDENT}" && cp {file} "$3/t.mbx"', monkeypatch)
    found = [posted(what, linux) for what in ("old..", "old..main", "main~1..HEAD")]
    found += [posted(f"{linux}@old..main", tmp_path), posted(str(file), tmp_path)]
    found += [posted(str(folder), tmp_path)]
    for what in (IDENT, f"<{IDENT}>", f"https://lore.kernel.org/all/{IDENT}/T/#u"):
        found.append(posted(what, tmp_path))
    for each in found:
        assert [*each.patches] == ["0001-two.patch"]
        assert b"+line nine\n" in each.patches["0001-two.patch"]
    commit = git(linux, "rev-parse", "old")
    assert [each.base for each in found] == ["old", "old", "main~1", "old", *[commit] * 5]
    assert [bool(each.config) for each in found].index(True) == 5


def test_a_date_makes_no_other_kernel(linux: Path, tmp_path: Path) -> None:
    files = [tmp_path / "a.mbx", tmp_path / "b.mbx"]
    text = mbox(linux).decode()
    files[0].write_text(text)
    files[1].write_text(
        re.sub("^Date: .*$", "Date: Thu, 01 Jan 2026 00:00:00 +0000", text, flags=re.M)
    )
    one, other = (posted(str(file), linux) for file in files)
    assert one.patches != other.patches
    assert one.built() == other.built()


def test_a_diff_is_a_patch(linux: Path, tmp_path: Path) -> None:
    file = tmp_path / "my.diff"
    file.write_text(git(linux, "diff", "old..main") + "\n")
    [(name, patch)] = posted(str(file), linux).patches.items()
    assert name == "0001-my.patch"
    assert changed_text(patch) == changed_text(file.read_bytes())


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("nowhere", "'nowhere': no such file; expected a folder of patches, an mbox, a patch, "),
        ("v9..", "'v9' is no commit, branch or tag of the git tree"),
        ("notes.txt", "no patch in its"),
        ("empty", "no file *.patch or *.eml"),
        (IDENT, f"message-id '{IDENT}': b4 is not installed: pip install b4, or save the thread, "),
    ],
)
def test_what_is_no_series_is_refused_in_a_line(
    linux: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, says: str
) -> None:
    (tmp_path / "notes.txt").write_text("Words.\n")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "eascope.kernels.posted.shutil.which", lambda name: None if name == "b4" else name
    )
    with pytest.raises(RequestError) as caught:
        posted(what, linux)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_network_it_says_how_to_save_the_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "echo Looking up; echo CRITICAL: no route to host >&2; exit 1", monkeypatch)
    with pytest.raises(RequestError) as caught:
        posted(IDENT, tmp_path)
    assert str(caught.value) == (
        f"message-id '{IDENT}': b4 fetches nothing (CRITICAL: no route to host): save the thread, "
        f"https://lore.kernel.org/all/{IDENT}/t.mbox.gz, and give its file"
    )


@pytest.mark.parametrize("name", ["sound/card.c", "arch/x86/kernel/smpboot.c"])
def test_what_no_build_reads_is_left_out(linux: Path, name: str) -> None:
    """Our trees lack these files, or have them for other machines."""
    unread = linux / name
    unread.parent.mkdir(parents=True, exist_ok=True)
    unread.touch()
    git(linux, "add", ".")
    for other, message in ((unread, "only"), (linux / "a.c", "both")):
        for file in {unread, other}:
            file.write_text(f"{file.read_text()}{message}\n")
        git(linux, "commit", "--quiet", "--all", f"--message={message}")
    series = posted("main~2..", linux)
    assert [*series.patches] == ["0001-only.patch", "0002-both.patch"]
    built = series.built()
    assert [*built] == ["0002-both.patch"]
    assert changed_text(built["0002-both.patch"]) == ["+++ b/a.c", "+both"]
    with pytest.raises(RequestError, match="no file that our builds read"):
        posted("main~2..main~1", linux).built()


def changed_text(patch: bytes) -> list[str]:
    return [line for line in patch.decode().splitlines() if line.startswith("+")]


class Tried:
    """Stands for `kernels.build.tried`: what trying gives, by release; notes what was tried."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **errors: EascopeError) -> None:
        self.errors = {name.replace("_", ".")[1:]: error for name, error in errors.items()}
        self.releases: list[str] = []
        monkeypatch.delenv("KERNEL_SRC", raising=False)
        monkeypatch.setattr(module, "variant_named", lambda name, own: (name, None))
        monkeypatch.setattr(module, "tried", self)

    def __call__(self, name: Any) -> Any:
        release = name.partition("@")[2] or "6.12"
        self.releases.append(release)
        if release in self.errors:
            raise self.errors[release]
        return type("Source", (), {"label": f"Linux {release}.9"})


def refusal(release: str) -> PatchFailed:
    label = f"Linux {release}.9 (linux-source-{release} {release}.9-1)"
    return PatchFailed(
        f"x/0002-b.patch does not apply to {label}: a.c: hunk 1 at line 7:\n @@\nrest"
    )


def test_the_newest_release_to_which_it_applies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tried = Tried(monkeypatch)
    base = base_for(NO_OWN, "x", "", tmp_path)
    assert (base.release, base.words, base.named("x")) == (
        "7.3",
        "Linux 7.3.9, the newest",
        "x@7.3",
    )
    assert tried.releases == ["7.3"]
    Tried(monkeypatch, _7_3=refusal("7.3"))
    base = base_for(NO_OWN, "x", "", tmp_path)
    assert (base.release, base.named("mainline")) == ("6.12", "mainline")
    assert base.words == (
        "Linux 6.12.9, the newest to which it applies; 0002-b.patch does not apply to Linux 7.3.9: "
        "a.c: hunk 1 at line 7"
    )


@pytest.mark.parametrize(
    ("stated", "releases"),
    [("v6.12", ["6.12"]), ("v6.12.40", ["6.12"]), ("v6.13", ["7.3"]), ("v7.3-rc1", ["7.3"])],
)
def test_the_release_that_a_series_states(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stated: str, releases: list[str]
) -> None:
    tried = Tried(monkeypatch)
    base = base_for(NO_OWN, "x", stated, tmp_path)
    assert tried.releases == releases
    assert (f"the series was made on {stated}" in base.words) == stated.startswith("v6.12")
    tried = Tried(monkeypatch, _6_12=refusal("6.12"))
    base = base_for(NO_OWN, "x", stated, tmp_path)
    assert (base.release, tried.releases) == ("7.3", [*releases, "7.3"][-len({*releases, "7.3"}) :])


def test_a_commit_is_looked_up_in_the_tree(monkeypatch: pytest.MonkeyPatch, linux: Path) -> None:
    git(linux, "tag", "v6.12", "old")
    tried = Tried(monkeypatch)
    base_for(NO_OWN, "x", git(linux, "rev-parse", "old"), linux)
    base_for(NO_OWN, "x", git(linux, "rev-parse", "main"), linux)
    assert tried.releases == ["6.12", "7.3"]


def test_a_series_that_applies_to_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A source that cannot be had is named, too."""
    Tried(monkeypatch, _7_3=EascopeError("not offered"), _6_12=refusal("6.12"))
    with pytest.raises(RequestError) as caught:
        base_for(NO_OWN, "x", "", tmp_path)
    assert str(caught.value) == (
        "Linux 7.3: not offered; 0002-b.patch does not apply to Linux 6.12.9: a.c: hunk 1 at line 7"
    )


def test_a_dry_run_says_what_was_not_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Tried(monkeypatch, _7_3=NotBuilt("the tree of Linux 7.3.9"))
    base = base_for(NO_OWN, "x", "", tmp_path)
    assert base.words == "Linux 7.3 (not tried: the tree of Linux 7.3.9 is not there)"


def test_a_tree_in_kernel_src_is_the_only_one(monkeypatch: pytest.MonkeyPatch, linux: Path) -> None:
    tried = Tried(monkeypatch, _7_3=refusal("7.3"))
    monkeypatch.setenv("KERNEL_SRC", str(linux))
    with pytest.raises(RequestError, match=r"0002-b\.patch does not apply"):
        base_for(NO_OWN, "x", "v6.12", linux)
    assert tried.releases == ["7.3"]
