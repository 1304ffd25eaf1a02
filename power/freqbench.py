# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of freqbench (kdrag0n/freqbench) as powers `measured` of a platform."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eascope.configs.billing import MAX_POWER_UW, MEASURED
from eascope.configs.platform import Platform
from eascope.host.errors import RequestError, bad_input
from eascope.power.measurements import read_rows

CPU, KHZ, MILLIWATT = "CPU", "Frequency (kHz)", "Power (mW)"
#: uW of one busy CPU by cluster and kHz.
Rails = dict[str, dict[int, int]]


def read_rails(path: Path, platform: Platform) -> tuple[Rails, list[str]]:
    """The power of a busy CPU at each OPP, and the figures that are at no OPP of ``platform``.

    :param path: freqbench's ``results.csv`` or ``results.json``.
    :raises RequestError: one line; also for a cluster without a figure.
    """
    rails: Rails = {cluster.name: {} for cluster in platform.clusters}
    cpus: dict[str, int] = {}
    others = []
    for place, row in _rows(path):
        cpu = _figure(path, place, row, CPU, 0, max(platform.cpus))
        khz = _figure(path, place, row, KHZ, 1, 10_000_000)
        power_uw = _figure(path, place, row, MILLIWATT, 1 / 1000, MAX_POWER_UW / 1000, 1000)
        cluster = platform.cluster_of(cpu)
        if cpus.setdefault(cluster.name, cpu) != cpu or khz in rails[cluster.name]:
            allowed = f"one CPU of {cluster.name} of {platform.name}, each frequency once"
            raise bad_input(str(path), f"{place} {CPU}", cpu, allowed)
        if khz in {opp.khz for opp in cluster.opps}:
            rails[cluster.name][khz] = power_uw
        else:
            others.append(f"{cluster.name} {khz}")
    for name, powers in rails.items():
        if not powers:
            allowed = ", ".join(str(opp.khz) for opp in platform.cluster(name).opps)
            raise RequestError(
                f"{path}: no figure of {name} of {platform.name} at one of {allowed} kHz"
            )
    return rails, others


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where a row stands, and the row."""
    if path.suffix != ".json":
        yield from ((f"line {line}", row) for line, row in enumerate(read_rows(path), start=2))
        return
    try:
        for cpu, own in json.loads(path.read_bytes())["cpus"].items():
            for khz, of in own["freqs"].items():
                power = of["active"]["power_mean"]
                yield f"cpus.{cpu}.freqs.{khz}", {CPU: cpu, KHZ: khz, MILLIWATT: power}
    except OSError as error:
        raise RequestError(
            f"{path}: {error.strerror}; expected freqbench's results.json"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RequestError(f"{path}: not freqbench's results.json") from error


def _figure(
    path: Path, place: str, row: dict[str, Any], name: str, low: float, high: float, scale: int = 1
) -> int:
    """A number of the row, as a whole number of its parts."""
    try:
        if low <= (value := float(row[name])) <= high and (scale > 1 or value.is_integer()):
            return round(scale * value)
    except (KeyError, ValueError, TypeError):
        pass
    allowed = f"a number in {low:g}..{high:g}" + ("" if scale > 1 else ", whole")
    raise bad_input(str(path), f"{place} {name}", row.get(name, ""), allowed)


def difference(base: str, platform: Platform, path: Path) -> Iterator[str]:
    """Lines of a platform that is ``base``, billed by freqbench's result at ``path``."""
    rails, others = read_rails(path, platform)
    offers = [name for name in platform.billing.offers if name != MEASURED]
    yield f"base = {json.dumps(base)}"
    yield f"summary = {json.dumps(f'{platform.name}, billed by freqbench ({path.name})')}"
    yield ""
    yield "[billing]"
    yield f'default = "{MEASURED}"'
    yield f"offers = {json.dumps([MEASURED, *offers])}"
    yield f'{MEASURED} = {{ shared = "included" }}'
    yield ""
    yield "[sources]"
    yield (
        f"freqbench = {json.dumps(f'measured: freqbench, {path.name}')[:-1]}: CoreMark on one CPU, "
        'less the idle power; OPPs without a figure are interpolated linearly in f V^2"'
    )
    for name, powers in rails.items():
        yield ""
        yield f"[cluster.{name}.busy.{MEASURED}]"
        yield 'source = "freqbench"'
        yield "opps = ["
        yield from (
            f"    {{ khz = {khz:_}, power_uw = {uw:_} }}," for khz, uw in sorted(powers.items())
        )
        yield "]"
    if others:
        yield ""
        yield f"# At no OPP of {platform.name}, left out: {', '.join(others)} kHz."
