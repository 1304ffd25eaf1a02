# SPDX-License-Identifier: GPL-2.0-or-later
"""A series as people name it, and the release of Linux on which it is checked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory

from eascope.host.dry import NotBuilt
from eascope.host.errors import EascopeError, RequestError, shortened
from eascope.kernels.build import tried
from eascope.kernels.mails import base_commit, read_patches
from eascope.kernels.naming import variant_named
from eascope.kernels.own import Own
from eascope.kernels.patch_series import config_text
from eascope.kernels.patching import PatchFailed
from eascope.kernels.provenance import KERNEL_SRC
from eascope.kernels.releases import DEFAULT, RELEASES, release_of
from eascope.kernels.source import LEFT_OUT, directory_version

ALLOWED = (
    "a folder of patches, an mbox, a patch, A..B or A.. in a git tree of Linux (--tree), a "
    "message-id, or such a tree"
)
#: Seconds for b4 to fetch a thread.
FETCH_S = 120
_IDENT = re.compile(r"(?:https?://\S+/|<)?([^\s/@<>]+@[^\s/@<>]+?)>?(?:/\S*)?")
#: Other architectures; arm64 builds some files of arch/arm.
_OTHER_ARCHITECTURES = re.compile(r"arch/(?!arm/|arm64/|Kconfig)")
_TAG = re.compile(r"v(\d+\.\d+)(\.\d+)?")


@dataclass(frozen=True)
class Posted:
    """A series.

    :param patches: by the names of their files, in order.
    :param base: the commit or tag that it was made on, as it states it; empty: it does not.
    :param config: the fragment of the configuration next to the patches.
    """

    patches: Mapping[str, bytes]
    base: str = ""
    config: str = ""

    def built(self) -> dict[str, bytes]:
        """The diffs alone, without those of files that no build reads; our trees lack most of them.

        Messages would make another kernel of the same series: b4 writes dates anew.

        :raises RequestError: nothing is left.
        """
        kept = {}
        for name, patch in self.patches.items():
            _, *files = re.split(rb"^(?=diff --git )", patch, flags=re.MULTILINE)
            left = [file for file in files if not _left_out(file)]
            if left or not files:
                kept[name] = b"".join(left) or patch
        if not kept:
            raise RequestError("the series changes no file that our builds read")
        return kept


def _left_out(diff: bytes) -> bool:
    """True if no build reads the file, under its old name nor under its new one."""
    names = diff.partition(b"\n")[0].decode(errors="replace").removeprefix("diff --git a/")
    return all(
        _OTHER_ARCHITECTURES.match(path) or any(fnmatch(path, left) for left in LEFT_OUT)
        for path in names.split(" b/")
    )


def posted(what: str, tree: Path) -> Posted:
    """The series that ``what`` names, of commits in ``tree``, or by b4 from the list's archive.

    :raises RequestError: one line: it names no patch, or cannot be fetched.
    """
    path = Path(what).expanduser()
    if path.exists():
        return Posted(read_patches(what), base_commit(what), config_text(path))
    ident = _IDENT.fullmatch(what)
    if ident and (".." not in what or what[0] == "<" or "://" in what):
        with TemporaryDirectory(prefix="eascope-") as folder:
            thread = str(_fetched(ident[1], Path(folder)))
            return Posted(read_patches(thread), base_commit(thread))
    first, dots, last = what.partition("..")
    if not (first and dots):
        raise RequestError(f"{what!r}: no such file; expected {ALLOWED}")
    place, at, own = first.partition("@")
    if place and at and Path(place).expanduser().is_dir():
        tree, first = Path(place).expanduser(), own
    return Posted(read_patches(f"{tree}@{first}..{last or 'HEAD'}"), first)


def _fetched(ident: str, folder: Path) -> Path:
    """The thread of a mail as an mbox below ``folder``."""
    save = f"save the thread, https://lore.kernel.org/all/{ident}/t.mbox.gz, and give its file"
    b4 = shutil.which("b4")
    if b4 is None:
        raise RequestError(f"message-id {ident!r}: b4 is not installed: pip install b4, or {save}")
    command = [b4, "mbox", "--outdir", str(folder), ident]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=FETCH_S, check=False, stdin=subprocess.DEVNULL
        )
        said = (done.stderr or done.stdout).decode(errors="replace").split("\n")
        why = next((line.strip() for line in reversed(said) if line.strip()), "no mail")
    except subprocess.TimeoutExpired:
        why = f"nothing within {FETCH_S} s"
    files = [file for file in folder.iterdir() if file.stat().st_size]
    if not files:
        raise RequestError(f"message-id {ident!r}: b4 fetches nothing ({shortened(why)}): {save}")
    return files[0]


@dataclass(frozen=True)
class Base:
    """The release that a series is checked on, and why, in a line."""

    release: str
    words: str

    def named(self, variant: str) -> str:
        """``variant`` on this release."""
        return variant if self.release == DEFAULT else f"{variant}@{self.release}"


def base_for(own: Own, name: str, stated: str, tree: Path) -> Base:
    """The release of the tag that the series was made on, or else the newest: it applies there.

    :param stated: `Posted.base`; a commit is looked up in the git tree ``tree``.
    :raises RequestError: it applies to none: the first patch and file that do not, of each.
    """
    releases, why = [*reversed(RELEASES)], ""
    if given := os.environ.get(KERNEL_SRC):
        releases, why = [release_of(directory_version(Path(given))).name], KERNEL_SRC
    elif tag := next((tag for tag in _tags(stated, tree) if tag[1] in RELEASES), None):
        releases = [tag[1], *(release for release in releases if release != tag[1])]
        why = f"the series was made on {tag[0]}"
    refused: list[str] = []
    for release in releases:
        base = Base(release, "")
        try:
            source = tried(variant_named(base.named(name), own)[0])
        except PatchFailed as error:
            first = str(error).splitlines()[0].rstrip(":")
            refused.append(re.sub(r" \(linux-source[^)]*\)", "", first).removeprefix(f"{name}/"))
            continue
        except NotBuilt as error:
            return Base(release, f"Linux {release} (not tried: {error})")
        except RequestError:
            raise
        except EascopeError as error:  # its source is not to be had
            refused.append(f"Linux {release}: {str(error).splitlines()[0]}")
            continue
        how = "the newest to which it applies" if refused else why or "the newest"
        return Base(release, "; ".join([f"{source.label}, {how}", *refused]))
    raise RequestError("; ".join(refused))


def _tags(stated: str, tree: Path) -> list[tuple[str, str]]:
    """Tags of Linux at a stated commit, each with its release."""
    names = [stated]
    if stated and shutil.which("git"):
        git = ["git", "-C", str(tree), "tag", "--points-at", stated]
        names += subprocess.run(git, capture_output=True, text=True, check=False).stdout.split()
    return [(name, match[1]) for name in names if (match := _TAG.fullmatch(name))]
