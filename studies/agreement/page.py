# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that puts gem5 beside the fast engine: means over starts, and how far starts part.

A start is a seed: it shifts when tasks begin, by microseconds up to a tick, and with that may
decide where the kernel puts them. Which start does what is chance, and another one on each engine:
so all starts of an engine are one sample, and each sample's own spread stands beside the difference
of the means.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from textwrap import wrap
from typing import Any

from analysis.compare import mean_of
from analysis.engine import cpu_models
from analysis.expect import judge
from analysis.statistics import ENOUGH, Apart, apart
from studies.agreement.cost import against_executed, executed_costs

PLATFORM = "juno-r2"
#: What is aimed at: relative difference of energy, points of residency.
ENERGY_GOAL, RESIDENCY_GOAL = 0.05, 0.02
#: Medians of wake-ups that differ by no more count as close.
CLOSE = 0.2
#: Of a line of text.
WIDTH = 118


@dataclass(frozen=True)
class Ran:
    """A derived run and what it cost."""

    result: Mapping[str, Any]
    cell: Mapping[str, Any]
    host: Mapping[str, Any]

    @property
    def host_s_per_s(self) -> float:
        """Processor seconds per simulated second; on gem5 of the window alone."""
        parts = self.host.get("parts_cpu_s")
        if parts is None:
            return float(self.host["cpu_s"] / self.host["sim_s"])
        return float(parts["window"] / self.result["window_s"])

    @property
    def total_j(self) -> float:
        """Energy of the window in J."""
        return float(self.result["energy_j"]["total"])


#: One run by column.
Side = Mapping[str, Ran]
#: One engine's runs of a cell, by seed.
Starts = Mapping[int, Ran]
#: A cell: the runs of every column, by seed; and all of them, by scenario and variant.
Starting = Mapping[str, Starts]
Found = Mapping[tuple[str, str], Starting]


def mean(runs: Sequence[Ran]) -> Ran:
    """The mean of several starts: results and costs, number by number."""
    return Ran(
        mean_of([run.result for run in runs]), runs[0].cell, mean_of([run.host for run in runs])
    )


def residency_points(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, float]:
    """Largest difference of an OPP's share of the window, by cluster."""
    return {
        cluster: max(abs(share - b["residency"][cluster][khz]) for khz, share in shares.items())
        for cluster, shares in a["residency"].items()
    }


def _measures(result: Mapping[str, Any]) -> dict[str, tuple[float, str]]:
    """Measures by name with how they differ: ``%`` relatively, else by subtraction."""
    found: dict[str, tuple[float, str]] = {}
    energy = result["energy_j"]
    for cluster, joules in energy["cluster"].items():
        found[f"energy, {cluster} (mJ)"] = (1000 * joules, "%")
    found["energy, total (mJ)"] = (1000 * energy["total"], "%")
    for cluster, shares in result["residency"].items():
        for khz, share in shares.items():
            found[f"{cluster} at {int(khz) / 1000:g} MHz (%)"] = (100 * share, "")
    for cluster, rate in result["opp_transitions_per_s"].items():
        found[f"OPP changes of {cluster} (1/s)"] = (rate, "%")
    for cluster, rate in result["opp_requests_per_s"].items():
        found[f"OPP requests of {cluster} (1/s)"] = (rate, "%")
    for task, shares in result["run_share"].items():
        first = next(iter(shares))
        found[f"{task} on {first} (%)"] = (100 * shares[first], "")
    for cluster, busy in result["cluster_busy"].items():
        found[f"busiest CPU of {cluster} (%)"] = (100 * busy["max"], "")
    found["migrations"] = (result["migrations"], "")
    for task, times in result["latency_us"].items():
        for name in ("p50", "p99"):
            found[f"wake-up of {task}, {name} (us)"] = (times[name], "")
    if "missed_deadlines" in result:
        found["missed deadlines"] = (result["missed_deadlines"], "")
    return found


def _difference(value: float, base: float, kind: str) -> str:
    if kind == "%":
        return f"{100 * (value / base - 1):+.1f} %" if base else "-"
    return f"{value - base:+.1f}"


