# SPDX-License-Identifier: GPL-2.0-or-later
"""Platform files by name, and their strict reading.

Everything in a file is checked before anything is built on it.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from eascope.configs.billing import (
    BY_THE_KERNELS,
    CHIP,
    HALF_OF_BUSY,
    MAX_POWER_UW,
    SMOOTH,
    TABLES,
    WATTSON,
    Billing,
    BillingFile,
    BusyTables,
    ChipShared,
    Idle,
    IdleFile,
)
from eascope.configs.core import SharedCache, cache_of, list_cores, load_core
from eascope.configs.cpunames import ANY, LARGEST, MAX_CPUS
from eascope.configs.curves import CurvesFile, curves_digest, curves_of, is_file_of_curves
from eascope.configs.delta import Described, describe, is_shipped, platform_path, with_origin
from eascope.configs.floors import KEY as FLOORS
from eascope.configs.floors import FloorsFile, floors_of
from eascope.configs.knobs import AXES_FILE, LLC, LLC_CLUSTER
from eascope.configs.package_budget import CPUS_WORDS, KHZ_WORDS, MOST_KHZ, PackageBudget
from eascope.configs.platform import L3, WFI, Cluster, Dvfs, IdleState, Opp, Platform
from eascope.configs.source import SOURCE, cited, sources_of
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.errors import RequestError, bad_input
from eascope.host.keys import NAME, Place, Placed, entries_of, key, maybe, named, same
from eascope.host.strict import read_toml

PLATFORMS = Path(__file__).resolve().parent / "platforms"

#: Room that the fast engine's plugin has (it is compiled with these numbers).
MAX_CLUSTERS, MAX_OPPS, MAX_IDLE_STATES = 8, 64, 8
_UW, _DEEPEST = (0, MAX_POWER_UW - 1), named("the deepest idle state")

#: What the device tree calls a complete platform file that is not one of `PLATFORMS`: it lies in
#: the guest's memory, where a name of another length is another run.
OWN_MODEL = "own"

#: Bases that were checked, with their content: hundreds of platforms of a campaign have the same.
_SOUND: set[tuple[str, str, str, bytes]] = set()


@dataclass(frozen=True, kw_only=True)
class _Board(Placed):
    transition_latency_us: int = key("duration of a frequency change", 1, 10_000, "us")
    transition_latency_source: str = cited("transition_latency_us")
    rate_limit_us: int = key("schedutil's rate_limit_us, at least as long", 1, 1_000_000, "us")
    rate_limit_source: str = cited("rate_limit_us")
    fast_switch: bool | None = key("cpufreq fast switch, without schedutil's kthread")
    fast_switch_source: str | None = cited("fast_switch")

    def check(self) -> None:
        """A request that comes while one is in flight replaces it and starts the latency again."""
        self.need_with("fast_switch_source", "fast_switch", there=self.fast_switch is not None)
        if self.rate_limit_us < self.transition_latency_us:
            allowed = f"at least transition_latency_us ({self.transition_latency_us})"
            allowed += ", or a cluster may never change its OPP"
            raise self.place.error("rate_limit_us", allowed)

    def dvfs(self) -> Dvfs:
        """The same, with the sources of what is stated."""
        stated, fast = sources_of(self), self.fast_switch is not False
        return Dvfs(self.transition_latency_us, self.rate_limit_us, fast, stated)


@dataclass(frozen=True, kw_only=True)
class _Dvfs(_Board):
    fast_switch: bool | None = maybe("as in [dvfs.board] (default: true)")
    fast_switch_source: str | None = cited("fast_switch", default=None)
    boost: bool = key("turbo OPPs are enabled at boot", default=False)
    board: _Board | None = maybe("the board's own values, for --dvfs board")


@dataclass(frozen=True)
class _OppSources:
    khz: str = cited("khz")
    uv: str = cited("uv")
    power_uw: str = cited("power_uw")
    shared_uw: str = cited("shared_uw")


@dataclass(frozen=True, kw_only=True)
class _Cluster(Placed):
    name: str = key("name of its CPUs in scenarios: `little:0`, `big:*`", form=NAME)
    core: str = key("a core file", choices=list_cores)
    cpus: int = key("number of CPUs", 1, MAX_CPUS)
    capacity_dmips_mhz: int = key("as in the device tree", 1, 65535, "relative speed per MHz")
    capacity_source: str = cited("capacity_dmips_mhz")
    opps: tuple[Opp, ...] = key("OPPs, slowest first", count=(1, MAX_OPPS))
    opp_sources: _OppSources = key("sources of the OPPs, by key")
    busy: BusyTables | None = maybe("further power values of a busy CPU")
    shared_off_uw: int = key("power of the shared part while off", *_UW, "uW, not above the OPPs'")
    shared_off_source: str = cited("shared_off_uw")
    idle_states: tuple[IdleState, ...] = key("from wfi to the deepest", count=(1, MAX_IDLE_STATES))
    cluster_sleep: str | None = maybe("idle state with the shared part off", form=_DEEPEST)
    l2: SharedCache = key("the cache of the cluster")


@dataclass(frozen=True, kw_only=True)
class _L3(SharedCache):
    latency_ns: int = key("latency", 1, 1000, "ns of a look-up")
    source: str = cited("size_kib", "ways", "line_bytes", "latency_ns")


@dataclass(frozen=True, kw_only=True)
class PlatformFile(Placed):
    """A platform in its complete form."""

    schema_version: ClassVar[int] = 1

    name: str = key("the name of the file without `.toml`", form=NAME)
    summary: str = key("one line for `eascope list platforms`")
    temperature_c: float = key("temperature of the silicon", -40, 125, "degrees Celsius")
    temperature_source: str = cited("temperature_c")
    memory_mib: int = key("the guest's memory", 128, 16384, "MiB")
    memory_source: str = cited("memory_mib")
    llc: str | None = maybe("CPUs that share the last-level cache (default: cluster)", choices=LLC)
    llc_source: str | None = cited("llc", default=None)
    billing: Billing = key("choices of --power", table=BillingFile, default=BY_THE_KERNELS)
    idle: IdleFile | None = maybe("power of idle CPUs")
    shared: ChipShared | None = maybe("a part that all CPUs of the chip share")
    curves: CurvesFile | None = maybe("power by the frequencies of several clusters")
    dvfs: _Dvfs = key("how frequencies change")
    axes: Any = key("values of model axes, for --robust", table=AXES_FILE, default={})
    package_budget: PackageBudget | None = maybe("frequency limit by number of CPUs on")
    clock_floors: tuple[FloorsFile, ...] = key(
        "least frequency of a cluster while another runs fast", count=(1, 8), default=()
    )
    l3: _L3 | None = maybe("a cache that all clusters share")
    sources: Mapping[str, str] = key("sources by name; values cite these names", each=SOURCE)
    cluster: tuple[_Cluster, ...] = key("clusters, in CPU order", count=(1, MAX_CLUSTERS))

    def check(self) -> None:
        """What several tables say together."""
        self.need_with("llc_source", "llc", there=self.llc is not None)
        if self.shared:
            self.place.inside("shared").within(
                "off_uw", 0, self.shared.on_uw, "uW, not above on_uw"
            )
        opps = (opp for cluster in self.cluster for opp in cluster.opps)
        if self.dvfs.boost and not any(opp.turbo for opp in opps):
            raise self.dvfs.place.error("boost", "false where no OPP has turbo = true")


def list_platforms(directory: Path = PLATFORMS) -> list[tuple[str, str | RequestError]]:
    """Name and one-line summary of every platform file, by name, or what is wrong with it."""
    platforms: list[tuple[str, str | RequestError]] = []
    for path in sorted(directory.glob("*.toml")):
        try:
            platforms.append((path.stem, read_platform(path, directory).summary))
        except RequestError as error:
            platforms.append((path.stem, error))
    return platforms


def load_platform(name: str | Path) -> Platform:
    """The platform ``name``, or the one in the file ``name`` when it has a slash or a suffix.

    :raises RequestError: an unknown name (with the nearest), or a file that is wrong anywhere:
        one line with file, key, value and what is allowed.
    """
    if isinstance(name, Path) or "/" in name or name.endswith(".toml"):
        return read_platform(Path(name))
    return read_platform(platform_path(name, PLATFORMS))


def read_platform(path: Path, shipped: Path = PLATFORMS) -> Platform:
    """The platform in the file at ``path``; see `configs.delta` for one that names a base.

    :param shipped: the folder of the platforms that have names.
    :raises RequestError: one line with file, key, value and what is allowed.
    """

    def check(described: Described, source: Path) -> None:
        key = (str(source), str(shipped), described.base, pickle.dumps(described.top.data))
        if key not in _SOUND:
            _platform(described, source, shipped)
            _SOUND.add(key)

    described = describe(path, shipped, check, entries_of(PlatformFile))
    try:
        return _platform(described, path, shipped)
    except RequestError as error:
        raise RequestError(with_origin(str(error), described.top, described.base, path)) from error


def _platform(described: Described, path: Path, shipped: Path) -> Platform:
    """What is described, checked as a whole."""
    top = described.top
    top.only(entries_of(PlatformFile))
    sources = described.sources()
    files = [table.decoded(_Cluster, cited=sources) for table in described.clusters(MAX_CLUSTERS)]
    own = top.decoded(PlatformFile, cited=sources, cluster=tuple(files))
    if own.name != path.stem:
        raise top.error("name", f"{path.stem!r}, the file's own name")
    clusters: list[Cluster] = []
    for file in files:
        clusters.append(_cluster(file, clusters, own))
    if own.package_budget:
        _check_budget(own.package_budget, top.inside("package_budget"), clusters)
    clocks = {cluster.name: [opp.khz for opp in cluster.opps] for cluster in clusters}
    floors = tuple(floors_of(own.clock_floors, clocks, complete=FLOORS in described.own))
    deepest = {cluster.name: cluster.idle_states[-1] for cluster in clusters}
    stays = {name: (state.takes.exit_us, state.residency_us) for name, state in deepest.items()}
    curves = own.curves and curves_of(own.curves, stays, complete=not described.base)
    if curves is None and {WATTSON, SMOOTH} & {*own.billing.offers}:
        allowed = "wattson and wattson-smooth with [curves] alone"
        raise top.inside("billing").error("offers", allowed)
    if curves and not curves.rail and SMOOTH in own.billing.offers:
        raise top.inside("billing").error("offers", "wattson-smooth with curves of a rail alone")
    sources.finish()
    axes = {axis: getattr(own.axes, axis) for axis in top.data.get("axes", {})}
    named, dvfs, idle = is_shipped(path, shipped), own.dvfs.dvfs(), own.idle
    first = {"temperature_c": own.temperature_source, "memory_mib": own.memory_source}
    made: dict[str, Any] = {
        "path": path,
        "axes": {axis: tuple(axes[axis][name].value(name) for name in axes[axis]) for axis in axes},
        "clusters": tuple(clusters),
        "control_sources": {**first, **dvfs.sources, **sources_of(own)},
        "sources": own.sources,
        "digest": _digest(top, clusters),
        "model": path.stem if named else described.base or OWN_MODEL,
        "base": described.base,
        "own": not named,
        "l3": own.l3 and L3(cache_of(own.l3, 3), own.l3.latency_ns),
        "board_dvfs": own.dvfs.board and own.dvfs.board.dvfs(),
        "llc": own.llc or LLC_CLUSTER,
        "idle": Idle(**same(Idle, idle)) if idle else HALF_OF_BUSY,
        "idle_sources": sources_of(idle) if idle else {},
        "floors": floors,
        "curves": curves,
    }
    return Platform(**same(Platform, own) | same(Platform, dvfs) | made)


def _check_budget(budget: PackageBudget, place: Place, clusters: Sequence[Cluster]) -> None:
    """Refuse steps that do not descend, or are of other CPUs and OPPs than the platform's.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    least, most = 1, MOST_KHZ
    total = sum(len(cluster.cpus) for cluster in clusters)
    slowest = max(cluster.min_khz for cluster in clusters)
    rows = place.rows("steps")
    for row, step in zip(rows, budget.steps, strict=True):
        row.within("cpus", least, total, CPUS_WORDS)
        row.within("max_khz", slowest, most, KHZ_WORDS)
        least, most = step.cpus + 1, step.max_khz - 1
    if budget.steps[-1].cpus != total:
        raise rows[-1].error("cpus", f"{total} in the last step, all CPUs of the platform")


