# SPDX-License-Identifier: GPL-2.0-or-later
"""Each series: every patch by itself, odd configurations, other sources, the same bytes twice."""

import platform as host
from dataclasses import dataclass
from pathlib import Path

import pytest

from eascope.host.cache import sha256_file
from eascope.kernels.build import KernelArtefact, names
from eascope.kernels.kconfig import configure, fragment_text, lost_options, make, options
from eascope.kernels.naming import kernel_named, kernel_names
from eascope.kernels.patch_series import series_patches
from eascope.kernels.patching import apply_patch
from eascope.kernels.releases import DEFAULT
from eascope.kernels.source import Source, offered
from eascope.kernels.variants import SERIES, Kernel, load_catalogue
from eascope.kernels.worktree import OUT
from tests.support.fragments import changed_fragment
from tests.support.patch_series import apply_series, source_of

pytestmark = pytest.mark.long

STRICT = {"KCFLAGS": "-Werror", "W": "1"}
INIT_TASK = "init/init_task.o"
#: What the series touch and can be compiled by itself.
PARTS = ["kernel/sched/", "kernel/power/", "drivers/cpufreq/", "drivers/cpuidle/", INIT_TASK]

#: Options that a build must do without, with what else that changes (empty: left to Kconfig).
WITHOUT = {
    "UCLAMP_TASK": {"UCLAMP_TASK_GROUP": "", "UCLAMP_BUCKETS_COUNT": ""},
    "ENERGY_MODEL": {},
    "FAIR_GROUP_SCHED": {"CFS_BANDWIDTH": "", "UCLAMP_TASK_GROUP": ""},
    "EASCOPE": {"EASCOPE_TRACE": ""},
    "EASCOPE_TRACE": {},
    "CPU_FREQ_GOV_SCHEDUTIL": {
        "CPU_FREQ_DEFAULT_GOV_SCHEDUTIL": "",
        "CPU_FREQ_DEFAULT_GOV_PERFORMANCE": "y",
        "UCLAMP_TASK": "",
        "UCLAMP_TASK_GROUP": "",
        "UCLAMP_BUCKETS_COUNT": "",
    },
    "JUMP_LABEL": {},
}
#: arm64 has it always in 7.3.
DEFAULT_ALONE = ("JUMP_LABEL",)
KERNELS = kernel_names()
#: Options of the base series' files, and in which Makefile a patch has each.
ADDED = {
    "EASCOPE": "kernel/sched",
    "EASCOPE_TRACE": "kernel/sched",
    "GEM5_CPUFREQ": "drivers/cpufreq",
    "GEM5_CPUIDLE": "drivers/cpuidle",
}


def release_of(kernel: Kernel) -> str:
    """The release whose source and series it has."""
    return kernel.release or DEFAULT


@dataclass(frozen=True)
class Patched:
    """An unpacked tree with the series of ``kernel`` applied, below a folder of its own."""

    kernel: Kernel
    tree: Path

    def fragment(self, **changed: str) -> str:
        """The base fragment with options set (``y``), off (``n``) or left to Kconfig (empty)."""
        text = fragment_text(load_catalogue().kernels["base"], release_of(self.kernel))
        return changed_fragment(text, changed)

    def compile_parts(self, name: str, **changed: str) -> None:
        """Compile `PARTS` with ``changed`` options into ``out-NAME`` next to the tree; no warning.

        :raises EascopeError: an option was lost, or it does not compile.
        """
        out, log = self.tree.parent / f"out-{name}", self.tree.parent / f"{name}.log"
        configure(self.tree, out, self.fragment(**changed), log)
        make(self.tree, out, ["prepare", *PARTS], log, **STRICT)
        assert (out / "kernel/sched/fair.o").is_file()


def unpacked(name: str, folder: Path, source: Source | None = None) -> Patched:
    """The tree of the kernel ``name`` below ``folder``, of ``source`` instead of its own."""
    kernel = kernel_named(name)
    source = source or source_of(release_of(kernel))
    source.unpack(folder / "src")
    for series in kernel.series:
        apply_series(folder / "src", SERIES / series, source)
    return Patched(kernel, folder / "src")


