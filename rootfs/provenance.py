# SPDX-License-Identifier: GPL-2.0-or-later
"""The origin of a guest image, for records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eascope.host.record import REST, Record, json_key

#: The file next to what is built: an image, or programs for it.
PROVENANCE = "provenance.json"


@dataclass(frozen=True)
class CompiledPrograms(Record):
    """Our own programs.

    :param libc_sha256: of the C library that is linked in.
    """

    compiler: str
    libc_sha256: str
    sha256: Mapping[str, str]


@dataclass(frozen=True)
class DebianPackage(Record):
    """A package, and the SHA-256 of its file."""

    package: str
    version: str
    architecture: str
    sha256: str


@dataclass(frozen=True)
class WheelProgram(Record):
    """A program of a wheel, which has a name and a version."""

    wheel: str = field(metadata=json_key("from"))
    sha256: str


@dataclass(frozen=True)
class CopyDigest(Record):
    """An engine's eliding copy of rt-app."""

    sha256: str


@dataclass(frozen=True)
class ProvidedPrograms(Record):
    """Programs of a provider (`rootfs.images.PROVIDERS`).

    :param packages: versions of those that the content list names.
    :param packages_sha256: over these and all that they depend on.
    """

    provider: str
    packages: Mapping[str, str]
    packages_sha256: str


@dataclass(frozen=True, kw_only=True)
class ImageProvenance(Record):
    """``provenance.json`` of an image, and ``initramfs`` of ``cell.json``.

    :param overlay: SHA-256 of each file of the overlay.
    :param programs: SHA-256 of each program of ours that every image has.
    :param image: its name, where it is not the minimal one.
    :param members: SHA-256 of each program of ours that only this image has.
    :param prepared: the files that a first boot left for it.
    """

    sha256: str
    overlay: Mapping[str, str]
    agent: CompiledPrograms
    busybox: DebianPackage
    rt_app: WheelProgram = field(metadata=json_key("rt-app"))
    trace_cmd: WheelProgram = field(metadata=json_key("trace-cmd"))
    programs: Mapping[str, str]
    copies: Mapping[str, CopyDigest] = field(metadata=REST)
    image: str = ""
    provided: ProvidedPrograms | None = None
    members: Mapping[str, str] = field(default_factory=dict)
    prepared: str = field(default="", metadata=json_key("with"))
