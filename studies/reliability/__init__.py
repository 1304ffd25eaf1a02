# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on reliability; ``python -m tests.support.reliability --record`` measures for it."""
