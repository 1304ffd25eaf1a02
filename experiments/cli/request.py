# SPDX-License-Identifier: GPL-2.0-or-later
"""From the options of ``run`` and ``compare`` to a request for a cell."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from eascope.host.proc import say

if TYPE_CHECKING:
    from eascope.analysis.bound import Machine
    from eascope.configs.activity import Activity
    from eascope.configs.platform import Platform
    from eascope.experiments.runs.finished import BilledBy
    from eascope.experiments.runs.request import Request, Resolved
    from eascope.power.given import GivenModel


def request_of(
    options: argparse.Namespace, variant: str, seed: int, energy_model: GivenModel
) -> Request:
    """The request for one variant and seed, with the options of `add_cell`."""
    from eascope.configs.knobs import CONTROLS
    from eascope.engines.registry import DEFAULT_ENGINE
    from eascope.experiments.controls import Controls
    from eascope.experiments.runs.request import Request
    from eascope.experiments.runs.trace_events import read_events
    from eascope.kernels.own import read_own

    given = {name: getattr(options, name) for name, knob in CONTROLS.items() if knob.option}
    stated = tuple(
        name
        for name, value in given.items()
        if type(value) is str and value == CONTROLS[name].default  # else `Unstated`
    )
    given = {n: str(value) if isinstance(value, str) else value for n, value in given.items()}
    given["events"] = read_events(options.events)
    return Request(
        platform=options.platform,
        variant=variant,
        scenario=options.scenario,
        engine=options.engine or DEFAULT_ENGINE,
        seed=seed,
        full=options.full,
        elide=not options.no_elide,
        controls=Controls(**given),
        energy_model=energy_model,
        mode=options.mode,
        own=read_own(options.kernel, options.patch, options.boot, options.switch),
        source_conditions=options.source_conditions,
        stated=stated,
    )


def billing_of(options: argparse.Namespace) -> BilledBy:
    """The powers that the options ask for.

    :raises RequestError: a name that is no choice.
    """
    from eascope.configs.knobs import BILLINGS
    from eascope.experiments.runs.finished import BilledBy

    return BilledBy(**{key: value for key, value in vars(options).items() if key in BILLINGS})


def machine_of(billing: BilledBy, platform: Platform, activity: Activity) -> Machine:
    """The platform with the powers that the options ask for.

    :raises RequestError: a model without figures of a core.
    """
    from eascope.analysis.bound import Machine

    return Machine(platform, activity, billing.model(platform, activity))


def warn(resolved: Resolved, power: str | None = None, others: Iterable[Resolved] = ()) -> None:
    """Print the warnings about a request before it is run.

    :param power: by which its energy is billed; None: the platform's default.
    :param others: that are run as well, and may have other variants.
    """
    from eascope.experiments.rtapp.own import notes_on
    from eascope.experiments.runs import warnings

    billed = warnings.billed_by_others(resolved, power or resolved.platform.billing.default)
    texts = (
        *(warnings.wrong_capacities(resolved), warnings.without_eas(resolved), billed),
        *dict.fromkeys(map(warnings.without_latency_nice, (resolved, *others))),
        warnings.without_fair_server(resolved),
        *dict.fromkeys(
            line for each in (resolved, *others) for line in warnings.without_effect(each)
        ),
    )
    if file := resolved.scenario.rt_app:
        said = file.notes if resolved.scenario.path.suffix == ".json" else ()
        length_ms = resolved.scenario.window.length_ms(resolved.request.full)
        for note in (*said, *notes_on(file, resolved.platform, resolved.activity, length_ms)):
            say(f"  {note}")
    for note in resolved.platform.idle_notes:
        say(f"  {note}")
    warn_of((*texts, *warnings.rate_warnings(resolved)))


def warn_of(texts: Iterable[str]) -> None:
    """Print warnings; an empty text is none."""
    for text in texts:
        if text:
            say(f"warning: {text}")
