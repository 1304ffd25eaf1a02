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

from eascope.host.strict import StrictTable, read_toml

CONTENT = Path(__file__).parent / "content.toml"
MINIMAL, PROGRAMS = "minimal", "programs"
#: Who makes a program.
MAKERS_OF_PROGRAMS = ("lisa", "ours", "provider")


@dataclass(frozen=True)
class GuestProgram:
    """A program of a guest image.

    :param path: its path in the guest.
    :param images: the images that have it.
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

    package: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Content:
    """The whole list.

    :param images: names, with a line each.
    """

    images: Mapping[str, str]
    programs: Mapping[str, GuestProgram]
    data: tuple[GuestData, ...]

    def provided(self) -> tuple[GuestProgram, ...]:
        """The programs that a provider makes."""
        return tuple(program for program in self.programs.values() if program.made_by == "provider")


@cache
def load_content(path: Path = CONTENT) -> Content:
    """The list of the guest images' programs.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    top = read_toml(path)
    top.integer("schema", 1, 1)
    images = top.table("images")
    known = {name: images.text(name) for name in (MINIMAL, PROGRAMS)}
    images.finish()
    group = top.table("program")
    programs = {name: _program(name, group.table(name), known) for name in group.data}
    data = tuple(_data(table.table("debian")) for table in top.tables("data", 1, 99))
    top.finish()
    return Content(known, programs, data)


def _program(name: str, table: StrictTable, images: Mapping[str, str]) -> GuestProgram:
    path = table.text("path")
    made_by = table.text("from", MAKERS_OF_PROGRAMS)
    package = file = option = ""
    if made_by == "provider":
        debian, buildroot = table.table("debian"), table.table("buildroot")
        package, option = debian.text("package"), buildroot.text("option")
        file = debian.text("file") if debian.has("file") else path
        debian.finish()
        buildroot.finish()
    program = GuestProgram(
        *(name, path, table.texts("images", images), made_by, package, file, option),
        kernel=table.texts("kernel") if table.has("kernel") else (),
    )
    table.finish()
    return program


def _data(table: StrictTable) -> GuestData:
    data = GuestData(table.text("package"), table.texts("files"))
    table.finish()
    return data
