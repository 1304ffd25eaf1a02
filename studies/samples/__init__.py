# SPDX-License-Identifier: GPL-2.0-or-later
"""A sample of the cells of shipped campaigns on gem5, compared with the fast engine."""
