# SPDX-License-Identifier: GPL-2.0-or-later
"""What switches hold before anyone writes them, where that is known.

So a switch or a boot argument that only writes what is there already can be named. The tables are
of our series and of Linux as our fragments configure it; a guest test reads all of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from eascope.configs.platform import Platform
from eascope.kernels.patch_series import config_text, series_patches
from eascope.kernels.provenance import KERNEL_SRC
from eascope.kernels.releases import DEFAULT
from eascope.kernels.switches import (
    ENERGY_AWARE,
    FEATURES,
    IDLE_GOVERNOR,
    SCHED_DEBUG,
    governors,
    has_idle_driver,
)
from eascope.kernels.variants import Kernel, Variant, argument_name, decided

#: Features of Linux 6.12.
_LINUX = (
    *("PLACE_LAG", "PLACE_DEADLINE_INITIAL", "PLACE_REL_DEADLINE", "RUN_TO_PARITY"),
    *("PREEMPT_SHORT", "NO_NEXT_BUDDY", "CACHE_HOT_BUDDY", "DELAY_DEQUEUE", "DELAY_ZERO"),
    *("WAKEUP_PREEMPTION", "NO_HRTICK", "NO_HRTICK_DL", "NONTASK_CAPACITY", "TTWU_QUEUE"),
    *("SIS_UTIL", "NO_LB_MIN", "ATTACH_AGE_LOAD", "WA_IDLE", "WA_WEIGHT", "WA_BIAS", "UTIL_EST"),
)
#: Features that each series adds or changes; a later series of a kernel counts.
FEATURES_OF: dict[str, tuple[str, ...]] = {
    "base": ("UTIL_BOOST", "FEEC_SPARE0", "NO_UCLAMP_INC_FIRST", "NO_UCLAMP_MAX_FILTER"),
    "sum": (
        *("NO_FEEC_SPARE0", "NO_UCLAMP_CHECK", "UCLAMP_RT", "FEEC_BUSY_UNCLAMPED"),
        *("FEEC_BUSY_BOUNDED", "NO_UCLAMP_RT_SUM"),
        *("NO_UCLAMP_FITS_TRISTATE", "NO_UCLAMP_OU_UNCLAMPED", "NO_UCLAMP_NO_HEADROOM"),
    ),
    "feec": (),
    "latnice": (),
    "schedmc": (),
    "blocked-tick": ("NO_BLOCKED_TICK",),
    "push": ("NO_FAIR_PUSH_STUCK", "NO_FAIR_PUSH_IDLE"),
}
#: Files of each series in debugfs, and what they hold.
FILES_OF: dict[str, dict[str, str]] = {
    "base": {},
    "sum": {"uclamp_wait": "0", "uclamp_wait_deadband": "128"},
    "feec": {
        "feec_mode": "0",
        "feec_pd_opp": "0",
        "feec_v5": "0",
        "eas_margin": "0",
        "feec_guard_min": "8",
        "feec_guard_pct": "100",
        "eas_push": "0",
        "eas_push_min_interval_us": "3000",
        "eas_push_batch": "1",
        "eas_group_filter": "auto",
        "ou_delay_us": "0",
    },
    "push": {},
    "latnice": {
        "latnice_search": "off",
        "latnice_prefer_idle": "off",
        "latnice_pack": "0",
        "latnice_idle": "off",
        "latnice_idle_hold_ms": "2147483647",
    },
    "schedmc": {
        "sched_mc_power_savings": "0",
        "sched_mc_keep_misfit": "1",
        "sched_asym_packing": "0",
    },
    "blocked-tick": {},
}
for _both, _one in (("sum-feec", "feec"), ("sum-push", "push")):
    FEATURES_OF[_both], FILES_OF[_both] = FEATURES_OF[_one], dict(FILES_OF[_one])
del FILES_OF["sum-feec"]["eas_margin"]
#: Features that other releases do not have, and that a later series removes with the maximum.
_ONLY_DEFAULT_RELEASE = ("NO_UCLAMP_INC_FIRST", "NO_UCLAMP_MAX_FILTER")
_REMOVED_BY = {"sum": _ONLY_DEFAULT_RELEASE}
#: Files of Linux.
_FILES = {
    ENERGY_AWARE: "1",
    IDLE_GOVERNOR: "menu",
    **{
        f"/proc/sys/kernel/sched_util_clamp_{name}": "1024"
        for name in ("min", "max", "min_rt_default")
    },
}
#: Boot arguments that say what holds without them.
_ARGUMENTS = {
    "cpufreq.default_governor": "schedutil",
    "cpuidle.governor": _FILES[IDLE_GOVERNOR],
    "cpuidle.off": "0",
    "nohz": "on",
    "skew_tick": "0",
}
_SYSCTL = "sysctl."
_NUMBERED = re.compile(r"\b(cpu|policy|state)\d+(?=/)")

#: A file and "", or the scheduler's file of features and one of them (`decided`).
Place = tuple[str, str]


def held_at_boot(kernel: Kernel) -> dict[Place, str]:
    """What features and files of ``kernel`` hold before a switch is written, where it is known."""
    older = kernel.release in ("", DEFAULT)
    features = {name.removeprefix("NO_"): name for name in (_LINUX if older else ())}
    files = dict(_FILES)
    for series in kernel.series:
        for name in _REMOVED_BY.get(series, ()):
            features.pop(name.removeprefix("NO_"), None)
        for name in FEATURES_OF.get(series, ()):
            if older or name not in _ONLY_DEFAULT_RELEASE:
                features[name.removeprefix("NO_")] = name
        own = FILES_OF.get(series, {})
        files |= {f"{SCHED_DEBUG}/eascope/{name}": value for name, value in own.items()}
    held = {(FEATURES, name): value for name, value in features.items()}
    return held | {(path, ""): value for path, value in files.items()}


def already_so(variant: Variant, kernel: Kernel, platform: Platform) -> Iterator[str]:
    """Each argument and switch that a person adds and that says what holds without it.

    Of a person's tree nothing is known, nor of what a person's patches name.

    :param variant: as it is on ``platform`` (`kernels.state.on_platform`).
    """
    if kernel.tree or os.environ.get(KERNEL_SRC):
        return
    changes = _own_changes(kernel)
    held = {
        place: value
        for place, value in held_at_boot(kernel).items()
        if (place[1] or place[0].rpartition("/")[2]) not in changes
    }
    # What decides a governor need not name it: a rating, or a choice of Kconfig.
    arguments = {
        name: value
        for name, value in _ARGUMENTS.items()
        if not (kernel.own and "governor" in name) and name.rpartition(".")[2] not in changes
    }
    idle: set[str | tuple[str, str]] = set()
    for word in variant.boot.split():
        name, value = argument_name(word), word.partition("=")[2]
        path = f"/proc/sys/{name.removeprefix(_SYSCTL).replace('.', '/')}"
        sysctl = name.startswith(_SYSCTL)
        known = held.get((path, "")) if sysctl else arguments.get(name)
        if value == known:
            idle.add(word)
        if sysctl:
            held[path, ""] = value
        elif name == "cpuidle.governor":
            held[IDLE_GOVERNOR, ""] = value
    held |= {
        (path, ""): value
        for path, value in _of_cpus(variant, platform).items()
        if path.rpartition("/")[2] not in changes
    }
    if kernel.own:
        held = {place: value for place, value in held.items() if "governor" not in place[0]}
    for switch in variant.switches:
        if held.get(decided(switch)) == switch[1]:
            idle.add(switch)
        held[decided(switch)] = switch[1]
    for each in variant.added:
        if isinstance(each, str):
            if each in idle:
                yield each
            continue
        # One of cpu* is in the variant as one of each CPU.
        own = [one for one in variant.switches if each in (one, (_pattern(one[0]), one[1]))]
        if own and idle.issuperset(own):
            yield "=".join(each)


def _own_changes(kernel: Kernel) -> str:
    """All that a person's series say."""
    release = kernel.release or DEFAULT
    patches = [patch for folder in kernel.own for patch in series_patches(folder, release)]
    texts = [patch.read_text(errors="replace") for patch in patches]
    return "\n".join([*texts, *map(config_text, kernel.own)])


def _of_cpus(variant: Variant, platform: Platform) -> dict[str, str]:
    """Files of CPUs and policies, and what they hold."""
    root = "/sys/devices/system/cpu"
    now = governors(variant.boot, (), platform)
    files = {f"{root}/cpufreq/policy{cpu}/scaling_governor": name for cpu, name in now.items()}
    for cluster in platform.clusters:
        for cpu in cluster.cpus:
            files[f"{root}/cpu{cpu}/power/pm_qos_resume_latency_us"] = "0"
            states = len(cluster.idle_states) if has_idle_driver(variant.boot) else 0
            for state in range(states):
                files[f"{root}/cpu{cpu}/cpuidle/state{state}/disable"] = "0"
    return files


def _pattern(path: str) -> str:
    """A path as variants have it that know no platform."""
    return _NUMBERED.sub(r"\1*", path)
