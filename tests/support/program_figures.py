# SPDX-License-Identifier: GPL-2.0-or-later
"""A file of a program's figures on juno-r2, as a test may have measured them."""

from typing import Any

NAME = "sysbench-cpu"
SLOW = {"count": 6, "instructions": 600_000, "cycles": 900_000, "interval": 0.02}
FAST = {"count": 8, "instructions": 800_000, "cycles": 1_280_000, "interval": 0.05}
LITTLE: dict[str, Any] = {
    "cycles": 1.310526,
    "memory_ns": 0.421053,
    "samples": {"450000": SLOW, "800000": FAST},
}
BIG: dict[str, Any] = {"cycles": 1.5, "memory_ns": 0, "samples": {"1200000": SLOW}}
RECORD: dict[str, Any] = {
    "schema": 1,
    "platform": "juno-r2",
    "program": NAME,
    "provenance": {
        "gem5": "24.0.0.1",
        "gem5_sha256": "ab",
        "scenario": "programs/sysbench",
        "variant": "mainline",
        "mode": "detailed",
        "command": "a test",
    },
    "conditions": "a test",
    "clusters": {"little": LITTLE, "big": BIG},
}
