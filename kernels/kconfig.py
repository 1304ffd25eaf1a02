# SPDX-License-Identifier: GPL-2.0-or-later
"""kbuild: make, configurations, and the options that patches and trees bring along.

Our configurations start from ``allnoconfig``, which answers n for every option that no fragment
names. That would switch off what a patch adds, whatever its default. So kbuild is asked about the
tree without and with the patch. Options whose answers differ are set as the patch's defaults say,
but for those that our fragments state themselves.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from eascope.host.cache import artefact, cache_root, sha256_bytes
from eascope.host.errors import EascopeError
from eascope.host.proc import TAIL_LINES, CommandFailed, need, run, say
from eascope.host.record import Record
from eascope.host.toolchain import arm64_tool, cross_prefix, said_of
from eascope.kernels.patch_series import changed_files, config_text, series_digest, series_patches
from eascope.kernels.releases import DEFAULT
from eascope.kernels.source import Source, released
from eascope.kernels.trees import TreeSource
from eascope.kernels.variants import FRAGMENTS, SERIES, Kernel
from eascope.kernels.worktree import patched

#: Fixed, so that the same inputs give the same bytes.
IDENTITY = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 2026",
    "KBUILD_BUILD_USER": "eascope",
    "KBUILD_BUILD_HOST": "eascope",
    "KBUILD_BUILD_VERSION": "1",
}
#: Raised whenever the way of asking changes the answers.
ASKED = 1
#: Options of one kind that are named in a line for people.
SHOWN = 12


class OptionsLost(EascopeError):
    """Kconfig did not keep options of a configuration."""


@dataclass(frozen=True)
class Brought(Record):
    """Options that patches or a tree add, or whose defaults they change, as lines of a fragment.

    :param taken: set as the defaults say; lines of the configuration.
    :param off: added, and off by default.
    :param stated: changed defaults that are not taken, since our fragments state the option.
    :param unmet: names of added options that depend on others that are off here.
    :param same: the configuration is the one without the patches.
    """

    taken: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    same: bool = True

    @property
    def words(self) -> list[str]:
        """A line for each kind that there is."""
        kinds = (
            ("options set by the patches", self.taken),
            ("options that are off by default", self.off),
            ("changed defaults overridden by our config fragments", self.stated),
            ("options with unmet dependencies", self.unmet),
        )
        return [f"{words}: {_some(lines)}" for words, lines in kinds if lines]


def _some(lines: Sequence[str]) -> str:
    more = len(lines) - SHOWN
    return ", ".join(lines[:SHOWN]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class Answers(Record):
    """kbuild's answers about a tree without the patches.

    :param ours: with our fragments, and defaults for everything else.
    :param plain: with defaults for everything.
    :param usual: our configuration.
    """

    ours: Mapping[str, str]
    plain: Mapping[str, str]
    usual: Mapping[str, str]


def fragment_text(spec: Kernel, release: str = DEFAULT) -> str:
    """All fragments of a kernel, each followed by the differences of ``release``; series' last."""
    files = []
    for name in (*spec.fragments, *spec.more):
        files.append(FRAGMENTS / f"{name}.config")
        if release != DEFAULT and (other := FRAGMENTS / f"{name}-{release}.config").is_file():
            files.append(other)
    own = [text for folder in spec.folders(SERIES) if (text := config_text(folder))]
    return "\n".join([*(file.read_text() for file in files), *own])


def brought(spec: Kernel, source: Source) -> Brought:
    """The options that the patches of ``spec``, or its tree, bring along.

    :raises EascopeError: no source, a patch that does not apply, or an error of kbuild.
    :raises NotBuilt: within `host.dry.nothing_built`, when kbuild has not been asked.
    """
    release = source.release.name
    patches = [patch for folder in spec.own for patch in series_patches(folder, release)]
    theirs = isinstance(source, TreeSource) or source.directory is not None
    before = released(release) if theirs else source
    if before is None:
        _warn(source)
        before = source
    asked = {Path(name).name for patch in patches for name in changed_files(patch)}
    if before == source and not any(name.startswith("Kconfig") for name in asked):
        return Brought()
    below = replace(spec, series=spec.our_series)
    fragment = fragment_text(spec, release)

    def build(folder: Path) -> None:
        old = _answers(below, before, fragment)
        with _kbuild(source, spec) as kbuild:
            changed = _difference(kbuild, fragment, old, _options_of(patches))
        changed.write(folder / "brought.json")

    key = {
        **{"asked": ASKED, "before": before.sha256, "source": source.sha256},
        "series": series_digest(spec.folders(SERIES), release),
        "fragment": sha256_bytes(fragment.encode()),
        "compiler": compiler(),
    }
    place = artefact("options", key, build, label=f"options of kernel {spec.name}", estimate_s=20)
    return Brought.read(place / "brought.json")


