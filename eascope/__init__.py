# SPDX-License-Identifier: GPL-2.0-or-later
"""eascope in Python: `run`, `compare` and `open`, with the options of the command line.

The rooms are sub-packages. In a checkout they are links to the folders of the same names, so the
package that is installed and the one that is edited are the same files. ::

    import eascope

    smoke = eascope.run("juno-r2", "mainline", "smoke", seed=1)
    smoke.result.energy_j.total            # joules
    smoke.table("frequency")               # a polars.DataFrame
    both = eascope.compare("juno-r2", ["mainline", "uclamp-sum"], "smoke", seeds=20)
    both.total.differences["uclamp-sum"]   # the mean, and from ten seeds on its interval

An option that changes a result is an argument: ``--no-elide`` is ``no_elide=True``,
``--em-error big=+20%`` is ``em_error=["big=+20%"]``. What has been run already is not simulated
again.
"""

from __future__ import annotations

# No room is imported here: the scripts inside gem5 import this package in gem5's own Python, and
# the command line's first import must be quick.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from typing import Any

    from eascope.analysis.compare import Comparison
    from eascope.analysis.derive import Derived

__all__ = ["compare", "open", "run"]


def run(platform: str, variant: str, scenario: str, **options: object) -> Derived:
    """One cell, executed unless its run is there: as ``eascope run``.

    :param options: those of ``eascope run --help``.
    :returns: ``result`` (see docs/reference/measures.md), ``table(name)`` and the run's folder.
    :raises eascope.host.errors.RequestError: a name or a value is wrong: one line that says which.
    :raises eascope.host.errors.EascopeError: the run failed.
    """
    from eascope.experiments.cli import run as verb

    asked = _parsed(verb, platform=platform, variant=variant, scenario=scenario, **options)
    return verb.execute(asked)[2]


def compare(platform: str, variants: Iterable[str], scenario: str, **options: object) -> Comparison:
    """Variants with the same seeds, the first one the baseline: as ``eascope compare``.

    Neither drawings nor a report are written.

    :param options: those of ``eascope compare --help``.
    :raises: as `run`.
    """
    from eascope.experiments.cli import compare as verb

    named = [variants] if isinstance(variants, str) else variants
    asked = _parsed(verb, *named, platform=platform, scenario=scenario, **options)
    return verb.answer(verb.asked_of(asked)).result


def open(run: str | PathLike[str], power: str | None = None) -> Derived:
    """A finished run, by its folder or the beginning of its name.

    :param power: the powers that energy is computed with; None: the platform's.
    :raises eascope.host.errors.EascopeError: there is no such run, or it is damaged.
    """
    from eascope.experiments.runs.finished import derived_by
    from eascope.experiments.runs.store import find_run

    return derived_by(find_run(str(run)), power)


def _parsed(verb: Any, *words: str, **options: object) -> Any:
    """The options as the command's own parser reads them, with their defaults and their errors."""
    from eascope.experiments.cli.options import Parser, worded
    from eascope.host.errors import RequestError

    if given := {"dry_run", "all", "out"} & options.keys():
        raise RequestError(f"{', '.join(sorted(given))}: available only on the command line")

    class Raising(Parser):
        def error(self, message: str) -> Any:
            raise RequestError(worded(message))

    parser = Raising(
        prog=f"eascope.{verb.__name__.rpartition('.')[2]}", add_help=False, allow_abbrev=False
    )
    verb.add_options(parser)
    arguments = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(flag)
        elif value is not None and value is not False:
            values = value if isinstance(value, list | tuple) else [value]
            arguments += [f"{flag}={value}" for value in values]
    return parser.parse_args([*words, *arguments])
