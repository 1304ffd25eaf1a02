# SPDX-License-Identifier: GPL-2.0-or-later
"""What records of older versions lack. Nothing else knows that there ever were other keys."""

from __future__ import annotations

import re
from typing import Any

#: Keys that came into ``cell.json`` after its first version, and what was the case before.
_CELL: dict[str, Any] = {
    "mode": "",
    "elide": True,
    "energy_model": {
        "source": "published",
        "errors_percent": {},
        "words": "published",
        "opp_microwatt": {},
    },
    "programs": [],
    "set_otherwise": [],
    "expect": [],
    "borrowed": [],
    "assumed": [],
}
_EM_ERROR = re.compile(r"(\S+)=(\S+)%")
#: Traits of the engines whose runs did not say them.
_TRAITS: dict[str, dict[str, bool]] = {
    "qemu": {"reference": False, "counts_elided": True, "stated_rates": True},
    "gem5": {"reference": True, "counts_elided": False, "stated_rates": False},
}
_CONTROLS: dict[str, Any] = {"speeds": "board", "trace_events": [], "delay_dequeue": True}


def cell(data: dict[str, Any]) -> dict[str, Any]:
    """``cell.json`` of any version with the keys of this one."""
    traits = _TRAITS.get(str(data.get("engine")))
    return _CELL | ({"engine_traits": traits} if traits else {}) | data


def identity(data: dict[str, Any]) -> dict[str, Any]:
    """``engine_identity`` in ``cell.json``; QEMU's version was in a table of its own."""
    qemu = data.get("qemu")
    if not isinstance(qemu, dict):
        return data
    return qemu | {name: value for name, value in data.items() if name != "qemu"}


def controls(data: dict[str, Any]) -> dict[str, Any]:
    """``controls`` in ``cell.json`` likewise."""
    return _CONTROLS | data


def scenario_result(data: dict[str, Any]) -> dict[str, Any]:
    """An entry of ``scenarios`` in ``results/``; older ones have controls in words alone."""
    words = data.get("controls")
    if "speeds" in data or not isinstance(words, str):
        return data
    others, more = [], {}
    for word in words.split(", "):
        if word.endswith(" speeds"):
            more["speeds"] = word.removesuffix(" speeds")
        elif word.startswith("energy model wrong: "):
            error = _EM_ERROR.sub(r"\1 \2 %", word.removeprefix("energy model wrong: "))
            more["energy_model"] = f"{more.get('energy_model', 'published')}, {error}"
        elif word not in ("", "as the platform has them"):
            others.append(word.replace(" ", "-"))
    return data | more | ({"set_otherwise": others} if others else {})


def verdict(data: dict[str, Any]) -> dict[str, Any]:
    """An entry of ``judged``; an older one says on which side the means are, and no more."""
    names = {"holds": "met", "seeds_held": "seeds_met"}
    return {names.get(key, key): value for key, value in data.items()}


def answer(data: dict[str, Any]) -> dict[str, Any]:
    """An entry of ``answers`` of a comparison of engines likewise."""
    return {"met" if key == "holds" else key: value for key, value in data.items()}


def expectation(data: dict[str, Any]) -> dict[str, Any]:
    """An entry of ``expect``; it had a finding, which is a note of its platform now."""
    return {key: value for key, value in data.items() if key != "finding"}
