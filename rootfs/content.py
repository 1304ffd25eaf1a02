# SPDX-License-Identifier: GPL-2.0-or-later
"""``content.toml``: the images and the programs of each.

Every provider builds an image from this list, so a scenario may name a program without knowing the
provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from eascope.host.keys import Placed, key, maybe
from eascope.host.strict import read_toml

CONTENT = Path(__file__).parent / "content.toml"
MINIMAL, PROGRAMS = "minimal", "programs"
#: Who makes a program.
MAKERS_OF_PROGRAMS = ("lisa", "ours", "provider")


@dataclass(frozen=True)
class GuestProgram:
    """A program of a guest image.

    :param path: its path in the guest.
    :param made_by: one of `MAKERS_OF_PROGRAMS`.
    :param package: Debian's, if a provider makes it; else empty.
    :param file: its path in Debian's package.
    :param option: Buildroot's, where a provider makes it; else empty.
    :param kernel: fragments that it needs in addition to a kernel's own.
    """

    name: str
    path: str
    images: tuple[str, ...]
    made_by: str
    package: str = ""
    file: str = ""
    option: str = ""
    kernel: tuple[str, ...] = ()


@dataclass(frozen=True)
class GuestData:
    """Files, or whole folders, of a Debian package that its programs read."""

    package: str = key("Debian's package")
    files: tuple[str, ...] = key("files, or folders that end in a slash")


@dataclass(frozen=True)
class Content:
    """The whole list."""

    images: Mapping[str, str]
    programs: Mapping[str, GuestProgram]
    data: tuple[GuestData, ...]

    def provided(self) -> tuple[GuestProgram, ...]:
        """The programs that a provider makes."""
        return tuple(program for program in self.programs.values() if program.made_by == "provider")


@dataclass(frozen=True, kw_only=True)
class _Debian(Placed):
    package: str = key("Debian's package")
    file: str = key("path in it, where the guest's is another", default="")


@dataclass(frozen=True, kw_only=True)
class _Buildroot(Placed):
    option: str = key("Buildroot's option")


@dataclass(frozen=True, kw_only=True)
class _Program(Placed):
    path: str = key("in the guest")
    made_by: str = key("who makes it", name="from", choices=MAKERS_OF_PROGRAMS)
    images: tuple[str, ...] = key("that have it", choices=(MINIMAL, PROGRAMS))
    kernel: tuple[str, ...] = key("fragments besides a kernel's own", default=())
    debian: _Debian | None = maybe("of a provider's program")
    buildroot: _Buildroot | None = maybe("of a provider's program")

    def check(self) -> None:
        """A provider has a name for what it makes."""
        for name in ("debian", "buildroot"):
            self.need_with(name, 'from = "provider"', there=self.made_by == "provider")

    def program(self, name: str) -> GuestProgram:
        """The program as images have it."""
        made = (name, self.path, self.images, self.made_by)
        if not (self.debian and self.buildroot):
            return GuestProgram(*made, kernel=self.kernel)
        file = self.debian.file or self.path
        return GuestProgram(*made, self.debian.package, file, self.buildroot.option, self.kernel)


@dataclass(frozen=True)
class _DataFile:
    debian: GuestData = key("of Debian")


@dataclass(frozen=True)
class _Images:
    minimal: str = key("what it is for")
    programs: str = key("what it is for")


@dataclass(frozen=True)
class _ContentFile:
    schema_version: ClassVar[int] = 1

    images: _Images = key("the images")
    program: Mapping[str, _Program] = key("programs by name")
    data: tuple[_DataFile, ...] = key("files that programs read", count=(1, 99))


@cache
def load_content(path: Path = CONTENT) -> Content:
    """The list of the guest images' programs.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    own = read_toml(path).decoded(_ContentFile)
    programs = {name: program.program(name) for name, program in own.program.items()}
    return Content(vars(own.images), programs, tuple(data.debian for data in own.data))
