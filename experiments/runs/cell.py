# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells: one (platform, variant, scenario, engine, seed), resolved to exact bytes and a simkey."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from eascope.analysis.records.cell import (
    CellRecord,
)
from eascope.configs.activity import Activity
from eascope.configs.devicetree import device_tree, device_tree_source
from eascope.configs.layout import Layout
from eascope.configs.platform import Platform
from eascope.engines.base import Engine, Identity, Machine
from eascope.engines.records import FAILED, Failure
from eascope.experiments.rtapp.compiler import compile_scenario
from eascope.experiments.rtapp.own import text_of
from eascope.experiments.runs.cell_record import cell_record
from eascope.experiments.runs.failures import trace_full
from eascope.experiments.runs.guest_image import guest_image
from eascope.experiments.runs.inputs import inputs_of, texts_of
from eascope.experiments.runs.prepared import with_prepared
from eascope.experiments.runs.request import GivenPlatform, Resolved, speeds_of
from eascope.experiments.runs.script import script
from eascope.experiments.runs.trace_events import GROUPS, larger_kib, recorded_events, trace_kib
from eascope.experiments.scenario.model import Scenario
from eascope.experiments.scenario.workload import Workload
from eascope.host.cache import artefact, cache_root, digest_of, runs_root, sha256_bytes, sha256_file
from eascope.host.claims import locked_everywhere
from eascope.host.dry import NotBuilt, nothing_built, work_folder
from eascope.host.errors import EascopeError, RequestError
from eascope.host.proc import say
from eascope.kernels.build import KernelArtefact, built, kernel
from eascope.kernels.events import trace_symbols
from eascope.kernels.naming import kernel_below
from eascope.kernels.state import boot_proof, on_platform, state_expectations
from eascope.kernels.variants import Kernel, boot_args, load_variants
from eascope.rootfs.image import ImageArtefact
from eascope.rootfs.images import PROVIDER_VARIABLE, PROVIDERS, provider_asked

#: Boot arguments of every cell. No address randomisation: a run is a function of its inputs.
BOOT = "console=ttyAMA0 rdinit=/init quiet nokaslr norandmaps"


@dataclass(frozen=True)
class Cell:
    """A request with all bytes that decide its outcome; ``record`` is ``cell.json``.

    ``inputs`` gives the files of the run's folder ``inputs/`` by name.
    """

    resolved: Resolved
    machine: Machine
    simkey: str
    record: CellRecord
    inputs: Callable[[], Mapping[str, bytes]] = dict

    @cached_property
    def asked(self) -> str:
        """A digest of the whole record: cells that share a run may differ in it."""
        return digest_of(self.record.encode())

    @property
    def simulated_s(self) -> float:
        """Simulated seconds from the workload's start to its end, for estimates."""
        window_s = self.resolved.scenario.window.simulated_s(self.resolved.request.full)
        return window_s + self.record.replicate.stir_ms / 1000


@cache
def _kernel(spec: Kernel) -> KernelArtefact:
    return built_once(partial(kernel, spec))


def kernel_code(resolved: Resolved) -> str:
    """The digest of the code of a cell's kernel (`kernels.code`), which is built if missing.

    :raises EascopeError: when it cannot be had.
    """
    return _kernel(resolved.kernel).code


def check_kernels_differ(asked: Iterable[Resolved]) -> None:
    """Refuse variants that are the same, and a person's patches or tree that change no code.

    :raises RequestError: naming two variants that are the same.
    """
    seen: dict[tuple[object, ...], Resolved] = {}
    for names in asked:
        code, variant = _kernel(names.kernel).code, names.variant
        like = seen.setdefault((code, variant.switches, variant.boot, variant.dtb), names)
        kernels = (like.kernel, names.kernel)
        if like.kernel == names.kernel and like.variant.name != variant.name:
            raise RequestError(
                f"variants {like.variant.name!r} and {variant.name!r} are identical on "
                f"{names.platform.name} (kernel, boot arguments and switches); choose variants "
                "that differ"
            )
        brought = any(kernel.own or kernel.tree for kernel in kernels)
        if code and brought and like.kernel.name != names.kernel.name:
            origins = [_kernel(kernel).provenance for kernel in kernels]
            options = [line for one in origins for line in (*one.options, *one.not_compiled)]
            why = f" ({'; '.join(options)})" if options else ""
            raise RequestError(
                f"variants {like.variant.name!r} and {variant.name!r} have the same kernel code: "
                f"at most line numbers differ{why}"
            )


