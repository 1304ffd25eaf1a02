# SPDX-License-Identifier: GPL-2.0-or-later
"""The flavours of the device tree that no variant has yet boot, and are proven as `std` is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eascope.analysis.derive import derive
from eascope.analysis.records.result import Result
from eascope.configs.platform import Platform
from eascope.experiments.cell import prepare
from eascope.experiments.request import Request, resolve
from eascope.experiments.runs import execute
from eascope.kernels.variants import Declared

pytestmark = pytest.mark.guest


def smoke(flavour: str, eas: bool) -> tuple[Result, Platform]:
    """``result.json`` of mainline with ``flavour``: execute() fails unless its proofs hold."""
    names = resolve(Request("juno-r2", "mainline", "smoke"))
    declares = Declared(eas, "schedutil")
    variant = replace(names.variant, dtb=flavour, declares=declares)
    run = execute(prepare(replace(names, variant=variant)))
    return derive(run.path, names.platform, names.activity).result, names.platform


def test_opp2_runs_at_the_slowest_and_the_fastest_opp() -> None:
    result, platform = smoke("opp2", eas=True)
    assert result.eas is True
    for cluster in platform.clusters:
        used = {int(khz) for khz, share in result.residency[cluster.name].items() if share}
        assert used <= {cluster.opps[0].khz, cluster.max_khz}


def test_nocap_takes_all_cpus_for_equal() -> None:
    """Its proofs say that every CPU's capacity is 1024; EAS is impossible, so its file is empty."""
    result, _ = smoke("nocap", eas=False)
    assert result.eas is False
    assert result.wakeups["light"] > 25
