# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of cells of shipped campaigns on both engines: ``results/campaign-samples.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.results.origin import ResultRecord
from host.record import Record


@dataclass(frozen=True)
class SampledCell(Record):
    """A cell of a campaign on both engines.

    Measures are those of `analysis.results.campaigns`, with their units; one that a run cannot give
    is absent.

    :param axes: the value of each axis, in words.
    :param gem5_run: simkey of the run on gem5; cells that several campaigns have share it.
    :param fast: by measure, the value of each of the fast engine's seeds.
    :param gem5: by measure, the value on gem5.
    """

    axes: Mapping[str, str]
    gem5_run: str
    fast: Mapping[str, tuple[float, ...]]
    gem5: Mapping[str, float]


@dataclass(frozen=True)
class SampledCampaign(Record):
    """The sample of a campaign.

    :param base: the value of each axis in the cell from which the others differ.
    :param cells_in_all: combinations that the campaign has, seeds aside.
    :param lacking: what differs from the base in cells of the sample that lack a run.
    :param work_unit: the unit of work; ``latency`` and ``missed`` say in words what is stated, and
        are empty where there is no such measure.
    """

    campaign: str
    base: Mapping[str, str]
    cells_in_all: int
    work_unit: str
    latency: str
    missed: str
    lacking: tuple[str, ...]
    cells: tuple[SampledCell, ...]


@dataclass(frozen=True)
class CampaignSamples(ResultRecord):
    """Cells of shipped campaigns, run on the fast engine and on gem5.

    :param fast: the fast engine in words; ``gem5``: gem5 with its mode.
    :param fast_seeds: seeds of the fast engine; gem5 ran the first of them.
    :param gem5_runs: number of different runs on gem5.
    :param gem5_cpu_s: processor seconds of these runs, boots aside.
    """

    fast: str
    gem5: str
    power: str
    duration: str
    kernel: str
    fast_seeds: tuple[int, ...]
    gem5_runs: int
    gem5_cpu_s: float
    campaigns: tuple[SampledCampaign, ...]

    @property
    def seed(self) -> int:
        """The seed that both engines ran."""
        return self.fast_seeds[0]

    def of(self, campaign: str) -> SampledCampaign | None:
        """The sample of ``campaign``; None if it has none."""
        return next((each for each in self.campaigns if each.campaign == campaign), None)
