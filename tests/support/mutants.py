# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels with one line of a queue's work broken, to see whether a test says so."""

import difflib
import re
import shutil
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.engines.base import EngineFailed
from eascope.kernels.build import KernelArtefact, names
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
class GuestCheck:
    """A test of a kernel that fails when the kernel does not do what it claims.

    :param line: as in the file of mutants.
    :param asserts: the function whose own assertion must then fail.
    :param ask: boots the kernel and calls that function.
    :param says: instead, what the kernel warns of on its console before the guest dies, or why the
        engine ends the run; words of which ``|`` parts one from the other, by release.
    """

    line: str
    asserts: Callable[..., object]
    ask: Callable[[KernelArtefact, Platform, Path], object]
    says: str = ""


@dataclass(frozen=True)
class GuestMutant:
    """``kernels`` without what ``claim`` says; ``check`` passes on the whole ones."""

    kernels: tuple[str, ...]
    claim: str
    edit: Edit
    check: GuestCheck


@dataclass(frozen=True)
class ReadMutant:
    """An entry of a file of mutants; ``more``: its other lines, by their names."""

    claim: str
    kernels: tuple[str, ...]
    edit: Edit
    more: Mapping[str, str]


def read_mutants(queue: str) -> list[ReadMutant]:
    """The mutants of ``queue``, each a change of lines that are once in a file of its kernels."""
    read = []
    text = (DIFFS / f"{queue}.diff").read_text()
    for entry in re.split(r"^(?=mutant: )", text, flags=re.MULTILINE)[1:]:
        head, _, change = entry.strip("\n").partition("\n--- ")
        file, *lines = change.split("\n")
        old, new = (
            "".join(f"{line[1:]}\n" for line in lines if line[0] in " " + sign) for sign in "-+"
        )
        more = dict(line.split(": ", 1) for line in head.splitlines())
        claim, kernels = more.pop("mutant"), tuple(more.pop("kernels").split())
        read.append(ReadMutant(claim, kernels, Edit(file, old, new), more))
    return read


def must_fail(check: GuestCheck, kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """``check`` finds that ``kernel`` is broken, by the assertion or warning that it names.

    A guest that does not boot, a program that fails or a limit of time finds nothing.
    """
    name = check.asserts.__name__
    failure: AssertionError | EngineFailed | None = None
    try:
        check.ask(kernel, platform, folder)
    except (AssertionError, EngineFailed) as error:
        failure = error
    assert failure, f"it survives {name}"
    if check.says:
        output = "".join(file.read_text(errors="replace") for file in folder.rglob("console.log"))
        output += str(failure) if isinstance(failure, EngineFailed) else ""
        assert any(words in output for words in check.says.split("|")), (
            f"nothing says {check.says!r}: {failure}"
        )
        return
    if isinstance(failure, EngineFailed):
        raise failure
    where = traceback.extract_tb(failure.__traceback__)[-1].name
    assert where == name, f"{where} fails, not {name}: {failure}"


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
