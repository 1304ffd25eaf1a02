# SPDX-License-Identifier: GPL-2.0-or-later
"""The common part of every record of ``results/``: the origin of its figures, and its writing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host.cache import write_atomic
from host.record import Record

RESULTS = Path(__file__).resolve().parents[2] / "results"
#: What `Origin.made_from` of a record begins with that was converted from a page.
PAGE = "page of commit "
#: What such a record's page says: all were converted before commit 2acc416, which bills otherwise.
EARLIER = "Energies are billed as at that commit; billing has changed since."
#: `Origin.made_from` of a record whose figures come from runs.
RUNS = "runs"


@dataclass(frozen=True)
class Origin(Record):
    """The origin of a record's figures.

    :param command: the command that makes the record.
    :param made_from: ``runs``: figures at full precision; or the page that it was converted from,
        with the digits that the page showed.
    :param versions: of kernel, QEMU, gem5 and eascope, as far as they are known.
    :param remarks: other conditions of the runs, such as the load of the host.
    :param replicates: whether seeds drew all that they draw by default, or starts alone; None where
        no figure is over seeds.
    :param patches: SHA-256 of each queue's patches that the runs' kernels had, by queue and release
        (``feec@6.12``, `studies.patches`); empty if it is not known.
    """

    command: str
    made_from: str
    versions: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    replicates: bool | None = None
    patches: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """For the page."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        source = f"{self.made_from} ({versions})" if versions else self.made_from
        words = f"Made by `{self.command}`, from {source}."
        return f"{words} {EARLIER}" if self.made_from.startswith(PAGE) else words


@dataclass(frozen=True)
class ResultRecord(Record):
    """A file of ``results/``. Keys keep their order, which is that of tables."""

    origin: Origin

    @property
    def replicates(self) -> bool | None:
        """Whether seeds drew all that they draw by default; None where no figure is over seeds."""
        return self.origin.replicates

    def to_bytes(self) -> bytes:
        """The file's content: the same bytes for the same record, all digits of every number.

        :raises ValueError: when a number is not finite.
        """
        return (_json(self.encode(), "") + "\n").encode()

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, self.to_bytes())


def _json(value: Any, indent: str) -> str:  # noqa: ANN401 - JSON
    """JSON; a list or object without further lists or objects is on one line."""
    inner = value.values() if isinstance(value, dict) else value
    nested = isinstance(value, dict | list)
    if not nested or not any(isinstance(entry, dict | list) for entry in inner):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    deeper = indent + " "
    if isinstance(value, dict):
        lines = [f"{json.dumps(name)}: {_json(entry, deeper)}" for name, entry in value.items()]
        return "{\n" + ",\n".join(deeper + line for line in lines) + f"\n{indent}}}"
    lines = [_json(entry, deeper) for entry in value]
    return "[\n" + ",\n".join(deeper + line for line in lines) + f"\n{indent}]"
