# SPDX-License-Identifier: GPL-2.0-or-later
"""A new engine is one entry of the registry: everything else reads that."""

from __future__ import annotations

import pytest

from eascope.configs.devicetree import device_tree_source
from eascope.configs.platform import Platform
from eascope.engines.base import EngineKind
from eascope.engines.gem5.engine import GEM5
from eascope.engines.qemu.engine import QEMU, QemuEngine
from eascope.engines.registry import DEFAULT_ENGINE, ENGINES, get_engine
from eascope.experiments import devicetree
from eascope.experiments.cli.main import main
from eascope.experiments.request import Request, resolve
from eascope.host.errors import RequestError

TOY = EngineKind(
    "toy",
    "an engine that nothing knows by name",
    make=lambda mode: QemuEngine(name="toy", mode=mode),
    code=(),
    copy=QEMU.copy,
    modes={"slow": "slowly", "slower": "even more so"},
)


@pytest.fixture(autouse=True)
def _with_a_toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "toy", TOY)


def test_a_registered_engine_is_listed_with_its_modes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "engines"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    first = lines.index(f"toy {TOY.summary}")
    assert lines[first + 1 :] == ["--mode slow slowly", "--mode slower even more so"]


def test_a_request_gets_its_first_mode_and_its_board(
    juno: Platform, capsys: pytest.CaptureFixture[str]
) -> None:
    names = resolve(Request("juno-r2", "mainline", "smoke", engine="toy"))
    assert (names.engine.name, names.engine.mode) == ("toy", "slow")
    assert devicetree.main(["juno-r2", "--engine", "toy"]) == 0
    assert capsys.readouterr().out == device_tree_source(juno, QemuEngine().board)


def test_a_wrong_name_offers_the_registered_engine() -> None:
    with pytest.raises(RequestError, match=r"^unknown engine 'tody' \(did you mean toy\?\)"):
        get_engine("tody")
    with pytest.raises(RequestError, match=r"^unknown toy mode 'slo' \(did you mean slow\?\)"):
        get_engine("toy", "slo")
    with pytest.raises(RequestError, match=r"has none: allowed with --engine gem5, toy$"):
        get_engine("qemu", "slow")


def test_the_default_is_the_first_that_is_listed() -> None:
    assert next(iter(ENGINES)) == DEFAULT_ENGINE
    assert get_engine("gem5").mode == next(iter(GEM5.modes))
