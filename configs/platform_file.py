# SPDX-License-Identifier: GPL-2.0-or-later
"""Platform files by name, and their strict reading.

Everything in a file is checked before anything is built on it.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eascope.configs.billing import (
    CHIP,
    SMOOTH,
    WATTSON,
    Billing,
    read_billing,
    read_busy,
    read_chip_shared,
    read_idle,
)
from eascope.configs.core import list_cores, load_core, read_cache
from eascope.configs.cpunames import ANY, LARGEST
from eascope.configs.curves import curves_digest, is_file_of_curves, read_curves
from eascope.configs.delta import Described, describe, is_shipped, platform_path, with_origin
from eascope.configs.floors import KEY as FLOORS
from eascope.configs.floors import read_floors
from eascope.configs.knobs import LLC, LLC_CLUSTER, read_axes
from eascope.configs.package_budget import read_package_budget
from eascope.configs.platform import (
    AT_ONCE,
    L3,
    POWER_STATES,
    Cluster,
    Dvfs,
    IdleState,
    Opp,
    Platform,
    Takes,
)
from eascope.configs.source import Sources
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.errors import RequestError, bad_input, nearest
from eascope.host.strict import StrictTable, read_toml

#: Of the whole file: a misspelt one is named as what it is.
KEYS = (
    *("schema", "name", "summary", "temperature_c", "temperature_source"),
    *("memory_mib", "memory_source", "llc", "llc_source", "billing", "idle", "shared", "curves"),
    *("dvfs", "axes", "package_budget", "clock_floors", "l3", "sources", "cluster"),
)
PLATFORMS = Path(__file__).resolve().parent / "platforms"

#: As many as every kernel knows (CONFIG_NR_CPUS); an engine states its own limit.
MAX_CPUS = 32
#: Room that the fast engine's plugin has (it is compiled with these numbers).
MAX_CLUSTERS, MAX_OPPS, MAX_IDLE_STATES = 8, 64, 8

#: What the device tree calls a complete platform file that is not one of `PLATFORMS`: it lies in
#: the guest's memory, where a name of another length is another run.
OWN_MODEL = "own"

#: Bases that were checked, with their content: hundreds of platforms of a campaign have the same.
_SOUND: set[tuple[str, str, str, bytes]] = set()

AS_TOLD = "assumed: as the kernel is told, since the file states no times taken"

#: Largest power of one CPU that the kernel's energy model takes (EM_MAX_POWER).
MAX_POWER_UW = 64_000_000


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

    described = describe(path, shipped, check)
    try:
        return _platform(described, path, shipped)
    except RequestError as error:
        raise RequestError(with_origin(str(error), described, path)) from error


def _platform(described: Described, path: Path, shipped: Path) -> Platform:
    """What is described, checked as a whole."""
    top = described.top
    top.only(KEYS)
    top.integer("schema", 1, 1)
    name = top.name("name")
    if name != path.stem:
        raise top.error("name", f"{path.stem!r}, the file's own name")
    summary = top.text("summary")
    sources = described.sources()
    temperature = top.number("temperature_c", -40, 125, "degrees Celsius")
    memory = top.integer("memory_mib", 128, 16384, "MiB")
    switching = top.table("dvfs")
    boost = switching.has("boost") and switching.flag("boost")
    dvfs, board_dvfs = _read_dvfs(switching, sources), None
    if switching.has("board"):  # how the board itself changes frequencies: everything is stated
        board = switching.table("board")
        board.flag("fast_switch")
        board_dvfs = _read_dvfs(board, sources)
        board.finish()
    switching.finish()
    control_sources = {
        "temperature_c": sources.of(top, "temperature_source"),
        "memory_mib": sources.of(top, "memory_source"),
        **dvfs.sources,
    }
    billing = read_billing(top)
    idle, idle_sources = read_idle(top, sources)
    shared = read_chip_shared(top, sources)
    llc = top.text("llc", LLC) if top.has("llc") else LLC_CLUSTER
    if top.has("llc"):
        control_sources["llc"] = sources.of(top, "llc_source")
    clusters = tuple(
        replace(cluster, boost=boost)
        for cluster in _read_clusters(described.clusters(MAX_CLUSTERS), sources, billing)
    )
    if boost and not any(cluster.has_turbo for cluster in clusters):
        raise switching.error("boost", "false where no OPP has turbo = true")
    l3 = _read_l3(top.table("l3"), sources) if top.has("l3") else None
    package_budget = read_package_budget(top, sources, clusters)
    floors = read_floors(
        top,
        sources,
        {cluster.name: [opp.khz for opp in cluster.opps] for cluster in clusters},
        complete=FLOORS in described.own,
    )
    curves = read_curves(
        top,
        sources,
        {
            cluster.name: (deepest.takes.exit_us, deepest.residency_us)
            for cluster in clusters
            for deepest in cluster.idle_states[-1:]
        },
        complete=not described.base,
    )
    if curves is None and {WATTSON, SMOOTH} & {*billing.offers}:
        raise top.table("billing").error("offers", "wattson and wattson-smooth with [curves] alone")
    if curves and not curves.rail and SMOOTH in billing.offers:
        raise top.table("billing").error("offers", "wattson-smooth with curves of a rail alone")
    axes = read_axes(top.table("axes")) if top.has("axes") else {}
    top.finish()
    sources.finish()
    named = is_shipped(path, shipped)
    return Platform(
        name=name,
        summary=summary,
        path=path,
        clusters=clusters,
        transition_latency_us=dvfs.transition_latency_us,
        rate_limit_us=dvfs.rate_limit_us,
        temperature_c=temperature,
        memory_mib=memory,
        control_sources=control_sources,
        sources=sources.texts,
        digest=_digest(top, clusters),
        model=name if named else described.base or OWN_MODEL,
        base=described.base,
        own=not named,
        l3=l3,
        fast_switch=dvfs.fast_switch,
        board_dvfs=board_dvfs,
        billing=billing,
        llc=llc,
        axes=axes,
        shared=shared,
        idle=idle,
        idle_sources=idle_sources,
        package_budget=package_budget,
        floors=floors,
        curves=curves,
    )


def _digest(top: StrictTable, clusters: Sequence[Cluster]) -> str:
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


def _read_l3(table: StrictTable, sources: Sources) -> L3:
    """The cache that all clusters share."""
    latency = table.integer("latency_ns", 1, 1000, "ns of a look-up")
    return L3(read_cache(table, 3, sources.of(table, "source")), latency)


def _read_dvfs(table: StrictTable, sources: Sources) -> Dvfs:
    """Times of a frequency change in us, and whether the scheduler itself requests it."""
    latency = table.integer("transition_latency_us", 1, 10_000, "us")
    rate_limit = table.integer("rate_limit_us", 1, 1_000_000, "us")
    if rate_limit < latency:
        # A request that comes while one is in flight replaces it and starts the latency again.
        raise table.error(
            "rate_limit_us",
            f"at least transition_latency_us ({latency}), or a cluster may never change its OPP",
        )
    stated = {
        "transition_latency_us": sources.of(table, "transition_latency_source"),
        "rate_limit_us": sources.of(table, "rate_limit_source"),
    }
    fast_switch = True
    if table.has("fast_switch"):
        fast_switch = table.flag("fast_switch")
        stated["fast_switch"] = sources.of(table, "fast_switch_source")
    return Dvfs(latency, rate_limit, fast_switch, stated)


def _read_clusters(
    tables: tuple[StrictTable, ...], sources: Sources, billing: Billing
) -> tuple[Cluster, ...]:
    """All clusters, with CPUs numbered in the file's order."""
    clusters: list[Cluster] = []
    for table in tables:
        name = table.name("name")
        if name in (ANY, LARGEST, CHIP) or name in [cluster.name for cluster in clusters]:
            allowed = f"a name that no other cluster has, and none of {ANY}, {LARGEST}, {CHIP}"
            raise table.error("name", allowed)
        first = sum(len(cluster.cpus) for cluster in clusters)
        count = table.integer("cpus", 1, MAX_CPUS)
        if first + count > MAX_CPUS:
            raise table.error(
                "cpus",
                f"at most {MAX_CPUS} CPUs on the whole platform, {first} are there already "
                "(the kernels' CONFIG_NR_CPUS)",
            )
        cpus = tuple(range(first, first + count))
        clusters.append(_read_cluster(table, sources, name, len(clusters), cpus, billing))
    return tuple(clusters)


