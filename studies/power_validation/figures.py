# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of the validation page: measured against modelled power, errors by OPP, residuals."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
# Same bytes from the same data: no random ids, no date.
matplotlib.rcParams["svg.hashsalt"] = "eascope"

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from power.calibrate import free_terms  # noqa: E402
from power.counted import load_calibration  # noqa: E402
from power.fit import errors, leaving_out, unbounded  # noqa: E402
from power.measurements import load_measured  # noqa: E402


def draw(core: str, folder: Path) -> None:
    """Draw both figures of ``core`` into ``folder``."""
    calibration = load_calibration(core)
    data = load_measured(calibration.model)
    names = list(calibration.factors)
    matrix = data.matrix(names)
    factors = np.array([calibration.factors[name] for name in names])
    modelled = matrix @ factors
    workloads = leaving_out(matrix, data.watts, data.workload)
    opps = leaving_out(matrix, data.watts, data.megahertz)
    free = free_terms(data)
    free_opps = leaving_out(free, data.watts, data.megahertz, unbounded)

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    shades = plt.get_cmap("viridis")(np.linspace(0.05, 0.95, len(np.unique(data.megahertz))))
    for mhz, shade in zip(np.unique(data.megahertz), shades, strict=True):
        here = data.megahertz == mhz
        left.loglog(data.watts[here], modelled[here], ".", ms=4, color=shade, label=f"{mhz:g} MHz")
    ends = [data.watts.min() * 0.9, data.watts.max() * 1.1]
    left.plot(ends, ends, color="black", lw=0.8)
    left.set(xlabel="measured power of the cluster (W)", ylabel="modelled power (W)")
    left.legend(fontsize=7, frameon=False)
    positions = np.arange(len(np.unique(data.megahertz)))
    bars = (
        ("fit", errors(modelled, data.watts)),
        ("leaving workloads out", workloads),
        ("leaving OPPs out", opps),
        ("free regression, leaving OPPs out", free_opps),
    )
    for index, (label, crossed) in enumerate(bars):
        heights = [error for error, _ in crossed.by(data.megahertz).values()]
        right.bar(positions + (index - 1.5) * 0.2, heights, 0.2, label=label)
    right.set_xticks(positions, [f"{mhz:g}" for mhz in np.unique(data.megahertz)])
    right.set(xlabel="OPP (MHz)", ylabel="mean absolute error (%)")
    right.legend(fontsize=7, frameon=False)
    _save(figure, folder / "opps.svg")

    figure, axes = plt.subplots(figsize=(10, 4.2), layout="constrained")
    known = sorted(
        np.unique(data.workload), key=lambda name: workloads.relative[data.workload == name].mean()
    )
    axes.boxplot(
        [workloads.relative[data.workload == name] * 100 for name in known],
        widths=0.6,
        flierprops={"markersize": 2},
    )
    axes.axhline(0, color="black", lw=0.8)
    axes.set_xticks(range(1, len(known) + 1), known, rotation=70, ha="right", fontsize=7)
    axes.set_ylabel("modelled less measured, itself left out (%)")
    _save(figure, folder / "residuals.svg")


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
