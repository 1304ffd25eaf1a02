# SPDX-License-Identifier: GPL-2.0-or-later
"""The frames of a scenario, for records."""

from __future__ import annotations

from dataclasses import dataclass

from eascope.host.record import Record


@dataclass(frozen=True)
class FramesRecord(Record):
    """The tasks that make frames; each has one thread.

    :param paced_by: the task whose periods frames begin with.
    :param drawn_by: the task whose turn ends with the frame; may be the same one.
    :param periods: within how many periods of its beginning a frame is due.
    """

    paced_by: str
    drawn_by: str
    periods: int = 1
