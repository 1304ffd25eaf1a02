# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings: why a scenario's expectation does not hold on a platform, as its traces show.

``data/findings/PLATFORM/SCENARIO.toml`` states the conditions of the examined runs, and in
``[patches]`` what their queues changed (`analysis.known.origin.Origin.patches`). It has one
``[[finding]]`` for each explained expectation. A finding is not valid for other platforms, so each
platform has its own files. It is not valid for other conditions, so it is shown only for runs under
the same conditions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path

from eascope.analysis.known.origin import DATA, older
from eascope.analysis.records.cell import NO_NOISE, CellRecord
from eascope.host.keys import Placed, key, text_form
from eascope.host.record import Record
from eascope.host.strict import read_toml

FINDINGS = DATA / "findings"
#: `Conditions.controls` where nothing is set otherwise.
NO_CONTROLS = "as the platform has them"
#: `Conditions.seeds`: all that differs between two runs on a device, or when threads start.
REPLICATES, STARTS = "replicates", "starts alone"


@dataclass(frozen=True)
class Conditions(Record):
    """The conditions of runs, in addition to platform and scenario; all in words."""

    kernel: str = key("`analysis.records.cell.KernelRecord.source_words`")
    engine: str = key("qemu or gem5")
    duration: str = key("of windows: short or full")
    speeds: str = key("of core types (`configs.activity.SPEEDS`)")
    power: str = key("the power model that energy is computed with")
    energy_model: str = key("what the kernel was given")
    seeds: str = key("what they draw: `REPLICATES` or `STARTS`")
    controls: str = key("all others that are not at their defaults, or `NO_CONTROLS`")

    def against(self, other: Conditions) -> str:
        """The differences: ``speeds board instead of measured``; empty if there are none."""
        return ", ".join(
            f"{field.name.replace('_', ' ')} {own} instead of {theirs}"
            for field in fields(self)
            if (own := getattr(self, field.name)) != (theirs := getattr(other, field.name))
        )


def control_words(non_default: tuple[str, ...], speeds: str) -> str:
    """`Conditions.controls` of a cell's ``set_otherwise``.

    The cell's ``speeds``, and whether seeds draw noise, are separate conditions.
    """
    own = (f"{speeds}-speeds", NO_NOISE)
    words = [word.replace("-", " ") for word in non_default if word not in own]
    return ", ".join(words) or NO_CONTROLS


def conditions_of(cell: CellRecord, power: str) -> Conditions:
    """The conditions of a run."""
    return Conditions(
        kernel=cell.kernel.source_words,
        engine=cell.engine,
        duration=cell.duration,
        speeds=cell.controls.speeds,
        power=power,
        energy_model=cell.energy_model.words,
        seeds=REPLICATES if cell.replicates else STARTS,
        controls=control_words(cell.set_otherwise, cell.controls.speeds),
    )


@dataclass(frozen=True)
class Finding:
    """A finding, the conditions under which it was made, and `Origin.patches` of its kernels."""

    text: str
    conditions: Conditions
    patches: Mapping[str, str] = field(default_factory=dict)

    def shown(self, conditions: Conditions, queues: Sequence[str] = ()) -> str:
        """The text, if ``conditions`` are its own; else a note that names the conditions of one.

        :param queues: of the kernel that it is about; a finding of earlier patches says so.
        """
        differences = self.conditions.against(conditions)
        if not differences:
            own = {
                key: digest for key, digest in self.patches.items() if key.split("@")[0] in queues
            }
            earlier = ", ".join(older(own))
            return f"{self.text} (Found with earlier patches: {earlier}.)" if earlier else self.text
        return f"none under these conditions; there is one for {differences}."


_ALLOWED = "a digest of 64 digits by series@release, such as base@6.12"
_DIGEST = text_form(re.compile("[0-9a-f]{64}").fullmatch, _ALLOWED, "^[0-9a-f]{64}$")


@dataclass(frozen=True, kw_only=True)
class _Finding(Placed):
    variant: str = key("the variant that the expectation is about")
    statement: str = key("the expectation's statement")
    text: str = key("why it does not hold")


@dataclass(frozen=True, kw_only=True)
class _FindingsFile(Placed):
    conditions: Conditions = key("of the examined runs")
    patches: Mapping[str, str] = key("`Origin.patches` of their kernels", each=_DIGEST, default={})
    finding: tuple[_Finding, ...] = key("a finding for each expectation", count=(1, 99))

    def check(self) -> None:
        """Names of patches, and one finding for each expectation."""
        for queue in self.patches:
            if not re.fullmatch(r"[\w-]+@\d+\.\d+", queue):
                raise self.place.inside("patches").error(queue, _ALLOWED)
        seen: set[tuple[str, str]] = set()
        for own in self.finding:
            if (own.variant, own.statement) in seen:
                raise own.place.error("statement", "one finding for each expectation")
            seen.add((own.variant, own.statement))


@cache
def findings(
    platform: str, scenario: str, folder: Path = FINDINGS
) -> Mapping[tuple[str, str], Finding]:
    """Findings by variant and statement; empty where nothing is known.

    :raises RequestError: one line, when the file is not as the module says.
    """
    path = folder / platform / f"{scenario}.toml"
    if not path.is_file():
        return {}
    file = read_toml(path).decoded(_FindingsFile)
    return {
        (own.variant, own.statement): Finding(own.text, file.conditions, file.patches)
        for own in file.finding
    }
