# SPDX-License-Identifier: GPL-2.0-or-later
"""Real programs' speed on the fast engine, compared with gem5's detailed cores."""
