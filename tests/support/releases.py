# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of a kernel on each release that its series are ported to.

Kernels of later releases than the default are booted by long tests alone: `make test` builds none.
"""

import pytest
from _pytest.mark.structures import ParameterSet

from eascope.kernels.build import KernelArtefact, kernel
from eascope.kernels.naming import kernel_named, kernel_names
from eascope.kernels.releases import DEFAULT
from eascope.kernels.source import Source
from tests.support.patch_series import source_of


def of_releases(name: str) -> list[ParameterSet]:
    """``name``, ``name@7.3`` and so on, each built before the first test that boots it."""
    return [booted(known, known) for known in kernel_names() if known.partition("@")[0] == name]


def booted(kernel: str, *values: object) -> ParameterSet:
    """``values`` of a test that boots ``kernel``; long where that is of a later release."""
    marks = [pytest.mark.kernels(kernel)]
    marks += [pytest.mark.long] if "@" in kernel else []
    return pytest.param(*values, marks=marks, id=kernel)


def source_for(name: str) -> Source:
    """The source of the kernel ``name``; skips where no suite has it any more."""
    return source_of(kernel_named(name).release or DEFAULT)


def kernel_of(name: str) -> KernelArtefact:
    """The kernel ``name``; skips where no suite has its source any more."""
    source_for(name)
    return kernel(name)
