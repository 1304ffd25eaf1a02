# SPDX-License-Identifier: GPL-2.0-or-later
"""The gem5 binary: found by ``$GEM5`` or on PATH, asked for its version, known by its digest."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eascope.engines.base import Identity
from eascope.engines.gem5.boot import BootLoaderIdentity
from eascope.engines.gem5.boot import identity as boot_loader_identity
from eascope.host.cache import sha256_file, tree_digest
from eascope.host.errors import EascopeError
from eascope.host.imports import REPO, code_digest
from eascope.host.proc import say

#: What the scripts were run on; nothing older has the same statistics and parameters.
TESTED = (24, 0, 0, 1)
_HERE = Path(__file__).resolve().parent
#: Below the package, as gem5 imports them.
SCRIPTS = Path(__file__).absolute().parent / "inside"
#: What makes gem5's request, and a run's files of what the scripts leave.
CODE = (
    *(_HERE / name for name in ("files.py", "request.py")),
    *(_HERE.parent / name for name in ("files.py", "records.py")),
    REPO / "rootfs" / "headers.py",
)
NAME = "gem5"
RECIPE = "docs/recipes/gem5.md"
#: Host seconds in which a gem5 must have said its version.
ASK_S = 120


def find_gem5() -> Path:
    """The program to run.

    :raises EascopeError: one line, when there is none.
    """
    given = os.environ.get("GEM5")
    program = shutil.which(given or "gem5")
    if program is None:
        where = f"GEM5 = {given!r}: no such program" if given else "no gem5 on PATH"
        raise EascopeError(f"{where}: set GEM5 to a gem5 built for ARM (see {RECIPE})")
    return Path(program).resolve()


def version(program: Path) -> str:
    """The version that ``program`` prints, such as ``24.0.0.1``.

    :raises EascopeError: one line, when it does not say it, or is older than `TESTED`.
    """
    return _version(program, program.stat().st_mtime_ns)


@cache
def _version(program: Path, changed_ns: int) -> str:
    del changed_ns  # a key of the cache only
    # The banner of a start that does nothing; --build-info of 24.0 itself fails (AttributeError).
    try:
        with tempfile.TemporaryDirectory(prefix="eascope-") as folder:
            done = subprocess.run(
                [program, "--listener-mode=off", "-d", folder, "-c", "pass"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=ASK_S,
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EascopeError(f"{program}: does not run: {error}") from error
    text = (done.stdout + done.stderr).decode(errors="replace")
    match = re.search(r"^gem5 version (\S+)", text, re.MULTILINE)
    if match is None:
        last = (text.strip().splitlines() or ["nothing"])[-1]
        raise EascopeError(f"{program}: is not gem5: it prints {last[:120]!r}")
    numbers = tuple(int(part) for part in re.findall(r"\d+", match[1]))
    words = ".".join(map(str, TESTED))
    if numbers < TESTED:
        raise EascopeError(
            f"{program}: gem5 {match[1]} is too old; {words} or newer is needed (see {RECIPE})"
        )
    if numbers > TESTED:
        say(f"warning: gem5 {match[1]} was not tested ({words} was)")
    return match[1]


@cache
def _digest(program: Path, changed_ns: int) -> str:
    del changed_ns
    return sha256_file(program)


@dataclass(frozen=True)
class Gem5Identity(Identity):
    """gem5's program, and what is run in it.

    :param scripts_sha256: over ``engines/gem5/inside``.
    """

    binary_sha256: str
    scripts_sha256: str
    boot_loader: BootLoaderIdentity


def identity() -> Gem5Identity:
    """gem5's version and digest, our scripts', our code's and our boot loader's."""
    program = find_gem5()
    return Gem5Identity(
        engine=NAME,
        version=version(program),
        code_sha256=code_digest(CODE),
        binary_sha256=_digest(program, program.stat().st_mtime_ns),
        scripts_sha256=tree_digest(SCRIPTS, "*.py"),
        boot_loader=boot_loader_identity(),
    )
