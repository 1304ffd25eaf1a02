# SPDX-License-Identifier: GPL-2.0-or-later
"""What patches change without effect: code that is not compiled, by option and by file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from eascope.host.proc import CommandFailed, run
from eascope.kernels.kconfig import options
from eascope.kernels.patch_series import CONFIG, changed_files, config_text, series_patches
from eascope.kernels.releases import DEFAULT
from eascope.kernels.worktree import OUT

#: Files that are compiled, or that compiled files include.
CODE = (".c", ".S", ".h")
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)")
_DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)")
#: Ways of asking for an option: of the preprocessor, and of a makefile.
_ASKED = re.compile(
    r"\b(?:IS_ENABLED|IS_BUILTIN|IS_REACHABLE|IS_MODULE|defined)\s*\(?\s*CONFIG_(\w+)\s*\)?"
    r"|\bCONFIG_(\w+)"
)
_IN_CODE = re.compile(r"(!?)\s*\bIS_(?:ENABLED|BUILTIN|REACHABLE)\(CONFIG_(\w+)\)")
_IN_MAKEFILE = re.compile(r"\$\(CONFIG_(\w+)\)")
#: A file of the source in the dependencies of an object; kbuild runs in `OUT`, below the source.
_READ = re.compile(r"\s\.\./(\S+\.[chS])\b")
#: Of a condition whose every part is known.
_KNOWN = re.compile(r"(?:\s|[01()]|and|or|not)+")


def not_compiled(
    tree: Path, folders: Sequence[Path], release: str = DEFAULT, below: str = ""
) -> list[str]:
    """A line for each option or file because of which a part of some series is not compiled.

    :param tree: the source with their patches applied, and with the objects of its build.
    :param below: the folder that was compiled; empty: all.
    """
    if not folders:
        return []
    patches = [patch for folder in folders for patch in series_patches(folder, release)]
    values = options((tree / OUT / ".config").read_text())
    reasons: dict[str, set[str]] = {}
    for patch in patches:
        for name, blocks in _added(patch).items():
            for reason in _reasons(tree / name, blocks, values):
                reasons.setdefault(reason, set()).add(name)
    for name in options("".join(map(config_text, folders))):
        if name not in values:
            reasons.setdefault(f"CONFIG_{name}", set()).add(CONFIG)
    names = {reason.removeprefix("CONFIG_") for reason in reasons if reason.startswith("CONFIG_")}
    known = {*values} | (_declared(tree) if names - {*values} else names)
    lines = []
    for reason, where in sorted(reasons.items()):
        name = reason.removeprefix("CONFIG_")
        if name == reason:
            what = f"{reason}: code under it is not compiled"
        elif name not in known:
            what = f"{reason}: no Kconfig of this tree declares it, code for it is not compiled"
        elif _set(name, values):
            what = f"{reason} is on: code for its absence is not compiled"
        else:
            what = f"{reason} is off: code for it is not compiled"
        lines.append(f"{what} ({', '.join(sorted(where))})")
    changed = dict.fromkeys(name for patch in patches for name in changed_files(patch))
    code = [name for name in changed if name.startswith(below) and name.endswith(CODE)]
    read = _files_read(tree / OUT / below) if code else set()
    return lines + [
        f"{name}: nothing is built from it"
        for name in code
        if name not in read and (tree / name).is_file()
    ]


def _files_read(out: Path) -> set[str]:
    """The source files of all objects below ``out``, and the headers that these include."""
    commands = (path.read_text(errors="replace") for path in out.rglob(".*.cmd"))
    return {name for text in commands for name in _READ.findall(text)}


def _added(patch: Path) -> dict[str, list[tuple[int, list[str]]]]:
    """The blocks of lines that ``patch`` adds, by file, each with the number of its first line."""
    found: dict[str, list[tuple[int, list[str]]]] = {}
    blocks: list[tuple[int, list[str]]] = []
    number, before = 0, ""
    for line in patch.read_text(errors="replace").splitlines():
        if line.startswith("+++ "):
            blocks = found.setdefault(line[4:].partition("\t")[0].partition("/")[2], [])
        elif match := _HUNK.match(line):
            number = int(match[1])
        elif line.startswith("+"):
            if before != "+":
                blocks.append((number, []))
            blocks[-1][1].append(line[1:])
            number += 1
        elif not line.startswith("-"):
            number += 1
        before = line[:1]
    return found


def _reasons(
    path: Path, blocks: Sequence[tuple[int, list[str]]], values: Mapping[str, str]
) -> set[str]:
    """Why code of ``blocks`` of a file is not compiled: names of options, or ``#if 0``."""
    added = [text for _, block in blocks for text in block]
    if path.suffix not in CODE:
        makefile = path.name.startswith(("Makefile", "Kbuild"))
        asked = _IN_MAKEFILE.findall("\n".join(added)) if makefile else ()
        return {f"CONFIG_{name}" for name in asked if not _set(name, values)}
    found = {
        f"CONFIG_{name}"
        for text in added
        for negated, name in _IN_CODE.findall(text)
        if not negated and not _DIRECTIVE.match(text) and not _set(name, values)
    }
    lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
    hidden = list(_hidden_by(lines, values))
    for number, block in blocks:
        length = len(block)
        starts = [at for at in range(len(lines)) if lines[at : at + length] == block]
        for at in sorted(starts, key=lambda start: abs(start + 1 - number))[:1]:
            found |= {reason for why in hidden[at : at + length] for reason in why}
    return found