def without_effect(asked: Iterable[Resolved]) -> Iterator[str]:
    """A line for each part of a person's patches without effect on the kernel that is built."""
    for names in {each.kernel.name: each for each in asked if each.kernel.own}.values():
        spec, image = names.kernel, _kernel(names.kernel)
        yield from (f"{spec.name}: {line}" for line in image.provenance.not_compiled)
        below = built(kernel_below(spec))
        if below and below.code == image.code:
            yield (
                f"{spec.name} builds the same kernel code as {below.name}: its patches have no "
                "effect"
            )


@cache
def _had(make: Callable[..., ImageArtefact], *names: str) -> ImageArtefact:
    return built_once(partial(make, *names))


def check_image(scenario: Scenario) -> None:
    """Refuse a scenario with a program that its image lacks from the provider that is asked for.

    :raises RequestError: one line: file, program, what is allowed.
    """
    provider = provider_asked()
    lacking = PROVIDERS[provider].lacking(scenario.image)
    for program in scenario.programs:
        content = program.kind.content
        if content and content.name in lacking:
            raise RequestError(
                f"{scenario.path.name}: program.run = {program.run!r}: the image "
                f"{scenario.image!r} of the provider {provider} lacks it; set "
                f"{PROVIDER_VARIABLE}={next(iter(PROVIDERS))}"
            )


def guest_of(scenario: Scenario) -> ImageArtefact:
    """The guest image of a scenario, with the prepared files of its servers.

    :raises EascopeError: when one of its parts is not available.
    """
    check_image(scenario)
    image = _had(guest_image, scenario.image, provider_asked())
    return with_prepared(image, scenario.prepared, BOOT) if scenario.prepared else image


_digest = cache(sha256_file)


def missing(resolved: Resolved) -> list[NotBuilt]:
    """Artefacts that `prepare` would build or fetch, within `host.dry.nothing_built`.

    :raises EascopeError: the error that would end it.
    """
    lacking: list[NotBuilt] = []
    parts: dict[str, Callable[[], object]] = {
        "": resolved.engine.identity,
        f"kernel {resolved.kernel.name}": partial(_kernel, resolved.kernel),
        "guest image": partial(guest_of, resolved.scenario),
    }
    for name, part in parts.items():
        try:
            part()
        except NotBuilt as error:
            # Where a piece of the part is not there, the part is not either.
            lacking += [error] if error.label.startswith(name) else [error, NotBuilt(name)]
    return lacking


def built_digests(resolved: Resolved) -> dict[str, str]:
    """Digests of kernel and guest image of a cell; both are built if missing.

    :raises EascopeError: when an artefact cannot be had.
    """
    return {
        "image": _digest(_kernel(resolved.kernel).image),
        "initramfs": _digest(guest_of(resolved.scenario).path),
    }


def prepare(resolved: Resolved, identity: Identity | None = None) -> Cell:
    """Build or fetch the cell's artefacts, and compute its simkey.

    The trace has the first buffers of which no run says that they are too small, so the cell's run
    is found again, and is the same on another machine.

    :param identity: the engine's, if known: checking it again for each of many cells is slow.
    :raises EascopeError: when an artefact cannot be had.
    """
    request, platform, variant = resolved.request, resolved.platform, resolved.variant
    check_image(resolved.scenario)
    # First: it fails in seconds, where a kernel takes minutes.
    identity = identity or identity_of(resolved.engine)
    image = _kernel(resolved.kernel)
    controls = request.controls
    workload = _workload(
        _Load(
            resolved.scenario,
            request.seed,
            controls.noise,
            controls.iteration_ns(),
            platform,
            resolved.activity,
        )
    )
    events = _events(resolved, image)
    known = resolved.kernel.has_latency_nice
    text = partial(
        script,
        resolved.scenario if known else resolved.scenario.without_latency_nice(),
        workload,
        elision=resolved.engine.elision(platform, resolved.activity) if request.elide else None,
        switches=variant.switches,
        expectations=state_expectations(resolved.variant, resolved.given),
        **_before_the_switch(resolved),
        full=request.full,
        boot=boot_proof(variant),
        events=events,
        mixtures=resolved.engine.mixtures(platform, resolved.activity, resolved.scenario.memory),
        symbols=trace_symbols(image.vmlinux),
        forced=request.controls.forced,
    )
    stir_ms = workload.replicate.stir_ms
    larger = trace_kib(resolved.scenario, request.full, platform, events, stir_ms=stir_ms)
    simkey = ""
    while not simkey or (larger and trace_was_full(simkey)):
        kib, larger = larger, larger_kib(larger, platform)
        machine = machine_of(resolved, text(trace_kib=kib))
        digests = digests_of(resolved.engine, machine, identity)
        simkey = digest_of({**digests, "seed": request.seed})
    record = cell_record(
        resolved,
        image=image,
        guest=guest_of(resolved.scenario),
        workload=workload,
        events=events,
        trace_kib=kib,
        digests=digests,
        simkey=simkey,
        identity=identity,
        settings=_settings(resolved.engine, machine),
    )
    dts = device_tree_source(resolved.given, resolved.engine.layout, variant.dtb)
    texts = texts_of(
        machine, resolved.kernel, image, text_of(resolved.scenario.path), resolved.rates
    )
    inputs = partial(inputs_of, machine, texts, workload.documents, dts)
    return Cell(resolved, machine, simkey, record, inputs)


