# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that pages print, and what is wrong with one without running it.

A command stands in a block of code. One that needs gem5 says so: ``--engine gem5``, or ``(gem5)``
in its comment.
"""

import argparse
import contextlib
import importlib.util
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.core import CORES
from eascope.configs.platform_file import list_platforms
from eascope.experiments.cli.list_names import KINDS
from eascope.experiments.cli.verbs import make_parser
from eascope.experiments.scenario.names import names as scenario_names
from eascope.kernels.releases import RELEASES
from eascope.kernels.variants import load_variants
from tests.support.markdown import code_lines, code_words
from tests.support.repo import REPO

EASCOPE = ".venv/bin/eascope"
PYTHON = ".venv/bin/python"
#: What else a page may tell somebody to type.
SHELL = {"git", "cd", "sbatch", "export", "mkdir", "printf", "cp", "ls"}
ASSIGNMENT = re.compile(r"[A-Z][A-Z0-9_]*=")
#: Options of other programs than eascope that sentences name.
OTHERS = {"--debug-flags", "--metrics"}
#: Names that stand for a reader's own.
OWN = re.compile(r"my-idea|NAME|.*\.toml")


@dataclass(frozen=True)
class Command:
    """A command on a page; ``text`` is without its comment, ``gem5`` says that it needs gem5."""

    page: Path
    line: int
    text: str
    gem5: bool

    @property
    def words(self) -> list[str]:
        """Its words without assignments before it and redirections after it."""
        words = shlex.split(self.text)
        while words and ASSIGNMENT.match(words[0]):
            words = words[1:]
        return words[: words.index(">")] if ">" in words else words


def commands(page: Path, text: str) -> Iterator[Command]:
    """The commands in the blocks of code of ``page``."""
    for number, line in code_lines(text):
        stripped = line.strip()
        if not _is_command(stripped):
            continue
        bare = re.split(r"\s+# |  +(?=[a-z])", stripped)[0].strip()
        for part in bare.split(" && "):
            needs = "--engine gem5" in line or "(gem5)" in line
            yield Command(page, number, part.strip(" ()"), needs)


def _is_command(line: str) -> bool:
    words = [word for word in line.split() if not ASSIGNMENT.match(word)]
    return bool(words) and (words[0] in {EASCOPE, PYTHON, "make"} or words[0] in SHELL)


def unknown_words(text: str) -> list[tuple[int, str]]:
    """Line and text of code in sentences that names a command or an option that there is not."""
    parsers = {
        name: command
        for action in make_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, command in action.choices.items()
    }
    options = {
        name: {option for action in parser._actions for option in action.option_strings}
        for name, parser in parsers.items()
    }
    options[""] = {"--version", *OTHERS, *(item for some in options.values() for item in some)}
    unknown = []
    for line, code in code_words(text):
        if not code.startswith(("eascope ", "--")):
            continue
        words = [word for word in re.split(r"[ =]", code) if word != "COMMAND"]
        verb = words[1] if words[0] == "eascope" and words[1:] and words[1][:2] != "--" else ""
        wanted = {word for word in words if word.startswith("--")}
        if not wanted <= options.get(verb, set()) or verb not in options:
            unknown.append((line, code))
    return unknown


def problem(command: Command) -> str:
    """What is wrong with a command; empty when nothing is."""
    words = command.words
    if not words or words[0] in SHELL or (ASSIGNMENT.match(command.text) and not words):
        return ""
    if words[0] == "make":
        return _of_make([word for word in words[1:] if not ASSIGNMENT.match(word)])
    if words[0] == PYTHON:
        known = words[1] == "-m" and importlib.util.find_spec(words[2])
        return "" if known else f"no module {words[2]}"
    return _of_eascope(words[1:])


def _of_make(targets: list[str]) -> str:
    text = (REPO / "Makefile").read_text()
    known = set(re.findall(r"^([\w-]+):", text, re.MULTILINE))
    unknown = [target for target in targets if target not in known]
    return f"no target {unknown[0]}" if unknown else ""


def _of_eascope(arguments: list[str]) -> str:
    """Unknown commands, options and names."""
    output = io.StringIO()
    try:
        with contextlib.redirect_stderr(output), contextlib.redirect_stdout(output):
            parsed = vars(make_parser().parse_args(arguments))
    except SystemExit as ended:
        return output.getvalue().strip() if ended.code else ""
    # Trees give names of their own.
    trees = {tree.partition("=")[0] for tree in _texts(parsed.get("kernel"))}
    changes = {
        re.split("[=:]", text)[0] for key in ("boot", "switch") for text in parsed.get(key) or []
    }
    known = {
        "platform": {name for name, _ in list_platforms()} | {"PLATFORM", "P"},
        "scenario": set(scenario_names()),
        "variant": set(load_variants()) | trees | changes,
        "variants": set(load_variants()) | trees | changes,
        "kind": set(KINDS),
    }
    if parsed.get("predict"):
        known["platform"] = {path.stem for path in CORES.glob("*.toml")}
    for option, names in known.items():
        for name in _texts(parsed.get(option)):
            # The kernel of a variant is that of a release, or of a tree.
            variant, _, where = name.partition("@")
            if where and where not in {*RELEASES, *trees}:
                return f"no release {where}"
            if variant not in names and not OWN.fullmatch(variant):
                return f"no {option} {name}"
    return ""


def _texts(value: object) -> list[str]:
    """What an option that may be given several times, once (or with commas) or not at all has."""
    if isinstance(value, str):
        return value.split(",")
    return list(value) if isinstance(value, list) else []