def _times(ratio: float) -> str:
    """A cost as so many times another, or as a fraction of it."""
    return f"{ratio:.0f} x" if ratio >= 1 else f"1/{1 / ratio:.0f}"


def table(side: Starting) -> Iterator[str]:
    """One cell on all engines: means over each one's starts, and differences to the first's."""
    columns = list(side)
    heads = ["measure", columns[0]]
    for name in columns[1:]:
        heads += [f"gem5 {name}", "diff"]
    yield "| " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * (len(heads) - 1)
    means = {name: mean(list(starts.values())) for name, starts in side.items()}
    values = {name: _measures(ran.result) for name, ran in means.items()}
    for measure, (value, kind) in values[columns[0]].items():
        cells = [measure, f"{value:.1f}"]
        for name in columns[1:]:
            if measure not in values[name]:
                cells += ["-", "-"]
                continue
            other = values[name][measure][0]
            cells += [f"{other:.1f}", _difference(other, value, kind)]
        yield "| " + " | ".join(cells) + " |"
    cost = means[columns[0]].host_s_per_s
    cells = ["processor s per simulated s", f"{cost:.2f}"]
    for name in columns[1:]:
        cells += [f"{means[name].host_s_per_s:.1f}", _times(means[name].host_s_per_s / cost)]
    yield "| " + " | ".join(cells) + " |"


@dataclass(frozen=True)
class Verdict:
    """The answers of both engines to one expectation of a scenario.

    :param holds: in how many of the fast engine's starts it does, and of gem5's.
    :param starts: how many of them answer at all.
    :param alike: whether the answers by the means are the same.
    """

    statement: str
    holds: tuple[int, int]
    starts: tuple[int, int]
    alike: bool

    @property
    def words(self) -> str:
        """For the table."""
        (fast, gem5), (of_fast, of_gem5) = self.holds, self.starts
        means = "the same" if self.alike else "differ *"
        starts = f"{fast} of {of_fast} and {gem5} of {of_gem5}"
        return f"`{self.statement}` holds in {starts}, by the means {means}"


@dataclass(frozen=True)
class Compared:
    """One cell on the fast engine and in one mode of gem5, over all starts of each.

    :param energy: the fast engine's against gem5's.
    :param spread: the fast engine's starts against their own mean, least and most, as shares; and
        gem5's.
    :param starts: of the fast engine and of gem5.
    :param points: largest difference of the means' residencies, as a share of the window.
    :param verdicts: one for each expectation that both can answer.
    :param cost: processor seconds per simulated second of gem5 and of the fast engine.
    """

    energy: Apart
    spread: tuple[tuple[float, float], tuple[float, float]]
    starts: tuple[int, int]
    points: float
    verdicts: tuple[Verdict, ...]
    cost: tuple[float, float]


def _spread(values: Sequence[float]) -> tuple[float, float]:
    """Least and most, against the mean."""
    middle = sum(values) / len(values)
    return min(values) / middle - 1, max(values) / middle - 1


def _answers(
    found: Found, key: tuple[str, str], column: str, seeds: Sequence[int]
) -> dict[str, bool]:
    """Statement -> whether it holds by the means over ``seeds``, where it can be answered."""
    scenario, variant = key
    results = {
        name: {seed: run.result for seed, run in side.get(column, {}).items() if seed in seeds}
        for (where, name), side in found.items()
        if where == scenario
    }
    entries = next(iter(found[key][column].values())).cell.get("expect", ())
    judged = [judge(entry, results) for entry in entries if entry["variant"] == variant]
    return {one.statement: one.holds for one in judged if one.holds is not None}


