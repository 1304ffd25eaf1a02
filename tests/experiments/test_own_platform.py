# SPDX-License-Identifier: GPL-2.0-or-later
"""Platforms of one's own in requests: found by path, with a word about what is inherited."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.cell import Names, Request, find, rate_warnings


def _names(folder: Path, text: str, engine: str = "qemu") -> Names:
    path = folder / "mine.toml"
    path.write_text(f'base = "juno-r2"\nsummary = "a test"\n{text}')
    return find(Request(str(path), "mainline", "smoke", engine))


def test_inherited_rates_are_a_warning(tmp_path: Path) -> None:
    assert rate_warnings(_names(tmp_path, "")) == [
        "the kernel's rate is inherited: little from juno-r2's little (cortex-a53), big from "
        "juno-r2's big (cortex-a72)"
    ]


def test_a_kernel_that_runs_too_fast_is_a_warning(tmp_path: Path) -> None:
    names = _names(tmp_path, 'cluster.big.core = "cortex-a57"\ncluster.big.cpus = 1')
    inherited, fast = rate_warnings(names)
    assert inherited.endswith("inherited: little from juno-r2's little (cortex-a53)")
    assert fast.startswith(
        "the kernel runs at the busy loop's rate, 2 to 4 times too fast, on big (cortex-a57): "
    )


@pytest.mark.parametrize("name", ["juno-r2", "pixel6"])
def test_platforms_that_were_measured_have_no_warning(name: str) -> None:
    assert not rate_warnings(find(Request(name, "mainline", "smoke")))
