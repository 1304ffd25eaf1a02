# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed of gem5's detailed cores in workload kernels and in system code; see `parts`."""
