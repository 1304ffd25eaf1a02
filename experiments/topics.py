# SPDX-License-Identifier: GPL-2.0-or-later
"""What a series touches, and the scenarios that measure it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eascope.host.errors import RequestError


@dataclass(frozen=True)
class Topic:
    """A part of the kernel that scenarios measure.

    :param names: a pattern of its functions, fields and options, in hunks of any file of `_CODE`.
    :param scenarios: what measures it; each runs on the default platforms, with any kernel.
    """

    name: str
    paths: str
    names: str
    scenarios: tuple[str, ...]


class NotMeasured(RequestError):
    """A series touches no topic."""


#: The last one is of scheduler files whose hunks name nothing of the others.
TOPICS = (
    Topic(
        "EAS",
        r"kernel/power/energy_model\.c|include/linux/energy_model\.h",
        r"energy_efficient|feec|compute_energy|eenv|em_cpu_|perf_domain|sched_energy|overutil"
        r"|misfit|fits_c|util_fits",
        ("eas/video-playback", "ui/jank"),
    ),
    Topic("uclamp", r"(?!)", r"uclamp|util_clamp", ("uclamp/frequency-spike", "ui/jank-boosted")),
    Topic(
        "cpufreq",
        r"drivers/cpufreq/|kernel/sched/cpufreq|include/linux/(sched/)?cpufreq\.h",
        r"sugov|schedutil|cpufreq|effective_cpu_util|util_est|map_util|arch_scale_freq",
        ("ui/jank", "eas/misfit-ramp"),
    ),
    Topic(
        "cpuidle",
        r"drivers/cpuidle/|kernel/sched/idle\.c|include/linux/cpuidle\.h|kernel/time/tick-sched\.c",
        r"cpuidle|idle_state|exit_latency|tick_nohz_(idle|get)",
        ("eas/idle-screen", "eas/video-playback"),
    ),
    Topic(
        "load balance",
        r"kernel/sched/topology\.c|include/linux/sched/topology\.h",
        r"load_balance|sched_balance|newidle|find_(busiest|idlest)|detach_task|can_migrate"
        r"|select_idle|wake_affine|active_balance|nohz_(idle|csd|bal)|sched_(domain|group)|lb_env",
        ("eas/speedometer", "eas/misfit-ramp"),
    ),
    Topic(
        "deadline",
        r"kernel/sched/(deadline|rt|cpudeadline|cpupri)\.c|include/linux/sched/(deadline|rt)\.h",
        r"dl_(server|se|entity|rq|task|bw)|sched_dl|SCHED_DEADLINE|fair_server|sched_rt",
        ("programs/cyclictest-loaded", "uclamp/rt-capped"),
    ),
    Topic(
        "other scheduling",
        r"kernel/sched/|include/linux/sched(/|\.h)|include/uapi/linux/sched",
        r"(?!)",
        ("ui/jank", "latnice/eventfd-wakeup"),
    ),
)
#: Files of which hunks are searched for names: what is compiled for arm64, and concerns CPUs.
_CODE = re.compile(
    r"(kernel|include|arch/arm64|drivers/(base|cpufreq|cpuidle|powercap|thermal))/.*\.[chS]"
)
_FILE = re.compile(r"^--- (\S+).*\n\+\+\+ (\S+).*\n", re.MULTILINE)
_HUNK_LINE = re.compile(r"^(?:@@ .*|[+-].*)$", re.MULTILINE)


def touched(patches: Iterable[bytes]) -> dict[str, list[str]]:
    """The topics of a series in the order of `TOPICS`, each with the files that touch it.

    A file counts for every topic that its hunks name, or else for the first that has its path.

    :raises NotMeasured: no topic; it names the files.
    """
    found: dict[str, set[str]] = {topic.name: set() for topic in TOPICS}
    files = set()
    for path, hunks in (
        each for patch in patches for each in _changes(patch.decode("utf-8", "replace"))
    ):
        files.add(path)
        if _CODE.fullmatch(path):
            named = [topic for topic in TOPICS if re.search(topic.names, hunks, re.I)]
            own = (topic for topic in TOPICS if re.match(topic.paths, path))
            for topic in named or [*own][:1]:
                found[topic.name].add(path)
    if not any(found.values()):
        some = sorted(files)
        more = f" and {len(some) - 5} more" if len(some) > 5 else ""
        raise NotMeasured(
            f"touches nothing that a scenario measures: {', '.join(some[:5])}{more}; "
            "--scenarios names scenarios all the same"
        )
    return {name: sorted(paths) for name, paths in found.items() if paths}


def scenarios_for(topics: Iterable[str]) -> list[str]:
    """The scenarios of some topics, each once."""
    names = {topic.name: topic.scenarios for topic in TOPICS}
    return list(dict.fromkeys(scenario for topic in topics for scenario in names[topic]))


def _changes(patch: str) -> Iterator[tuple[str, str]]:
    """The files of a patch, each with its hunks' heads and changed lines."""
    _, *parts = _FILE.split(patch)
    for old, new, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        path = (old if new == "/dev/null" else new).partition("/")[2]
        yield path, "\n".join(_HUNK_LINE.findall(text))
