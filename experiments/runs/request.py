# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests: a person's choices as names, and the objects that the names stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NewType

from eascope.analysis.statement import parse as parse_statement
from eascope.configs.activity import (
    Activity,
    check_capacity,
)
from eascope.configs.knobs import HARDWARE
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.configs.program_activity import ProgramActivity, load_program
from eascope.engines.base import Engine, ProgramSpeed, check_budget, check_cpus, check_hotplug
from eascope.engines.registry import DEFAULT_ENGINE, get_engine
from eascope.engines.timing.mixture import mixture
from eascope.experiments.controls import DEFAULT_CONTROLS, Controls
from eascope.experiments.runs.trace_events import check_series_have
from eascope.experiments.scenario.conditions import conditions_of
from eascope.experiments.scenario.model import Scenario
from eascope.experiments.scenario.program_kinds import KINDS, check_present
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError, bad_input, names_allowed
from eascope.host.strict import shown_path
from eascope.kernels.naming import variant_named, variant_names
from eascope.kernels.own import NO_OWN, Own, read_own
from eascope.kernels.releases import DEFAULT
from eascope.kernels.releases import number as version_number
from eascope.kernels.state import on_platform
from eascope.kernels.switches import ONLINE_CPU, check_switches
from eascope.kernels.variants import LISTING, Kernel, Variant, load_catalogue
from eascope.power.given import DEFAULT_MODEL, GivenModel, as_given

#: `Request.control_words`: all that the scenario's source had.
SOURCE_CONDITIONS = "source-conditions"
#: From this Linux on schedutil's worker may run on any CPU, where a driver may be called from any.
MOVABLE_WORKERS = (6, 15)
#: A platform with the powers of the energy model that the kernel is given, which may be wrong.
GivenPlatform = NewType("GivenPlatform", Platform)


@dataclass(frozen=True)
class Request:
    """A person's choices, as names."""

    platform: str
    variant: str
    scenario: str
    engine: str = DEFAULT_ENGINE
    seed: int = 0
    full: bool = False
    elide: bool = True
    controls: Controls = DEFAULT_CONTROLS
    energy_model: GivenModel = DEFAULT_MODEL
    #: One of the engine's modes; None: its default.
    mode: str | None = None
    #: Kernels of the command's own.
    own: Own = NO_OWN
    #: Whether the scenario's source sets the controls that are not given.
    source_conditions: bool = False
    #: Controls that a person gave with their default value.
    stated: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """For progress lines."""
        model = () if self.energy_model.is_default else (f"energy model {self.energy_model.words}",)
        return ", ".join([self.variant, *self.control_words, *model, f"seed {self.seed}"])

    @property
    def control_words(self) -> list[str]:
        """The controls that are not at their defaults, in words; source conditions are one word."""
        if not self.source_conditions:
            return self.controls.words
        had = conditions_of(self.scenario).controls.words
        return [SOURCE_CONDITIONS, *(word for word in self.controls.words if word not in had)]


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """A request with all its names resolved; nothing is built yet."""

    request: Request
    platform: Platform
    activity: Activity
    variant: Variant
    scenario: Scenario
    engine: Engine
    #: The platform as the kernel is given it: with the powers of the request's energy model.
    given: GivenPlatform
    kernel: Kernel
    #: Of the scenario's programs, for an engine whose activity states every rate.
    rates: tuple[ProgramActivity, ...] = ()

    def with_seed(self, seed: int) -> Resolved:
        """The same with another seed, on which no name or file depends."""
        return replace(self, request=replace(self.request, seed=seed))


