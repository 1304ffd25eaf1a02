# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine of 24 CPUs has a GICv3: all CPUs boot, and a run is a function of its inputs."""

from pathlib import Path

import polars as pl
import pytest

from eascope.configs.platform import Platform
from eascope.experiments.runs.request import Request, resolve
from eascope.kernels.build import KernelArtefact, kernel
from eascope.kernels.state import state_expectations
from tests.support.columns import least, most
from tests.support.command import ran
from tests.support.kernel_guest import boot

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module")
def base_kernel() -> KernelArtefact:
    """The base kernel, built when the cache does not have it."""
    return kernel("base")


def test_all_cpus_are_online_and_have_interrupts(
    base_kernel: KernelArtefact, wide: Platform, tmp_path: Path
) -> None:
    names = resolve(Request("smp-24", "mainline", "smoke"))
    proofs = [" ".join(line) for line in state_expectations(names.variant, names.given)]
    files = {
        "/sys/devices/system/cpu/online": "online",
        "/proc/interrupts": "interrupts",
        "/sys/devices/system/cpu/cpufreq/policy0/related_cpus": "policy",
    }
    asked = [f"collect {path} {name}" for path, name in files.items()]
    done = boot(base_kernel.image, wide, [*proofs, "sleep-ms 200", *asked], tmp_path / "out")
    assert done.text("online") == "0-23\n"
    assert done.text("policy").split() == [str(cpu) for cpu in wide.cpus]
    table = {line.split()[0]: line.split()[1:] for line in done.text("interrupts").splitlines()[1:]}
    (timer,) = (row for row in table.values() if "arch_timer" in row)
    assert "GICv3" in timer
    assert all(int(count) > 0 for count in timer[:24])
    # A function call or a reschedule reached CPUs of both halves of the affinity space.
    sent = [sum(int(table[f"IPI{ipi}:"][cpu]) for ipi in (0, 1)) for cpu in wide.cpus]
    assert sum(sent[:16]) > 0
    assert sum(sent[16:]) > 0


def test_the_same_cell_is_the_same_bytes(tmp_path: Path) -> None:
    files: list[dict[str, bytes]] = []
    for number in range(2):
        run = Path(
            ran("smoke", platform="smp-24", EASCOPE_RUNS=str(tmp_path / f"runs{number}"))["run"]
        )
        files.append(
            {
                str(path.relative_to(run)): path.read_bytes()
                for path in sorted(run.rglob("*"))
                if path.is_file() and path.name != "host.json"
            }
        )
    assert files[0] == files[1]
    counters = pl.read_parquet(next((tmp_path / "runs0").glob("*/counters.parquet")))
    deep = counters.filter(pl.col("cpu") >= 0).group_by("cpu").agg(pl.col("idle1_ns").sum())
    assert len(deep) == 24
    assert least(deep["idle1_ns"]) > 0, "every CPU has been in c2"


def test_the_package_budget_limits_what_is_granted_and_billed(
    base_kernel: KernelArtefact, wide: Platform, tmp_path: Path
) -> None:
    """Two busy CPUs run at an OPP of few, 24 at the last step's; the kernel sees it.

    Others count while they are in WFI, where some stay for long.

    schedutil's policy follows what is granted, another governor's shows what it requests.
    """
    folder = "/sys/devices/system/cpu/cpufreq/policy0"
    hogs = [f"spawn hog{cpu} /bin/busybox md5sum /dev/zero" for cpu in wide.cpus]
    lines = [
        *hogs[:2],
        "sleep-ms 400",
        # Others may be awake for a moment.
        *(
            line
            for n in range(5)
            for line in (
                f"collect {folder}/scaling_cur_freq few{n}",
                f"collect {folder}/cpuinfo_cur_freq few-in-force{n}",
                "sleep-ms 7",
            )
        ),
        *hogs[2:],
        "sleep-ms 20",
        f"collect {folder}/scaling_cur_freq all",
        f"collect {folder}/cpuinfo_cur_freq all-in-force",
        f"write {folder}/scaling_governor performance",
        "sleep-ms 1",
        f"collect {folder}/scaling_cur_freq requested",
        *(f"kill hog{cpu}" for cpu in wide.cpus),
    ]
    done = boot(base_kernel.image, wide, lines, tmp_path / "out")
    few = [(done.text(f"few{n}"), done.text(f"few-in-force{n}")) for n in range(5)]
    granted = max(int(khz) for khz, in_force in few if khz == in_force)
    assert granted >= 2_630_000
    assert (done.text("all"), done.text("all-in-force")) == ("2048000\n", "2048000\n")
    assert done.text("requested") == "2802000\n"
    counters = pl.read_parquet(tmp_path / "out" / "counters.parquet").filter(pl.col("cpu") == 0)
    assert (
        {granted, 2_048_000} <= set(counters["khz"]) <= {opp.khz for opp in wide.clusters[0].opps}
    )
    # Rows are billed by their own OPP: cycles are those of the frequency that was granted.
    awake = counters["active_ns"] + counters["entry_ns"] + counters["exit_ns"]
    assert most((counters["cycles"] - awake * counters["khz"] // 1_000_000).abs()) <= 1


@pytest.mark.long
def test_hackbench_runs_on_all_cpus(tmp_path: Path) -> None:
    result = ran("programs/hackbench", platform="smp-24")
    assert result["program"]["hackbench"]["time_s"] > 0
    assert len(result["cpu_busy"]) == 24
    assert min(result["cpu_busy"]) > 0.1
    # 160 threads keep more CPUs on than the top OPP is granted for.
    assert result["residency"]["big"]["2048000"] > 0.1
