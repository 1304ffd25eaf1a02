# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines that a queue adds to Linux, their faults, and the order in which these are drawn."""

import re
import shutil
import tempfile
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from eascope.host.cache import sha256_bytes
from eascope.host.proc import need, run
from eascope.kernels.drift import source_files, touched_files
from eascope.kernels.queues import FILES, patch_label, series_patches
from eascope.kernels.source import Source
from eascope.kernels.tree import open_tree
from eascope.kernels.variants import SERIES, Kernel
from tests.mutants.operators import faults
from tests.support.mutants import Edit

#: Words of a sentence that makes an exception.
EXCEPTION = re.compile(
    r"\b(while|unless|only|alone|except|without|but|neither|nor|until|never|no longer|else|"
    r"otherwise|if not|or ends)\b"
)
#: Faults of an exception.
OF_EXCEPTIONS = {"negate", "branch", "term", "and/or", "compare"}


@dataclass(frozen=True)
class Line:
    """A line that a patch adds; ``patch``: its place in the series, 0 of the queue's own files."""

    patch: int
    name: str
    message: str


@dataclass(frozen=True)
class Mutant:
    """One fault in a line that ``patch`` adds.

    :param edit: has as many lines around the fault as make it unique in its file.
    :param sentence: of the patch's message, with the most words in common with the line.
    """

    operator: str
    patch: int
    name: str
    line: int
    old: str
    new: str
    sentence: str
    edit: Edit

    @property
    def id(self) -> str:
        """Of the file, the fault and the lines around it, wherever these are."""
        edit = self.edit
        return sha256_bytes("\0".join((edit.file, edit.old, edit.new)).encode())[:12]


def queue_lines(spec: Kernel, source: Source) -> dict[str, tuple[str, dict[int, Line]]]:
    """By file of C: its patched text, and the lines that the last queue of ``spec`` adds."""
    release = source.release.name
    folders = spec.folders(SERIES)
    patches = series_patches(folders[-1], release)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(source_files(source, touched_files(folders, release)), tree)
        open_tree(tree, spec, source)

        def git(*arguments: str) -> str:
            return run([need("git", "git"), "-C", tree, *arguments]).decode(errors="replace")

        commits = git("log", f"-{len(patches)}", "--format=%H").split()[::-1]
        start = 1 - (patches[0].name == FILES)
        lines = {
            commit: Line(number, patch_label(patch), git("log", "-1", "--format=%B", commit))
            for number, (commit, patch) in enumerate(zip(commits, patches, strict=True), start)
        }
        for name in touched_files(folders[-1:], release):
            if name.endswith((".c", ".h")) and (tree / name).is_file():
                blamed = re.findall(
                    r"^([0-9a-f]{40}) \d+ (\d+)", git("blame", "--porcelain", name), re.MULTILINE
                )
                ours = {int(number): lines[sha] for sha, number in blamed if sha in lines}
                found[name] = (tree / name).read_text(), ours
    return found


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]{3,}", text.lower().replace("_", " "))}


def _sentence(message: str, line: str, near: str) -> str:
    """The sentence of ``message`` nearest to a line: rare words in common count.

    Those of the lines ``near`` it count less.
    """
    text = re.sub(r"^[\w-]+-by: .*$", "", message, flags=re.MULTILINE).strip()
    body = text.partition("\n")[2].strip() or text
    sentences = [" ".join(one.split()) for one in re.split(r"(?<=[.;])\s+|\n\n+", body)]
    found = [_words(one) for one in sentences]
    own, around = _words(line), _words(near)

    def score(one: set[str]) -> float:
        return sum(
            (1 if word in own else 0.2) / sum(word in other for other in found)
            for word in one & around
        )

    return max(zip(sentences, found, strict=True), key=lambda pair: score(pair[1]))[0]


def mutants_of(name: str, text: str, lines: dict[int, Line]) -> list[Mutant]:
    """Every mutant of ``lines`` of the file ``name`` with the patched ``text``."""
    whole, found = text.splitlines(keepends=True), []
    begins = [0, *accumulate(map(len, whole))]
    for fault in faults(text):
        number = bisect_right(begins, fault.at)
        if number not in lines:
            continue
        first = text.count("\n", 0, fault.start)
        last = first + text.count("\n", fault.start, fault.end) + 1
        faulty = fault.applied(text).splitlines(keepends=True)
        begin, end = max(0, first - 1), last + 1
        while text.count("".join(whole[begin:end])) > 1:
            begin, end = max(0, begin - 1), end + 1
        edit = Edit(name, "".join(whole[begin:end]), "".join(faulty[begin:end]))
        near = "".join(whole[max(0, first - 5) : last + 3])
        line = lines[number]
        old, new = ("".join(part[first:last]).strip("\n") for part in (whole, faulty))
        sentence = _sentence(line.message, old, near)
        found.append(
            Mutant(fault.operator, line.patch, line.name, number, old, new, sentence, edit)
        )
    return found


def drawn(
    mutants: Iterable[Mutant], seed: int, *, patch: int | None = None, exceptions: bool = False
) -> list[Mutant]:
    """The order in which mutants are tried: by lot, but each line once before any a second time.

    A mutant that is added or removed leaves the order of the others.

    :param exceptions: of conditions alone whose sentence makes an exception.
    """
    by_line: dict[tuple[str, int], list[tuple[str, Mutant]]] = defaultdict(list)
    for mutant in mutants:
        if patch in (None, mutant.patch) and (not exceptions or _is_exception(mutant)):
            lot = sha256_bytes(f"{seed} {mutant.id}".encode())
            by_line[mutant.edit.file, mutant.line].append((lot, mutant))
    turns = [
        (turn, lot, mutant)
        for lots in by_line.values()
        for turn, (lot, mutant) in enumerate(sorted(lots, key=lambda pair: pair[0]))
    ]
    return [mutant for _, _, mutant in sorted(turns, key=lambda turn: turn[:2])]


def _is_exception(mutant: Mutant) -> bool:
    return mutant.operator in OF_EXCEPTIONS and bool(EXCEPTION.search(mutant.sentence))
