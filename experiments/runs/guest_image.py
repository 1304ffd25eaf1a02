# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest images of cells: with every engine's eliding copy of rt-app.

``python -m eascope.experiments.runs.guest_image`` builds them and prints each path
(``make rootfs``).
"""

from __future__ import annotations

import argparse
from functools import cache

from eascope.engines.registry import ENGINES
from eascope.host.errors import RequestError
from eascope.host.proc import Ending
from eascope.rootfs.content import MINIMAL, PROGRAMS
from eascope.rootfs.image import ImageArtefact
from eascope.rootfs.images import PROVIDERS, image_named, provider_asked

#: rt-app's, of all engines: the image is the same whichever engine boots it.
COPIES = tuple(kind.copy for kind in ENGINES.values())


@cache
def guest_image(name: str = MINIMAL, provider: str = "debian") -> ImageArtefact:
    """A guest image, from the cache or built.

    :param name: one of the images of ``content.toml``.
    :param provider: one of `rootfs.images.PROVIDERS`.
    :raises EascopeError: a name that there is not, or something that cannot be had.
    """
    return image_named(name, provider, COPIES)


def main(arguments: list[str] | None = None) -> int:
    """Build the named images (default: all), and print their paths."""
    parser = argparse.ArgumentParser(
        prog="python -m eascope.experiments.runs.guest_image", description=main.__doc__
    )
    parser.add_argument(
        "name",
        nargs="*",
        default=[MINIMAL, PROGRAMS],
        help=f"{MINIMAL}, {PROGRAMS} (default: both)",
    )
    parser.add_argument("--provider", help=f"one of {', '.join(PROVIDERS)}")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        try:
            provider = options.provider or provider_asked()
            for name in options.name:
                print(guest_image(name, provider).path)
        except RequestError as error:
            parser.error(str(error))
    return ending.code


if __name__ == "__main__":
    raise SystemExit(main())