def _digest(top: Place, clusters: Sequence[Cluster]) -> str:
    """The digest of all figures of the platform and its cores; axes do not count."""
    cores = {cluster.core.name: read_toml(cluster.core.path).data for cluster in clusters}
    figures = {key: value for key, value in top.data.items() if key != "axes"}
    stated = {}
    if "curves" in figures:
        name = figures["curves"]["name"]
        stated["curves"] = curves_digest(name)
        if is_file_of_curves(name):  # wherever it lies
            figures["curves"] = {**figures["curves"], "name": ""}
    return sha256_bytes(canonical_json({"platform": figures, "cores": cores, **stated}))


def _cluster(own: _Cluster, before: Sequence[Cluster], platform: PlatformFile) -> Cluster:
    """A cluster, with CPUs numbered after those ``before`` it."""
    if own.name in (ANY, LARGEST, CHIP, *(cluster.name for cluster in before)):
        allowed = f"a name that no other cluster has, and none of {ANY}, {LARGEST}, {CHIP}"
        raise own.place.error("name", allowed)
    first = sum(len(cluster.cpus) for cluster in before)
    if first + own.cpus > MAX_CPUS:
        allowed = f"at most {MAX_CPUS} CPUs on the whole platform, {first} are there already "
        raise own.place.error("cpus", f"{allowed}(the kernels' CONFIG_NR_CPUS)")
    _check_opps(own)
    _check_idle_states(own)
    own.place.within("shared_off_uw", 0, own.opps[0].shared_uw, "uW, not above the OPPs'")
    columns, points = own.opp_sources, [(opp.khz, opp.uv) for opp in own.opps]
    voltages = "" if columns.uv == columns.khz else f"; voltages {columns.uv}"
    sources: dict[str, Any] = {
        "source": f"{columns.khz}{voltages}",
        "power_source": columns.power_uw,
        "shared_source": columns.shared_uw,
    }
    made: dict[str, Any] = {
        "index": len(before),
        "core": load_core(own.core),
        "cpus": tuple(range(first, first + own.cpus)),
        "opps": tuple(replace(opp, **sources) for opp in own.opps),
        "cluster_sleep": len(own.idle_states) - 1 if own.cluster_sleep else None,
        "l2": cache_of(own.l2, 2),
        "busy": tuple(
            getattr(own.busy, name).power(name, points) for name in _tables(own, platform)
        ),
        "boost": platform.dvfs.boost,
    }
    return Cluster(**same(Cluster, own) | made)