def _hidden_by(lines: Sequence[str], values: Mapping[str, str]) -> Iterator[frozenset[str]]:
    """Of each line why it is not compiled; empty for one that is, or of which it is not known."""
    #: Of each open condition: why its present branch is off, whether a branch is on, what it asks.
    stack: list[tuple[frozenset[str], bool, frozenset[str]]] = []
    whole = ""
    for line in lines:
        whole += line.removesuffix("\\")
        if not line.endswith("\\"):
            if directive := _DIRECTIVE.match(whole):
                word, condition = directive.groups()
                if word == "endif":
                    stack = stack[:-1]
                elif word.startswith("if"):
                    on, asked = _verdict(word, condition, values)
                    stack.append((asked if on is False else frozenset(), on is True, asked))
                elif stack:
                    _, taken, before = stack.pop()
                    on, asked = _verdict(word, condition, values)
                    off = before if taken else asked if on is False else frozenset()
                    stack.append((off, taken or on is True, before | asked))
            whole = ""
        yield frozenset().union(*(off for off, _, _ in stack))


def _verdict(
    word: str, condition: str, values: Mapping[str, str]
) -> tuple[bool | None, frozenset[str]]:
    """Whether a condition holds, None where that is not known, and what it asks for."""
    text = re.sub(r"/\*.*?(\*/|$)|//.*", "", condition).strip()
    if text == "0":
        return False, frozenset(["#if 0"])
    if word in ("ifdef", "ifndef"):
        text = f"{'!' * (word == 'ifndef')}defined({text})"
    asked = frozenset(f"CONFIG_{one or other}" for one, other in _ASKED.findall(text))
    text = _ASKED.sub(lambda match: f" {int(_set(match[1] or match[2], values))} ", text)
    text = text.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    # What is not known may be either: a condition holds if it does both ways.
    both = [re.sub(r"\bdefined\s*\(?\s*\w+\s*\)?", value, text) for value in "01"]
    if not asked or not all(_KNOWN.fullmatch(text) for text in both):
        return None, asked
    try:
        first, second = (bool(eval(text, {"__builtins__": {}})) for text in both)
    except SyntaxError:
        return None, asked
    return (first if first == second else None), asked


def _set(name: str, values: Mapping[str, str]) -> bool:
    return values.get(name, "n") != "n"


def _declared(tree: Path) -> set[str]:
    """Names of all options that a Kconfig of ``tree`` declares."""
    how = ("-rhoE", "--include=Kconfig*", r"^\s*(menu)?config\s+\w+", tree)
    try:
        return {line.split()[-1] for line in run(["grep", *how]).decode().splitlines()}
    except CommandFailed:
        return set()
