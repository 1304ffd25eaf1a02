# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a kernel takes to build again after one line of kernel/sched/fair.c has changed.

And that a tree in which other kernels were built before gives the bytes that a new one gave.
"""

import os
import shutil
import time
from pathlib import Path

import pytest

from eascope.host.cache import sha256_file
from eascope.kernels import build as module
from eascope.kernels.build import kernel
from eascope.kernels.source import find_source
from eascope.kernels.variants import SERIES, load_catalogue
from tests.support.measuring import processor_s

pytestmark = [pytest.mark.long]

#: Seconds of the whole way on two cores: patches, configuration, compiling, links.
MOST_S = 60.0
#: A line that the base series adds to fair.c, and what says the same.
LINE = "+\t\t\tif (!cpu_cap && !sched_feat(FEEC_SPARE0))"
OTHER = "+\t\t\tif (!sched_feat(FEEC_SPARE0) && !cpu_cap)"


@pytest.mark.parametrize("last", ["base", "sum"])
def test_rebuild_after_a_changed_line(
    last: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the kernel base, which was built last, or before another one."""
    original = kernel("base")
    copy = tmp_path / "series"
    shutil.copytree(SERIES, copy)
    (patch,) = (path for path in (copy / "base").glob("*.patch") if LINE in path.read_text())
    patch.write_text(patch.read_text().replace(LINE, OTHER))
    # Unpacking and the first build of a kernel in the tree are no part of the figure.
    for name in dict.fromkeys(("base", last)):
        before = tmp_path / name
        before.mkdir()
        module._build(load_catalogue().kernels[name], find_source(), before)
    monkeypatch.setattr(module, "SERIES", copy)
    began, worked = time.monotonic(), processor_s()
    again = kernel("base")
    spent, work = time.monotonic() - began, processor_s() - worked
    shutil.rmtree(again.image.parent)
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    print(
        f"rebuilt {again.version}, {last} built last, in {spent:.1f} s, {work:.1f} s of processor "
        f"time (load {load})"
    )
    monkeypatch.setattr(module, "SERIES", SERIES)
    module._build(load_catalogue().kernels["base"], find_source(), tmp_path)
    assert sha256_file(tmp_path / "Image") == sha256_file(original.image)
    assert sha256_file(tmp_path / "vmlinux") == sha256_file(original.vmlinux)
    # A busy host makes it slower, not more work; on a quiet one it takes no longer than that.
    assert work < MOST_S
