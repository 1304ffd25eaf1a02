# SPDX-License-Identifier: GPL-2.0-or-later
"""What a script did that the agent ran on this machine."""

from dataclasses import dataclass
from pathlib import Path


@dataclass
class AgentRun:
    """What one script did: exit status, lines on stdout, folder of the files that were sent."""

    status: int
    lines: list[str]
    out: Path

    @property
    def failure(self) -> str:
        """The reason after FAIL; an error when there is not exactly one."""
        (line,) = [line for line in self.lines if line.startswith("FAIL ")]
        return line.removeprefix("FAIL ")