def _tables(own: _Cluster, platform: PlatformFile) -> list[str]:
    """The tables ``busy.NAME`` of a cluster: one for each table of powers that is offered."""
    wanted = [name for name in TABLES if name in platform.billing.offers]
    if wanted:
        own.need("busy")
        own.place.inside("busy").exactly(wanted)
    elif "busy" in own.place.data:
        raise own.place.error("busy", f"only where billing offers {' or '.join(TABLES)}")
    return wanted


def _check_opps(own: _Cluster) -> None:
    """Clocks ascend, a faster OPP never has less voltage, and turbo OPPs are the fastest.

    It may have less power: measurements have such rows, and Linux takes an energy model with them
    (``em_create_perf_table()``) and marks what is inefficient (``em_compute_costs()``).
    """
    rows = own.place.rows("opps")
    if own.opps[0].turbo:
        raise rows[0].error("turbo", "false at the slowest OPP: one at least is no turbo OPP")
    for row, (before, opp) in zip(rows[1:], pairwise(own.opps), strict=True):
        if opp.khz <= before.khz:
            raise row.error("khz", f"more than {before.khz}: OPPs in ascending order")
        if opp.uv < before.uv:
            raise row.error("uv", f"at least {before.uv}: OPPs in ascending order")
        if before.turbo and not opp.turbo:
            allowed = f"true: turbo OPPs are the fastest, {before.khz} kHz is one"
            raise bad_input(row.file, row.key("turbo"), False, allowed)


