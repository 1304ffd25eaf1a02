# SPDX-License-Identifier: GPL-2.0-or-later
"""The powers that the kernel is given: ``opp-microwatt`` of every OPP, right or wrong on purpose.

EAS decides by its energy model. A run may give it the platform's published figures, those of the
derived model, or either with one cluster's figures scaled. Only the device tree (and so the run's
key) changes with it; the energy of a run is computed from the same model as before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from eascope.configs.billing import MAX_POWER_UW, PUBLISHED
from eascope.configs.platform import Cluster, Opp, Platform
from eascope.host.errors import RequestError, unknown
from eascope.power.level import load_level

#: Where the given figures come from.
SOURCES = {
    PUBLISHED: "the platform's published power",
    "derived": "McPAT-derived power at the reference activity",
}

#: Errors that may be asked for, in percent: a power stays above nothing.
MIN_ERROR, MAX_ERROR = -99.0, 900.0
ERROR_RULE = "CLUSTER=PERCENT% with a sign, -99% to +900%, such as big=+20%"

_ERROR = re.compile(r"([a-z][a-z0-9-]*)=([+-]\d+(?:\.\d+)?)%")


@dataclass(frozen=True)
class GivenModel:
    """A choice of figures: a name of `SOURCES`, and errors in percent by cluster."""

    source: str = PUBLISHED
    errors: tuple[tuple[str, float], ...] = ()

    @property
    def words(self) -> str:
        """In words, for records, tables and reports: ``published, big +20 %``."""
        return ", ".join([self.source, *(f"{name} {error:+g} %" for name, error in self.errors)])

    @property
    def is_default(self) -> bool:
        """True if it is a run's default."""
        return self == DEFAULT_MODEL


DEFAULT_MODEL = GivenModel()


def given_model(source: str, errors: Sequence[str] = ()) -> GivenModel:
    """The choice that ``--em source --em-error ..`` asks for.

    :param errors: texts of the form `ERROR_RULE`; each cluster at most once.
    :raises RequestError: an unknown source, or an error that is not of that form.
    """
    if source not in SOURCES:
        raise unknown("energy model", source, SOURCES)
    parsed: dict[str, float] = {}
    for text in errors:
        match = _ERROR.fullmatch(text)
        if match is None or not MIN_ERROR <= float(match[2]) <= MAX_ERROR:
            raise RequestError(f"--em-error {text!r}: allowed: {ERROR_RULE}")
        if match[1] in parsed:
            raise RequestError(f"--em-error {text!r}: duplicate cluster")
        parsed[match[1]] = float(match[2])
    # No error is no choice; the order in which they were asked for does not matter.
    return GivenModel(source, tuple(sorted((name, e) for name, e in parsed.items() if e)))


def as_given(platform: Platform, model: GivenModel) -> Platform:
    """``platform`` as the kernel gets it: with other powers of a CPU, and otherwise unchanged.

    :raises RequestError: a cluster that the platform does not have, or a power outside of what the
        kernel takes.
    """
    for name, _ in model.errors:
        platform.cluster(name)
    errors = dict(model.errors)
    clusters = tuple(
        replace(
            cluster,
            opps=tuple(
                replace(opp, power_uw=_power(platform, model, cluster, opp, errors))
                for opp in cluster.opps
            ),
        )
        for cluster in platform.clusters
    )
    return replace(platform, clusters=clusters)


def _power(
    platform: Platform, model: GivenModel, cluster: Cluster, opp: Opp, errors: dict[str, float]
) -> int:
    """The power in uW of one CPU at ``opp`` that the kernel is given."""
    power = opp.power_uw
    if model.source == "derived":
        level = load_level(cluster.core.name)
        power = level.opp_microwatt(opp.khz, opp.uv, platform.temperature_c)
    scaled = round(power * (1 + errors.get(cluster.name, 0.0) / 100))
    if not 0 < scaled < MAX_POWER_UW:
        raise RequestError(
            f"energy model {model.words}: {cluster.name} at {opp.khz} kHz would have {scaled} uW: "
            f"allowed: 1..{MAX_POWER_UW - 1} (the kernel's limits)"
        )
    return scaled


def given_record(platform: Platform, model: GivenModel) -> dict[str, Any]:
    """The choice for ``cell.json``: in words, and every figure (uW by cluster and kHz)."""
    return {
        "source": model.source,
        "errors_percent": dict(model.errors),
        "words": model.words,
        "opp_microwatt": {
            cluster.name: {str(opp.khz): opp.power_uw for opp in cluster.opps}
            for cluster in as_given(platform, model).clusters
        },
    }
