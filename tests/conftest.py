# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared fixtures: the artefacts that guest tests boot, and a folder for each test's runs.

Artefacts (kernel, image, engine) come from the content-addressed cache and are built when they are
not there; runs always go to a temporary folder.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from eascope.configs.activity import Activity, load_activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.base import Machine
from eascope.engines.gem5.provider import find_gem5, version
from eascope.engines.qemu.boots import BOOTS
from eascope.host.errors import EascopeError
from tests.support.repo import REPO

pytest_plugins = (
    "tests.support.artefacts",
    "tests.support.bare_metal",
    "tests.support.platforms",
    "tests.support.summary",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs gem5 where there is none that will do, and say why."""
    wanting = [item for item in items if item.get_closest_marker("gem5")]
    if not wanting:
        return
    try:
        version(find_gem5())
    except EascopeError as error:
        for item in wanting:
            item.add_marker(pytest.mark.skip(reason=str(error)))


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the checkout."""
    return REPO


@pytest.fixture(autouse=True)
def _environment_kept() -> Iterator[None]:
    """Fail a test that leaves ``os.environ`` changed, and put it back.

    Without ``EASCOPE_CACHE``, say, later tests would build all kernels anew.
    """
    before = dict(os.environ)
    yield
    after = dict(os.environ)
    changed = {name for name, _ in before.items() ^ after.items()} - {"PYTEST_CURRENT_TEST"}
    if changed:
        os.environ.clear()
        os.environ.update(before)
        pytest.fail(f"the test left os.environ changed: {', '.join(changed)}", pytrace=False)


@pytest.fixture(autouse=True)
def _runs_in_tmp(_environment_kept: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The guard comes first, so it looks after monkeypatch has put everything back.
    monkeypatch.setenv("EASCOPE_RUNS", str(tmp_path / "runs"))


@pytest.fixture(autouse=True)
def _no_boot_waits() -> Iterator[None]:
    """End the machines that a test has booted: another test looks for the QEMU that it runs."""
    yield
    BOOTS.end()


@pytest.fixture(scope="session")
def juno() -> Platform:
    """The platform that most tests use."""
    return load_platform("juno-r2")


@pytest.fixture(scope="session")
def pixel6() -> Platform:
    """A phone with three clusters, which is billed by curves."""
    return load_platform("pixel6")


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that is not there yet."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def wide() -> Platform:
    """The platform with the most CPUs."""
    return load_platform("smp-24")


@pytest.fixture
def linux_like(juno: Platform, juno_activity: Activity) -> Machine:
    """A machine whose files are only named, for what is made of the machine alone."""
    nowhere = Path("/nowhere")
    return Machine(
        juno,
        juno_activity,
        image=nowhere / "image",
        dtb=nowhere / "dtb",
        initramfs=nowhere / "initramfs",
        vmlinux=nowhere / "vmlinux",
        script=b"exit\n",
        cmdline="quiet",
    )


@pytest.fixture(scope="session")
def juno_activity(juno: Platform) -> Activity:
    """Its activity record."""
    return load_activity(juno)
