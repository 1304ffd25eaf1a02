# SPDX-License-Identifier: GPL-2.0-or-later
"""A platform by difference."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform


@pytest.fixture
def mine(tmp_path: Path) -> Callable[..., Platform]:
    """A function that loads a file which says these lines besides its base's."""

    def load(*lines: str, base: str = "juno-r2") -> Platform:
        path = tmp_path / "mine.toml"
        path.write_text("\n".join([f'base = "{base}"', 'summary = "a test"', *lines]))
        return load_platform(path)

    return load
