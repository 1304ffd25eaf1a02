# SPDX-License-Identifier: GPL-2.0-or-later
"""Measuring what workload kernels do on gem5's detailed cores; see `measure`."""
