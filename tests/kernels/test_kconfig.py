# SPDX-License-Identifier: GPL-2.0-or-later
"""Configurations, and the options that patches and trees bring along."""

from pathlib import Path

import pytest

from eascope.host.cache import sha256_bytes
from eascope.host.errors import EascopeError
from eascope.kernels import kconfig as module
from eascope.kernels.build import _key
from eascope.kernels.kconfig import (
    Brought,
    brought,
    configure,
    fragment_text,
    lost_options,
    options,
)
from eascope.kernels.naming import kernel_named, variant_named
from eascope.kernels.own import read_own
from eascope.kernels.source import Source

FRAGMENT = "CONFIG_SMP=y\n# CONFIG_NET is not set\nCONFIG_NR_CPUS=32\n"


def test_options_are_read_as_kconfig_reads_them() -> None:
    text = '# CONFIG_A is not set\nCONFIG_B=y\nCONFIG_B=m\nCONFIG_C="x y"\n# a comment\n'
    assert options(text) == {"A": "n", "B": "m", "C": '"x y"'}


def test_lost_options_are_named_with_what_they_became() -> None:
    assert lost_options(FRAGMENT, "CONFIG_SMP=y\nCONFIG_NR_CPUS=32\n") == []
    assert lost_options(FRAGMENT, "# CONFIG_SMP is not set\nCONFIG_NET=y\nCONFIG_NR_CPUS=8\n") == [
        "CONFIG_SMP=y (is n)",
        "CONFIG_NET=n (is y)",
        "CONFIG_NR_CPUS=32 (is 8)",
    ]


def test_a_lost_option_stops_the_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fake_make(tree: Path, out: Path, targets: list[str], log: Path, **_: str) -> None:
        (out / ".config").write_text("CONFIG_SMP=y\nCONFIG_NR_CPUS=32\n")

    monkeypatch.setattr(module, "make", fake_make)
    configure(tmp_path, tmp_path / "out", FRAGMENT, tmp_path / "log")
    with pytest.raises(EascopeError, match=r"were not kept .*: CONFIG_GEM5_CPUIDLE=y \(is n\)"):
        configure(
            tmp_path, tmp_path / "out", FRAGMENT + "CONFIG_GEM5_CPUIDLE=y\n", tmp_path / "log"
        )


HZ = """\
--- a/kernel/Kconfig.hz
+++ b/kernel/Kconfig.hz
@@ -5,7 +5,7 @@
 
 choice
 \tprompt "Timer frequency"
-\tdefault HZ_250
+\tdefault HZ_1000
 \thelp
 \t Allows the configuration of the timer frequency. It is customary
 \t to have the timer interrupt run at 1000 Hz but 100 Hz may be more
"""
#: A member of a choice of which our fragments state another one.
LAZY = """\
--- a/kernel/Kconfig.preempt
+++ b/kernel/Kconfig.preempt
@@ -13,7 +13,11 @@ config PREEMPT_BUILD
 
 choice
 \tprompt "Preemption Model"
-\tdefault PREEMPT_NONE
+\tdefault FIELD_LAZY
+
+config FIELD_LAZY
+\tbool "Later than PREEMPT"
+\tselect PREEMPT_BUILD
 
 config PREEMPT_NONE
 \tbool "No Forced Preemption (Server)"
"""
ADDED = """\
--- a/init/Kconfig
+++ b/init/Kconfig
@@ -1349,6 +1349,26 @@ config CHECKPOINT_RESTORE
 
 \t  If unsure, say N here.
 
+config FIELD
+\tbool "On by default"
+\tdefault y
+
+config FIELD_IF
+\tbool "On in our configuration, off in one of defaults"
+\tdefault y if DEBUG_KERNEL
+
+config FIELD_NS
+\tint "A number" if FIELD
+\tdefault 2000000
+
+config FIELD_OFF
+\tbool "Off by default"
+
+config FIELD_PSI
+\tbool "Needs an option that is off"
+\tdefault y
+\tdepends on PSI
+
 config SCHED_AUTOGROUP
 \tbool "Automatic process group scheduling"
 \tselect CGROUPS
"""


def brought_by(source: Source, folder: Path, *texts: str) -> Brought:
    """What a series of patches, and of fragments, brings along."""
    names = []
    for number, text in enumerate(texts):
        (folder / f"{number}.patch").write_text(text)
        names.append(f"field={folder / f'{number}.patch'}")
    kernel, _ = variant_named("field", read_own([], names))
    return brought(kernel, source)


def test_options_that_patches_bring_along(source: Source, tmp_path: Path) -> None:
    result = brought_by(source, tmp_path, ADDED, LAZY, HZ)
    assert result == Brought(
        taken=("CONFIG_FIELD=y", "CONFIG_FIELD_IF=y", "CONFIG_FIELD_NS=2000000"),
        off=("CONFIG_FIELD_OFF",),
        stated=(
            "CONFIG_FIELD_LAZY=y",
            *("CONFIG_HZ=1000", "CONFIG_HZ_1000=y", "# CONFIG_HZ_250 is not set"),
            "# CONFIG_PREEMPT is not set",
        ),
        unmet=("CONFIG_FIELD_PSI",),
        same=False,
    )


def test_a_default_that_our_fragments_state_changes_nothing(source: Source, tmp_path: Path) -> None:
    result = brought_by(source, tmp_path, HZ)
    assert (result.taken, result.same) == ((), True)
    result = brought_by(source, tmp_path, HZ, "\n".join(result.stated))
    assert (result.taken, result.stated) == ((), ())


def test_a_kernel_without_such_options_keeps_its_key(source: Source, tmp_path: Path) -> None:
    spec = kernel_named("base@6.12")
    assert brought(spec, source) == Brought()
    assert _key(spec, source)["fragment"] == sha256_bytes(fragment_text(spec).encode())
