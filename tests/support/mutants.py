# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels with one line of a queue's work broken."""

import difflib
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eascope.kernels.build import names
from eascope.kernels.kconfig import configure, fragment_text, make
from eascope.kernels.naming import kernel_named
from eascope.kernels.source import Source
from eascope.kernels.variants import SERIES
from eascope.kernels.worktree import OUT, patched, worktree

#: Files of mutants, by queue.
DIFFS = Path(__file__).parents[1] / "kernels/mutants"


@dataclass(frozen=True)
class Edit:
    """``old``, which is once in the patched ``file``, becomes ``new``."""

    file: str
    old: str
    new: str

    def edited(self, text: str) -> str:
        """The file whose content is ``text``, after the change."""
        assert text.count(self.old) == 1, f"{self.file}: {text.count(self.old)} of {self.old!r}"
        return text.replace(self.old, self.new)

    def patch(self, text: str) -> str:
        """The change of the file whose content is ``text``, as a patch."""
        lines = difflib.unified_diff(
            text.splitlines(keepends=True),
            self.edited(text).splitlines(keepends=True),
            f"a/{self.file}",
            f"b/{self.file}",
        )
        return f"diff --git a/{self.file} b/{self.file}\n{''.join(lines)}"


@dataclass(frozen=True)
class NamedFault:
    """``kernels`` without what ``claim`` says."""

    claim: str
    kernels: tuple[str, ...]
    edit: Edit


def named_faults() -> list[NamedFault]:
    """Those of all files, each a change of lines that are once in a file of its kernels."""
    read = []
    for path in sorted(DIFFS.glob("*.diff")):
        for entry in re.split(r"^(?=mutant: )", path.read_text(), flags=re.MULTILINE)[1:]:
            head, _, change = entry.strip("\n").partition("\n--- ")
            file, *lines = change.split("\n")
            old, new = (
                "".join(f"{line[1:]}\n" for line in lines if line[0] in " " + sign) for sign in "-+"
            )
            of = dict(line.split(": ", 1) for line in head.splitlines())
            read.append(
                NamedFault(of["mutant"], tuple(of["kernels"].split()), Edit(file, old, new))
            )
    return read


@contextmanager
def edited_tree(
    kernel: str, edits: Sequence[Edit], source: Source, folder: Path, options: Sequence[str] = ()
) -> Iterator[Callable[..., Path]]:
    """A function that builds targets of ``kernel`` with ``edits``, where kernels are built.

    It returns the folder of what is built.

    :param options: configuration options that are on, in addition to the kernel's own.
    """
    spec, release = kernel_named(kernel), source.release.name
    queues = [SERIES / series for series in spec.series]
    with patched(source, queues) as kept:
        texts = {edit.file: (kept.tree / edit.file).read_text() for edit in edits}
    queue = folder / "edited"
    queue.mkdir(parents=True)
    names_of = [f"{number:04}-edit.patch" for number in range(1, len(edits) + 1)]
    (queue / "series").write_text("".join(f"{name}\n" for name in names_of))
    for name, edit in zip(names_of, edits, strict=True):
        (queue / name).write_text(edit.patch(texts[edit.file]))
        texts[edit.file] = edit.edited(texts[edit.file])
    fragment = fragment_text(spec, release) + "".join(f"CONFIG_{name}=y\n" for name in options)
    with worktree(source, [*queues, *([queue] if edits else [])], options) as tree:
        out, log = tree / OUT, folder / "log"
        configure(tree, out, fragment, log)

        def build(*targets: str) -> Path:
            make(tree, out, [*targets], log, **names(spec, release))
            return out

        yield build


def edited_image(
    kernel: str, edits: Sequence[Edit], source: Source, folder: Path, options: Sequence[str] = ()
) -> Path:
    """The image of an `edited_tree`."""
    image = folder / "Image"
    with edited_tree(kernel, edits, source, folder, options) as build:
        shutil.copyfile(build("Image") / "arch/arm64/boot/Image", image)
    return image
