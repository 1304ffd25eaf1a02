"""Figures of a comparison: placement, frequency and energy, as SVG and PDF.

Each function draws one figure from a comparison's tables and needs no other state. Every figure
names platform, scenario, engine and that engine's error.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from analysis import style
from analysis.compare import Comparison
from analysis.derive import Derived
from configs.platform import Cluster, Platform

#: Length of the stretch of time that timelines show, in ms.
TIMELINE_MS = 200
#: What is known about each engine's error against the reference.
ENGINE_ERROR = {
    "qemu": "its error against gem5 has not been measured yet",
    "gem5": "the reference engine",
}


def write(comparison: Comparison, folder: Path) -> dict[str, list[Path]]:
    """Write all figures below ``folder``: ``{name: [svg, pdf]}``."""
    drawn = {}
    with style.styled():
        for name, draw in FIGURES.items():
            drawn[name] = style.save(draw(comparison), folder, name)
    return drawn


def placement(comparison: Comparison) -> Figure:
    """Who ran where: a stretch of the timeline per CPU, and the whole window's shares."""
    platform = comparison.platform
    names = comparison.names
    colours = _task_colours(comparison)
    height = 0.75 + len(names) * (0.46 + 0.17 * len(platform.cpus)) + 0.42
    figure = Figure(figsize=(style.WIDTH, height))
    grid = figure.add_gridspec(
        len(names),
        2,
        width_ratios=(3.1, 1),
        left=0.105,
        right=0.985,
        top=1 - 0.75 / height,
        bottom=0.72 / height,
        wspace=0.06,
        hspace=0.42,
    )
    widest = max(_busy_shares(comparison.variants[name][0]).get("top", 0.0) for name in names)
    for number, name in enumerate(names):
        run = comparison.variants[name][0]
        left = figure.add_subplot(grid[number, 0])
        right = figure.add_subplot(grid[number, 1], sharey=left)
        _timeline(left, run, platform, colours)
        _shares(right, run, platform, colours, widest)
        left.set_title(name)
        right.set_title("share of the window", fontweight="normal")
        last = number == len(names) - 1
        left.tick_params(labelbottom=last)
        right.tick_params(labelbottom=last)
        if last:
            left.set_xlabel("time since START (ms)")
            right.set_xlabel("CPU time (%)")
    handles = [Patch(color=colour, label=task) for task, colour in colours.items()]
    handles.append(Patch(color=style.REST, label="other threads"))
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.1, 1 - 0.27 / height),
        ncols=min(len(handles), 6),
        borderaxespad=0,
        handlelength=1.1,
        handleheight=0.9,
        columnspacing=1.4,
    )
    seed = comparison.variants[comparison.baseline][0].cell["seed"]
    _label(figure, comparison, "Placement", f"seed {seed}", height)
    return figure


def _task_colours(comparison: Comparison) -> dict[str, str]:
    return {
        task: style.PALETTE[number % len(style.PALETTE)]
        for number, task in enumerate(comparison.tasks)
    }


def _lanes(axes: Axes, platform: Platform) -> None:
    """One lane per CPU, CPU 0 at the top; clusters are set apart by a tint."""
    for cluster in platform.clusters:
        tint = style.lighter(style.CLUSTERS[cluster.index % len(style.CLUSTERS)], 0.92)
        axes.axhspan(cluster.cpus[0] - 0.5, cluster.cpus[-1] + 0.5, color=tint, lw=0, zorder=0)
    axes.set_ylim(len(platform.cpus) - 0.5, -0.5)
    axes.set_yticks(list(platform.cpus))
    axes.set_yticklabels([f"{platform.cluster_of(cpu).name} {cpu}" for cpu in platform.cpus])
    axes.tick_params(axis="y", length=0)


def _timeline(axes: Axes, run: Derived, platform: Platform, colours: dict[str, str]) -> None:
    slices = run.table("slices")
    start, length = _stretch(run)
    inside = slices.filter((pl.col("t1_ns") > start) & (pl.col("t0_ns") < start + length))
    _lanes(axes, platform)
    for task in [None, *colours]:
        rows = inside.filter(
            pl.col("task").is_null() if task is None else pl.col("task") == task
        ).select("cpu", "t0_ns", "t1_ns")
        boxes = []
        for cpu, t0, t1 in rows.iter_rows():
            x0 = max(t0 - start, 0) / 1e6
            x1 = min(t1 - start, length) / 1e6
            boxes.append([(x0, cpu - 0.36), (x1, cpu - 0.36), (x1, cpu + 0.36), (x0, cpu + 0.36)])
        colour = style.REST if task is None else colours[task]
        # The thin edge keeps a slice of a few microseconds visible.
        axes.add_collection(
            PolyCollection(boxes, facecolor=colour, edgecolor=colour, linewidth=0.25, zorder=2)
        )
    axes.set_xlim(0, length / 1e6)


