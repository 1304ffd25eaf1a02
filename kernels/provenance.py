# SPDX-License-Identifier: GPL-2.0-or-later
"""The origin of a kernel, for records."""

from __future__ import annotations

from dataclasses import dataclass

from eascope.host.record import Record

#: `SourceProvenance.source` of the folder that the variable of this name gives, and of a git tree.
KERNEL_SRC, GIT = "KERNEL_SRC", "git"


@dataclass(frozen=True, kw_only=True)
class SourceProvenance(Record):
    """The origin of a kernel's source.

    :param source: Debian's package, or `KERNEL_SRC`, or `GIT`.
    :param package_version: Debian's, or the name of a folder, or a commit.
    :param source_sha256: of the unpacked files.
    :param source_tested: whether the queues were tested on this version.
    """

    source: str
    package_version: str
    source_sha256: str
    source_tested: bool

    @property
    def words(self) -> str:
        """``linux-source-6.12 6.12.117-1``; of a folder, the digest instead of its name."""
        if self.source == KERNEL_SRC:
            return f"{KERNEL_SRC}, digest {self.source_sha256[:12]}"
        return f"{self.source} {self.package_version}"


@dataclass(frozen=True, kw_only=True)
class KernelProvenance(SourceProvenance):
    """The origin of a kernel.

    :param series: its queues by name, in their order; ``series_sha256`` is over their patches.
    :param compiler: first lines of the compiler's and the linker's version.
    :param options: what became of options that its patches or its tree bring along, in words.
    :param not_compiled: what of a person's patches is not compiled, in words.
    """

    upstream: str
    series: tuple[str, ...]
    series_sha256: str
    config_sha256: str
    compiler: str
    options: tuple[str, ...] = ()
    not_compiled: tuple[str, ...] = ()


@dataclass(frozen=True)
class BuiltKernel(Record):
    """``kernel.json`` of a built kernel: the output of ``uname -r``, its origin, and its code.

    :param code: digest of what it does, without its name and numbers of lines.
    """

    version: str
    provenance: KernelProvenance
    code: str = ""
