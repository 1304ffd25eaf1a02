# SPDX-License-Identifier: GPL-2.0-or-later
"""The names of scenarios, with their files and summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from eascope.host.errors import RequestError, one_line
from eascope.host.strict import no_such_name, read_toml

#: Where scenarios live; the name of one is its path below, without ``.toml``.
ROOT = Path(__file__).parents[1] / "scenarios"
#: What messages say of other files; people have workloads as JSON for rt-app.
RT_APP = ", or in .json where it is rt-app's"


def names() -> list[str]:
    """All scenarios by name, sorted."""
    return sorted(
        path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.rglob("*.toml")
    )


def path_of(name: str) -> Path:
    """The file of a scenario: a known name, or a path that ends in ``.toml`` or ``.json``.

    :raises RequestError: an unknown name, with the nearest.
    """
    if name.endswith((".toml", ".json")):
        path = Path(name)
        if one_line(path.name) != path.name:
            raise RequestError(
                f"scenario {name!r}: control characters in the file name; choose another, because "
                "records name the scenario by it"
            )
        return path
    if name not in names():
        raise no_such_name("scenario", name, names(), "eascope list scenarios", RT_APP)
    return ROOT / f"{name}.toml"


def summaries() -> list[tuple[str, str | RequestError]]:
    """Name and summary of every scenario, or what is wrong with its file."""
    return summaries_of(names(), lambda name: read_toml(path_of(name)).read("summary", str))


def summaries_of(
    names: Iterable[str], summary: Callable[[str], str]
) -> list[tuple[str, str | RequestError]]:
    """Each name and its summary, or what is wrong with its file."""
    found: list[tuple[str, str | RequestError]] = []
    for name in names:
        try:
            found.append((name, summary(name)))
        except RequestError as error:
            found.append((name, error))
    return found
