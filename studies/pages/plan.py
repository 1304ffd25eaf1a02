# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan of each page: scenarios, variants, platform, controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.results.findings import NO_CONTROLS
from analysis.statement import parse as parse_statement
from configs.platform_file import load_platform
from experiments.controls import AS_IT_IS, Controls
from experiments.scenario_file import load_scenario
from kernels.naming import variant_named
from kernels.variants import load_variants

#: The five of the RFC of uclamp sum aggregation, in its order.
FIVE = (
    "uclamp/capped-tasks-spread",
    "uclamp/boosted-above-little",
    "uclamp/frequency-spike",
    "uclamp/unpin-from-big",
    "uclamp/eight-capped-tasks",
)
#: The rework of EAS: workloads first, then what shows one mechanism.
EAS = (
    "eas/video-playback",
    "eas/game",
    "eas/video-scroller",
    "eas/idle-screen",
    "eas/speedometer",
    "eas/sched-pipe",
    "eas/stacked",
    "eas/headroom",
    "eas/headroom-big",
    "eas/misfit-ramp",
    "eas/stuck-on-big",
    "eas/false-overloaded",
    "eas/false-overloaded-cluster",
)
#: What shows one property of clamps each; compared are the variants that their sources speak of.
CLAMPS = (
    "uclamp/hidden-overutilization",
    "uclamp/hidden-overutilization-busy",
    "uclamp/hidden-overutilization-pinned",
    *(f"uclamp/infinite-tasks-{count}{how}" for count in (1, 2, 4, 10) for how in ("", "-pinned")),
    *(f"uclamp/shared-boost-{others}" for others in (0, 1, 3)),
    "uclamp/intro-example",
    "uclamp/frequency-spike-loops",
    "uclamp/no-clamp-single",
    "uclamp/no-clamp-multi",
    "ui/jank",
    "ui/jank-calibrated",
    "ui/jank-boosted",
    "ui/uibench",
    "vm/contended-vcpus-single-base",
    "vm/contended-vcpus-single",
    "vm/contended-vcpus-multi-base",
    "vm/contended-vcpus-multi",
    "vm/uncontended-vcpus-single",
    "vm/uncontended-vcpus-multi",
)
#: Whose figures are of a phone, or of a board that is more like it than like a Juno.
OF_THE_PHONE = (
    "ui/jank-calibrated",
    "ui/uibench",
    "uclamp/no-clamp-single",
    "uclamp/no-clamp-multi",
)
#: Whether a cap depends on the weight of the task that has it.
WEIGHTS = ("uclamp/capped-background", "uclamp/hidden-overutilization-nice")
#: What followed the rework, written for 7.3, and the rework in its form for 6.12.
PUSHED = ("uclamp/eight-capped-hogs", ("mainline", "cas", "feec-d", "mainline@7.3", "push-v8@7.3"))
OF_THE_REWORK = ("mainline", "cas", "feec-b", "feec-c", "feec-d", "feec-b-plus", "feec-d-plus")
#: Programs, each with the measures that its page's answer has.
PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "programs/hackbench": ("hackbench.time_s",),
    "programs/perf-pipe": ("pipe.ops_per_s",),
    "programs/sysbench": ("sysbench.events_per_s", "sysbench.latency_p95_us"),
    "programs/schbench": (
        *("schbench.requests_per_s", "schbench.wakeup_p50_us", "schbench.wakeup_p99_us"),
        "schbench.request_p99_us",
    ),
    **dict.fromkeys(
        ("programs/pgbench-1", "programs/pgbench-44"),
        ("pgbench.latency_mean_us", "pgbench.p95_us"),
    ),
    "programs/cyclictest-idle": ("latency.avg_us", "latency.p99_us", "latency.max_us"),
    "programs/cyclictest-loaded": ("latency.avg_us", "latency.p99_us", "latency.max_us"),
}