class Files:
    """Resolves names of requests by reading files; a subclass may read each file only once."""

    def platform(self, name: str) -> Platform:
        """The platform ``name``."""
        return load_platform(name)

    def machine(self, name: str, controls: Controls) -> tuple[Platform, Activity]:
        """The platform ``name`` and its activity with ``controls`` in place, checked."""
        platform, activity = controls.applied(self.platform(name))
        if controls.speeds != HARDWARE:
            check_capacity(platform, activity)
        controls.iteration_ns()
        return platform, activity

    def scenario(self, name: str, platform: Platform, own: Own) -> Scenario:
        """The scenario ``name`` for ``platform``; its programs and expected variants exist."""
        scenario = load_scenario(name, platform)
        for program in scenario.programs:
            check_present(program.run)
        _check_expected(scenario, self.known_variants(own))
        return scenario

    def known_variants(self, own: Own) -> list[str]:
        """Variants that expectations may name."""
        catalogue = load_catalogue()
        known = [*catalogue.variants, *catalogue.planned, *catalogue.broken, *own.names]
        return known + [name for name in variant_names() if name not in known]

    def variant(self, name: str, own: Own) -> tuple[Kernel, Variant]:
        """The variant ``name`` and its kernel."""
        return variant_named(name, own)

    def engine(self, name: str, mode: str | None) -> Engine:
        """The engine ``name`` in ``mode``."""
        return get_engine(name, mode)

    def given(self, request: Request, platform: Platform) -> GivenPlatform:
        """``platform``, which is the request's under its controls, as its kernel is given it."""
        return GivenPlatform(as_given(platform, request.energy_model))


def resolve(request: Request, files: Files | None = None) -> Resolved:
    """Resolve and check every name and file of a request, without building or writing.

    :param files: resolves the names.
    :raises RequestError: for the first wrong one.
    """
    files = files or Files()
    request = _under_conditions(request)
    platform, activity = files.machine(request.platform, request.controls)
    kernel, asked = files.variant(request.variant, request.own)
    engine = files.engine(request.engine, request.mode)
    check_cpus(engine, platform)
    check_budget(engine, platform)
    request = replace(request, elide=request.elide and engine.elides)
    scenario = files.scenario(request.scenario, platform, request.own)
    if any(map(ONLINE_CPU.fullmatch, scenario.written_paths)):
        check_hotplug(engine, scenario.path)
    _check_memory(scenario, request, platform, activity)
    kernel = replace(kernel, more=scenario.kernel_fragments)
    request.controls.check_kernel(kernel, asked, platform)
    variant = request.controls.of_variant(on_platform(asked, platform), platform)
    variant = replace(variant, boot=f"{variant.boot} {scenario.boot}".strip())
    check_switches(variant.name, variant.boot, variant.switches, platform)
    _check_begins(scenario, kernel, asked)
    _check_workers(scenario, kernel, platform)
    check_series_have(request.controls.events, kernel, variant.name)
    return Resolved(
        request=request,
        platform=platform,
        activity=activity,
        variant=variant,
        scenario=scenario,
        engine=engine,
        given=files.given(request, platform),
        kernel=kernel,
        rates=rates_of(scenario, platform, engine),
    )


def _check_begins(scenario: Scenario, kernel: Kernel, variant: Variant) -> None:
    """Check that a variant can begin as mainline, where the scenario's window does."""
    mainline = load_catalogue().variants["mainline"]
    boots_alike = (variant.boot, variant.dtb) == (mainline.boot, mainline.dtb)
    if scenario.window.mainline_ms and not (kernel.starts_as_mainline and boots_alike):
        raise RequestError(
            f"{shown_path(scenario.path)}: window.from: {variant.name} does not boot as mainline; "
            "use variants that differ from it in switches alone, such as cas and feec-b"
        )


def _check_workers(scenario: Scenario, kernel: Kernel, platform: Platform) -> None:
    """Check that schedutil has the workers whose CPUs a scenario states, and may run there."""
    release = kernel.release or DEFAULT
    ours = kernel.tree is None and not kernel.own  # else a person's patch may let it
    bound = ours and version_number(release) < MOVABLE_WORKERS
    there = [f"sugov:{own.cpus[0]}" for own in platform.clusters if not platform.fast_switch]
    for name in scenario.bound_threads:
        if name.startswith("sugov:") and (bound or name not in there):
            allowed = (
                f"Linux {release} binds it to its policy; use a variant of Linux 7.3"
                if bound
                else f"allowed: {', '.join(there)}"
                if there
                else "there is none with fast switch; use --no-fast-switch or --dvfs board"
            )
            raise RequestError(f"{shown_path(scenario.path)}: kernel thread {name}: {allowed}")


