# SPDX-License-Identifier: GPL-2.0-or-later
"""Platforms of one's own in requests: found by path, with a word about what is inherited."""

from __future__ import annotations

from pathlib import Path

import pytest

from eascope.analysis.derive import derive
from eascope.experiments.cautions import rate_warnings, without_eas
from eascope.experiments.cell import prepare
from eascope.experiments.request import Names, Request, resolve
from eascope.experiments.runs import execute

#: Four equal CPUs: juno-r2 without its fast cluster.
FOUR_EQUAL = 'remove = ["cluster.big"]'
TWO_CLUSTERS = "cluster.little.cpus = 2\ncluster.more = { like = 'little', cpus = 2 }"


def _names(folder: Path, text: str, variant: str = "mainline") -> Names:
    path = folder / "mine.toml"
    path.write_text(f'base = "juno-r2"\nsummary = "a test"\n{text}')
    return resolve(Request(str(path), variant, "smoke"))


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
    assert not rate_warnings(resolve(Request(name, "mainline", "smoke")))


@pytest.mark.parametrize("variant", ["mainline", "cas"])
def test_equal_cpus_have_no_eas_and_no_switch_of_eas(tmp_path: Path, variant: str) -> None:
    names = _names(tmp_path, FOUR_EQUAL, variant)
    assert names.variant.declares.eas is False
    assert not any("energy_aware" in path for path, _ in names.variant.switches)
    assert without_eas(names) == (
        "no variant has EAS on mine: all of its CPUs have the same capacity, and the kernel "
        "refuses EAS there"
    )
    assert not without_eas(resolve(Request("juno-r2", variant, "smoke")))


def test_clusters_of_equal_cpus_have_none_either(tmp_path: Path) -> None:
    text = f"{FOUR_EQUAL}\n{TWO_CLUSTERS}"
    names = _names(tmp_path, text)
    assert len(names.platform.clusters) == 2
    assert without_eas(names)


@pytest.mark.guest
@pytest.mark.parametrize("variant", ["mainline", "cas"])
@pytest.mark.parametrize("clusters", [1, 2])
def test_equal_cpus_run(tmp_path: Path, variant: str, clusters: int) -> None:
    """Its proofs say that EAS is off, and the kernel's own file that it cannot be on."""
    second = TWO_CLUSTERS if clusters == 2 else ""
    names = _names(tmp_path, f"{FOUR_EQUAL}\n{second}", variant)
    run = execute(prepare(names))
    assert run.cell.declares["eas"] is False
    result = derive(run.path, names.platform, names.activity).result
    assert result.eas is False
    assert len(result.cpu_busy) == 4
    assert result.wakeups["light"] > 25