@dataclass(frozen=True)
class PageGroup:
    """Variants on one scenario under one set of controls; the first variant is the baseline.

    ``em_errors``: errors in percent of the powers that the kernel is given, by cluster.
    ``of_source``: the controls are those that the scenario's source had.
    """

    scenario: str
    variants: tuple[str, ...]
    controls: Controls = AS_IT_IS
    em_errors: tuple[str, ...] = ()
    of_source: bool = False

    @property
    def words(self) -> str:
        """Controls that are not at their defaults, in words."""
        words = [word.replace("-", " ") for word in self.controls.words]
        words += [f"energy model wrong: {error}" for error in self.em_errors]
        said = ", ".join(words) or NO_CONTROLS
        return f"the source's conditions ({said})" if self.of_source else said


@dataclass(frozen=True)
class Page:
    """The plan of a record of ``results/`` and its page."""

    name: str
    platform: str
    groups: tuple[PageGroup, ...]


def only(page: Page, variants: Sequence[str]) -> Page:
    """``page`` with these of its variants alone; a group that has none of them is left out.

    :raises RequestError: a variant that does not exist.
    """
    for name in variants:
        variant_named(name)
    groups = (
        replace(group, variants=tuple(name for name in group.variants if name in variants))
        for group in page.groups
    )
    return replace(page, groups=tuple(group for group in groups if group.variants))


def sourced(page: Page) -> Page:
    """``page`` with one group of each scenario and energy model: the source's, where it has one."""
    of_source = {group.scenario for group in page.groups if group.of_source}
    return replace(
        page,
        groups=tuple(
            group for group in page.groups if group.of_source or group.scenario not in of_source
        ),
    )


def _there(*variants: str) -> tuple[str, ...]:
    """Those of ``variants`` that have a kernel."""
    known = load_variants()
    return tuple(name for name in variants if name in known)


def spoken_of(scenario: str, platform: str) -> tuple[str, ...]:
    """The variants of the scenario's expectations, mainline first."""
    expectations = load_scenario(scenario, load_platform(platform)).expect
    variants = {"mainline": None}
    for expectation in expectations:
        variants |= dict.fromkeys(
            (expectation.variant, *parse_statement(expectation.statement).variants)
        )
    return _there(*variants)


def _five(platform: str) -> tuple[PageGroup, ...]:
    variants = _there(
        *("mainline", "max-nospare0", "uclamp-sum", "uclamp-sum-fixed", "sum-spare0"),
        *("feec-b", "feec-d"),
    )
    return tuple(PageGroup(scenario, variants) for scenario in FIVE)


def _clamps(platform: str) -> tuple[PageGroup, ...]:
    return tuple(PageGroup(scenario, spoken_of(scenario, platform)) for scenario in CLAMPS)


def _weights(platform: str) -> tuple[PageGroup, ...]:
    return tuple(PageGroup(scenario, spoken_of(scenario, platform)) for scenario in WEIGHTS)


def _phone(platform: str) -> tuple[PageGroup, ...]:
    """The scenarios that sources measured on the phone, then five without measurements."""
    predicted = _there("mainline", "uclamp-sum")
    return (
        *(PageGroup(scenario, spoken_of(scenario, platform)) for scenario in OF_THE_PHONE),
        *(PageGroup(scenario, predicted) for scenario in FIVE),
    )


def _eas(platform: str) -> tuple[PageGroup, ...]:
    rework = _there(*OF_THE_REWORK)
    stuck = _there("mainline", "feec-a1", *OF_THE_REWORK[2:])
    return tuple(
        PageGroup(scenario, stuck if "false-overloaded" in scenario else rework) for scenario in EAS
    )


def _pushed(platform: str) -> tuple[PageGroup, ...]:
    return (PageGroup(*PUSHED),)


def _programs(platform: str) -> tuple[PageGroup, ...]:
    variants = _there("mainline", "cas", "uclamp-sum", "feec-b")
    return tuple(PageGroup(scenario, variants) for scenario in PROGRAMS)


