# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m eascope.experiments.devicetree juno-r2``: print the device tree of an engine's guest.

``--dtb FILE`` writes the blob instead.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from eascope.configs.devicetree import FLAVOURS, device_tree, device_tree_source
from eascope.configs.platform_file import load_platform
from eascope.engines.registry import DEFAULT_ENGINE, ENGINES, get_engine
from eascope.host.errors import EascopeError


def main(arguments: list[str] | None = None) -> int:
    """Print a device tree's source, or write its blob."""
    parser = argparse.ArgumentParser(
        prog="python -m eascope.experiments.devicetree",
        description=main.__doc__,
        epilog="example: python -m eascope.experiments.devicetree juno-r2 --dtb juno-r2.dtb",
    )
    parser.add_argument("platform", help="board model, see: eascope list platforms")
    parser.add_argument(
        "--flavour", default="std", help=f"{', '.join(FLAVOURS)} (default: %(default)s)"
    )
    parser.add_argument(
        "--engine", default=DEFAULT_ENGINE, help=f"{', '.join(ENGINES)} (default: %(default)s)"
    )
    parser.add_argument("--dtb", type=Path, help="write the blob to this file")
    options = parser.parse_args(arguments)
    try:
        what = load_platform(options.platform), get_engine(options.engine).layout, options.flavour
        if options.dtb is None:
            print(device_tree_source(*what), end="")
        else:
            options.dtb.write_bytes(device_tree(*what))
    except EascopeError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
