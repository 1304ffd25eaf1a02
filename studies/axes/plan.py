# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan: the scenarios of three pages, with the variants that their sources compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.conditions import control_text
from experiments.controls import AS_IT_IS, Controls
from host.errors import unknown
from studies.pages.plan import pages, spoken_of

NAME = "model-axes"
#: The pages whose statements are judged at every value.
PAGES = ("uclamp", "eas-juno-r2", "eas-pixel6")


@dataclass(frozen=True)
class Varied:
    """A scenario on a platform; the first variant is the baseline.

    :param controls: those of the scenario's source, or as it is.
    """

    platform: str
    scenario: str
    variants: tuple[str, ...]
    controls: Controls = AS_IT_IS

    @property
    def conditions(self) -> str:
        """In words as records have them, empty for the defaults."""
        return control_text(self.controls.words)


def plan() -> list[Varied]:
    """Every group of `PAGES` about which its source states something, each of them once."""
    every = [
        Varied(
            page.platform,
            group.scenario,
            spoken_of(group.scenario, page.platform),
            group.controls,
        )
        for page in pages()
        if page.name in PAGES
        for group in page.groups
    ]
    return [each for each in dict.fromkeys(every) if len(each.variants) > 1]


def only(
    every: Sequence[Varied],
    scenarios: Sequence[str] = (),
    platform: str | None = None,
    *,
    defaults: bool = False,
    from_sources: bool = False,
) -> list[Varied]:
    """Those of some scenarios, if any are named, and of a platform.

    :param defaults: leave out those under the conditions of their sources.
    :param from_sources: leave out those at the defaults whose sources have other conditions.

    :raises RequestError: a scenario or a platform that none of them has.
    """
    for name in scenarios:
        if name not in {each.scenario for each in every}:
            raise unknown("scenario", name, {each.scenario for each in every})
    if platform is not None and platform not in {each.platform for each in every}:
        raise unknown("platform", platform, {each.platform for each in every})
    sourced = {(each.platform, each.scenario) for each in every if each.conditions}
    return [
        each
        for each in every
        if (not scenarios or each.scenario in scenarios)
        and platform in (None, each.platform)
        and not (defaults and each.conditions)
        and (each.conditions or not from_sources or (each.platform, each.scenario) not in sourced)
    ]