def _stretch(run: Derived) -> tuple[int, int]:
    """Begin (ns since power-on) and length of the part that timelines show."""
    first = int(run.table("frequency")["t0_ns"].min())  # type: ignore[arg-type]
    whole = round(run.result["window_s"] * 1e9)
    return first, min(TIMELINE_MS * 1_000_000, whole)


def _busy_shares(run: Derived) -> dict[str, float]:
    placed = run.table("placement").group_by("cpu").agg(pl.col("run_ns").sum())
    whole = run.result["window_s"] * 1e9
    return {"top": 100 * max(placed["run_ns"].to_list(), default=0) / whole}


def _shares(
    axes: Axes, run: Derived, platform: Platform, colours: dict[str, str], widest: float
) -> None:
    placed = run.table("placement")
    whole = run.result["window_s"] * 1e9
    _lanes(axes, platform)
    axes.tick_params(labelleft=False)
    filled = dict.fromkeys(platform.cpus, 0.0)
    for task in [*colours, None]:
        rows = placed.filter(pl.col("task").is_null() if task is None else pl.col("task") == task)
        by_cpu = dict(rows.group_by("cpu").agg(pl.col("run_ns").sum()).sort("cpu").iter_rows())
        widths = [100 * by_cpu.get(cpu, 0) / whole for cpu in platform.cpus]
        axes.barh(
            list(platform.cpus),
            widths,
            left=[filled[cpu] for cpu in platform.cpus],
            height=0.72,
            color=style.REST if task is None else colours[task],
            zorder=2,
        )
        for cpu, width in zip(platform.cpus, widths, strict=True):
            filled[cpu] += width
    limit = min(100.0, max(widest * 1.22, 5.0))
    for cpu, total in filled.items():
        if total >= 0.05:
            inside = total > 0.82 * limit
            axes.text(
                total - 0.015 * limit if inside else total + 0.015 * limit,
                cpu,
                f"{total:.1f}",
                va="center",
                ha="right" if inside else "left",
                color="#FFFFFF" if inside else style.INK,
                fontsize=7,
                zorder=3,
            )
    axes.set_xlim(0, limit)
    axes.grid(axis="x", color=style.GRID, linewidth=0.5, zorder=1)
    axes.set_axisbelow(True)


def frequency(comparison: Comparison) -> Figure:
    """Clock of each cluster over time, and the share of the window at each OPP."""
    platform = comparison.platform
    names = comparison.names
    count = len(platform.clusters) * len(names)
    height = 0.5 + 0.62 * count + 0.2 * len(platform.clusters) + 0.62
    figure = Figure(figsize=(style.WIDTH, height))
    ratios: list[float] = []
    for number in range(len(platform.clusters)):
        ratios += ([0.32] if number else []) + [1.0] * len(names)
    grid = figure.add_gridspec(
        len(ratios),
        2,
        width_ratios=(2.2, 1.3),
        height_ratios=ratios,
        left=0.165,
        right=0.985,
        top=1 - 0.52 / height,
        bottom=0.72 / height,
        wspace=0.08,
        hspace=0.28,
    )
    row = 0
    for cluster in platform.clusters:
        for number, name in enumerate(names):
            run = comparison.variants[name][0]
            left = figure.add_subplot(grid[row, 0])
            right = figure.add_subplot(grid[row, 1])
            _clock(left, run, cluster, name)
            _residency(right, comparison, cluster, name)
            if number == 0:
                left.set_title(f"{cluster.name}: clock (MHz)")
                right.set_title("time at each OPP (%; MHz in the bar)", fontweight="normal")
            last = cluster is platform.clusters[-1] and number == len(names) - 1
            left.tick_params(labelbottom=last)
            right.tick_params(labelbottom=last, left=False, labelleft=False)
            if last:
                left.set_xlabel("time since START (ms)")
                right.set_xlabel("share of the window (%)")
            row += 1
        row += 1
    seed = comparison.variants[comparison.baseline][0].cell["seed"]
    several = "; shares are means over seeds" if len(comparison.seeds) > 1 else ""
    _label(figure, comparison, "Frequency", f"seed {seed}{several}", height)
    return figure


