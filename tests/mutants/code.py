# SPDX-License-Identifier: GPL-2.0-or-later
"""The code of a mutant: what of the kernel's code is another one, and the image.

Everything is built below a cache of its own: links to the shared one, but for the trees in which
kernels are built, and for the mutant, which lies in the place of its kernel. So whatever asks that
cache for the kernel gets the mutant, and the shared one has no object of it.
"""

import json
import re
import shutil
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from eascope.host.cache import MANIFEST, cache_root, sha256_file
from eascope.host.proc import CommandFailed, run
from eascope.host.toolchain import arm64_tool
from eascope.kernels.build import KernelArtefact
from eascope.kernels.source import Source
from tests.mutants.source import Mutant
from tests.support.mutants import edited_tree

#: Below the shared cache.
FOLDER = "mutants"
#: What differs in any other way than by its code: names, and what is linked of objects.
_LINKED = re.compile(r"(^|/)(\.tmp_|vmlinux|built-in)|/vdso/|\.mod\.o$|\.vmlinux\.")
_NO_DATA = re.compile(r".*text|\.alt|\.comment|\.note|\.rodata\.str|__(bug|jump|ex)_table|__patch")
#: A function's instructions, without addresses: a branch within it is to its place there.
Functions = dict[str, list[str]]
#: Instructions of the whole kernel, by function, that the mutant does not have as they were.
Changed = dict[str, list[int]]


def own_cache() -> Path:
    """The cache of mutants, with what the shared one has by now."""
    shared = cache_root()
    own = shared / FOLDER / "cache"
    (own / "kernel").mkdir(parents=True, exist_ok=True)
    for path in (*shared.iterdir(), *(shared / "kernel").iterdir()):
        place = own / path.relative_to(shared)
        if not place.exists() and not path.name.startswith((".", FOLDER, "kernel-tree")):
            place.unlink(missing_ok=True)
            place.symlink_to(path)
    return own


def place(kernel: KernelArtefact, image: Path, vmlinux: Path) -> None:
    """Put an image in the place of ``kernel``, in the cache of mutants."""
    whole = kernel.image.parent.resolve()
    folder = cache_root() / "kernel" / whole.name
    withdraw(kernel)
    new = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(whole, new)
    manifest = json.loads((new / MANIFEST).read_bytes())
    for path in (image, vmlinux):
        shutil.copyfile(path, new / path.name)
        size = path.stat().st_size
        manifest["files"][path.name] = {"bytes": size, "sha256": sha256_file(new / path.name)}
    (new / MANIFEST).write_text(json.dumps(manifest))
    folder.unlink()
    new.rename(folder)


def withdraw(kernel: KernelArtefact) -> None:
    """Put ``kernel`` itself into its place in the cache of mutants."""
    whole = kernel.image.parent.resolve()
    folder = cache_root() / "kernel" / whole.name
    if not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
        folder.symlink_to(whole)


def functions(listing: str) -> Functions:
    """The functions of an object, as ``objdump -dr --no-show-raw-insn`` lists them."""
    found: Functions = {}
    lines: list[str] = []
    for line in listing.splitlines():
        if match := re.fullmatch(r"[0-9a-f]+ <(.+)>:", line):
            lines = found.setdefault(match[1], [])
        elif match := re.match(r"\s+[0-9a-f]+:(?: R_\w+\t(.*)|\t(.*))", line):
            if match[1] is not None and lines:
                lines[-1] += f" {match[1]}"
            elif match[2] is not None:
                lines.append(re.sub(r"\b[0-9a-f]+ <", "<", match[2].partition("//")[0].strip()))
    return found


