# SPDX-License-Identifier: GPL-2.0-or-later
"""Who shares the last-level cache, in the guest's scheduler: one domain MC, or one per cluster."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.knobs import LLC_CLUSTER
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.state import state_expectations
from eascope.kernels.variants import load_variants
from tests.support.kernel_guest import boot

pytestmark = pytest.mark.guest


def domains(text: str) -> dict[int, list[set[int]]]:
    """CPUs of each scheduling domain by CPU, lowest domain first, from /proc/schedstat."""
    spans: dict[int, list[set[int]]] = {}
    cpu = -1
    for line in text.splitlines():
        if (begin := re.match(r"cpu(\d+) ", line)) is not None:
            cpu = int(begin[1])
            spans[cpu] = []
        elif (domain := re.match(r"domain\d+ (?:[A-Z]+ )?([0-9a-f,]+) ", line)) is not None:
            mask = int(domain[1].replace(",", ""), 16)
            spans[cpu].append({bit for bit in range(64) if mask >> bit & 1})
    return spans


def booted(kernel: KernelArtefact, platform: Platform, out: Path) -> str:
    """/proc/schedstat of ``platform``, whose declared state the script proves."""
    proofs = [" ".join(line) for line in state_expectations(load_variants()["mainline"], platform)]
    done = boot(kernel.image, platform, [*proofs, "collect /proc/schedstat schedstat"], out)
    return done.text("schedstat")


def test_pixel6_has_one_domain_of_all_cpus(base_kernel: KernelArtefact, tmp_path: Path) -> None:
    pixel6 = load_platform("pixel6")
    spans = domains(booted(base_kernel, pixel6, tmp_path / "out"))
    assert spans == {cpu: [set(range(8))] for cpu in range(8)}


def test_the_same_board_with_a_cache_per_cluster_has_two_levels(
    base_kernel: KernelArtefact, tmp_path: Path
) -> None:
    pixel6 = replace(load_platform("pixel6"), llc=LLC_CLUSTER)
    spans = domains(booted(base_kernel, pixel6, tmp_path / "out"))
    for cpu in pixel6.cpus:
        assert spans[cpu] == [set(pixel6.cluster_of(cpu).cpus), set(range(8))]