def _check_idle_states(own: _Cluster) -> None:
    """WFI first, no name twice, and in no state more power than a busy CPU takes.

    Linux takes latencies and residencies in any order (``init_state_node()`` and
    ``__cpuidle_driver_init()`` compare none), and measured powers need not fall from state to
    state. `Platform.idle_notes` names what is not in order.
    """
    rows, states = own.place.rows("idle_states"), own.idle_states
    if own.cluster_sleep is not None:
        if len(states) < 2:
            allowed = "only where an idle state below WFI could be it"
            raise own.place.error("cluster_sleep", allowed)
        own.place.one_of("cluster_sleep", [states[-1].name])
    for number, (row, state) in enumerate(zip(rows, states, strict=True)):
        row.within("power_uw", 0, own.opps[0].power_uw, "uW, not above the lowest OPP's")
        if not number and "takes" in row.data:
            raise row.error("takes", "none of wfi, which takes what the kernel's instructions take")
        if not number and state.name != WFI:
            raise row.error("name", f"{WFI!r}: the first idle state is WFI")
        if state.name in [known.name for known in states[:number]]:
            raise row.error("name", "a name that no other idle state of the cluster has")
        sleeps = own.cluster_sleep is not None and number == len(states) - 1
        takes = row.inside("takes") if "takes" in row.data else row
        for name in ("last_entry_us", "first_exit_us"):
            if name in takes.data and not sleeps:
                allowed = "only in the idle state that is the cluster's cluster_sleep"
                raise takes.error(name, allowed)
