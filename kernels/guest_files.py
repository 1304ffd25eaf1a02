# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of the guest's kernel that several rooms write, prove or read back."""

from __future__ import annotations

import re

SCHED_DEBUG = "/sys/kernel/debug/sched"
ENERGY_AWARE = "/proc/sys/kernel/sched_energy_aware"
FEATURES = f"{SCHED_DEBUG}/features"
IDLE_GOVERNOR = "/sys/devices/system/cpu/cpuidle/current_governor"
#: Whether a CPU is online.
ONLINE = "/sys/devices/system/cpu/cpu{}/online"
ONLINE_CPU = re.compile(ONLINE.format(r"(\d+)"))
