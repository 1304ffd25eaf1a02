# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's command line and the plugin's options: a function of the settings and the files alone.

A value stands in `engines.qemu.settings`, never here: a test changes every setting and fails on a
word of the command that stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eascope.engines.qemu.settings import (
    BudgetSettings,
    LoopSettings,
    MixtureSettings,
    ProgramSettings,
    QemuClusterSettings,
    QemuSettings,
)


@dataclass(frozen=True)
class BootFiles:
    """The files of a run, which its key has by their digests.

    :param qemu: how QEMU is started: its linker, its library path, the program, its data.
    """

    qemu: tuple[str, ...]
    plugin: Path
    image: Path
    dtb: Path
    initrd: Path


def command(settings: QemuSettings, files: BootFiles) -> list[str]:
    """QEMU's command line; its last word is the plugin with its options."""
    board = f"{settings.board},gic-version={settings.gic_version}"
    accelerator = f"{settings.accelerator},thread={settings.thread}"
    return [
        *files.qemu,
        *("-machine", f"{board},dtb-randomness={settings.dtb_randomness}"),
        *("-cpu", settings.cpu),
        *("-smp", str(settings.cpus)),
        *("-m", str(settings.memory_mib)),
        *("-seed", str(settings.seed)),
        *("-rtc", f"base={settings.rtc_base},clock={settings.rtc_clock}"),
        *settings.flags,
        *("-display", settings.display),
        *("-monitor", settings.monitor),
        *("-serial", f"file:{settings.console}"),
        *("-dtb", str(files.dtb.absolute())),
        *("-kernel", str(files.image.absolute())),
        *("-initrd", str(files.initrd)),
        *("-append", settings.cmdline),
        *("-accel", f"{accelerator},tb-size={settings.translation_mib}"),
        *("-plugin", ",".join([quoted(files.plugin), *_plugin_options(settings)])),
    ]


def quoted(path: Path) -> str:
    """A path inside a QEMU option, where a comma is written twice."""
    return str(path).replace(",", ",,")


def _plugin_options(settings: QemuSettings) -> Iterator[str]:
    for cluster in settings.clusters:
        yield from _cluster_options(cluster)
    yield f"console={settings.console}"
    yield f"latency_ns={settings.transition_latency_ns}"
    yield f"program_quantum_ns={settings.program_quantum_ns}"
    yield f"kernel_quantum_ns={settings.kernel_quantum_ns}"
    yield f"energyctrl={settings.energyctrl}"
    yield f"hint_4_iterations={settings.hint_4_iterations}"
    yield f"hint_1_iteration={settings.hint_1_iteration}"
    yield f"dead_ns={settings.dead_ns}"
    yield f"limit_ns={settings.limit_ns}"
    if settings.loop is not None:
        yield from _loop_options(settings.clusters, settings.loop)
    for mixture in settings.mixtures:
        yield from _mixture_options(settings.clusters, mixture)
    for program in settings.programs:
        yield from _program_options(settings.clusters, program)
    if settings.budget is not None:
        yield from _budget_options(settings.budget)


def _cluster_options(cluster: QemuClusterSettings) -> Iterator[str]:
    opps = "+".join(f"{opp.khz}@{opp.uv}@{opp.instructions_per_s}" for opp in cluster.opps)
    yield f"cluster={cluster.index}:{cluster.first_cpu}-{cluster.last_cpu}:{opps}"
    yield f"idle={cluster.idle_states}"
    if cluster.cluster_sleep is not None:
        yield f"cluster_sleep={cluster.index}:{cluster.cluster_sleep}"


def _loop_options(clusters: tuple[QemuClusterSettings, ...], loop: LoopSettings) -> Iterator[str]:
    for cluster in clusters:
        yield f"loop_weight={cluster.index}:{cluster.loop_weight}"
    for part in loop.code:
        yield f"loop_code={part.start:#x}-{part.end:#x}"
    for words in loop.begins:
        yield "loop_begins=" + ":".join(f"{word:08x}" for word in words)


def _mixture_options(
    clusters: tuple[QemuClusterSettings, ...], mixture: MixtureSettings
) -> Iterator[str]:
    words = ":".join(f"{word:08x}" for word in mixture.begins)
    hints = f"{mixture.hint_4_iterations}:{mixture.hint_1_iteration}"
    yield f"mixture={mixture.number}:{hints}:{words}"
    for cluster, weights in zip(clusters, mixture.weights, strict=True):
        yield f"mixture_weights={mixture.number}:{cluster.index}:{'+'.join(map(str, weights))}"


def _program_options(
    clusters: tuple[QemuClusterSettings, ...], program: ProgramSettings
) -> Iterator[str]:
    yield f"program={program.number}:{'+'.join(program.pages)}"
    for cluster, weights in zip(clusters, program.weights, strict=True):
        yield f"program_weights={program.number}:{cluster.index}:{'+'.join(map(str, weights))}"


def _budget_options(budget: BudgetSettings) -> Iterator[str]:
    yield f"budget_interval_ns={budget.interval_ns}"
    for step in budget.steps:
        yield f"budget={step.cpus}:{step.max_khz}"
