# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests boot is built before the first of them, as long as that takes, and shown meanwhile.

A test marked ``guest`` needs QEMU, its plugin, the guest image and the kernel ``base``; one that
boots other kernels names them: ``@pytest.mark.kernels("feec")``, or ``"base+io"`` with a fragment.
The kernel ``null`` is the double of ``eascope compare --null``.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.engines.qemu.build import plugin
from eascope.engines.qemu.provider import qemu
from eascope.experiments.runs.guest_image import guest_image
from eascope.experiments.runs.request import DOUBLE, double
from eascope.host.errors import EascopeError
from eascope.host.lisa import lisa_binaries
from eascope.host.proc import say
from eascope.kernels.build import kernel
from eascope.kernels.naming import kernel_named, variant_named


def kernels_of(items: Iterable[pytest.Item]) -> list[str]:
    """The kernels that ``items`` boot, ``base`` first: its objects are where the others start."""
    names: set[str] = set()
    for item in items:
        if item.get_closest_marker("guest"):
            names.add("base")
        for mark in item.iter_markers("kernels"):
            names.update(mark.args)
    return sorted(names, key=lambda name: (name != "base", name))


def prepare(kernels: Iterable[str]) -> None:
    """Fetch and build what guests need, each unless the cache has it.

    :raises EascopeError: when something cannot be had.
    """
    qemu()
    plugin()
    guest_image()
    for name in kernels:
        known, *more = name.split("+")
        spec = variant_named(DOUBLE, double())[0] if known == DOUBLE else kernel_named(known)
        kernel(replace(spec, more=tuple(more)))


@pytest.fixture(scope="session", autouse=True)
def _artefacts(request: pytest.FixtureRequest) -> None:
    """Build what the tests of this session boot.

    When something cannot be had, each test that needs it fails with that by itself; the others run.
    """
    kernels = kernels_of(request.session.items)
    if not kernels:
        return
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        try:
            prepare(kernels)
        except EascopeError as error:
            say(f"  what tests boot cannot be had: {error}")


@pytest.fixture(scope="session")
def rt_app() -> Path:
    """LISA's arm64 rt-app."""
    return lisa_binaries() / "arm64" / "rt-app"
