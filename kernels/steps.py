# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of a series: a variant for each patch, which has that patch and those before it.

They exist for one command, and are written nowhere. Of a range of commits, each commit is a step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from email import message_from_string
from pathlib import Path

from eascope.host.errors import RequestError, names_allowed
from eascope.host.keys import is_name
from eascope.kernels.mails import ALLOWED, commits_of, read_patches
from eascope.kernels.naming import OWN_IS_AS, kernel_below, kernel_named, variant_named
from eascope.kernels.own import Own
from eascope.kernels.patch_series import config_text, made_series, series_patches
from eascope.kernels.releases import DEFAULT
from eascope.kernels.trees import Tree
from eascope.kernels.variants import SERIES, Kernel, Variant, load_catalogue

#: A range of commits, and no path.
_RANGE = re.compile(r"[^./~@][^@]*\.\.[^@]+")


@dataclass(frozen=True)
class Step:
    """A kernel with one patch more than the one of the step before.

    :param subject: of the patch or commit; of step 0, what is below the series.
    """

    variant: str
    subject: str


def steps_of(text: str, tree: str = "") -> tuple[list[Step], Own]:
    """The steps of a series, step 0 without any of its patches, and what their names stand for.

    :param text: a series by name, what `read_patches` takes, or ``A..B``.
    :param tree: the git tree of Linux that has the commits ``A..B``; by default this folder.
    :raises RequestError: it is none of these, or has no patch.
    """
    path = Path(text).expanduser()
    if tree or (_RANGE.fullmatch(text) and not path.exists()):
        return _of_commits(text, Path(tree).expanduser().absolute())
    if path.exists() or ".." in text:
        return _of_patches(*_read(text, path))
    return _of_patches(*_named(text))


def _of_commits(text: str, tree: Path) -> tuple[list[Step], Own]:
    """A range of commits; each is `OWN_IS_AS` on the tree as it is there."""
    named = [(f"g{commit[:12]}", commit, subject) for commit, subject in commits_of(text, tree)]
    trees = (Tree(name, tree, commit) for name, commit, _ in named)
    return [Step(name, subject) for name, _, subject in named], Own(tuple(trees))


def _read(text: str, path: Path) -> tuple[Kernel, Variant]:
    """The kernel with the patches that ``text`` names on top of it, and its variant."""
    patches = read_patches(text)
    config = config_text(path).encode()
    name = re.sub(r"[^a-z0-9]+", "-", path.name.lower()).strip("-")
    kernel, variant = variant_named(OWN_IS_AS)
    series = made_series(name if is_name(name) else "series", [*patches.items()], config)
    return kernel.with_series(series), variant


def _named(text: str) -> tuple[Kernel, Variant]:
    """A person's variant with its kernel, or a kernel of ours, as `OWN_IS_AS`, by its name."""
    plain, at, place = text.partition("@")
    catalogue = load_catalogue()
    catalogue.check(plain)
    kernels, variants = catalogue.kernels, catalogue.variants
    ours = {name for name, each in kernels.items() if not each.own and len(each.series) > 1}
    theirs = {name for name, each in variants.items() if kernels[each.kernel].own}
    if plain in theirs:
        return variant_named(text)
    if plain in ours:
        return kernel_named(text), variant_named(f"{OWN_IS_AS}{at}{place}")[1]
    raise RequestError(
        f"{text!r}: no such series or file{names_allowed(plain, ours | theirs)}, {ALLOWED}, or "
        "A..B, commits of --tree"
    )


def _of_patches(kernel: Kernel, variant: Variant) -> tuple[list[Step], Own]:
    """The steps of the last series of ``kernel``."""
    kernels = [*_kernels(kernel)]
    subjects = ["without the series", *map(_subject, _patches(kernel))]
    steps = [Step(each.name, words) for each, words in zip(kernels, subjects, strict=True)]
    named = (replace(variant, name=each.name, kernel=each.name) for each in kernels)
    return steps, Own(whole=tuple(zip(kernels, named, strict=True)))


def _series(kernel: Kernel) -> Path:
    return kernel.own[-1] if kernel.own else SERIES / kernel.series[-1]


def _patches(kernel: Kernel) -> Sequence[Path]:
    return series_patches(_series(kernel), kernel.release or DEFAULT)


def _kernels(kernel: Kernel) -> Iterator[Kernel]:
    """``kernel`` with none of the patches of its last series, with the first, the first two, ..."""
    last, below = _series(kernel), kernel.own[:-1]
    patches = [(patch.name, patch.read_bytes()) for patch in _patches(kernel)]
    plain, at, place = kernel.name.partition("@")
    yield kernel_below(replace(kernel, own=(*below, last)), below)
    for count in range(1, len(patches)):
        folder = made_series(f"{plain}-{count}", patches[:count], config_text(last).encode())
        series = tuple(folder.name if name == last.name else name for name in kernel.series)
        name = f"{folder.name}{at}{place}"
        yield replace(kernel, name=name, series=series, own=(*below, folder))
    yield kernel


def _subject(patch: Path) -> str:
    """The subject of a patch without what stands in brackets before it, else its file's name."""
    mail = message_from_string(patch.read_text(errors="replace"))
    words = " ".join(mail.get("Subject", "").split())
    return re.sub(r"^(\[[^\]]*\]\s*)+", "", words) or patch.stem