#: What is set otherwise, one at a time.
CONTROLS = (
    AS_IT_IS,
    Controls(rate_limit_us=2000),
    Controls(rate_limit_us=10_000),
    Controls(transition_latency_us=10),
    Controls(transition_latency_us=500),
    Controls(delay_dequeue=False),
    Controls(speeds="measured"),
)
#: Errors of the energy model that the kernel is given, one at a time.
EM_ERRORS = ("big=-20%", "big=+20%", "little=+50%")


def _controls(platform: str) -> tuple[PageGroup, ...]:
    wanted = {
        "uclamp/frequency-spike": _there("mainline", "uclamp-sum"),
        "uclamp/eight-capped-tasks": _there("mainline", "uclamp-sum", "feec-b"),
        "eas/video-playback": _there("mainline", "cas", "feec-b", "feec-d"),
    }
    return tuple(
        group
        for scenario, variants in wanted.items()
        for group in (
            *(PageGroup(scenario, variants, controls) for controls in CONTROLS),
            *(PageGroup(scenario, variants, em_errors=(error,)) for error in EM_ERRORS),
        )
    )


#: Groups of a page for its platform.
_Groups = Callable[[str], tuple[PageGroup, ...]]


def _and_source(groups: _Groups) -> _Groups:
    """``groups`` under the conditions of their sources, too."""
    return lambda platform: _with_source(platform, groups(platform))


def _with_source(platform: str, groups: tuple[PageGroup, ...]) -> tuple[PageGroup, ...]:
    """Each group with the conditions of its scenario's source first, where the page can have them.

    A source with another board is left out. A source with the default conditions is there once.
    """
    both: list[PageGroup] = []
    for group in groups:
        had = load_scenario(group.scenario, load_platform(platform)).source_conditions
        if had and had.platform in ("", platform) and had.controls != AS_IT_IS:
            both.append(replace(group, controls=had.controls, of_source=True))
        both.append(group)
    return tuple(both)


def _and_known_bad(groups: _Groups) -> _Groups:
    """``groups`` with the variants under which statements must fail, once for each scenario."""
    return lambda platform: tuple(_with_known_bad(platform, groups(platform)))


def _with_known_bad(platform: str, groups: tuple[PageGroup, ...]) -> Iterator[PageGroup]:
    """The first group of each scenario has them: its statements are tested by real runs."""
    tested: set[str] = set()
    for group in groups:
        bad: dict[str, None] = {}
        if group.scenario not in tested:
            for entry in load_scenario(group.scenario, load_platform(platform)).expect:
                bad |= dict.fromkeys(_there(*entry.fails_under[:1]))
        tested.add(group.scenario)
        yield replace(group, variants=tuple(dict.fromkeys((*group.variants, *bad))))


#: Platform and groups of every page.
_PAGES: Mapping[str, tuple[str, _Groups]] = {
    "uclamp": ("juno-r2", _and_known_bad(_and_source(_five))),
    "clamps": ("juno-r2", _and_known_bad(_and_source(_clamps))),
    "clamps-weight": ("juno-r2", _and_known_bad(_and_source(_weights))),
    "uclamp-pixel6": ("pixel6", _and_source(_phone)),
    "eas-pixel6": ("pixel6", _and_known_bad(_and_source(_eas))),
    "eas-juno-r2": ("juno-r2", _and_source(_eas)),
    "push-pixel6": ("pixel6", _pushed),
    "controls": ("juno-r2", _controls),
    "programs-juno-r2": ("juno-r2", _programs),
    "programs-pixel6": ("pixel6", _programs),
}
#: The pages, which are the records, by name.
NAMES = tuple(_PAGES)
#: Those of programs, about which no source states anything.
OF_PROGRAMS = tuple(name for name, (_, groups) in _PAGES.items() if groups is _programs)


def pages() -> list[Page]:
    """All pages whose cells are compared; variants that are only planned are left out."""
    return [Page(name, platform, groups(platform)) for name, (platform, groups) in _PAGES.items()]
