# SPDX-License-Identifier: GPL-2.0-or-later
"""The drawn parts of the README: the output of the demo, and the error of each part of the model.

They are between comments, ``<!-- headline -->`` and ``<!-- end of headline -->``. Their texts are
in ``results/notes/front``. All figures in them come from records.
"""

from __future__ import annotations

from pathlib import Path

from analysis.glance import shortened
from analysis.results.agreement import Agreement, AgreementColumn
from analysis.results.cluster_power import MeasuredCluster
from analysis.results.demo import Demo
from analysis.results.error import EARLIER_BILLING
from analysis.results.hardware import Hardware
from analysis.results.memory_time import MemoryTime
from analysis.results.origin import RESULTS
from configs.activity import load_activity
from configs.billing import MEASURED, PROFILE, PUBLISHED
from configs.platform_file import load_platform
from experiments.characterisation.record import capacities
from power.billed import StatedPower
from studies.agreement import page as agreement_page
from studies.characterisation.page import PLATFORMS
from studies.cluster_power import page as cluster_power_page
from studies.cluster_power import plan as cluster_power
from studies.demo import plan as demo
from studies.hardware import page as hardware_page
from studies.hardware import plan as hardware
from studies.memory_time import page as memory_time_page
from studies.memory_time import plan as memory_time
from studies.notes import NOTES, page_of
from studies.power_validation.others import chips
from studies.power_validation.page import parts as validation_parts

README = RESULTS.parent / "README.md"
FRONT = NOTES.name + "/front"
#: Measures whose rows the README leaves out.
_LEFT_OUT = ("work_share", "mean_mhz.little")


def drawn(text: str, results: Path = RESULTS) -> str:
    """The README ``text`` with its drawn parts as they are by the records below ``results``.

    :raises EascopeError: one line, when a record or a note is damaged.
    :raises ValueError: when the README has no place for a part.
    """
    parts = {
        "headline": headline_parts(results),
        "hardware": hardware_parts(results),
        "validity": validity_parts(results),
    }
    for name, known in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, found_begin, rest = text.partition(begin)
        _, found_end, after = rest.partition(end)
        if not found_begin or not found_end:
            raise ValueError(f"{README.name} has no {begin.strip()} .. {end}")
        content = page_of(name, known, results / FRONT)
        text = f"{before}{begin}{content}{end}{after}"
    return text


def headline_parts(results: Path = RESULTS) -> dict[str, str]:
    """What the demo prints, and how often the big cluster's OPP changes in a second."""
    record = Demo.read(results / f"{demo.NAME}.json")
    changes = record.changes_per_s.items()
    return {
        "printed": _block(shortened(record.glance, _LEFT_OUT)),
        **{f"changes.{name}": how_often(round(count)) for name, count in changes},
    }


def hardware_parts(results: Path = RESULTS) -> dict[str, str]:
    """The scoreboard's counts."""
    return {"answer": hardware_page.answer(Hardware.read(results / f"{hardware.NAME}.json"))}


def how_often(count: int) -> str:
    """``once``, ``twice``, ``139 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _block(text: str) -> str:
    """``text`` as an indented block of Markdown."""
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def validity_parts(results: Path = RESULTS) -> dict[str, str]:
    """The error of each part of the model, by the committed records."""
    agreement = Agreement.read(results / "engine-agreement.json")
    gem5 = agreement.columns[1:]
    memory = memory_time_page.parts(MemoryTime.read(results / f"{memory_time.NAME}.json"))
    errors = [chip.mean_error for chip in chips() if chip.rows]
    cluster = MeasuredCluster.read(results / f"{cluster_power.NAME}.json")
    return {
        "energy": ", within ".join(
            f"{_worst(agreement, column):.1f} % of gem5's {column.cpu_words} CPUs"
            for column in gem5
        )
        + ("" if agreement.billing else f", {EARLIER_BILLING}"),
        "residency": ", ".join(
            f"{_worst_residency(agreement, column):.0f} points from gem5's {column.cpu_words} CPUs"
            for column in gem5
        ),
        "wake-ups": ", ".join(
            f"{agreement.wake_ups[column.name].mean:.2f} times as long as on gem5's "
            f"{column.cpu_words} CPUs"
            for column in gem5
            if column.name in agreement.wake_ups
        ),
        "seeds": agreement_page.also(agreement)["seeds"],
        **{f"memory.{name}": memory[name] for name in ("stated", "share", "singles")},
        "calibrated": validation_parts()["left-out-error"],
        "cluster": cluster_power_page.against_goal(cluster),
        "chips": f"{100 * min(errors):+.0f} to {100 * max(errors):+.0f} %",
        "published": _against_profile(PUBLISHED),
        "measured": _against_profile(MEASURED),
        **{f"littles.{platform}": _littles(platform) for platform in PLATFORMS},
    }


def _against_profile(name: str) -> str:
    """A busy CPU's power on pixel6 by ``name``, over the profile's, where there is a figure."""
    words = []
    platform = load_platform("pixel6")
    for cluster in platform.clusters:
        tables = {busy.name: busy for busy in cluster.busy}
        gaps = tables[name].interpolated if name in tables else ()
        billed = StatedPower(platform, name)
        ratios = [
            billed.busy_microwatt(cluster, opp.khz) / profile
            for opp, profile in zip(cluster.opps, tables[PROFILE].power_uw, strict=True)
            if opp.khz not in gaps
        ]
        words.append(f"{min(ratios):.2f} to {max(ratios):.2f} ({cluster.name})")
    return ", ".join(words)


def _worst(agreement: Agreement, column: AgreementColumn) -> float:
    """The largest difference of energy from gem5's in this mode, in per cent."""
    return max(
        abs(cell.against[column.name].energy_percent)
        for cell in agreement.cells
        if column.name in cell.against
    )


def _worst_residency(agreement: Agreement, column: AgreementColumn) -> float:
    """The largest difference of an OPP's share of the window from gem5's, in points."""
    return max(
        cell.against[column.name].residency_points
        for cell in agreement.cells
        if column.name in cell.against
    )


def _littles(name: str) -> str:
    """Capacity of the platform's smallest CPUs: by gem5's cores, and the device tree's."""
    platform = load_platform(name)
    first = capacities(platform, load_activity(platform).measured)[0]
    return f"{first.by_kernel['busy_loop']} instead of {first.board}"
