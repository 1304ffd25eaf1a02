# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns from options: ``--platform juno-r2 --set little.cpus=2,3,4``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eascope.experiments.sweeps.campaign import Campaign
from eascope.experiments.sweeps.campaign_file import campaign_from
from eascope.experiments.sweeps.point import CONTROL
from eascope.host.cache import digest_of
from eascope.host.errors import RequestError, shown
from eascope.host.keys import Place

#: What messages call a campaign that has no file.
FILE = "options"
_INTEGER = re.compile(r"-?[0-9]+(_[0-9]+)*")
_NUMBER = re.compile(r"-?[0-9]+\.[0-9]+")
#: Digits of a number, at most; a larger one has no meaning in a platform or a control.
_DIGITS = 18


def one_off(
    axes: Mapping[str, str],
    settings: Sequence[str],
    constraints: Sequence[str],
    seeds: int,
    reference: str | None,
) -> Campaign:
    """The campaign of a command's options; its name is a digest of them.

    :param axes: values with commas, by axis.
    :raises RequestError: one line: the option, its value, what is allowed.
    """
    for key in ("platform", "scenario", "variant"):
        if key not in axes:
            raise RequestError(
                f"--{key} is missing; expected --platform, --scenario and --variant with their "
                "names, or a campaign"
            )
    table: dict[str, Any] = {key: _listed(key, text) for key, text in axes.items()}
    table["seeds"] = seeds
    for text in settings:
        key, equals, values = text.partition("=")
        if not equals or not key.strip() or not values.strip():
            raise RequestError(
                f"--set {shown(text)}: expected KEY=VALUES, such as little.cpus=2,3,4"
            )
        kind = "controls" if key.strip().startswith(CONTROL) else "set"
        name = key.strip().removeprefix(CONTROL)
        if name in table.setdefault(kind, {}):
            raise RequestError(f"--set {shown(text)}: duplicate key; give its values with commas")
        try:
            table[kind][name] = parsed_values(values)
        except ValueError as error:
            raise RequestError(f"--set {shown(text)}: expected {error}") from error
    summary = ", ".join([*(f"{key} {text}" for key, text in axes.items()), *settings])
    content: dict[str, Any] = {"summary": summary, "axes": table}
    if constraints:
        content["constraints"] = list(constraints)
    if reference is not None:
        content["reference"] = reference
    name = f"sweep-{digest_of(content)[:8]}"
    return campaign_from(Place(FILE, content), name, Path.cwd())


def _listed(key: str, text: str) -> list[str]:
    values = [part.strip() for part in text.split(",")]
    if not all(values):
        raise RequestError(f"--{key} {shown(text)}: expected names separated by commas")
    return values


def parsed_values(text: str) -> list[Any]:
    """Values with commas: integers, numbers, true, false, texts, lists in brackets.

    :raises ValueError: a value that is empty, or a number that is too long; says what is allowed.
    """
    parts, depth, begin = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if sign == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    return [_parsed(part.strip()) for part in [*parts, text[begin:]]]


def _parsed(text: str) -> Any:  # noqa: ANN401 - any value of TOML
    if text.startswith("[") and text.endswith("]"):
        return [_parsed(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    if text in ("true", "false"):
        return text == "true"
    if not text:
        raise ValueError("a value before, between and after commas")
    if (whole := _INTEGER.fullmatch(text)) or _NUMBER.fullmatch(text):
        if len(text) > _DIGITS:
            raise ValueError(f"numbers of at most {_DIGITS} digits")
        return int(text) if whole else float(text)
    return text
