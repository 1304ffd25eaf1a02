# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of what large campaigns cost: its name, and the goals that its page compares with."""

from __future__ import annotations

NAME = "scale"
#: Wall seconds of the demo's twenty runs on two cores.
DEMO_S, CORES_OF_DEMO = 12, 2
#: How many times as long cells take when each boots, at least.
GAIN = 1.8
#: Processor seconds of a plan and of a command, MB of a plan, per cent of two cores.
PLAN_S, COMMAND_S, PLAN_MB, EFFICIENCY = 10, 5, 500, 95
