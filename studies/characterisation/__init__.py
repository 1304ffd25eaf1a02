# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast gem5's detailed cores are: workload kernels, system code; see `parts`."""
