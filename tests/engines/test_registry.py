# SPDX-License-Identifier: GPL-2.0-or-later
"""A new engine is one entry of the registry; its code is in keys; its process is watched."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eascope.configs.devicetree import device_tree_source
from eascope.configs.platform import Platform
from eascope.engines import process
from eascope.engines.base import EngineFailed, EngineKind
from eascope.engines.gem5.engine import GEM5
from eascope.engines.process import Simulator, Spent
from eascope.engines.qemu.engine import QEMU, QemuEngine
from eascope.engines.registry import DEFAULT_ENGINE, ENGINES, get_engine
from eascope.experiments.runs.request import Request, resolve
from eascope.host.errors import RequestError
from eascope.host.imports import REPO, code_digest, imported_names
from tests.support.command import output_of
from tests.support.waiting import HANG_S

TOY = EngineKind(
    "toy",
    "an engine that nothing knows by name",
    make=lambda mode: QemuEngine(name="toy", mode=mode),
    code=(),
    copy=QEMU.copy,
    modes={"slow": "slowly", "slower": "even more so"},
)


@pytest.fixture
def _with_a_toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "toy", TOY)


@pytest.mark.usefixtures("_with_a_toy")
def test_a_registered_engine_is_listed_with_its_modes() -> None:
    lines = [" ".join(line.split()) for line in output_of("list", "engines").splitlines()]
    first = lines.index(f"toy {TOY.summary}")
    assert lines[first + 1 :] == ["--mode slow slowly", "--mode slower even more so"]


@pytest.mark.usefixtures("_with_a_toy")
def test_a_request_gets_its_first_mode_and_its_board(juno: Platform) -> None:
    resolved = resolve(Request("juno-r2", "mainline", "smoke", engine="toy"))
    assert (resolved.engine.name, resolved.engine.mode) == ("toy", "slow")
    own, qemu = (device_tree_source(juno, of.layout) for of in (resolved.engine, QemuEngine()))
    assert own == qemu


@pytest.mark.usefixtures("_with_a_toy")
def test_a_wrong_name_offers_the_registered_engine() -> None:
    with pytest.raises(RequestError, match=r"^unknown engine 'tody' \(did you mean toy\?\)"):
        get_engine("tody")
    with pytest.raises(RequestError, match=r"^unknown toy mode 'slo' \(did you mean slow\?\)"):
        get_engine("toy", "slo")
    with pytest.raises(RequestError, match=r"has no modes; --engine gem5, toy has$"):
        get_engine("qemu", "slow")


@pytest.mark.usefixtures("_with_a_toy")
def test_the_default_is_the_first_that_is_listed() -> None:
    assert next(iter(ENGINES)) == DEFAULT_ENGINE
    assert get_engine("gem5").mode == next(iter(GEM5.modes))


def modules(path: Path) -> Iterator[str]:
    """Our own modules that ``path`` imports; what every room needs of the host is left out."""
    for name in imported_names(path):
        below = name.removeprefix("eascope.")
        place = REPO / Path(*below.split("."))
        if place.with_suffix(".py").is_file() and not below.startswith("host."):
            yield below


@pytest.mark.parametrize("engine", ENGINES)
def test_the_code_that_makes_a_runs_files_is_in_its_key(engine: str) -> None:
    """With all that it imports, so code that moves to another file stays in the key.

    Settings are in the key as records, and what a simulator runs inside by its own digest; of the
    contract that code takes types.
    """
    code = ENGINES[engine].code
    room = f"engines.{engine}"
    known = {".".join(path.relative_to(REPO).with_suffix("").parts) for path in code}
    known |= {"engines.base", f"{room}.settings"}
    for path in code:
        others = {name for name in modules(path) if not name.startswith(f"{room}.inside.")}
        assert others <= known, path.name


@pytest.mark.parametrize("engine", ENGINES)
def test_every_file_of_the_code_changes_the_digest(engine: str) -> None:
    code = ENGINES[engine].code
    assert len({code_digest(code[:number]) for number in range(len(code) + 1)}) == len(code) + 1


class Plain(Simulator):
    """Its lines are simulated ns and instructions."""

    def __init__(self, on_look: Callable[[], None] = lambda: None) -> None:
        super().__init__("a test", Spent())
        self.on_look = on_look

    def line(self, line: bytes) -> bool:
        return self.progress(line.decode())

    def failed(self, reason: str) -> EngineFailed:
        return EngineFailed(reason, [], [])

    def look(self) -> None:
        self.on_look()

    def run(self, script: str, stall_s: float) -> int:
        """Watch a shell that writes into descriptor 3."""

        def start(writer: int) -> subprocess.Popen[bytes]:
            command = ["bash", "-c", f"exec 3>&{writer}; {script}"]
            return subprocess.Popen(command, pass_fds=[writer], start_new_session=True)

        return self.supervise(start, stall_s, None)


def test_time_in_which_nobody_looked_is_no_stall(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As when the caller is stopped and goes on, or a laptop sleeps."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    ahead = [0.0]
    clock = time.monotonic

    class Clock:
        monotonic = staticmethod(lambda: clock() + ahead[0])

    def jump() -> None:
        ahead[0] += 1000
        if ahead[0] == 2000:  # the process goes on when it has been looked at twice
            gate.write_text("go\n")

    monkeypatch.setattr(process, "time", Clock)
    watched = Plain(jump)
    assert watched.run(f"echo 1 1 >&3; read -r _ < {gate}; echo 2 2 >&3; exit 7", stall_s=500) == 7
    assert ahead[0] >= 2000
    assert watched._spent.sim_ns == 2


def test_a_simulator_without_progress_is_ended() -> None:
    with pytest.raises(EngineFailed, match=r"no simulated progress for 0 s .* a test hangs"):
        Plain().run("echo 1 1 >&3; exec sleep infinity", stall_s=0.3)


def test_a_failure_is_seen_after_the_simulator_has_ended(tmp_path: Path) -> None:
    """Somebody else holds the pipe, and what is wrong is seen after the end."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    def look() -> None:
        raise EngineFailed("the guest has died", [], [])

    with pytest.raises(EngineFailed, match="the guest has died"):
        Plain(look).run(f"read -r _ < {gate} & exit 0", stall_s=HANG_S)
    gate.write_text("go\n")