@dataclass(frozen=True)
class _Load:
    """What decides a `Workload`."""

    scenario: Scenario
    seed: int
    noise: bool
    iteration_ns: Fraction | None
    platform: Platform = field(hash=False)
    activity: Activity = field(hash=False)


@lru_cache(maxsize=64)  # the variants of a comparison share it; a phone's takes half a second
def _workload(of: _Load) -> Workload:
    return compile_scenario(
        of.scenario,
        of.platform,
        of.activity,
        of.seed,
        noise=of.noise,
        iteration_ns=of.iteration_ns,
    )


def trace_was_full(simkey: str) -> bool:
    """True if a run failed because its trace did not fit into its buffers."""
    path = runs_root() / simkey / FAILED
    try:
        return path.is_file() and trace_full(Failure.read(path).cause)
    except EascopeError:  # damaged, so it is run again
        return False


def _events(resolved: Resolved, image: KernelArtefact) -> tuple[str, ...]:
    """The events that the run records.

    :raises RequestError: an event that the kernel does not have.
    """
    controls = resolved.request.controls
    return recorded_events(
        (*controls.events, *(GROUPS["irq"] if resolved.scenario.interrupts else ())),
        decisions=controls.decisions,
        traced=controls.traced,
        vmlinux=image.vmlinux,
        kernel=resolved.kernel.name,
    )


def _before_the_switch(resolved: Resolved) -> dict[str, Any]:
    """What `experiments.runs.script.script` needs where the window begins under mainline."""
    if not resolved.scenario.window.mainline_ms:
        return {}
    bare = replace(resolved.variant, switches=(), declares=load_variants()["mainline"].declares)
    first = resolved.request.controls.of_variant(on_platform(bare, resolved.given), resolved.given)
    return {
        "later": [switch for switch in resolved.variant.switches if switch not in first.switches],
        "expected_before": state_expectations(first, resolved.given),
    }


def machine_of(resolved: Resolved, text: bytes) -> Machine:
    """The machine of a request with ``text`` as its agent's script.

    :raises EascopeError: when an artefact cannot be had.
    """
    request, variant = resolved.request, resolved.variant
    image = _kernel(resolved.kernel)
    return Machine(
        platform=resolved.platform,
        activity=resolved.activity,
        image=image.image,
        dtb=_device_tree(resolved.given, resolved.engine.layout, variant.dtb),
        initramfs=guest_of(resolved.scenario).path,
        script=text,
        cmdline=f"{BOOT} {boot_args(variant)}".strip(),
        elide=request.elide,
        vmlinux=image.vmlinux,
        memory=resolved.scenario.memory,
        programs=speeds_of(resolved.rates),
    )


def digests_of(engine: Engine, machine: Machine, identity: Identity) -> dict[str, str]:
    """Digests of all inputs of a run of ``machine`` on ``engine``.

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
        raise EascopeError(f"engine {engine.name} is not available: {error}") from error


def _device_tree(given: GivenPlatform, layout: Layout, flavour: str) -> Path:
    """The device tree as a file, in the cache under its own digest."""
    blob = device_tree(given, layout, flavour)

    def build(folder: Path) -> None:
        (folder / "machine.dtb").write_bytes(blob)

    key = {"sha256": sha256_bytes(blob)}
    return artefact("devicetree", key, build, label=f"device tree {flavour}") / "machine.dtb"


T = TypeVar("T")
#: The lock of whoever builds, in the cache: machines may share a cache but not its locks.
BUILDING = ".building.lock"


def built_once(make: Callable[[], T]) -> T:
    """The artefact of ``make``, which builds it if the cache does not have it.

    :raises EascopeError: as ``make``.
    :raises NotBuilt: within `host.dry.nothing_built`, when it is not there.
    """
    if work_folder() is None:
        try:
            with nothing_built():
                make()
        except NotBuilt:
            waiting = partial(
                say, f"  {cache_root()}: another process builds there, waiting for it"
            )
            with locked_everywhere(cache_root() / BUILDING, waiting):
                return make()
    return make()