def changed(before: Functions, after: Functions) -> Changed:
    """Where the functions of ``before`` run otherwise in ``after``.

    Up to the first of these instructions a run of ``after`` is one of ``before``: a branch whose
    target has moved along with what is there is not among them. Of added ones, it is the next.
    """
    found: Changed = {}
    for name, whole in before.items():
        # What lies in a section moves with what lies before it.
        old, new = (
            [re.sub(r" (\.[\w.]+)\+0x[0-9a-f]+", r" \1", line) for line in lines]
            for lines in (whole, after.get(name, []))
        )
        if old == new:
            continue
        inside = re.compile(rf"<{re.escape(name)}(?:\+0x([0-9a-f]+))?>")
        plain = [[inside.sub("<>", line) for line in lines] for lines in (old, new)]
        alike = SequenceMatcher(None, plain[0], plain[1], autojunk=False)
        moved = {
            block.a + n: block.b + n
            for block in alike.get_matching_blocks()
            for n in range(block.size)
        }
        places = {n for n in range(len(old)) if n not in moved}
        for tag, first, end, _, _ in alike.get_opcodes():
            if tag == "insert":
                places |= {min(first, len(old) - 1), max(0, end - 1)}
        for n, m in moved.items():
            targets = [
                int(match[1] or "0", 16) // 4
                for line in (old[n], new[m])
                for match in [inside.search(line)]
                if match
            ]
            if len(targets) == 2 and moved.get(targets[0]) != targets[1]:
                places.add(n)
        found[name] = sorted(places)
    return found | {name: [] for name in after.keys() - before.keys()}


def _listing(path: Path, *how: str) -> str:
    return run([arm64_tool("objdump"), *how, path.name], cwd=path.parent).decode(errors="replace")


def _objects(out: Path, below: str = "") -> Iterator[str]:
    for path in sorted((out / below).rglob("*.o")):
        name = path.relative_to(out).as_posix()
        if not _LINKED.search(name):
            yield name


def _data(path: Path) -> dict[str, str]:
    """What an object has besides instructions, strings and tables of places; lines never move."""
    parts = re.split(r"^Contents of section (\S+):\n", _listing(path, "-s"), flags=re.MULTILINE)[1:]
    sections = zip(parts[::2], parts[1::2], strict=True)
    return {name: data for name, data in sections if not _NO_DATA.match(name)}


def compare(whole: Path, out: Path, below: str) -> Changed | None:
    """Where the objects of ``out`` run otherwise than those of ``whole``; None: nowhere.

    Empty: no function differs, but data does, or a function is new.
    """
    found: Changed = {}
    differs = False
    for name in _objects(out, below):
        before, after = whole / name, out / name
        if not before.is_file() or sha256_file(before) == sha256_file(after):
            continue
        how = ("-dr", "--no-show-raw-insn", "-M", "no-aliases")
        old, new = (functions(_listing(path, *how)) for path in (before, after))
        differs |= old != new or _data(before) != _data(after)
        found |= changed(old, new)
    return found if differs else None


def build_whole(kernel: str, artefact: KernelArtefact, source: Source, folder: Path) -> Path:
    """The objects of the kernel itself, built as its mutants are."""
    whole = cache_root().parent / "whole" / artefact.image.parent.name
    if not whole.is_dir():
        with edited_tree(kernel, [], source, folder) as build:
            out = build("Image", "vmlinux")
            image = out / "arch/arm64/boot/Image"
            if sha256_file(image) != sha256_file(artefact.image):
                raise AssertionError(f"{kernel} has other bytes in the cache of mutants")
            new = whole.with_name(f".{whole.name}")
            shutil.rmtree(new, ignore_errors=True)
            for name in _objects(out):
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(out / name, new / name)
            new.rename(whole)
    return whole


def build_mutant(
    kernel: str, artefact: KernelArtefact, mutant: Mutant, source: Source, folder: Path
) -> str | Changed:
    """Build a mutant into the kernel's place in the cache of mutants.

    :returns: what of the kernel's code it changes, or ``equal``, or ``not compiled``.
    """
    whole = build_whole(kernel, artefact, source, folder / "whole")
    try:
        with edited_tree(kernel, [mutant.edit], source, folder / "mutant") as build:
            file = Path(mutant.edit.file)
            # A directory takes seconds; who includes a header is anywhere.
            below = f"{file.parent}/" if file.suffix == ".c" else ""
            out = build(*([below] if below else ["Image", "vmlinux"]))
            found = compare(whole, out, below)
            if found is None:
                return "equal"
            out = build("Image", "vmlinux")
            place(artefact, out / "arch/arm64/boot/Image", out / "vmlinux")
            return found
    except CommandFailed as error:
        if not re.search("error:|undefined reference", str(error)):
            raise
        return "not compiled"