@pytest.fixture(scope="module", params=KERNELS)
def patched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Patched:
    """Each kernel's tree, one after the other."""
    return unpacked(request.param, tmp_path_factory.mktemp(request.param))


@pytest.mark.parametrize(
    ("patched", "option"),
    [
        (name, option)
        for name in KERNELS
        for option in WITHOUT
        if "@" not in name or option not in DEFAULT_ALONE
    ],
    indirect=["patched"],
)
def test_compiles_without(patched: Patched, option: str) -> None:
    patched.compile_parts(option, **{option: "n"}, **WITHOUT[option])


@pytest.mark.skipif(host.machine() != "x86_64", reason="arm64 is always SMP; x86 is not")
def test_scheduler_compiles_for_one_cpu(patched: Patched) -> None:
    tree, out, log = patched.tree, patched.tree.parent / "out-up", patched.tree.parent / "up.log"
    out.mkdir()
    wanted = "".join(
        f"CONFIG_{key}=y\n" for key in ("EXPERT", "DEBUG_KERNEL", "DEBUG_FS", "EASCOPE")
    )
    if release_of(patched.kernel) == DEFAULT:
        wanted += "CONFIG_SCHED_DEBUG=y\n"
    (out / "up.config").write_text(wanted + "# CONFIG_SMP is not set\n")
    native = {"ARCH": "x86", "CROSS_COMPILE": "", "CC": "gcc"}
    make(tree, out, ["allnoconfig"], log, KCONFIG_ALLCONFIG=str(out / "up.config"), **native)
    config = (out / ".config").read_text()
    assert lost_options(wanted, config) == []
    assert options(config).get("SMP", "n") == "n"
    # Without W=1: mainline has an unused constant there.
    make(tree, out, ["prepare", "kernel/sched/"], log, **native, KCFLAGS="-Werror")
    assert (out / "kernel/sched/eascope.o").is_file()


@pytest.mark.parametrize("name", KERNELS)
def test_every_patch_compiles_by_itself(name: str, tmp_path: Path) -> None:
    kernel = kernel_named(name)
    source, (*before, last) = source_of(release_of(kernel)), kernel.series
    patched = Patched(kernel, tmp_path / "src")
    source.unpack(patched.tree)
    for series in before:
        apply_series(patched.tree, SERIES / series, source)
    patches = series_patches(SERIES / last, release_of(kernel))
    for number in range(len(patches)):
        apply_patch(patched.tree, patches, number, source)
        present = {
            key: f"$(CONFIG_{key})" in (patched.tree / folder / "Makefile").read_text()
            for key, folder in ADDED.items()
        }
        patched.compile_parts(
            "patches", **{key: "y" if yes else "" for key, yes in present.items()}
        )


@pytest.mark.parametrize("name", KERNELS)
def test_compiles_with_every_source_that_is_offered(name: str, tmp_path: Path) -> None:
    """Where patches apply they may still not mean anything."""
    release = release_of(kernel_named(name))
    usual = source_of(release).version
    others = {other.version: other for other in offered(release) if other.version != usual}
    for version, other in others.items():
        unpacked(name, tmp_path / version, other).compile_parts("other")


def test_the_same_inputs_give_the_same_bytes(
    source: Source, base_kernel: KernelArtefact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Built again in another folder, without ccache."""
    monkeypatch.setenv("CCACHE_DISABLE", "1")
    spec, tree, log = load_catalogue().kernels["base"], tmp_path / "src", tmp_path / "log"
    source.unpack(tree)
    for series in spec.series:
        apply_series(tree, SERIES / series, source)
    configure(tree, tree / OUT, fragment_text(spec), log)
    make(tree, tree / OUT, ["Image", "vmlinux"], log, **names(spec))
    assert sha256_file(tree / OUT / ".config") == sha256_file(base_kernel.config)
    assert sha256_file(tree / OUT / "arch/arm64/boot/Image") == sha256_file(base_kernel.image)
