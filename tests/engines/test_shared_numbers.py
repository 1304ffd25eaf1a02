# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers and names that C, assembler and Python share: each stands in one place."""

import re
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs import cpunames
from eascope.configs.platform import Platform
from eascope.engines import records
from eascope.engines.gem5.layout import DEVICE_TREE, LAYOUT
from eascope.engines.gem5.settings import machine_settings
from eascope.engines.qemu.build import ENGINE_FILES, defines
from eascope.engines.qemu.engine import QemuEngine
from eascope.engines.qemu.layout import LAYOUT as QEMU_LAYOUT
from eascope.engines.registry import ENGINES, get_engine
from eascope.experiments.runs.request import Request, resolve
from eascope.host.imports import REPO
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from eascope.power.model import SHARED_PART
from eascope.rootfs.headers import INCLUDE, M5OPS, MESSAGES, numbers, texts
from tests.support.refusals import refusal

#: gem5's names of its pseudo operations (include/gem5/asm/generic/m5ops.h) and their numbers.
OPERATIONS = {
    "QUIESCE_NS": 0x02,
    "QUIESCE_CYCLES": 0x03,
    "NOW_NS": 0x07,
    "EXIT": 0x21,
    "FAIL": 0x22,
    "CHECKPOINT": 0x43,
    "WRITE_FILE": 0x4F,
    "READ_FILE": 0x50,
    "WORK_BEGIN": 0x5A,
}
#: Programs of the guest, the engines and the measurements of cores, in C and assembler.
SOURCES = [
    path
    for room in ("engines", "rootfs", "experiments", "tests/guest")
    for path in sorted((REPO / room).rglob("*.[chS]"))
    if path.parent != INCLUDE
]
DRIVERS = REPO / "kernels/series/base/files/drivers"


def test_python_reads_every_line_of_the_headers() -> None:
    """A number or name that is written otherwise would be missing in Python without a word."""
    for header in (MESSAGES, M5OPS):
        defined = set(re.findall(r"^#define (\w+)[ \t]+\S", header.read_text(), re.MULTILINE))
        assert {*numbers(header), *texts(header)} == defined


def test_the_headers_can_be_assembled(tmp_path: Path) -> None:
    """An instruction of gem5's is 0xff000110 with the number in bits 16 to 23."""
    source = tmp_path / "all.S"
    wanted = "".join(f"\t.inst\tM5_INSTRUCTION(M5_{name})\n" for name in OPERATIONS)
    source.write_text(f'#include "messages.h"\n#include "m5ops.h"\n{wanted}')
    result, flat = tmp_path / "all.o", tmp_path / "flat"
    run([arm64_tool("gcc"), f"-I{INCLUDE}", "-c", "-o", result, source])
    run([arm64_tool("objcopy"), "-O", "binary", result, flat])
    words = struct.unpack(f"<{len(OPERATIONS)}I", flat.read_bytes())
    assert words == tuple(0xFF000110 | number << 16 for number in OPERATIONS.values())


def test_no_source_has_a_number_or_name_of_its_own() -> None:
    """What a header says stands in no other source: as a definition, instruction or name."""
    messages, operations = numbers(MESSAGES), numbers(M5OPS)
    names = "|".join([*messages, *texts(MESSAGES), *operations])
    files = "|".join(re.escape(name) for name in texts(MESSAGES).values())
    again = re.compile(
        rf"#define\s+({names})\b|\b({names})\s*=\s*\d|hint #0x6[0-2]\b|0xff[0-9a-f]{{2}}0110\b"
        rf'|"({files})"'
    )
    assert len(SOURCES) > 60
    repeated = {
        f"{path.relative_to(REPO)}: {match[0]}"
        for path in SOURCES
        for match in again.finditer(path.read_text())
    }
    assert repeated == set()


def test_the_kernels_idle_driver_has_the_same_numbers() -> None:
    """Linux can include no header of ours, so it is the one that has them again."""
    known = numbers(MESSAGES)
    hints = {known[f"HINT_{name}"] for name in ("MESSAGE", "4_ITERATIONS", "1_ITERATION")}
    text = (DRIVERS / "cpuidle/cpuidle-gem5.c").read_text()
    assert {int(hint, 16) for hint in re.findall(r"hint #(0x\w+)", text)} == hints
    (quiesce,) = set(re.findall(r"\.inst (0x\w+)", text))
    assert int(quiesce, 16) == 0xFF000110 | OPERATIONS["QUIESCE_NS"] << 16
    (verb,) = set(re.findall(r"#define \w*IDLE_STATE\s+(\d+)", text))
    assert int(verb) == known["VERB_IDLE_STATE"]


