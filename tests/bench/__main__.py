# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m tests.bench``: every benchmark, with its figures printed."""

import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.exit(pytest.main(["-s", "-q", str(Path(__file__).parent), *sys.argv[1:]]))