def _clock(axes: Axes, run: Derived, cluster: Cluster, name: str) -> None:
    start, length = _stretch(run)
    rows = run.table("frequency").filter(
        (pl.col("cluster") == cluster.index) & (pl.col("t0_ns") < start + length)
    )
    x: list[float] = []
    y: list[float] = []
    for khz, t0, t1 in rows.select("khz", "t0_ns", "t1_ns").iter_rows():
        x += [max(t0 - start, 0) / 1e6, min(t1 - start, length) / 1e6]
        y += [khz / 1000, khz / 1000]
    colour = style.CLUSTERS[cluster.index % len(style.CLUSTERS)]
    axes.fill_between(x, y, color=style.lighter(colour, 0.75), linewidth=0, zorder=1)
    axes.plot(x, y, color=colour, linewidth=0.9, zorder=2)
    ticks = _apart([opp.khz / 1000 for opp in cluster.opps], 0.26 * cluster.max_khz / 1000)
    axes.set_yticks(ticks)
    axes.set_yticklabels([f"{tick:g}" for tick in ticks])
    axes.set_ylim(0, cluster.max_khz / 1000 * 1.08)
    axes.set_xlim(0, length / 1e6)
    axes.grid(axis="y", color=style.GRID, linewidth=0.5, zorder=0)
    axes.annotate(
        name,
        (0, 0.5),
        xycoords="axes fraction",
        xytext=(-36, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=8,
    )


def _apart(values: list[float], distance: float) -> list[float]:
    """The largest value and, going down, every value at least ``distance`` below the last kept."""
    kept = [values[-1]]
    for value in reversed(values):
        if kept[-1] - value >= distance:
            kept.append(value)
    return kept


def _residency(axes: Axes, comparison: Comparison, cluster: Cluster, name: str) -> None:
    shares = comparison.summary(name)["residency"][cluster.name]
    colour = style.CLUSTERS[cluster.index % len(style.CLUSTERS)]
    begin = 0.0
    for number, opp in enumerate(cluster.opps):
        share = 100 * shares[str(opp.khz)]
        fill = style.shade(colour, number / max(len(cluster.opps) - 1, 1))
        axes.barh([0], [share], left=begin, height=0.7, color=fill, edgecolor="white", lw=0.5)
        if share >= 11:
            mhz = f"{opp.khz / 1000:g}"
            axes.text(
                begin + share / 2,
                0,
                f"{mhz}: {share:.0f} %" if share >= 28 else mhz,
                ha="center",
                va="center",
                fontsize=7,
                color=style.ink_on(fill),
            )
        begin += share
    axes.set_ylim(-0.5, 0.5)
    axes.set_xlim(0, 100)
    axes.spines["left"].set_visible(False)


def energy(comparison: Comparison) -> Figure:
    """Energy of the window by cluster and component, one bar per variant."""
    names = comparison.names
    summaries = {name: comparison.summary(name)["energy_j"] for name in names}
    layers = _layers(comparison, summaries)
    clusters = len({layer[0] for layer in layers})
    height = 0.55 + 0.17 * clusters + 0.52 * len(names) + 0.78
    figure = Figure(figsize=(style.WIDTH, height))
    axes = figure.add_axes(
        (0.125, 0.74 / height, 0.86, (0.52 * len(names) + 0.06) / height),
    )
    top = max(summary["total"] for summary in summaries.values()) * 1e3
    base = summaries[comparison.baseline]["total"]
    for row, name in enumerate(names):
        begin = 0.0
        for cluster, component, colour, hatch in layers:
            part = summaries[name]["cluster_component"][cluster].get(component, 0.0) * 1e3
            axes.barh(
                [row], [part], left=begin, height=0.62, color=colour,
                hatch=hatch, edgecolor="white", linewidth=0.5, zorder=2,
            )  # fmt: skip
            if part > 0.055 * top:
                axes.text(
                    begin + part / 2, row, f"{part:.1f}", ha="center", va="center",
                    fontsize=7, color=style.ink_on(colour), zorder=3,
                )  # fmt: skip
            begin += part
        text = f"{begin:.1f} mJ"
        if name != comparison.baseline and base:
            text += f"\n{100 * (summaries[name]['total'] / base - 1):+.1f} %"
        axes.text(begin + 0.012 * top, row, text, va="center", ha="left", fontsize=7.5)
        _seed_marks(axes, comparison, name, row)
    axes.set_yticks(range(len(names)))
    axes.set_yticklabels(names, fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, top * 1.14)
    axes.set_xlabel(f"energy of the {comparison_window(comparison):.3g} s window (mJ)")
    axes.grid(axis="x", color=style.GRID, linewidth=0.5, zorder=0)
    handles = _energy_handles(layers)
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.12, 1 - 0.27 / height),
        ncols=len(handles) // clusters,
        borderaxespad=0,
        handlelength=1.3,
        handleheight=0.9,
        columnspacing=1.4,
    )
    power = comparison.variants[comparison.baseline][0].result["power_model"]["name"]
    seeds = len(comparison.seeds)
    note = f"{power} power per OPP and idle state; " + (
        f"means over {seeds} seeds (dots: each seed)" if seeds > 1 else "one seed"
    )
    _label(figure, comparison, "Energy", note, height)
    return figure


