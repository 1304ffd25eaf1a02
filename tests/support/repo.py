# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the checkout lies."""

from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
