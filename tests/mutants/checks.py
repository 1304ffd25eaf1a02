# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's guest checks: those of ``tests/kernels``, what each executes, how each ends."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eascope.engines.qemu.build import FLAGS, SOURCES
from eascope.host.cache import cache_root, digest_of, sha256_file, write_atomic
from eascope.host.errors import EascopeError
from eascope.host.proc import need, run
from eascope.host.toolchain import arm64_tool
from eascope.kernels.build import KernelArtefact
from tests.mutants.code import Changed
from tests.mutants.plugin import BOUND, COVER, KILLS, LINES
from tests.support.repo import REPO

HERE = Path(__file__).parent
ROOM = REPO / "tests/kernels"
#: Seconds of the host's processor that a check may take on the whole kernel.
BOUND_S = 60
#: On a mutant, by the clock of a host that is busy with other things.
PATIENCE_S = 4 * BOUND_S


@dataclass(frozen=True)
class Check:
    """A test that boots the kernel.

    :param key: of its name, its file and what that file boots, and of the kernel.
    :param end: how it ends on the whole kernel.
    :param seen: a bit for each of the kernel's instructions, if it is executed.
    :param boot: what it shares with other checks; empty: it boots by itself.
    """

    name: str
    key: str
    end: str
    cpu_s: float
    seen: bytes
    boot: str = ""

    @property
    def asked(self) -> bool:
        """Whether it can kill a mutant."""
        return self.end == "passed" and self.cpu_s <= BOUND_S


def _pytest(folder: Path, *words: str, **env: str) -> Iterator[dict[str, Any]]:
    """Run pytest; the lines of the plugin, as they come."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lines = folder / "lines"
    lines.touch()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutants.plugin"]
    command += ["-p", "no:cacheprovider", f"--basetemp={folder / 'tmp'}", *words]
    env = {**os.environ, LINES: str(lines), **env}
    with (folder / "log").open("wb") as log, lines.open() as coming:
        process = subprocess.Popen(command, cwd=REPO, env=env, stdout=log, stderr=log)
        try:
            while True:
                ended = process.poll() is not None
                yield from map(json.loads, coming.readlines())
                if ended:
                    break
                time.sleep(0.2)
        finally:
            process.terminate()
            process.wait()
    shutil.rmtree(folder / "tmp", ignore_errors=True)
    if process.returncode not in (0, 1):
        log_text = (folder / "log").read_text()[-2000:]
        raise EascopeError(f"pytest ends with {process.returncode}:\n{log_text}")


def names_of(kernel: str, folder: Path) -> list[str]:
    """The checks of ``kernel``: those that boot it, and of `base` those that boot no other."""
    found = _pytest(folder, "--collect-only", "-m", "guest and not gem5", str(ROOM))
    return [
        line["check"]
        for line in found
        if kernel in line["kernels"] or (kernel == "base" and not line["kernels"])
        if "/test_long_" not in line["check"]
    ]


def _key(name: str, kernel: KernelArtefact) -> str:
    """Of what the result of a check depends on, as far as files of tests say so."""
    file = REPO / name.partition("::")[0]
    text = file.read_text()
    support = [REPO / f"tests/support/{word}.py" for word in re.findall(r"support\.(\w+)", text)]
    queue = kernel.name.partition("@")[0]
    support += sorted((REPO / "tests/support").glob(f"{queue}_*checks.py"))
    support += [ROOM / f"{file.stem.removeprefix('test_')}.py"]
    text += "".join(path.read_text() for path in support if path.is_file())
    programs = [path for path in sorted(ROOM.glob("*.c")) if re.search(rf"\b{path.stem}\b", text)]
    digests = [sha256_file(path) for path in (file, *support, *programs) if path.is_file()]
    return digest_of({"check": name, "kernel": kernel.image.resolve().parent.name, "of": digests})


class Reach:
    """What each check of a kernel executes, kept by the check's key."""

    def __init__(self, kernel: KernelArtefact, folder: Path) -> None:
        self.kernel, self.folder = kernel, folder
        self.kept = cache_root().parent / "reach"
        self.places: dict[str, list[int]] = defaultdict(list)
        listing = run([arm64_tool("nm"), kernel.vmlinux]).decode()
        for address, symbol in re.findall(r"^([0-9a-f]+) \w (\S+)$", listing, re.MULTILINE):
            self.places[symbol].append(int(address, 16))
        (self.base,), (end,) = self.places["_text"], self.places["_end"]
        self.bytes = (end - self.base) // 32 + 1

    def known(self, name: str) -> Check | None:
        """The check, if it was run before."""
        key = _key(name, self.kernel)
        path = self.kept / f"{key[:32]}.json"
        if not path.is_file():
            return None
        line = json.loads(path.read_bytes())
        seen = zlib.decompress(base64.b64decode(line["seen"]))
        return Check(name, key, line["end"], line["cpu_s"], seen, line["boot"])

    def cover(self, names: Sequence[str]) -> Iterator[Check]:
        """Run checks on the whole kernel, each by itself; what they execute is kept."""
        self.folder.mkdir(parents=True, exist_ok=True)
        plugin = self.folder / "cover.so"
        run([need("gcc", "gcc libc6-dev"), *FLAGS, f"-I{SOURCES}", "-o", plugin, HERE / "cover.c"])
        env = {
            COVER: f"{plugin},base={self.base:#x},bytes={self.bytes},out=",
            "PYTHONPATH": str(HERE / "site"),
        }
        for line in _pytest(self.folder / "run", *names, **env):
            path = self.kept / f"{_key(line['check'], self.kernel)[:32]}.json"
            write_atomic(path, json.dumps(line).encode())
            known = self.known(line["check"])
            assert known
            yield known

    def reaches(self, check: Check, changed: Changed) -> bool:
        """Whether ``check`` executes an instruction that a mutant has changed.

        A function that the kernel has by no name, or a change of data, may be anywhere.
        """
        return not any(changed.values()) or any(
            name not in self.places or self._executes(check, address + 4 * n)
            for name, instructions in changed.items()
            for n in instructions
            for address in self.places.get(name, [self.base])
        )

    def _executes(self, check: Check, address: int) -> bool:
        bit = (address - self.base) // 4
        return 0 <= bit < 8 * len(check.seen) and bool(check.seen[bit // 8] >> bit % 8 & 1)


def cheapest_first(checks: Iterable[Check], odds: Callable[[Check], float]) -> list[Check]:
    """In the order of the time that each boot takes for a kill; its checks one after the other.

    :param odds: that a check kills a mutant.
    """
    boots: dict[str, list[Check]] = defaultdict(list)
    for check in sorted(checks, key=lambda check: (check.cpu_s, check.name)):
        boots[check.boot or check.name].append(check)
    ranked = sorted(boots.values(), key=lambda those: those[-1].cpu_s / sum(map(odds, those)))
    return [check for those in ranked for check in those]


def ask(checks: Sequence[Check], folder: Path) -> Iterator[Mapping[str, str]]:
    """How each of ``checks`` ends on the kernel that the cache has, up to the first that kills.

    One that was too slow ends its pytest, in which nothing else can be believed. The others are
    asked by another, but for those that share its boot.
    """
    left, before = list(checks), 0
    while left and len(left) != before:
        asked, before = {check.name: check for check in left}, len(left)
        for line in _pytest(folder, *asked, **{BOUND: str(PATIENCE_S)}):
            yield line
            left.remove(asked[line["check"]])
            if line["end"] in KILLS:
                return
            if line["end"] == "too slow":
                boot = asked[line["check"]].boot
                left = [check for check in left if not boot or check.boot != boot]
