# SPDX-License-Identifier: GPL-2.0-or-later
"""Pairs of runs: variants are compared seed by seed, if the seed drew the same replicate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from eascope.analysis.derive import Derived
from eascope.host.errors import EascopeError


def by_variant(runs: Iterable[tuple[str, Derived]]) -> dict[str, list[Derived]]:
    """Runs by the variant that each was asked for, in the order in which variants first occur."""
    variants: dict[str, list[Derived]] = {}
    for variant, run in runs:
        variants.setdefault(variant, []).append(run)
    return variants


def paired(variants: Mapping[str, Sequence[Derived]]) -> dict[str, list[Derived]]:
    """The runs of each variant in the order of seeds: the same place is the same replicate.

    Seed and replicate are those that the runs record; the order of the given lists says nothing.

    :raises EascopeError: when a variant has a seed twice, when a run has no partner, or when one
        seed drew different things for two variants.
    """
    seeds = {name: _by_seed(name, runs) for name, runs in variants.items()}
    every = sorted({seed for runs in seeds.values() for seed in runs})
    for name, runs in seeds.items():
        missing = [str(seed) for seed in every if seed not in runs]
        if missing:
            others = ", ".join(
                other for other, has in seeds.items() if any(int(seed) in has for seed in missing)
            )
            raise EascopeError(
                f"{name} has no run of seed {', '.join(missing)}, but {others} has: runs are "
                "compared seed by seed"
            )
    first = next(iter(seeds.values()), {})
    for runs in seeds.values():
        for seed, run in runs.items():
            if run.cell.replicate != first[seed].cell.replicate:
                raise EascopeError(
                    f"{run.run}: seed {seed} drew another replicate than in {first[seed].run}: "
                    "they cannot be compared"
                )
    return {name: [runs[seed] for seed in every] for name, runs in seeds.items()}


def _by_seed(name: str, runs: Sequence[Derived]) -> dict[int, Derived]:
    seeds: dict[int, Derived] = {}
    for run in runs:
        other = seeds.setdefault(run.cell.seed, run)
        if other is not run:
            raise EascopeError(
                f"{run.run}: {name} has seed {run.cell.seed} twice, also in {other.run}"
            )
    return seeds