def _read_cluster(
    table: StrictTable,
    sources: Sources,
    name: str,
    index: int,
    cpus: tuple[int, ...],
    billing: Billing,
) -> Cluster:
    core = table.text("core")
    known = list_cores()
    if core not in known:
        raise table.error("core", f"{', '.join(known)}{nearest(core, known)}")
    opps = _read_opps(table, sources)
    states = _read_idle_states(table, sources, opps[0].power_uw)
    l2 = table.table("l2")
    cluster = Cluster(
        index=index,
        name=name,
        core=load_core(core),
        cpus=cpus,
        capacity_dmips_mhz=table.integer("capacity_dmips_mhz", 1, 65535, "relative speed per MHz"),
        capacity_source=sources.of(table, "capacity_source"),
        opps=opps,
        idle_states=states,
        cluster_sleep=_read_cluster_sleep(table, states),
        shared_off_uw=table.integer(
            "shared_off_uw", 0, opps[0].shared_uw, "uW, not above the OPPs'"
        ),
        shared_off_source=sources.of(table, "shared_off_source"),
        l2=read_cache(l2, 2, sources.of(l2, "source")),
        busy=read_busy(table, [(opp.khz, opp.uv) for opp in opps], sources, billing),
    )
    table.finish()
    return cluster


def _read_opps(table: StrictTable, sources: Sources) -> tuple[Opp, ...]:
    """The OPP table, by ascending clocks; a faster OPP never has less voltage.

    It may have less power: measurements have such rows, and Linux takes an energy model with them
    (``em_create_perf_table()``) and marks what is inefficient (``em_compute_costs()``).
    """
    columns = table.table("opp_sources")
    clock_source = sources.of(columns, "khz")
    if sources.of(columns, "uv") != clock_source:
        clock_source = f"{clock_source}; voltages {sources.of(columns, 'uv')}"
    power_source = sources.of(columns, "power_uw")
    shared_source = sources.of(columns, "shared_uw")
    columns.finish()
    opps: list[Opp] = []
    for row in table.tables("opps", 1, MAX_OPPS):
        opp = Opp(
            khz=row.integer("khz", 1_000, 10_000_000, "kHz"),
            uv=row.integer("uv", 100_000, 2_000_000, "uV"),
            power_uw=row.integer("power_uw", 1, MAX_POWER_UW - 1, "uW"),
            shared_uw=row.integer("shared_uw", 0, MAX_POWER_UW - 1, "uW"),
            source=clock_source,
            power_source=power_source,
            shared_source=shared_source,
            turbo=row.has("turbo") and row.flag("turbo"),
        )
        row.finish()
        if opp.turbo and not opps:
            raise row.error("turbo", "false at the slowest OPP: one at least is no turbo OPP")
        if opps:
            _check_ascends(row, opps[-1], opp)
            if opps[-1].turbo and not opp.turbo:
                before = f"{opps[-1].khz} kHz is one"
                raise bad_input(
                    row.file, row.key("turbo"), False, f"true: turbo OPPs are the fastest, {before}"
                )
        opps.append(opp)
    return tuple(opps)


