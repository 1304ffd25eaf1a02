# SPDX-License-Identifier: GPL-2.0-or-later
"""A row in the form of the measurements that a core is calibrated with."""


def row(**changes: str) -> dict[str, str]:
    """One row of the data's form: one busy CPU of four at 1 GHz and 1.0 V."""
    figures = {
        "Workload Name": "made-up",
        "Core Mask": "4:5:6:7",
        "Frequency A15": "1000",
        "Voltage A15": "1.0",
        "Average Temperature A15": "56.85",
        "Average A15 CycleCount": "250e6",
        "Average A15 Event 0x1b": "250e6",
        "Average A15 Event 0x73": "125e6",
        "Average A15 Event 0x6a": "0",
        "Average A15 Event 0x14": "62.5e6",
        "Average A15 Event 0x50": "1e6",
        "Average A15 Event 0x19": "1e6",
    }
    return figures | changes
