# SPDX-License-Identifier: GPL-2.0-or-later
"""Configurations, and the options that patches and trees bring along."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.errors import EascopeError
from kernels import kconfig as module
from kernels.kconfig import configure, lost_options, options

FRAGMENT = "CONFIG_SMP=y\n# CONFIG_NET is not set\nCONFIG_NR_CPUS=32\n"


def test_options_are_read_as_kconfig_reads_them() -> None:
    text = '# CONFIG_A is not set\nCONFIG_B=y\nCONFIG_B=m\nCONFIG_C="x y"\n# a comment\n'
    assert options(text) == {"A": "n", "B": "m", "C": '"x y"'}


def test_lost_options_are_named_with_what_they_became() -> None:
    assert lost_options(FRAGMENT, "CONFIG_SMP=y\nCONFIG_NR_CPUS=32\n") == []
    assert lost_options(FRAGMENT, "# CONFIG_SMP is not set\nCONFIG_NET=y\nCONFIG_NR_CPUS=8\n") == [
        "CONFIG_SMP=y (is n)",
        "CONFIG_NET=n (is y)",
        "CONFIG_NR_CPUS=32 (is 8)",
    ]


def test_a_lost_option_stops_the_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fake_make(tree: Path, out: Path, targets: list[str], log: Path, **_: str) -> None:
        (out / ".config").write_text("CONFIG_SMP=y\nCONFIG_NR_CPUS=32\n")

    monkeypatch.setattr(module, "make", fake_make)
    configure(tmp_path, tmp_path / "out", FRAGMENT, tmp_path / "log")
    with pytest.raises(EascopeError, match=r"did not survive .*: CONFIG_GEM5_CPUIDLE=y \(is n\)"):
        configure(
            tmp_path, tmp_path / "out", FRAGMENT + "CONFIG_GEM5_CPUIDLE=y\n", tmp_path / "log"
        )