def _check_ascends(row: StrictTable, before: Opp, opp: Opp) -> None:
    for key, strict in (("khz", True), ("uv", False)):
        last, this = getattr(before, key), getattr(opp, key)
        if this < last or (strict and this == last):
            raise row.error(
                key, f"{'more than' if strict else 'at least'} {last}: OPPs in ascending order"
            )


def _read_idle_states(table: StrictTable, sources: Sources, busy_uw: int) -> tuple[IdleState, ...]:
    """The idle states, WFI first, each deeper: longer residency, no shorter exit, no more power."""
    states: list[IdleState] = []
    rows = table.tables("idle_states", 1, MAX_IDLE_STATES)
    for row in rows:
        told = (
            row.integer("entry_us", 0, 100_000, "us"),
            row.integer("exit_us", 0, 100_000, "us"),
        )
        sleeps = row is rows[-1] and table.has("cluster_sleep")
        state = IdleState(
            name=row.name("name"),
            entry_us=told[0],
            exit_us=told[1],
            residency_us=row.integer("residency_us", 0, 10_000_000, "us"),
            power_state=row.text("power_state", POWER_STATES),
            power_uw=row.integer("power_uw", 0, busy_uw, "uW, not above the lowest OPP's"),
            source=sources.of(row, "time_source"),
            power_source=sources.of(row, "power_source"),
            takes=_read_takes(row, sources, told, sleeps=sleeps) if states else AT_ONCE,
        )
        if not states and row.has("takes"):
            raise row.error("takes", "none of wfi, which takes what the kernel's instructions take")
        row.finish()
        if not states and state.name != "wfi":
            raise row.error("name", "'wfi': the first idle state is WFI")
        if state.name in [known.name for known in states]:
            raise row.error("name", "a name that no other idle state of the cluster has")
        if states:
            _check_deeper(row, states[-1], state)
        states.append(state)
    return tuple(states)