def comparison_window(comparison: Comparison) -> float:
    """Length of the window in s."""
    return float(comparison.variants[comparison.baseline][0].result["window_s"])


def _layers(
    comparison: Comparison, summaries: dict[str, dict[str, dict[str, dict[str, float]]]]
) -> list[tuple[str, str, str, str]]:
    """(cluster, component, colour, hatch) from left to right; parts that are 0 everywhere go."""
    layers = []
    for cluster in comparison.platform.clusters:
        colour = style.CLUSTERS[cluster.index % len(style.CLUSTERS)]
        found = {
            component
            for summary in summaries.values()
            for component, value in summary["cluster_component"][cluster.name].items()
            if value > 0
        }
        idle = sorted(name for name in found if name.startswith("idle_") and name != "idle_exit")
        order = [("active", 0.0, ""), ("idle_exit", 0.25, "////")]
        order += [(name, 0.45 + 0.15 * number, "") for number, name in enumerate(idle)]
        order += [("shared", 0.78, "")]
        for component, amount, hatch in order:
            if component in found:
                layers.append((cluster.name, component, style.lighter(colour, amount), hatch))
    return layers


def _energy_handles(layers: list[tuple[str, str, str, str]]) -> list[Patch]:
    """Legend entries, a row per cluster: the legend is filled by columns, short rows are padded."""
    by_cluster: dict[str, list[Patch]] = {}
    for where, what, colour, hatch in layers:
        patch = Patch(
            facecolor=colour, hatch=hatch, edgecolor="white", label=f"{where} {_words(what)}"
        )
        by_cluster.setdefault(where, []).append(patch)
    longest = max(len(patches) for patches in by_cluster.values())
    return [
        patches[column] if column < len(patches) else Patch(alpha=0, label=" ")
        for column in range(longest)
        for patches in by_cluster.values()
    ]


def _seed_marks(axes: Axes, comparison: Comparison, name: str, row: int) -> None:
    """A dot per seed at its total, when there are several."""
    if len(comparison.seeds) < 2:
        return
    totals = [comparison.results[name][seed]["energy_j"]["total"] for seed in comparison.seeds]
    axes.plot(
        [1e3 * total for total in totals],
        [row + 0.38] * len(totals),
        linestyle="none",
        marker="o",
        markersize=2.2,
        color=style.INK,
        zorder=4,
        clip_on=False,
    )


def _words(component: str) -> str:
    return component.replace("_", " ")


def _label(figure: Figure, comparison: Comparison, title: str, detail: str, height: float) -> None:
    """Title line and the line below that says where the figure comes from."""
    cell = comparison.cell
    figure.text(
        0.012,
        1 - 0.05 / height,
        f"{title}: {cell['scenario']} on {cell['platform']}",
        fontsize=9.5,
        fontweight="bold",
        va="top",
    )
    error = ENGINE_ERROR.get(comparison.engine, "error not known")
    figure.text(
        0.012,
        0.06 / height,
        f"Engine: {comparison.engine} ({error}). {detail[:1].upper()}{detail[1:]}.",
        fontsize=6.8,
        color=style.MUTED,
        va="bottom",
    )


FIGURES: dict[str, Callable[[Comparison], Figure]] = {
    "placement": placement,
    "frequency": frequency,
    "energy": energy,
}
