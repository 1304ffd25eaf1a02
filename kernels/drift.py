# SPDX-License-Identifier: GPL-2.0-or-later
"""Drift of the sources: every series is tried on every source that a suite offers.

``python -m eascope.kernels.drift`` counts the patches of each series that apply
to each source cleanly, with fuzz or not at all, and names those that do not apply cleanly.
A build takes only clean patches. If
a patch fails, its hunks that apply are applied, so that the next patches meet a similar tree.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from eascope.host.cache import artefact, sha256_bytes
from eascope.host.errors import unknown
from eascope.host.proc import CommandFailed, Ending, need, run
from eascope.host.table import Table
from eascope.kernels.patch_series import changed_files, is_ported, patch_label, series_patches
from eascope.kernels.patching import would_apply
from eascope.kernels.releases import DEFAULT, number
from eascope.kernels.source import Source, offered, offered_releases
from eascope.kernels.variants import SERIES, Kernel, load_catalogue

#: Lines around a hunk that patch may ignore; what it does when nobody says otherwise.
FUZZ = 2
HEADS = ("source", "series", "order", "patches", "clean", "fuzzy", "failing", "failing hunks")


@dataclass(frozen=True)
class Tried:
    """The outcome of trying a patch.

    :param fuzzy: hunks that applied with fuzz.
    :param applied: the source has the whole patch already.
    """

    patch: Path
    fuzzy: int
    failed: int
    hunks: int
    applied: bool = False

    @property
    def clean(self) -> bool:
        """True if a build would take it."""
        return not (self.fuzzy or self.failed)

    @property
    def words(self) -> str:
        """The reason why it is not clean, in words."""
        if self.failed:
            applied = ", it is already applied" if self.applied else ""
            return f"{self.failed} of {self.hunks} hunks fail{applied}"
        return f"{self.fuzzy} of {self.hunks} hunks need fuzz"


@dataclass(frozen=True)
class Drift:
    """The outcome of the last of ``all_series`` on ``source``, after the others.

    :param kept: the series is kept for that source's release, so every patch must be clean.
    """

    source: Source
    all_series: tuple[Path, ...]
    kept: bool
    tried: tuple[Tried, ...]

    @property
    def failed(self) -> bool:
        """True if a build would fail on a release for which the series is kept."""
        return self.kept and not all(patch.clean for patch in self.tried)

    @property
    def row(self) -> list[str]:
        """Its row of the table."""
        *under, last = (series.name for series in self.all_series)
        release = self.source.release
        fuzzy = sum(not patch.clean and not patch.failed for patch in self.tried)
        failing = sum(patch.failed > 0 for patch in self.tried)
        failed = sum(patch.failed for patch in self.tried)
        hunks = f"{failed} of {sum(patch.hunks for patch in self.tried)}"
        return [
            self.source.label,
            f"{last} (on {', '.join(under)})" if under else last,
            release.series if is_ported(self.all_series[-1], release.name) else "series",
            str(len(self.tried)),
            *map(str, (len(self.tried) - fuzzy - failing, fuzzy, failing)),
            hunks,
        ]


def sources() -> list[Source]:
    """Every source that a suite offers of our releases and of those between and after them."""
    first = number(DEFAULT)
    return [
        source for name in offered_releases() if number(name) >= first for source in offered(name)
    ]


def touched_files(all_series: Iterable[Path], release: str) -> list[str]:
    """The files that ``all_series`` change in ``release``, or add to it."""
    patches = (patch for series in all_series for patch in series_patches(series, release))
    return sorted({name for patch in patches for name in changed_files(patch)})


def has_order(series: Path, release: str) -> bool:
    """True if there is an order of ``series`` to try on ``release``."""
    return is_ported(series, release) or (series / "series").is_file()


def source_files(source: Source, names: Iterable[str]) -> Path:
    """A folder with those of the files ``names`` that ``source`` has; cached."""
    wanted = sorted(set(names))
    # A name that is not there ends tar, so folders are taken, without what is below them.
    folders = sorted({str(PurePosixPath(name).parent) for name in wanted})
    patterns = [str(PurePosixPath(source.package) / folder / "*") for folder in folders]

    def build(folder: Path) -> None:
        how = [
            "--strip-components=1",
            "--no-recursion",
            "--wildcards",
            "--no-wildcards-match-slash",
        ]
        source.tar(folder, [*how, *patterns])
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_symlink() or not path.is_dir():
                if str(path.relative_to(folder)) not in wanted:
                    path.unlink()
            elif not any(path.iterdir()):
                path.rmdir()

    key = {"source": source.sha256, "files": sha256_bytes("\n".join(wanted).encode())}
    return artefact("kernel-files", key, build, label=f"files of {source.label}", large=True)


def try_patch(tree: Path, patch: Path) -> Tried:
    """Apply to ``tree`` the hunks of ``patch`` that apply."""
    hunks = len(re.findall(r"^@@ -", patch.read_text(errors="replace"), re.MULTILINE))
    command: list[str | Path] = [need("patch", "patch"), "-p1", "--batch", "--forward"]
    command += ["--no-backup-if-mismatch", "--reject-file=-", "-d", tree, "-i", patch.resolve()]
    if would_apply(tree, patch, "--forward"):
        run([*command, "--fuzz=0"])
        return Tried(patch, 0, 0, hunks)
    applied = would_apply(tree, patch, "--reverse", "--force")
    try:
        output = run([*command, f"--fuzz={FUZZ}"]).decode(errors="replace")
    except CommandFailed as error:
        output = error.log_text
    fuzzy = len(re.findall(r"^Hunk #\d+ succeeded .*with fuzz", output, re.MULTILINE))
    lost = re.findall(r"^(\d+) out of \d+ hunks? (?:FAILED|ignored)", output, re.MULTILINE)
    return Tried(patch, fuzzy, sum(map(int, lost)), hunks, applied)


def drifts(source: Source, kernels: Sequence[Kernel], files: Path) -> list[Drift]:
    """Try the series of ``kernels`` on a copy of ``files``, each once on the series before it."""
    results: dict[tuple[Path, ...], Drift] = {}
    release = source.release.name
    of_release = number(source.version) == number(release)
    for kernel in kernels:
        all_series = kernel.folders(SERIES)
        if not all(has_order(series, release) for series in all_series):
            continue
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "linux"
            shutil.copytree(files, tree)
            for count, series in enumerate(all_series, start=1):
                tried = tuple(try_patch(tree, patch) for patch in series_patches(series, release))
                kept = of_release and (release == DEFAULT or is_ported(series, release))
                some = tuple(all_series[:count])
                results.setdefault(some, Drift(source, some, kept, tried))
    return list(results.values())


def report(results: Sequence[Drift]) -> str:
    """The table, and a line for each patch that is not clean."""
    lines = [Table.of(HEADS, (result.row for result in results), left=3).text()]
    for result in results:
        lines += [
            f"{patch_label(tried.patch)} on {result.source.label}: {tried.words}"
            for tried in result.tried
            if not tried.clean
        ]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Try the series of the named kernels (default: all); 1 if one fails on its own release."""
    parser = argparse.ArgumentParser(
        prog="python -m eascope.kernels.drift",
        description="Try every series on every offered source, and count the patches that apply.",
        epilog="example: python -m eascope.kernels.drift base",
    )
    parser.add_argument("kernel", nargs="*", help="names from kernels/variants.toml, such as base")
    wanted = parser.parse_args(arguments).kernel
    with Ending() as ending:
        known = load_catalogue().kernels
        for name in wanted:
            if name not in known:
                raise unknown("kernel", name, known)
        kernels = [known[name] for name in wanted or known]
        results = [drift for source in sources() for drift in tried_on(source, kernels)]
        print(report(results))
        ending.code = int(any(result.failed for result in results))
    return ending.code


def tried_on(source: Source, kernels: Sequence[Kernel]) -> list[Drift]:
    """`drifts` for the files of ``source`` that the series touch."""
    release = source.release.name
    all_series = sorted({series for kernel in kernels for series in kernel.folders(SERIES)})
    all_series = [series for series in all_series if has_order(series, release)]
    return drifts(source, kernels, source_files(source, touched_files(all_series, release)))


if __name__ == "__main__":
    sys.exit(main())
