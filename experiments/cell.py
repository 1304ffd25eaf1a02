# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells: one (platform, variant, scenario, engine, seed), resolved to exact bytes and a simkey."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from analysis.expect import parse as parse_statement
from analysis.records.cell import (
    CELL,
    SCHEMA,
    CellRecord,
    ControlsRecord,
    EnergyModelRecord,
    IdentityRecord,
    Inputs,
    KernelRecord,
    Settings,
    WindowRecord,
)
from configs.activity import (
    CAPACITY_TOLERANCE,
    Activity,
    check_capacity,
    with_speeds,
)
from configs.devicetree import device_tree, device_tree_source
from configs.platform import Platform
from engines.base import Engine, Identity, Machine
from engines.registry import get_engine
from experiments.controls import AS_IT_IS, Controls
from experiments.inputs import inputs_of
from experiments.rtapp import Workload, compile_scenario
from experiments.scenario import Scenario
from experiments.scenario_file import load_scenario
from experiments.script import DECISION_EVENT, script, trace_events, trace_kib
from host.cache import artefact, digest_of, sha256_bytes, sha256_file
from host.errors import EascopeError, RequestError, bad_input, nearest
from host.strict import shown_path
from kernels.build import KernelArtefact, kernel
from kernels.naming import variant_named
from kernels.symbols import trace_symbols
from kernels.variants import (
    Kernel,
    Variant,
    asymmetric,
    boot_args,
    kernel_adds_event,
    load_catalogue,
    on_platform,
    state_expectations,
)
from power.given import USUAL, GivenModel, as_given, given_record
from rootfs.image import ImageArtefact, initramfs

#: Boot arguments of every cell. No address randomisation: a run is a function of its inputs.
BOOT = "console=ttyAMA0 rdinit=/init quiet nokaslr norandmaps"


@dataclass(frozen=True)
class Request:
    """What a person asks for, in names."""

    platform: str
    variant: str
    scenario: str
    engine: str = "qemu"
    seed: int = 0
    full: bool = False
    elide: bool = True
    controls: Controls = AS_IT_IS
    energy_model: GivenModel = USUAL
    #: One of the engine's modes; None: its default.
    mode: str | None = None

    @property
    def words(self) -> str:
        """For progress lines."""
        model = () if self.energy_model.usual else (f"energy model {self.energy_model.words}",)
        return ", ".join([self.variant, *self.controls.words, *model, f"seed {self.seed}"])


@dataclass(frozen=True)
class Names:
    """A request whose names were all found; nothing was built yet."""

    request: Request
    platform: Platform
    activity: Activity
    variant: Variant
    scenario: Scenario
    engine: Engine
    #: The platform as the kernel is given it: with the powers of the request's energy model.
    given: Platform

    def with_seed(self, seed: int) -> Names:
        """The same with another seed, on which no name or file depends."""
        return replace(self, request=replace(self.request, seed=seed))

    kernel: Kernel


@dataclass(frozen=True)
class Cell:
    """A request with every byte that decides its outcome; ``record`` is ``cell.json``.

    ``inputs`` gives the files of the run's folder ``inputs/`` by name.
    """

    names: Names
    machine: Machine
    simkey: str
    record: CellRecord
    inputs: Callable[[], Mapping[str, bytes]] = dict

    @property
    def simulated_s(self) -> float:
        """Simulated seconds from the workload's start to its end, for estimates."""
        return self.names.scenario.window.simulated_s(self.names.request.full)


def resolve(request: Request) -> Names:
    """Resolve and check every name and file of a request, without building or writing.

    :raises RequestError: for the first that is wrong.
    """
    platform, activity = request.controls.load(request.platform)
    check_capacity(platform, activity)
    kernel, asked = variant_named(request.variant)
    engine = get_engine(request.engine, request.mode)
    request = replace(request, elide=request.elide and engine.elides)
    scenario = load_scenario(request.scenario, platform)
    for program in scenario.programs:
        program.check_present()
    catalogue = load_catalogue()
    _check_expected(scenario, [*catalogue.variants, *catalogue.planned, *catalogue.broken])
    variant = request.controls.of_variant(on_platform(asked, platform))
    if request.controls.decisions and not kernel_adds_event(kernel, DECISION_EVENT):
        raise RequestError(
            f"--decisions: the kernel {variant.kernel!r} of {variant.name!r} has no event "
            f"{DECISION_EVENT}: allowed: variants of the kernel feec (feec-a decides as mainline)"
        )
    given = as_given(platform, request.energy_model)
    return Names(request, platform, activity, variant, scenario, engine, given, kernel)


