# SPDX-License-Identifier: GPL-2.0-or-later
"""The table on pages of measurements that says where each figure comes from."""

from __future__ import annotations

from analysis.results.measured import FigureRecord, FigureSet
from host.table import Table


def origins(what: str, record: FigureRecord) -> Table:
    """Command and origin of each measurement.

    :param what: the head of the column with their names.
    """
    rows = [
        (f"`{name}`", f"`{each.command}`", _words(each)) for name, each in record.measured.items()
    ]
    return Table.of((what, "command", "made from"), rows, left=3)


def _words(made: FigureSet) -> str:
    return f"{made.made_from}{f', eascope {made.version}' if made.version else ''}"
