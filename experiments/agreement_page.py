"""The page that puts gem5 beside the fast engine: means over starts, and how far starts part.

A start is a seed: it shifts when tasks begin, by microseconds up to a tick, and with that may
decide where the kernel puts them. So engines are compared over several starts, pair by pair, and
each engine's own spread over starts stands beside their difference.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from analysis.compare import mean_of
from analysis.engine import cpu_models
from analysis.expect import judge
from analysis.statistics import ENOUGH, Difference, difference
from experiments.agreement_cost import against_executed, executed_costs

PLATFORM = "juno-r2"
#: What is aimed at: relative difference of energy, points of residency.
ENERGY_GOAL, RESIDENCY_GOAL = 0.05, 0.02
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


def common(base: Starts, other: Starts) -> list[int]:
    """Seeds that both have."""
    return sorted(set(base) & set(other))


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
    """One cell on all engines: means over starts, and differences to the first column's.

    Each column's mean is over its own starts, its difference over those that the first one has,
    too.
    """
    columns = list(side)
    heads = ["measure", columns[0]]
    for name in columns[1:]:
        heads += [f"gem5 {name}", "diff"]
    yield "| " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * (len(heads) - 1)
    first = side[columns[0]]
    means = {name: mean(list(starts.values())) for name, starts in side.items()}
    values = {name: _measures(ran.result) for name, ran in means.items()}
    pairs = {}
    for name in columns[1:]:
        seeds = common(first, side[name])
        pairs[name] = tuple(
            _measures(mean([starts[seed] for seed in seeds]).result)
            for starts in (first, side[name])
        )
    for measure, (value, kind) in values[columns[0]].items():
        cells = [measure, f"{value:.1f}"]
        for name in columns[1:]:
            base, other = pairs[name]
            if measure not in values[name] or measure not in base or measure not in other:
                cells += ["-", "-"]
                continue
            cells += [
                f"{values[name][measure][0]:.1f}",
                _difference(other[measure][0], base[measure][0], kind),
            ]
        yield "| " + " | ".join(cells) + " |"
    cost = means[columns[0]].host_s_per_s
    cells = ["processor s per simulated s", f"{cost:.2f}"]
    for name in columns[1:]:
        cells += [f"{means[name].host_s_per_s:.1f}", _times(means[name].host_s_per_s / cost)]
    yield "| " + " | ".join(cells) + " |"


@dataclass(frozen=True)
class Compared:
    """One cell on the fast engine and in one mode of gem5, over the starts that both have.

    :param energy: the fast engine's against gem5's, paired by start, in J.
    :param by_start: the same per start, as a share of gem5's; least and most.
    :param fast_spread: the fast engine's starts against its own mean; least and most, shares.
    :param gem5_spread: gem5's.
    :param points: largest difference of the means' residencies, as a share of the window.
    :param agreeing: starts in which all answers to the scenario's expectations are the same; None
        when there is no answer.
    :param means_agree: whether the answers by the means are.
    :param cost: processor seconds per simulated second of gem5 and of the fast engine.
    """

    energy: Difference
    by_start: tuple[float, float]
    fast_spread: tuple[float, float]
    gem5_spread: tuple[float, float]
    points: float
    agreeing: int | None
    means_agree: bool
    cost: tuple[float, float]


def _spread(values: Sequence[float]) -> tuple[float, float]:
    """Least and most, against the mean."""
    middle = sum(values) / len(values)
    return min(values) / middle - 1, max(values) / middle - 1


def _answers(found: Found, key: tuple[str, str], column: str, seeds: Sequence[int]) -> Any:
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


def _same(found: Found, key: tuple[str, str], columns: tuple[str, str], seeds: list[int]) -> Any:
    """Whether both columns answer alike; None when nothing is answered by both."""
    first, second = (_answers(found, key, column, seeds) for column in columns)
    statements = set(first) & set(second)
    if not statements:
        return None
    return all(first[statement] == second[statement] for statement in statements)


def compared(found: Found, key: tuple[str, str], column: str) -> Compared:
    """Put the fast engine's starts of a cell beside one gem5 column's."""
    side = found[key]
    base = next(iter(side))
    seeds = common(side[base], side[column])
    fast = [side[base][seed] for seed in seeds]
    gem5 = [side[column][seed] for seed in seeds]
    shares = [one.total_j / other.total_j - 1 for one, other in zip(fast, gem5, strict=True)]
    alike = [_same(found, key, (base, column), [seed]) for seed in seeds]
    means = mean(fast), mean(gem5)
    return Compared(
        energy=difference([run.total_j for run in gem5], [run.total_j for run in fast]),
        by_start=(min(shares), max(shares)),
        fast_spread=_spread([run.total_j for run in side[base].values()]),
        gem5_spread=_spread([run.total_j for run in side[column].values()]),
        points=max(residency_points(means[0].result, means[1].result).values()),
        agreeing=None if None in alike else sum(alike),
        means_agree=bool(_same(found, key, (base, column), seeds)),
        cost=(means[1].host_s_per_s, means[0].host_s_per_s),
    )


def _range(ends: tuple[float, float], runs: int) -> str:
    return f"{100 * ends[0]:+.1f} .. {100 * ends[1]:+.1f}" if runs > 1 else "-"


def _verdict_words(one: Compared) -> str:
    starts = one.energy.pairs
    if one.agreeing is None:
        return "none stated"
    if starts == 1:
        return "the same" if one.agreeing else "differ *"
    if one.agreeing == starts and one.means_agree:
        return f"the same in {starts} of {starts}"
    means = "the same" if one.means_agree else "differ"
    return f"the same in {one.agreeing} of {starts}, by the means {means} *"


def _summary(found: Found) -> Iterator[str]:
    """One line per cell and mode of gem5."""
    rows = [
        (key, side, name, compared(found, key, name))
        for key, side in found.items()
        for name in list(side)[1:]
    ]
    confident = any(one.energy.low is not None for *_, one in rows)
    heads = ["scenario", "variant", "gem5", "energy", "starts", "by start, %"]
    heads += ["95 % interval"] if confident else []
    heads += ["fast's starts, %", "gem5's starts, %", "worst residency, points", "verdicts"]
    yield f"| {' | '.join(heads)} | processor s per s |"
    yield "|---|---|---|" + "---:|" * (len(heads) - 4) + "---|---:|"
    for (scenario, variant), side, name, one in rows:
        percent = one.energy.percent or 0.0
        good = abs(percent) <= 100 * ENERGY_GOAL
        cells = [scenario, variant, name, f"{percent:+.1f} %{'' if good else ' *'}"]
        cells += [str(one.energy.pairs), _range(one.by_start, one.energy.pairs)]
        if confident:
            low, high = one.energy.low, one.energy.high
            scale = percent / one.energy.absolute if one.energy.absolute else 0.0
            cells += ["-" if low is None or high is None else _range(
                (low * scale / 100, high * scale / 100), one.energy.pairs
            )]  # fmt: skip
        cells += [_range(one.fast_spread, len(next(iter(side.values()))))]
        cells += [_range(one.gem5_spread, len(side[name]))]
        cells += [f"{100 * one.points:.1f}{'' if one.points <= RESIDENCY_GOAL else ' *'}"]
        cells += [_verdict_words(one), f"{one.cost[0]:.1f} ({one.cost[1]:.2f})"]
        yield f"| {' | '.join(cells)} |"


def _wakeups(found: Found) -> Iterator[str]:
    """Medians of all tasks' wake-up latencies: means over each engine's starts, in us."""
    columns = list(dict.fromkeys(name for side in found.values() for name in side))
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
    return f"`python -m experiments.agreement --speeds {speeds}`"


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
    confident = any(
        len(starts) >= ENOUGH for side in found.values() for starts in list(side.values())[1:]
    )
    interval = ", with a paired bootstrap interval of the mean" if confident else ""
    legend = (
        "Differences of the table below are the fast engine's against gem5's. Energy: of the means "
        "over the starts that both have, and the least and the most of single starts, pair by pair"
        f"{interval}. Beside it how far each engine's own starts lie from their mean: where they "
        "part as far as engines do, a single pair tells nothing. Residency: of the means. "
        "Verdicts: in how many starts both engines answer what the scenario expects alike, and "
        "whether the means do, which is what a report states. A star: outside of what is aimed at "
        f"(energy {100 * ENERGY_GOAL:.0f} %, residency {100 * RESIDENCY_GOAL:.0f} points, the same "
        "verdicts). Processor seconds: gem5's of the window; in brackets the fast engine's of the "
        "whole run."
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
            means = f"Means: {starts}. Differences are over the starts that both have."
            lines += ["", f"## {scenario}, {variant}", "", means, "", *table(side)]
    return "\n".join(lines) + "\n"


def machine_load() -> str:
    """What this machine was busy with."""
    one, five, fifteen = os.getloadavg()
    cores = os.cpu_count()
    return (
        f"measured on {cores} cores with a load of {one:.1f}, {five:.1f}, {fifteen:.1f} "
        "(1, 5, 15 min) at the end"
    )