def wrong_capacities(names: Names) -> str:
    """How far capacities and speeds differ where the engine executes the busy loop; else empty.

    Elided, the loop has the speed that the capacities state. Executed, it has that of the engine's
    CPU models.
    """
    platform = names.platform
    if names.request.elide:
        return ""
    loop = names.engine.executed_loop(platform, names.activity)
    if loop is None:
        return ""
    if not loop.ipc:
        return "how fast these CPUs are is not known: eascope characterise measures it"
    real = with_speeds(platform, loop.ipc, "executed").capacities
    wrong = [
        f"{cluster.name} {platform.capacities[cpu]} instead of {real[cpu]}"
        for cluster in platform.clusters
        for cpu in cluster.cpus[:1]
        if abs(platform.capacities[cpu] / real[cpu] - 1) > CAPACITY_TOLERANCE
    ]
    if not wrong:
        return ""
    remedy = "; --speeds measured gives it right ones" if loop.measured else ""
    return f"the kernel is given capacities that these CPUs do not have: {', '.join(wrong)}{remedy}"


def without_eas(names: Names) -> str:
    """A word about a platform on which no variant has EAS; else ""."""
    if asymmetric(names.variant, names.platform):
        return ""
    return (
        f"no variant has EAS on {names.platform.name}: all of its CPUs have the same capacity, "
        "and the kernel refuses EAS there"
    )


def rate_warnings(names: Names) -> list[str]:
    """Where the fast engine runs the kernel at a rate that was not measured on this platform."""
    if not names.engine.traits.stated_rates:
        return []
    clusters = names.activity.clusters
    inherited = [
        f"{speeds.name} from {speeds.system_inherited}"
        for speeds in clusters
        if speeds.system_inherited
    ]
    fast = [
        f"{speeds.name} ({cluster.core.name})"
        for speeds, cluster in zip(clusters, names.platform.clusters, strict=True)
        if speeds.system_ipc is None
    ]
    warnings = []
    if inherited:
        warnings.append(f"the kernel's rate is inherited: {', '.join(inherited)}")
    if fast:
        warnings.append(
            f"the kernel runs at the busy loop's rate, 2 to 4 times too fast, on {', '.join(fast)}:"
            " no platform has measured it (eascope characterise)"
        )
    return warnings


def _check_expected(scenario: Scenario, known: list[str]) -> None:
    """Expectations are about variants that exist or are planned."""
    for number, expect in enumerate(scenario.expect):
        table = f"expect[{number}]"
        for key, names in (
            ("variant", (expect.variant,)),
            ("statement", parse_statement(expect.statement).variants),
        ):
            for name in names:
                if name not in known:
                    allowed = f"one of {', '.join(sorted(known))}{nearest(name, known)}"
                    raise bad_input(shown_path(scenario.path), f"{table}.{key}", name, allowed)


@cache
def _kernel(spec: Kernel) -> KernelArtefact:
    return kernel(spec)


@cache
def _initramfs() -> ImageArtefact:
    return initramfs()


@cache
def _digest(path: Path) -> str:
    return sha256_file(path)


def prepare(names: Names, identity: Identity | None = None) -> Cell:
    """Build or fetch what the cell needs and compute its simkey.

    :param identity: the engine's, when it is known: for many cells, checking it each time is slow.
    :raises EascopeError: when an artefact cannot be had.
    """
    request, platform, variant = names.request, names.platform, names.variant
    # First: it fails in seconds, where a kernel takes minutes.
    identity = identity or identity_of(names.engine)
    image = _kernel(names.kernel)
    workload = compile_scenario(names.scenario, platform, names.activity, request.seed)
    text = script(
        names.scenario,
        platform,
        workload.document,
        elision=names.engine.elision(platform, names.activity) if request.elide else None,
        switches=variant.switches,
        expectations=state_expectations(variant, names.given),
        full=request.full,
        seed=request.seed,
        decisions=request.controls.decisions,
        symbols=trace_symbols(image.vmlinux),
    )
    machine = machine_of(names, text)
    settings = _settings(names.engine, machine)
    digests = digests_of(names.engine, machine, identity)
    simkey = digest_of({**digests, "seed": request.seed})
    record = _record(names, image, _initramfs(), workload, digests, simkey, identity, settings)
    dts = device_tree_source(names.given, variant.dtb, request.engine)
    inputs = partial(
        inputs_of, machine, names.kernel, image, names.scenario.path, workload.document, dts
    )
    return Cell(names, machine, simkey, record, inputs)


def machine_of(names: Names, text: bytes) -> Machine:
    """The machine of a request with ``text`` as its agent's script.

    :raises EascopeError: when an artefact cannot be had.
    """
    request, variant = names.request, names.variant
    image = _kernel(names.kernel)
    return Machine(
        platform=names.platform,
        activity=names.activity,
        image=image.image,
        dtb=_device_tree(names.given, variant.dtb, request.engine),
        initramfs=_initramfs().path,
        script=text,
        cmdline=f"{BOOT} {boot_args(variant)}".strip(),
        elide=request.elide,
        vmlinux=image.vmlinux,
    )