@cache
def _warn(source: Source) -> None:
    say(f"  warning: options that {source.label} adds are off: no Debian source to compare it with")


def _options_of(patches: Iterable[Path]) -> set[str]:
    """Options that patches add, on any condition; kbuild does not name one that cannot be on."""
    text = "\n".join(patch.read_text(errors="replace") for patch in patches)
    return set(re.findall(r"^\+\s*(?:menu)?config (\w+)$", text, re.MULTILINE))


def _answers(spec: Kernel, source: Source, fragment: str) -> Answers:
    def build(folder: Path) -> None:
        with _kbuild(source, spec) as kbuild:
            Answers(
                ours=kbuild.answer("olddefconfig", fragment),
                plain=kbuild.answer("alldefconfig"),
                usual=kbuild.usual(fragment),
            ).write(folder / "answers.json")

    digest = series_digest(spec.folders(SERIES), source.release.name)
    key = {
        **{"asked": ASKED, "source": source.sha256, "series": digest},
        **{"fragment": sha256_bytes(fragment.encode()), "compiler": compiler()},
    }
    place = artefact("options", key, build, label=f"options of {source.label}", estimate_s=10)
    return Answers.read(place / "answers.json")


@contextmanager
def _kbuild(source: Source, spec: Kernel) -> Iterator[_Kbuild]:
    with patched(source, spec.folders(SERIES)) as kept, tempfile.TemporaryDirectory() as out:
        yield _Kbuild(kept.tree, Path(out))


class _Kbuild:
    """kbuild's answers about a patched tree; ``out`` is an empty folder."""

    def __init__(self, tree: Path, out: Path) -> None:
        self.tree, self.out = tree, out
        self.log = out / "build.log"

    def answer(self, how: str, text: str = "", **variables: str) -> dict[str, str]:
        """The configuration that ``make HOW`` makes, starting from ``text``."""
        config = self.out / ".config"
        config.write_text(text)
        make(self.tree, self.out, [how], self.log, **variables)
        return options(config.read_text())

    def usual(self, fragment: str) -> dict[str, str]:
        """What `configure` makes of ``fragment``."""
        answers = self.out / "fragment.config"
        answers.write_text(fragment)
        return self.answer("allnoconfig", KCONFIG_ALLCONFIG=str(answers))


