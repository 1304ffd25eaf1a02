# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on scale; ``python -m tests.bench --record`` measures for it."""
