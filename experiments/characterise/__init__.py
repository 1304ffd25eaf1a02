# SPDX-License-Identifier: GPL-2.0-or-later
"""Measuring how fast gem5's detailed cores are: workload kernels, system code; see `parts`."""
