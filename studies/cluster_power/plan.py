# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan: the compared cluster, and the workload kernel for each measured workload.

The workloads were chosen by their kind of work, before any power was modelled for them.
"""

from __future__ import annotations

NAME = "cluster-power"
PLATFORM, CLUSTER = "exynos5422", "big"
#: Workload kernels of ``eascope characterise``, and measured workloads that do the same thing.
STANDS_FOR = {
    "integer": ("dhrystone", "cstm_int", "bitcount"),
    "floating_point": ("mp_whets", "neon_mul"),
    "memory": ("lat_mem_rd_200_256", "lat_mem_rd_200_8"),
}
#: Mean absolute error in per cent: what is aimed at, and what the literature has for this chip.
GOAL_PERCENT, LITERATURE_PERCENT = 15, 24
