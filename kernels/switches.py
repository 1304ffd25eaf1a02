# SPDX-License-Identifier: GPL-2.0-or-later
"""A variant's run-time switches: the allowed files, and the proof that the guest took them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from eascope.configs.platform import Cluster, Platform
from eascope.host.errors import RequestError
from eascope.host.keys import Context, Form, WrongValue

#: Files of the guest's kernel that several rooms write, prove or read back.
SCHED_DEBUG = "/sys/kernel/debug/sched"
ENERGY_AWARE = "/proc/sys/kernel/sched_energy_aware"
FEATURES = f"{SCHED_DEBUG}/features"
FAIR_SERVER = f"{SCHED_DEBUG}/fair_server"
IDLE_GOVERNOR = "/sys/devices/system/cpu/cpuidle/current_governor"
#: Whether a CPU is online.
ONLINE = "/sys/devices/system/cpu/cpu{}/online"
ONLINE_CPU = re.compile(ONLINE.format(r"(\d+)"))

#: Where a switch may write; anything else is not a switch of the scheduler.
SWITCH_ROOTS = (
    "/proc/sys/",
    "/sys/kernel/debug/sched/",
    "/sys/devices/system/cpu/",
    "/sys/devices/virtual/workqueue/",
)
#: What takes CPUs away: state, domains and energies are those of a machine with all of its CPUs.
_TAKES_CPUS = re.compile(r"/cpu\d+/(online|hotplug)\b|/smt/")
#: Any write to it resets the counters, so it reads back otherwise than it was written.
STATS = f"{SCHED_DEBUG}/eascope/stats"
#: Takes a load of interrupts by line, and says how often each came.
INTERRUPTS = f"{SCHED_DEBUG}/eascope/interrupts"
#: Counts of activations, and the table of decisions that are forced.
ACTIVATIONS = f"{SCHED_DEBUG}/eascope/activations"
FORCE = f"{SCHED_DEBUG}/eascope/force"
FORCED_LINES = 32

_BOOST = re.compile(r"/sys/devices/system/cpu/cpufreq/(?:policy(\d+)/)?boost")
#: The only governor with which the kernel enables EAS; all of them.
EAS_GOVERNOR = "schedutil"
GOVERNORS = (EAS_GOVERNOR, "performance", "powersave", "ondemand", "conservative", "userspace")
#: Of ``cpufreq.default_governor=NAME`` among boot arguments.
_DEFAULT_GOVERNOR = re.compile(r"cpufreq[.]default_governor=(\S+)")
#: Of a kernel that registers no cpuidle driver.
_IDLE_OFF = re.compile(r"(?<!\S)cpuidle[.]off=(\S+)")
_CPUFREQ = re.compile(r"/sys/devices/system/cpu/(?:cpufreq/policy(\d+)|cpu(\d+)/cpufreq)/(.+)")
_GOVERNOR, _SETSPEED = "scaling_governor", "scaling_setspeed"
#: What `is_switch` takes as a path.
PATH_RULE = (
    f"path below {', '.join(SWITCH_ROOTS)} and none that takes a CPU away: all CPUs are online and "
    "in the domains (offline of a scenario's event takes one away)"
)

#: What files of our queues take, and refuse all else: no run is started for what a guest refuses.
_VALUES = {
    f"{SCHED_DEBUG}/eascope/sched_mc_power_savings": ("0", "1", "2"),
    f"{SCHED_DEBUG}/eascope/sched_mc_keep_misfit": ("0", "1"),
    f"{SCHED_DEBUG}/eascope/sched_asym_packing": ("0", "1"),
}

Switches = tuple[tuple[str, str], ...]


def _switches(value: Any, context: Context) -> Switches:  # noqa: ANN401 - of TOML
    if not isinstance(value, list) or not all(is_switch(item) for item in value):
        raise WrongValue("", value, SWITCHES.allowed)
    for path, text in value:
        if allowed := allowed_value(path, text):
            raise WrongValue("", value, allowed)
    return tuple((path, text) for path, text in value)


_PAIR = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
_PAIRS = {"type": "array", "items": _PAIR}
#: Pairs of path and value.
SWITCHES = Form(f"a list of [path, value], both strings, {PATH_RULE}", _PAIRS, _switches)


def allowed_value(path: str, value: str) -> str:
    """What is allowed instead of a value that the kernel refuses, where that is known."""
    if value in _VALUES.get(path, (value,)):
        return ""
    return f"of {posixpath.basename(path)}: one of {', '.join(_VALUES[path])}"


def governors(boot: str, switches: Switches, platform: Platform) -> dict[int, str]:
    """The governor of each policy, by its first CPU, after boot arguments and switches."""
    at_boot = _DEFAULT_GOVERNOR.findall(boot)
    found = {
        cluster.cpus[0]: at_boot[-1] if at_boot else EAS_GOVERNOR for cluster in platform.clusters
    }
    for path, value in switches:
        match = _CPUFREQ.fullmatch(path)
        cluster = _policy(match, platform) if match and match[3] == _GOVERNOR else None
        if cluster is not None:
            found[cluster.cpus[0]] = value
    return found


def has_idle_driver(boot: str) -> bool:
    """Whether the kernel has a cpuidle driver with these arguments; else an idle CPU is in WFI."""
    # 00 and 0x0 are 0, too.
    return not any(value.strip("0xX") for value in _IDLE_OFF.findall(boot)[-1:])


def sets_governor(switches: Switches) -> bool:
    """True if one of ``switches`` changes the governor of a policy."""
    return any(path.endswith(f"/{_GOVERNOR}") for path, _ in switches)


def _policy(match: re.Match[str], platform: Platform) -> Cluster | None:
    """The cluster of the policy, or of the CPU, that a file of cpufreq belongs to."""
    if match[1]:
        return next((one for one in platform.clusters if one.cpus[0] == int(match[1])), None)
    return next((one for one in platform.clusters if int(match[2]) in one.cpus), None)


def check_switches(name: str, boot: str, switches: Switches, platform: Platform) -> None:
    """Refuse what the kernel of ``platform`` refuses of the variant ``name``, if that is known.

    :raises RequestError: one line: argument or file, value, what is allowed.
    """
    for governor in _DEFAULT_GOVERNOR.findall(boot):
        if governor not in GOVERNORS:
            argument = f"boot argument cpufreq.default_governor = {governor!r}"
            raise RequestError(f"{name}: {argument}: allowed: one of {', '.join(GOVERNORS)}")
    for number, (path, value) in enumerate(switches):
        now = governors(boot, switches[:number], platform)
        if "/cpuidle/" in path and not has_idle_driver(boot):
            allowed = "a file that there is: cpuidle.off leaves no cpuidle driver"
            raise RequestError(f"{name}: switch {path} = {value!r}: allowed: {allowed}")
        if allowed := allowed_boost(path, value, platform) or _allowed(path, value, now, platform):
            raise RequestError(f"{name}: switch {path} = {value!r}: allowed: {allowed}")


def _allowed(path: str, value: str, now: Mapping[int, str], platform: Platform) -> str:
    """What is allowed instead of a write to a file of cpufreq, while the governors are ``now``."""
    if not (match := _CPUFREQ.fullmatch(path)):
        return ""
    if (cluster := _policy(match, platform)) is None:
        policies = ", ".join(f"policy{one.cpus[0]}" for one in platform.clusters)
        return f"a file that there is: {platform.name} has {policies} (policy* is each)"
    governor, file = now[cluster.cpus[0]], match[3]
    if file == _GOVERNOR:
        return "" if value in GOVERNORS else f"one of {', '.join(GOVERNORS)}"
    owner = "userspace" if file == _SETSPEED else file.partition("/")[0]
    if owner in GOVERNORS and owner != governor:
        return f"a switch of {_GOVERNOR} to {owner} before it: it is {governor}"
    clocks = [str(opp.khz) for opp in cluster.opps]
    if file == _SETSPEED and value not in clocks:
        return f"a clock of its OPPs in kHz: {', '.join(clocks)}"
    return ""


def allowed_boost(path: str, value: str, platform: Platform) -> str:
    """What is allowed instead, where it is a write to a boost switch that fails on ``platform``."""
    if not (match := _BOOST.fullmatch(path)):
        return ""
    having = [cluster for cluster in platform.clusters if cluster.has_turbo]
    if not any(match[1] in (None, str(cluster.cpus[0])) for cluster in having):
        where = f"policy{match[1]}" if match[1] else platform.name
        return f"a file that there is: no OPP of {where} is a turbo OPP; cap by scaling_max_freq"
    return "" if value in ("0", "1") else "of boost: 0 or 1"


def is_switch(item: object) -> bool:
    """True if it is a path and a value that may be written there."""
    if not isinstance(item, list) or len(item) != 2:
        return False
    if not all(isinstance(part, str) and part and "\n" not in part for part in item):
        return False
    path = item[0]
    plain = " " not in path and posixpath.normpath(path) == path
    return plain and path.startswith(SWITCH_ROOTS) and not _TAKES_CPUS.search(path)


def switch_proofs(switches: Switches) -> list[tuple[str, ...]]:
    """Lines of the agent's script that read every switch back.

    A feature is a word of its file; every other file must hold what was last written to it.
    `ENERGY_AWARE` is part of the state.
    """
    features = [value for path, value in switches if path == FEATURES]
    apart = (FEATURES, STATS, ENERGY_AWARE)
    files = {path: value for path, value in switches if path not in apart}
    return [
        *(("word", FEATURES, value) for value in features),
        *(("expect", path, value) for path, value in files.items()),
    ]


def switch_words(switches: Switches) -> list[str]:
    """Each switch as ``NAME=VALUE``; a file below ``sched/eascope`` goes without its folder."""
    own = f"{SCHED_DEBUG}/eascope/"
    return [f"{path.removeprefix(own)}={value}" for path, value in switches]
