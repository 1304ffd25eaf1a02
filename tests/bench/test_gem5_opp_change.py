# SPDX-License-Identifier: GPL-2.0-or-later
"""What a change of an OPP costs on gem5: reading the statistics of a cluster that never slept."""

import json
import re
from pathlib import Path

import pytest

from eascope.configs.platform_file import load_platform
from eascope.engines.gem5.boot import COUNTER_HZ, boot_loader
from eascope.engines.gem5.inside.request import SCHEMA
from eascope.engines.gem5.layout import LAYOUT
from eascope.engines.gem5.process import environment
from eascope.engines.gem5.provider import SCRIPTS, find_gem5
from eascope.engines.gem5.settings import machine_settings
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from eascope.rootfs.headers import INCLUDE

GUEST = Path(__file__).resolve().parent.parent / "guest" / "opp_changes.S"
LINK = (
    *("-nostdlib", "-static", "-no-pie", "-Wl,--omagic", "-Wl,--no-warn-rwx-segments"),
    *("-Wl,-Ttext=0x80000000", "-Wl,-e,_start", "-Wl,--build-id=none", "-Wl,-z,noexecstack"),
)
CHANGES, TURNS = 50, 60
#: A transition shorter than the platform's, so that nobody has to wait for it.
LATENCY_NS, SETTLE_NS = 1_000, 8_000
_TOLD = re.compile(r"^eascope: changes (\d+) median_us (\d+) worst_us (\d+)$", re.MULTILINE)


@pytest.mark.gem5
@pytest.mark.parametrize("cluster", ["little", "big"])
def test_every_change_is_read(cluster: str, tmp_path: Path) -> None:
    """juno-r2 on Minor and O3, all six CPUs awake before each change: the most there is to read."""
    platform = load_platform("juno-r2")
    defines = {
        "ENERGYCTRL": LAYOUT.energy_ctrl,
        "DOMAIN": platform.cluster(cluster).index,
        "CHANGES": CHANGES,
        "TURNS": TURNS,
        "SETTLE_TICKS": SETTLE_NS * COUNTER_HZ // 10**9,
    }
    given = [f"-I{INCLUDE}", *(f"-D{name}={value}" for name, value in defines.items())]
    run([arm64_tool("gcc"), *LINK, *given, "-o", tmp_path / "guest.elf", GUEST])
    request = {
        "schema": SCHEMA,
        "machine": machine_settings(platform, "elided-detailed")
        | {"transition_latency_ns": LATENCY_NS},
        "mode": "elided-detailed",
        "vmlinux": str(tmp_path / "guest.elf"),
        "boot_loader": str(boot_loader()),
        **dict.fromkeys(("dtb", "initrd", "script", "checkpoint_in", "checkpoint_out")),
        "cmdline": "",
        "limit_ns": 10**10,
        "stall_ns": 10**9,
    }
    (tmp_path / "request.json").write_text(json.dumps(request))
    output = run(
        [
            find_gem5(),
            "--listener-mode=off",
            "-d",
            tmp_path,
            SCRIPTS / "run.py",
            tmp_path / "request.json",
        ],
        env=environment(),
    ).decode()
    totals = _TOLD.search(output)
    assert totals, output[-2000:]
    count, median_us, worst_us = (int(value) for value in totals.groups())
    assert count == CHANGES
    print(f"{cluster}: an OPP change costs {median_us} us of host time, at worst {worst_us}")
