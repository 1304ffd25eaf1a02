# SPDX-License-Identifier: GPL-2.0-or-later
"""Each kernel links without the options by which its series decide what is there.

A declaration is enough to compile a call of what an option left out. Only the link needs it.
"""

from pathlib import Path

import pytest

from eascope.kernels.build import names
from eascope.kernels.kconfig import configure, fragment_text, make
from eascope.kernels.naming import kernel_named, kernel_names
from eascope.kernels.releases import DEFAULT
from eascope.kernels.variants import SERIES
from eascope.kernels.worktree import OUT, worktree
from tests.support.fragments import changed_fragment
from tests.support.releases import source_for

pytestmark = pytest.mark.long

#: Options that are off, with those that need them (empty: left to Kconfig). Without the first two,
#: most objects are the same; the last two are in headers that all files include.
WITHOUT = {
    "EASCOPE": {"EASCOPE_TRACE": ""},
    "UCLAMP_TASK_GROUP": {},
    "SCHED_DEBUG": {"EASCOPE": "", "EASCOPE_TRACE": ""},
    "UCLAMP_TASK": {"UCLAMP_TASK_GROUP": "", "UCLAMP_BUCKETS_COUNT": ""},
}
#: 7.3 has it always.
DEFAULT_ALONE = ("SCHED_DEBUG",)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        (name, option)
        for name in kernel_names()
        for option in WITHOUT
        if "@" not in name or option not in DEFAULT_ALONE
    ],
)
def test_links_without(name: str, option: str, tmp_path: Path) -> None:
    spec, source = kernel_named(name), source_for(name)
    release, log = spec.release or DEFAULT, tmp_path / "log"
    fragment = changed_fragment(fragment_text(spec, release), {option: "n", **WITHOUT[option]})
    # The objects are kept apart from those of the kernel itself.
    with worktree(source, spec.folders(SERIES), ["linked"]) as tree:
        linked = tree / OUT / "vmlinux"
        linked.unlink(missing_ok=True)
        configure(tree, tree / OUT, fragment, log)
        make(tree, tree / OUT, ["vmlinux"], log, **names(spec, release))
        assert linked.is_file()
