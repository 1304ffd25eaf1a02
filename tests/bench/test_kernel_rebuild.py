"""How long a kernel takes to build again after one line of kernel/sched/fair.c has changed."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from kernels import build as module
from kernels.build import kernel
from kernels.variants import SERIES

pytestmark = [pytest.mark.long]

#: Seconds of the whole way on two cores: unpacking, patches, configuration, ccache, links.
MOST_S = 60.0
#: A line that the base queue adds to fair.c, and what says the same.
LINE = "+\t\t\tif (!cpu_cap && !sched_feat(FEEC_SPARE0))"
OTHER = "+\t\t\tif (!sched_feat(FEEC_SPARE0) && !cpu_cap)"


def processor_s() -> float:
    """Processor time of this process's ended children."""
    times = os.times()
    return times.children_user + times.children_system


def test_rebuild_after_a_changed_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel("base")
    copy = tmp_path / "series"
    shutil.copytree(SERIES, copy)
    (patch,) = (one for one in (copy / "base").glob("*.patch") if LINE in one.read_text())
    patch.write_text(patch.read_text().replace(LINE, OTHER))
    monkeypatch.setattr(module, "SERIES", copy)
    began, worked = time.monotonic(), processor_s()
    again = kernel("base")
    spent, work = time.monotonic() - began, processor_s() - worked
    shutil.rmtree(again.image.parent)
    print(f"rebuilt {again.version} in {spent:.1f} s, {work:.1f} s of processor time")
    # A busy host makes it slower, not more work: two cores do twice the limit's work in its time.
    assert min(spent, work / 2) < MOST_S
