# SPDX-License-Identifier: GPL-2.0-or-later
"""The common part of every record: the origin of its figures, and its writing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from eascope.host.cache import write_atomic
from eascope.host.errors import RequestError
from eascope.host.record import Record
from eascope.kernels.patch_series import effect_digest, series_digest
from eascope.kernels.provenance import KernelProvenance
from eascope.kernels.releases import release_of
from eascope.kernels.variants import SERIES

DATA = Path(__file__).parent / "data"
#: `Origin.made_from` of a record whose figures come from runs.
RUNS = "runs"


@dataclass(frozen=True)
class Origin(Record):
    """The origin of a record's figures.

    :param command: the command that made the record, as it was called at that commit.
    :param made_from: ``runs``: figures at full precision; or the page that it was converted from,
        with the digits that the page showed.
    :param versions: of kernel, QEMU, gem5 and eascope, as far as they are known.
    :param remarks: other conditions of the runs, such as the load of the host.
    :param replicates: whether seeds drew all that they draw by default, or starts alone; None where
        no figure is over seeds.
    :param patches: `kernels.patch_series.effect_digest` of each series of the runs' kernels, by
        series and release (``feec@6.12``); empty if it is not known.
    :param files: digests of the runs' platforms and scenarios (`research.plan.files_of`), by file;
        empty if they are not known.
    """

    command: str
    made_from: str
    versions: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    replicates: bool | None = None
    patches: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KnownRecord(Record):
    """A file of ``data/``. Keys keep their order."""

    origin: Origin

    def to_bytes(self) -> bytes:
        """The file's content: the same bytes for the same record, all digits of every number.

        :raises ValueError: when a number is not finite.
        """
        return record_bytes(self.encode())

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        write_atomic(path, self.to_bytes())


def patches_of(kernels: Iterable[KernelProvenance]) -> dict[str, str]:
    """What series change, by ``series@release``, as `Origin.patches` has it.

    A kernel whose series are not ours as they are is left out: a person's own, or one that was
    built before a series changed.
    """
    digests: dict[str, str] = {}
    result = {(k.series, release_of(k.upstream).name, k.series_sha256) for k in kernels}
    for names, release, sha256 in sorted(result):
        folders = [SERIES / name for name in names]
        if all(map(Path.is_dir, folders)) and series_digest(folders, release) == sha256:
            digests |= digests_of(f"{name}@{release}" for name in names)
    return digests


def digests_of(keys: Iterable[str], root: Path = SERIES) -> dict[str, str]:
    """What ``series@release`` changes, as ``root`` has it now; empty where it is gone."""
    return {key: _digest(key, root) for key in keys}


def older(patches: Mapping[str, str], root: Path = SERIES) -> list[str]:
    """Those ``series@release`` of a record that change something else in ``root``, or are gone."""
    return [key for key, digest in patches.items() if _digest(key, root) != digest]


@cache
def _digest(key: str, root: Path) -> str:
    name, _, release = key.partition("@")
    try:
        return effect_digest(root / name, release)
    except RequestError:
        return ""


def record_bytes(value: Any) -> bytes:  # noqa: ANN401 - JSON
    """JSON with a line for each row: for what has numbers or texts, and at most lists of them."""
    return (_json(value, "") + "\n").encode()


def _json(value: Any, indent: str) -> str:  # noqa: ANN401 - JSON
    inner = _inner(value)
    nested = [part for part in inner if isinstance(part, dict | list)]
    deep = any(isinstance(part, dict) or any(map(_inner, part)) for part in nested)
    if not nested or (len(nested) < len(inner) and not deep):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    deeper = indent + " "
    if isinstance(value, dict):
        lines = [f"{json.dumps(name)}: {_json(entry, deeper)}" for name, entry in value.items()]
        return "{\n" + ",\n".join(deeper + line for line in lines) + f"\n{indent}}}"
    lines = [_json(entry, deeper) for entry in value]
    return "[\n" + ",\n".join(deeper + line for line in lines) + f"\n{indent}]"


def _inner(value: Any) -> list[Any]:  # noqa: ANN401 - JSON
    """The parts of a list or an object; of anything else none."""
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