def _verdicts(found: Found, key: tuple[str, str], columns: tuple[str, str]) -> Iterator[Verdict]:
    """Every expectation that both columns can answer, by their means and start by start."""
    seeds = [list(found[key][column]) for column in columns]
    means = [
        _answers(found, key, column, mine) for column, mine in zip(columns, seeds, strict=True)
    ]
    singly = [
        [_answers(found, key, column, [seed]) for seed in mine]
        for column, mine in zip(columns, seeds, strict=True)
    ]
    for statement in means[0]:
        if statement not in means[1]:
            continue
        answers = [[one[statement] for one in some if statement in one] for some in singly]
        yield Verdict(
            statement,
            holds=(sum(answers[0]), sum(answers[1])),
            starts=(len(answers[0]), len(answers[1])),
            alike=means[0][statement] == means[1][statement],
        )


def compared(found: Found, key: tuple[str, str], column: str) -> Compared:
    """Put the fast engine's starts of a cell beside one gem5 column's."""
    side = found[key]
    base = next(iter(side))
    fast, gem5 = (list(side[name].values()) for name in (base, column))
    joules = [[run.total_j for run in runs] for runs in (fast, gem5)]
    means = mean(fast), mean(gem5)
    return Compared(
        energy=apart(joules[1], joules[0]),
        spread=(_spread(joules[0]), _spread(joules[1])),
        starts=(len(fast), len(gem5)),
        points=max(residency_points(means[0].result, means[1].result).values()),
        verdicts=tuple(_verdicts(found, key, (base, column))),
        cost=(means[1].host_s_per_s, means[0].host_s_per_s),
    )


def _range(ends: tuple[float, float], runs: int) -> str:
    return f"{100 * ends[0]:+.1f} .. {100 * ends[1]:+.1f}" if runs > 1 else "-"


def _interval(energy: Apart) -> str:
    if energy.low is None or energy.high is None:
        return "-"
    return f"{energy.low:+.1f} .. {energy.high:+.1f}"


def _summary(found: Found) -> Iterator[str]:
    """One line per cell and mode of gem5."""
    rows = [
        (key, name, compared(found, key, name))
        for key, side in found.items()
        for name in list(side)[1:]
    ]
    heads = ["scenario", "variant", "gem5", "energy", "starts", "95 % interval"]
    heads += ["fast's starts, %", "gem5's starts, %", "worst residency, points", "verdicts"]
    yield f"| {' | '.join(heads)} | processor s per s |"
    yield "|---|---|---|" + "---:|" * (len(heads) - 4) + "---|---:|"
    for (scenario, variant), name, one in rows:
        percent = round(one.energy.percent, 1) + 0.0  # never -0.0
        good = abs(percent) <= 100 * ENERGY_GOAL
        cells = [scenario, variant, name, f"{percent:+.1f} %{'' if good else ' *'}"]
        cells += [", ".join(map(str, one.starts)), _interval(one.energy)]
        cells += [_range(*both) for both in zip(one.spread, one.starts, strict=True)]
        cells += [f"{100 * one.points:.1f}{'' if one.points <= RESIDENCY_GOAL else ' *'}"]
        cells += ["; ".join(verdict.words for verdict in one.verdicts) or "none stated"]
        cells += [f"{one.cost[0]:.1f} ({one.cost[1]:.2f})"]
        yield f"| {' | '.join(cells)} |"


def _wakeups(found: Found) -> Iterator[str]:
    """Medians of all tasks' wake-up latencies: means over each engine's starts, in us."""
    columns = list(dict.fromkeys(name for side in found.values() for name in side))
    ratios: dict[str, list[float]] = {}
    yield "Wake-ups, median in us (each engine's starts): from `sched_waking` to `sched_switch`."
    yield ""
    yield f"| scenario | variant | task | {' | '.join(columns)} |"
    yield "|---|---|---|" + "---:|" * len(columns)
    for (scenario, variant), side in found.items():
        medians = {
            name: mean(list(starts.values())).result["latency_us"] for name, starts in side.items()
        }
        for task in dict.fromkeys(task for times in medians.values() for task in times):
            told = [
                f"{medians[name][task]['p50']:.1f}" if task in medians.get(name, {}) else "-"
                for name in columns
            ]
            yield f"| {scenario} | {variant} | {task} | {' | '.join(told)} |"
            for name in columns[1:]:
                if task in medians.get(columns[0], {}) and task in medians.get(name, {}):
                    ratio = medians[columns[0]][task]["p50"] / medians[name][task]["p50"]
                    ratios.setdefault(name, []).append(ratio)
    yield ""
    for name, found_ratios in ratios.items():
        close = sum(abs(ratio - 1) <= CLOSE for ratio in found_ratios)
        yield (
            f"The fast engine's are {geometric_mean(found_ratios):.2f} times those of "
            f"`{name}` (geometric mean of {len(found_ratios)}; {close} within {100 * CLOSE:.0f} %)."
        )
    yield ""


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"1 start (seed {seeds[0]})"
    if list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{len(seeds)} starts (seeds {seeds[0]} to {seeds[-1]})"
    return f"{len(seeds)} starts (seeds {', '.join(map(str, seeds))})"


