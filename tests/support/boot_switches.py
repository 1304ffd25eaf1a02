# SPDX-License-Identifier: GPL-2.0-or-later
"""How a kernel's own switches stand as it boots: what a variant that does not set them has."""

from eascope.kernels.defaults import FILES_OF, held_at_boot
from eascope.kernels.naming import kernel_named
from eascope.kernels.switches import FEATURES, SCHED_DEBUG

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


def at_boot(kernel: str) -> list[str]:
    """The agent's lines that read every switch of ``kernel``, of which nobody has written one."""
    return [
        f"word {path} {value}" if path == FEATURES else f"expect {path} {value}"
        for (path, _), value in held_at_boot(kernel_named(kernel)).items()
    ]


def refusals(kernel: str) -> list[str]:
    """The agent's lines that try wrong values; they collect as ``taken`` what a file has taken."""
    lines, tried = [], []
    for name in (name for series in kernel_named(kernel).series for name in FILES_OF[series]):
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