def test_the_registers_of_energy_ctrl_are_the_same_everywhere() -> None:
    """The plugin and bare-metal tests have them all, the kernel's driver those that it uses."""
    plugin = (REPO / "engines/qemu/plugin/energyctrl.c").read_text()
    enum = plugin.partition("enum energyctrl_register {")[2].partition("}")[0]
    known = {name: int(number, 16) for name, number in re.findall(r"(\w+) = (0x\w+),", enum)}
    assert len(known) == 12
    assert numbers(REPO / "tests/guest/energyctrl.h") == known
    driver = (DRIVERS / "cpufreq/gem5-cpufreq.c").read_text()
    used = re.findall(r"^#define (\w+)\t+(0x\w\w)$", driver, re.MULTILINE)
    assert len(used) >= 10
    assert {name: int(number, 16) for name, number in used}.items() <= known.items()


def test_python_has_the_headers_marks_and_files() -> None:
    known = numbers(MESSAGES)
    marks = [known[f"MARK_{name}"] for name in ("READY", "START", "STOP")]
    assert marks == [records.READY, records.START, records.STOP]
    assert len({*marks}) == 3
    assert (records.STATE, records.TRACE) == ("state.txt", "trace.dat")


def test_gem5s_side_gets_its_numbers_in_the_request(juno: Platform) -> None:
    settings = machine_settings(juno, "elided")
    assert settings["marks"] == {"start": records.START, "stop": records.STOP}
    assert settings["rows"] == {
        "shared_part": SHARED_PART,
        "memory_part": records.MEMORY_PART,
        "no_cluster": records.NO_CLUSTER,
    }
    assert settings["memory"]["base"] == LAYOUT.ram
    assert settings["load"] == {"device_tree": DEVICE_TREE, "release": LAYOUT.release_address}
    inside = "".join(path.read_text() for path in (REPO / "engines/gem5/inside").glob("*.py"))
    assert "0x8000_0000" not in inside
    assert not re.search(r"\b(START|STOP|SHARED|MEMORY)\b.*= ", inside)


def test_the_plugin_is_given_what_python_knows() -> None:
    assert defines(8)["MAX_CPUS"] == "8"
    assert defines(9)["MAX_CPUS"] == str(cpunames.MAX_CPUS)
    assert defines(1)["SHARED_PART"] == f"({SHARED_PART})"
    for name in (*ENGINE_FILES, records.MARKS, records.COUNTERS, records.CONSOLE):
        assert f'"{name}"' in defines(1)["ENGINE_FILES"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_machine_has_the_first_gic_that_has_enough_cpus(engine: str) -> None:
    layout = get_engine(engine).layout
    assert [layout.gic(cpus).version for cpus in (1, 8)] == [2, 2]
    for gic in layout.gics:
        assert len({gic.mpidr(0, cpu) for cpu in range(gic.max_cpus)}) == gic.max_cpus
    limits = [gic.max_cpus for gic in layout.gics]
    assert limits == sorted(limits)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_runs_every_platform_that_kernels_know(engine: str) -> None:
    assert get_engine(engine).layout.max_cpus >= cpunames.MAX_CPUS


def test_an_engine_refuses_more_cpus_than_its_board_may_have(
    wide: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file may describe as many as a kernel knows; which engine runs it is another question."""
    resolve(Request("smp-24", "mainline", "smoke"))
    monkeypatch.setattr(QemuEngine, "layout", replace(QEMU_LAYOUT, gics=QEMU_LAYOUT.gics[:1]))
    assert refusal(resolve, Request("smp-24", "mainline", "smoke")) == (
        "configs/platforms/smp-24.toml: cluster.cpus = 24: allowed: up to 8 in all on engine qemu"
    )


def test_a_platform_has_no_more_cpus_than_kernels_know() -> None:
    config = (REPO / "kernels/fragments/base.config").read_text()
    assert f"CONFIG_NR_CPUS={cpunames.MAX_CPUS}\n" in config
