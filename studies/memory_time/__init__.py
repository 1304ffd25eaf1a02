# SPDX-License-Identifier: GPL-2.0-or-later
"""Mixtures of busy iterations and misses: executed on gem5's detailed cores, and as engines take them."""