def digests_of(engine: Engine, machine: Machine, identity: Identity) -> dict[str, str]:
    """Digests of all that decides what ``machine`` does on ``engine``.

    :param identity: the engine's.
    """
    return {
        "image": _digest(engine.boots(machine)),
        "dtb": _digest(machine.dtb),
        "initramfs": _digest(machine.initramfs),
        "script": sha256_bytes(machine.script),
        "engine": digest_of(identity.encode()),
        "settings": digest_of(_settings(engine, machine)),
    }


def _settings(engine: Engine, machine: Machine) -> dict[str, Any]:
    """What the engine is given besides files."""
    return {
        "engine": engine.settings(machine).encode(),
        "cmdline": machine.cmdline,
        "elide": machine.elide,
        "memory_mib": machine.platform.memory_mib,
    }


def identity_of(engine: Engine) -> Identity:
    """The engine's identity.

    :raises EascopeError: when it cannot be had here.
    """
    try:
        return engine.identity()
    except EascopeError as error:
        raise EascopeError(f"engine {engine.name} cannot be had: {error}") from error


def _device_tree(platform: Platform, flavour: str, engine: str) -> Path:
    """The device tree as a file, in the cache under its own digest."""
    blob = device_tree(platform, flavour, engine)

    def build(folder: Path) -> None:
        (folder / "machine.dtb").write_bytes(blob)

    key = {"sha256": sha256_bytes(blob)}
    return artefact("devicetree", key, build, label=f"device tree {flavour}") / "machine.dtb"


def _record(
    names: Names,
    image: KernelArtefact,
    guest: ImageArtefact,
    workload: Workload,
    digests: dict[str, str],
    simkey: str,
    identity: Identity,
    settings: dict[str, Any],
) -> CellRecord:
    """``cell.json``: the inputs in words and digests."""
    request, platform, scenario = names.request, names.platform, names.scenario
    return CellRecord(
        schema=SCHEMA,
        simkey=simkey,
        platform=platform.name,
        variant=names.variant.name,
        scenario=scenario.name,
        engine=request.engine,
        mode=names.engine.mode,
        seed=request.seed,
        duration="full" if request.full else "short",
        elide=request.elide,
        kernel=KernelRecord(names.variant.kernel, image.version, image.provenance),
        energy_model=EnergyModelRecord.decode(given_record(platform, request.energy_model), CELL),
        declares=dict(names.variant.declares),
        switches=names.variant.switches,
        initramfs=guest.provenance,
        digests=digests,
        inputs=Inputs(platform.digest, names.activity.digest, scenario.digest),
        set_otherwise=tuple(request.controls.words),
        controls=_controls_record(names, image),
        tasks=(*workload.tasks, *(program.task() for program in scenario.programs)),
        programs=tuple(program.record(request.full) for program in scenario.programs),
        window=WindowRecord(scenario.window.warmup_ms, scenario.window.length_ms(request.full)),
        expect=tuple(
            expect.record() for expect in scenario.expect if expect.variant == names.variant.name
        ),
        borrowed=tuple(platform.borrowed),
        assumed=(
            *names.activity.assumed,
            *(names.activity.assumed_system if names.engine.traits.stated_rates else ()),
        ),
        engine_identity=IdentityRecord.decode(identity.encode(), CELL),
        engine_traits=names.engine.traits,
        settings=Settings.decode(settings, CELL),
    )


def _controls_record(names: Names, image: KernelArtefact) -> ControlsRecord:
    """What a comparison holds fixed."""
    request, platform = names.request, names.platform
    decisions = request.controls.decisions
    return ControlsRecord(
        hz=_config_value(image.config, "HZ"),
        rate_limit_us=platform.rate_limit_us,
        transition_latency_us=platform.transition_latency_us,
        delay_dequeue=_delay_dequeue(names.variant),
        speeds=request.controls.speeds,
        trace_events=tuple(trace_events(decisions)),
        others={
            "cpuidle_governor": "menu",
            "tracing": True,
            "trace_markers": "rt-app: main, task, stats",
            "trace_kib_per_cpu": trace_kib(names.scenario, request.full, platform, decisions),
            "temperature_c": platform.temperature_c,
        },
    )


def _config_value(config: Path, name: str) -> int:
    """An integer option of the built kernel's configuration."""
    match = re.search(rf"^CONFIG_{name}=(\d+)$", config.read_text(), re.MULTILINE)
    if match is None:
        raise ValueError(f"{config}: CONFIG_{name} is not set")
    return int(match[1])


def _delay_dequeue(variant: Variant) -> bool:
    """Whether EEVDF's delayed dequeue is on: mainline's default, unless a switch turns it off."""
    return all("NO_DELAY_DEQUEUE" not in value for _, value in variant.switches)