def _check_memory(
    scenario: Scenario, request: Request, platform: Platform, activity: Activity
) -> None:
    """Check that the time of tasks that wait for memory is known, and that loops are elided."""
    for share in scenario.memory:
        mixture(platform, activity, share)
    if scenario.memory and not request.elide:
        raise RequestError(
            f"{shown_path(scenario.path)}: task.memory: its time is accounted for, not executed, "
            "so busy loops must be elided"
        )


def _under_conditions(request: Request) -> Request:
    if not request.source_conditions:
        return request
    conditions = conditions_of(request.scenario)
    conditions.check_platform(load_platform(request.platform), request.scenario)
    return replace(request, controls=conditions.over(request.controls, request.stated))


def _check_expected(scenario: Scenario, known: list[str]) -> None:
    for number, expect in enumerate(scenario.expect):
        table = f"expect[{number}]"
        for key, names in (
            ("variant", (expect.variant,)),
            ("statement", parse_statement(expect.statement).variants),
            ("fails_under", expect.fails_under),
        ):
            for name in names:
                if name not in known:
                    allowed = f"a variant{names_allowed(name, known, LISTING)}"
                    raise bad_input(shown_path(scenario.path), f"{table}.{key}", name, allowed)


def rates_of(scenario: Scenario, platform: Platform, engine: Engine) -> tuple[ProgramActivity, ...]:
    """The rates of the scenario's programs, by their names; none where CPU models decide.

    Two loads of one program, such as two benchmarks of perf, are the same code for the engine. In a
    scenario with both, neither has rates.

    :raises RequestError: when a file is wrong.
    """
    if not engine.traits.stated_rates:
        return ()
    kinds = sorted({program.run for program in scenario.programs})
    paths = Counter(KINDS[kind].path for kind in kinds)
    loaded = (load_program(platform, kind) for kind in kinds if paths[KINDS[kind].path] == 1)
    return tuple(rates for rates in loaded if rates is not None)


def speeds_of(rates: Sequence[ProgramActivity]) -> tuple[ProgramSpeed, ...]:
    """The same for an engine, which knows programs by their paths."""
    return tuple(ProgramSpeed(KINDS[own.program].path, own.clusters) for own in rates)


def without_rates(
    scenario: Scenario, platform: Platform, rates: Sequence[ProgramActivity]
) -> tuple[str, ...]:
    """One line for each program whose own code runs at system code's rate, for records."""
    known = {own.program for own in rates}
    kinds = dict.fromkeys(program.run for program in scenario.programs)
    return tuple(
        f"program {kind}: its code runs at the kernel's instructions per cycle: it was not "
        f"measured on {platform.name}"
        for kind in kinds
        if kind not in known
    )


#: Whose noise is measured: the double is made of its kernel, and differs by nothing.
NULL_VARIANT = "mainline"
DOUBLE = "null"
#: Changes a comment of the scheduler.
PATCH = Path(__file__).resolve().parents[2] / "kernels" / "null" / "changed-comment.patch"


def double() -> Own:
    """The double of `NULL_VARIANT`; its name is `DOUBLE`."""
    return read_own([], [f"{DOUBLE}={PATCH}"])


def null_requests(like: Request, seeds: int) -> list[Request]:
    """``seeds`` requests of `NULL_VARIANT`, then as many of its double with the seeds that follow.

    :param like: a request with scenario, platform and controls.
    """
    own = double()
    first = [replace(like, variant=NULL_VARIANT, seed=seed) for seed in range(seeds)]
    again = [replace(like, variant=DOUBLE, seed=seeds + seed, own=own) for seed in range(seeds)]
    return [*first, *again]