def _lines(values: Mapping[str, str], names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Lines of a configuration, as a fragment has them; of ``names``, else of all."""
    return tuple(
        f"# CONFIG_{name} is not set" if values[name] == "n" else f"CONFIG_{name}={values[name]}"
        for name in sorted(values if names is None else names)
    )


def _difference(kbuild: _Kbuild, fragment: str, old: Answers, added: set[str]) -> Brought:
    """What the patches, without which the answers were ``old``, bring along.

    :param added: names of options that they add.
    """
    stated = options(fragment)
    ours, plain = kbuild.answer("olddefconfig", fragment), kbuild.answer("alldefconfig")
    moved = {
        name
        for before, after in ((old.ours, ours), (old.plain, plain))
        for name in after
        if before.get(name) != after[name]
    }
    # Everything as it was without the patches, and defaults for what they add or change.
    start = [name for name in old.usual if name not in moved or name in stated]
    asked = kbuild.answer("olddefconfig", "\n".join(_lines(old.usual, start)))
    taken = {
        name
        for name, value in asked.items()
        if name not in stated and value not in ("n", old.usual.get(name))
    }
    config = kbuild.usual("\n".join([fragment, *_lines(asked, taken)]))
    lost = {name for name in taken if config.get(name) != asked[name]}
    known = {*old.ours, *old.plain, *old.usual, *stated}
    added = (added | {*ours, *plain}) - known
    otherwise = {
        name: value
        for name, value in plain.items()
        if value != old.plain.get(name) and value != config.get(name, value) and name not in taken
    }
    if otherwise:
        # Options of ours that give way if these defaults are taken: others of the same choice.
        then = kbuild.usual("\n".join([fragment, *_lines(asked, taken), *_lines(otherwise)]))
        otherwise |= {
            name: then.get(name, "n")
            for name, value in stated.items()
            if then.get(name, "n") != value
        }
    off = {name for name in added & {*config} if config[name] == "n"} - {*otherwise}
    return Brought(
        taken=_lines(asked, taken - lost),
        off=tuple(f"CONFIG_{name}" for name in sorted(off)),
        stated=_lines(otherwise),
        unmet=tuple(f"CONFIG_{name}" for name in sorted((added - {*config}) | lost)),
        same=config == old.usual,
    )


@cache
def compiler() -> str:
    """First lines of the compiler's and the linker's version.

    :raises EascopeError: when the compiler is not installed, and the cache does not know of one.
    """
    return "; ".join(said_of("kernel", _compiler_versions))


def _compiler_versions() -> list[str]:
    versions = (run([arm64_tool(name), "--version"]).decode() for name in ("gcc", "ld"))
    return [version.splitlines()[0] for version in versions]


def make(tree: Path, out: Path, targets: list[str], log: Path, **variables: str) -> None:
    """Run kbuild with our fixed identity, out of tree, through ccache when it is there.

    :raises CommandFailed: with the compiler's errors.
    """
    for program, package in (("flex", "flex"), ("bison", "bison"), ("bc", "bc")):
        need(program, package)
    prefix = cross_prefix()
    ccache = "ccache " if shutil.which("ccache") else ""
    cache_dir = os.environ.get("CCACHE_DIR") or str(cache_root() / "ccache")
    command = [need("make", "make"), "-C", str(tree), f"O={out}", f"-j{os.cpu_count() or 1}"]
    command += [f"CC={ccache}{prefix}gcc", "HOSTCC=gcc", f"CROSS_COMPILE={prefix}"]
    command += ["ARCH=arm64", *(f"{key}={value}" for key, value in variables.items()), *targets]
    env = {
        **IDENTITY,
        # Trees lie in a new folder each time: ccache is to know them again.
        "CCACHE_BASEDIR": str(tree),
        "CCACHE_NOHASHDIR": "1",
        # The compiler names the headers that it read: without this ccache runs the preprocessor for
        # it, a quarter of the processor time of a kernel that it has not seen. System headers are
        # not among them; the kernel reads none, and its host tools are compiled without ccache.
        "CCACHE_DEPEND": "1",
        "CCACHE_DIR": cache_dir,
    }
    label = "kernel build"
    try:
        run(command, log=log, env=env, nice=5, label=label)
    except CommandFailed as error:
        errors = compile_errors(error.log_text)
        raise CommandFailed(error.command, error.code, errors, label) from error


def configure(tree: Path, out: Path, fragment: str, log: Path) -> None:
    """Write ``out/.config`` from ``fragment``, everything else off.

    :raises OptionsLost: naming every option of the fragment that did not survive.
    """
    out.mkdir(parents=True, exist_ok=True)
    answers = out / "fragment.config"
    answers.write_text(fragment)
    make(tree, out, ["allnoconfig"], log, KCONFIG_ALLCONFIG=str(answers))
    make(tree, out, ["olddefconfig"], log)
    lost = lost_options(fragment, (out / ".config").read_text())
    if lost:
        raise OptionsLost(
            "kernel configuration: these options were not kept (a dependency is missing, or "
            f"another option decides, such as one of a patch): {'; '.join(lost)}; set both in a "
            "file config in the series' directory"
        )


def options(text: str) -> dict[str, str]:
    """``{"SMP": "y", "MODULES": "n", ...}``; an option's last line counts, as in kconfig."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        if match := re.fullmatch(r"CONFIG_(\w+)=(.*)", line.strip()):
            values[match[1]] = match[2]
        elif match := re.fullmatch(r"# CONFIG_(\w+) is not set", line.strip()):
            values[match[1]] = "n"
    return values


def lost_options(fragment: str, config: str) -> list[str]:
    """Options whose value in ``config`` differs from ``fragment``, as ``A=y (is n)``."""
    got = options(config)
    return [
        f"CONFIG_{key}={value} (is {got.get(key, 'n')})"
        for key, value in options(fragment).items()
        if got.get(key, "n") != value
    ]


#: A line of a compiler, an assembler, a linker or kbuild itself that says what is wrong.
_ERROR = re.compile(
    r"""^\S+?:\d+(:\d+)?:\s(fatal\s)?[eE]rror:\s  # a.c:3:5: error: ...
    |^\S+?:\d+:\s\*\*\*\s                         # Makefile:7: *** ...
    |:\sundefined\sreference\sto\s
    |^\S*ld:\s                                    # aarch64-linux-gnu-ld: ...
    |^ERROR:\s                                    # of modpost
    |^\S+:\d+:\s(syntax\serror|warning:\sinvalid)  # of kconfig
    """,
    re.VERBOSE,
)
#: The lines of the source that gcc shows below an error.
_EXCERPT = re.compile(r"\s+\d*\s*\|")
_OF_MAKE = re.compile(r"make(\[\d+\])?: ")


def compile_errors(log: str) -> str:
    """The first errors of a build's log, with the lines of source below them.

    :returns: at most as many lines as a failure shows; without a known error, all lines but make's.
    """
    kept: list[str] = []
    below = False
    for line in log.splitlines():
        if _ERROR.search(line):
            kept.append(line.removeprefix("../"))
            below = True
        elif below and _EXCERPT.match(line):
            kept.append(line)
        else:
            below = False
    if kept:
        return "\n".join(kept[:TAIL_LINES])
    return "\n".join(line for line in log.splitlines() if not _OF_MAKE.match(line))