def _fast_costs(found: Found) -> dict[str, float]:
    """The fast engine's processor seconds per simulated second with mainline, by scenario."""
    return {
        scenario: mean(list(side[next(iter(side))].values())).host_s_per_s
        for (scenario, variant), side in found.items()
        if variant == "mainline" and side
    }


def _speeds(run: Ran) -> str:
    speeds = run.cell["controls"]["speeds"]
    return "the board's speeds" if speeds == "board" else f"{speeds} speeds"


def _command(run: Ran) -> str:
    speeds = run.cell["controls"]["speeds"]
    if speeds == "board":
        return "`make engine-agreement`"
    return f"`python -m studies.agreement --speeds {speeds}`"


def page(found: Found, load: str, notes: str = "", costs: Mapping[str, float] | None = None) -> str:
    """The page's text.

    :param notes: a person's, on what differs.
    :param costs: of executed runs; by default from the page on elision.
    """
    some = next(
        run for side in found.values() for starts in side.values() for run in starts.values()
    )
    models = {
        name: ", ".join(f"{cluster} {model}" for cluster, model in cpu_models(run.cell).items())
        for side in found.values()
        for name, starts in side.items()
        for run in starts.values()
        if cpu_models(run.cell)
    }
    legend = (
        "Differences of the table below are the fast engine's against gem5's, over all starts of "
        "each: a start shifts when tasks begin, and which start puts them where is another draw on "
        f"each engine. Energy: of the means, with a bootstrap interval where both have {ENOUGH} "
        "starts; beside it how far each engine's own starts lie from their mean. Residency: of the "
        "means. Verdicts: in how many starts of the fast engine and of gem5 holds what the "
        "scenario expects, and whether the answers by the means, which are what a report states, "
        f"are the same. A star: outside of what is aimed at (energy {100 * ENERGY_GOAL:.0f} %, "
        f"residency {100 * RESIDENCY_GOAL:.0f} points, the same verdicts). Processor seconds: "
        "gem5's of the window; in brackets the fast engine's of the whole run."
    )
    lines = [
        "# How far the fast engine and gem5 agree",
        "",
        *wrap(
            f"Made by {_command(some)}. Platform {PLATFORM}, {_speeds(some)}, short windows, busy "
            f"loops elided on all engines, energy from {some.result['power_model']['name']} power.",
            WIDTH,
        ),
        "",
        *(f"* gem5 in mode `{name}`: {words}" for name, words in models.items()),
        f"* {load}",
        "",
        *wrap(legend, WIDTH),
        "",
        *_summary(found),
        "",
        *_wakeups(found),
        *against_executed(_fast_costs(found), executed_costs() if costs is None else costs),
        notes.rstrip(),
    ]
    for (scenario, variant), side in found.items():
        if len(side) > 1:
            starts = ", ".join(f"{name} {_seeds(sorted(runs))}" for name, runs in side.items())
            lines += ["", f"## {scenario}, {variant}", "", f"Means: {starts}.", "", *table(side)]
    return "\n".join(lines) + "\n"


def machine_load() -> str:
    """What this machine was busy with."""
    one, five, fifteen = os.getloadavg()
    cores = os.cpu_count()
    return (
        f"measured on {cores} cores with a load of {one:.1f}, {five:.1f}, {fifteen:.1f} "
        "(1, 5, 15 min) at the end"
    )