def _read_takes(
    row: StrictTable, sources: Sources, told: tuple[int, int], *, sleeps: bool
) -> Takes:
    """What entering and leaving a state takes.

    :param told: what the kernel is told. Of a file that does not say, the machine takes it: its
        author may have measured it, and no other figure is of this machine.
    :param sleeps: whether it is the cluster's sleep, which has a last CPU to enter.
    """
    if not row.has("takes"):
        entry, exit_ = told
        return Takes(entry, exit_, entry, exit_, AS_TOLD, stated=False)
    table = row.table("takes")

    def time(key: str, otherwise: int | None = None) -> int:
        if otherwise is not None and not table.has(key):
            return otherwise
        if otherwise is not None and not sleeps:
            raise table.error(key, "only in the idle state that is the cluster's cluster_sleep")
        return table.integer(key, 0, 100_000, "us")

    entry, exit_ = time("entry_us"), time("exit_us")
    last, first = time("last_entry_us", entry), time("first_exit_us", exit_)
    takes = Takes(entry, exit_, last, first, sources.of(table, "source"))
    table.finish()
    return takes


def _read_cluster_sleep(table: StrictTable, states: tuple[IdleState, ...]) -> int | None:
    """Number of the idle state that is cluster-sleep, where the cluster has one: its last."""
    if not table.has("cluster_sleep"):
        return None
    if len(states) < 2:
        raise table.error("cluster_sleep", "only where an idle state below WFI could be it")
    table.text("cluster_sleep", [states[-1].name])
    return len(states) - 1


def _check_deeper(row: StrictTable, before: IdleState, state: IdleState) -> None:
    for key, more in (("exit_us", 0), ("residency_us", 1)):
        last = getattr(before, key)
        if getattr(state, key) < last + more:
            least = f"more than {last}" if more else f"at least {last}"
            raise row.error(key, f"{least}: idle states from shallow to deep")
    if state.power_uw > before.power_uw:
        raise row.error(
            "power_uw", f"at most {before.power_uw}: a deeper idle state never takes more power"
        )
