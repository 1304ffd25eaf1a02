# SPDX-License-Identifier: GPL-2.0-or-later
"""How a kernel's own switches stand as it boots: what a variant that does not set them has."""

from eascope.kernels.naming import kernel_named
from eascope.kernels.switches import FEATURES, SCHED_DEBUG

#: Features that each queue adds or changes; a later queue of a kernel counts.
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
    "push": ("NO_FAIR_PUSH_STUCK", "NO_FAIR_PUSH_IDLE"),
}
#: Files of each queue in debugfs, and what they hold.
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
}
for _both, _one in (("sum-feec", "feec"), ("sum-push", "push")):
    FEATURES_OF[_both], FILES_OF[_both] = FEATURES_OF[_one], dict(FILES_OF[_one])
del FILES_OF["sum-feec"]["eas_margin"]
#: The greatest value of files that do not take any number, and what else they refuse.
GREATEST: dict[str, tuple[str, ...]] = {
    "uclamp_wait": ("2", "3"),
    "uclamp_wait_deadband": ("1024", "1025"),
    **{name: ("2", "3") for name in ("feec_mode", "eas_push")},
    **{name: ("1", "2") for name in ("feec_pd_opp", "feec_v5", "eas_margin")},
    "eas_group_filter": ("1", "2", "aut"),
    "latnice_search": ("proportional", "prop", "1"),
    "latnice_prefer_idle": ("on", "1"),
    "latnice_pack": ("19", "20"),
    "latnice_idle": ("poll", "polls", "2"),
    "latnice_idle_hold_ms": ("2147483647", "2147483648"),
    "sched_mc_power_savings": ("2", "3"),
    **{name: ("1", "2") for name in ("sched_mc_keep_misfit", "sched_asym_packing")},
}
#: Which no file takes: below all, no number, more than fits.
NEVER = ("-1", "x", "''", "1" * 40)
#: Features that other releases do not have, and that a later queue removes with the maximum.
ONLY_DEFAULT_RELEASE = ("NO_UCLAMP_INC_FIRST", "NO_UCLAMP_MAX_FILTER")
REMOVED_BY = {"sum": ONLY_DEFAULT_RELEASE}


def at_boot(kernel: str) -> list[str]:
    """The agent's lines that read every switch of ``kernel``, of which nobody has written one."""
    spec = kernel_named(kernel)
    features: dict[str, str] = {}
    files: dict[str, str] = {}
    for queue in spec.series:
        for name in REMOVED_BY.get(queue, ()):
            features.pop(name.removeprefix("NO_"), None)
        features |= {name.removeprefix("NO_"): name for name in FEATURES_OF[queue]}
        files |= FILES_OF[queue]
    return [
        *(
            f"word {FEATURES} {name}"
            for name in features.values()
            if not spec.release or name not in ONLY_DEFAULT_RELEASE
        ),
        *(f"expect {SCHED_DEBUG}/eascope/{name} {value}" for name, value in files.items()),
    ]


def refusals(kernel: str) -> list[str]:
    """The agent's lines that try wrong values; they collect as ``taken`` what a file has taken."""
    lines, tried = [], []
    for name in (name for queue in kernel_named(kernel).series for name in FILES_OF[queue]):
        if name in GREATEST:
            greatest, *wrong = GREATEST[name]
            path = f"{SCHED_DEBUG}/eascope/{name}"
            lines += [f"write {path} {greatest}", f"expect {path} {greatest}"]
            words = " ".join([*wrong, *NEVER])
            tried.append(f"for word in {words}; do echo $word >{path} && echo {name} $word; done")
            tried.append(f"[ $(cat {path}) = {greatest} ] || echo {name} has $(cat {path})")
    script = "; ".join(["exec 2>/dev/null", *tried, ":"])
    lines += [f"file /tmp/try.sh {len(script)}", script]
    return [
        *lines,
        "spawn taken /bin/busybox sh /tmp/try.sh",
        "wait taken",
        "collect /tmp/taken.log taken",
    ]
