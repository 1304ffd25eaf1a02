# SPDX-License-Identifier: GPL-2.0-or-later
"""The releases of Linux that the queues are kept for."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Release:
    """A release with a ``series`` file of its own in every queue that is ported to it.

    :param tested: upstream versions on which the queues apply, build and boot.
    """

    name: str
    tested: tuple[str, ...]

    @property
    def package(self) -> str:
        """Debian's package of its source."""
        return package_of(self.name)

    @property
    def series(self) -> str:
        """Name of the file with the order of a queue's patches."""
        return "series" if self.name == DEFAULT else f"series-{self.name}"


#: What a variant is built from that names no release.
DEFAULT = "6.12"
#: In the order of their versions.
RELEASES = {
    release.name: release
    for release in (
        Release(DEFAULT, ("6.12.95", "6.12.107", "6.12.117")),
        Release("7.3", ("7.3.4",)),
    )
}


def package_of(release: str) -> str:
    """Debian's package with the source of ``release``."""
    return f"linux-source-{release}"


def number(version: str) -> tuple[int, int]:
    """``(7, 3)`` from ``7.3`` and ``7.3.4``.

    :raises ValueError: no version.
    """
    match = re.match(r"(\d+)\.(\d+)(?!\d)", version)
    if match is None:
        raise ValueError(version)
    return int(match[1]), int(match[2])


def release_of(version: str) -> Release:
    """The release whose queues are tried on ``version``: its own, else the nearest.

    Between two, that is the later one of the same major number, else the earlier one.
    """
    wanted = number(version)
    later = [release for release in RELEASES.values() if number(release.name) >= wanted]
    if later and number(later[0].name)[0] == wanted[0]:
        return later[0]
    earlier = [release for release in RELEASES.values() if number(release.name) <= wanted]
    return earlier[-1] if earlier else later[0]
