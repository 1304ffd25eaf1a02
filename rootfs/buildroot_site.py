# SPDX-License-Identifier: GPL-2.0-or-later
"""Buildroot without its downloads: Debian's cross compiler, sources and host tools.

Buildroot fetches the sources of all that it builds from where each is published. Here they come
from a folder of the user's or from Debian's archive, through ``*_OVERRIDE_SRCDIR`` in a generated
``local.mk``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

from eascope.host.debian_sources import source_apt, unpacked
from eascope.host.errors import EascopeError
from eascope.host.proc import need, run
from eascope.host.toolchain import TRIPLET, arm64_tool, cross_prefix, static_libc

#: A folder with a folder of sources for each Buildroot package; it goes before Debian's archive.
SOURCES_VARIABLE = "EASCOPE_BUILDROOT_SOURCES"

#: Source packages of Debian's for Buildroot's, the first that can be had.
DEBIAN_SOURCES: Mapping[str, tuple[str, ...]] = {
    "busybox": ("busybox",),
    "eascope-perf": ("linux",),
    "json-c": ("json-c",),
    "libtraceevent": ("libtraceevent",),
    "libtracefs": ("libtracefs",),
    "luajit": ("luajit",),
    "numactl": ("numactl",),
    # Buildroot builds it with Meson, for which 15 is too old.
    "postgresql": ("postgresql-17",),
    "rt-app": ("rt-app",),
    "rt-tests": ("rt-tests",),
    "stress-ng": ("stress-ng",),
    "sysbench": ("sysbench",),
    "trace-cmd": ("trace-cmd",),
}


@dataclass(frozen=True)
class HostTool:
    """A host package of Buildroot's in whose place the host's own programs are used.

    :param programs: none for a library, which the host's compiler finds by itself.
    :param folder: where Buildroot's packages look for them, in its folder for the host.
    :param needs: host packages that who uses this one calls from that folder, too.
    :param oldest: the first release that Buildroot's files are written for.
    """

    debian: str
    programs: tuple[str, ...]
    folder: str = "bin"
    needs: tuple[str, ...] = ()
    oldest: tuple[int, ...] = ()

    def paths(self) -> list[str] | None:
        """Paths of its programs; `None` when one of them is not there.

        A program of eascope's own environment goes before the system's.
        """
        own = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
        paths = [which(program, path=own) for program in self.programs]
        return [path for path in paths if path] if None not in paths else None


#: By Buildroot's name.
HOST_TOOLS: Mapping[str, HostTool] = {
    "host-autoconf": HostTool(
        "autoconf", ("autoconf", "autoheader", "autom4te", "autoreconf", "autoupdate")
    ),
    "host-automake": HostTool("automake", ("aclocal", "automake")),
    "host-bison": HostTool("bison", ("bison",)),
    "host-fakeroot": HostTool("fakeroot", ("fakeroot",)),
    "host-flex": HostTool("flex", ("flex",)),
    "host-libtool": HostTool("libtool", ("libtoolize",)),
    "host-libxcrypt": HostTool("libcrypt-dev", ()),
    "host-m4": HostTool("m4", ("m4",)),
    # Before 1.3 it does not know the name that Buildroot's files have for pkg-config.
    "host-meson": HostTool("meson", ("meson",), needs=("host-ninja",), oldest=(1, 3)),
    "host-ninja": HostTool("ninja-build", ("ninja",)),
    "host-patchelf": HostTool("patchelf", ("patchelf",)),
    # Buildroot's own script, which it installs afterwards, calls this one.
    "host-pkgconf": HostTool("pkgconf", ("pkgconf",)),
    "host-tar": HostTool("tar", ("tar",)),
    "host-zic": HostTool("libc-bin", ("/usr/sbin/zic",), "sbin"),
}

#: Host packages that `AUTORECONF` calls.
_AUTORECONF = ("host-autoconf", "host-automake", "host-libtool")

_TOOL = """\
# $(1): a host package, $(2): the programs that stand in its place, $(3): their folder,
# $(4): the host packages that come with it.
define eascope-host-tool
$(1)_OVERRIDE_SRCDIR = {empty}
override $(1)_DEPENDENCIES = host-skeleton $(4)
override $(1)_AUTORECONF = NO
override $(1)_CONFIGURE_CMDS = :
override $(1)_BUILD_CMDS = :
override $(1)_INSTALL_CMDS = mkdir -p $$(HOST_DIR)/$(3) $(if $(2),&& ln -sf $(2) $$(HOST_DIR)/$(3)/)
endef
"""

#: The compiler of a toolchain folder. Buildroot refuses one that says it was configured for the
#: root folder; this one is given a folder of its own instead.
_COMPILER = """\
#!/bin/sh
if [ "$*" = -v ]; then
	{program} -v 2>&1 | sed 's/ --with-sysroot=[^ ]*//' >&2
	exit
fi
exec {program} --sysroot={sysroot} "$@"
"""


def upper(package: str) -> str:
    """A package's name as Buildroot's variables begin."""
    return package.upper().replace("-", "_")


def local_mk(folder: Path, sources: Mapping[str, Path]) -> str:
    """The generated ``local.mk``.

    :param folder: where an empty folder may be made.
    """
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    # Buildroot has a copy of Meson find any python3; the host's knows its own.
    lines = [_TOOL.format(empty=empty), "override HOST_MESON_SET_INTERPRETER = :"]
    for name, tool in HOST_TOOLS.items():
        programs = tool.paths()
        if programs is not None:
            paths, needs = " ".join(programs), " ".join(tool.needs)
            given = ",".join((upper(name), paths, tool.folder, needs))
            lines.append(f"$(eval $(call eascope-host-tool,{given}))")
    for name, path in sorted(sources.items()):
        lines.append(f"{upper(name)}_OVERRIDE_SRCDIR = {path}")
        if _as_in_a_repository(path):
            lines.append(f"{upper(name)}_AUTORECONF = YES")
    return "\n".join(lines) + "\n"


def sources_of(info: Mapping[str, Any], checkout: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Folders and versions of the sources that Buildroot would download.

    :param info: what ``make show-info`` prints.
    :raises EascopeError: a package whose sources are not to be had, or a host tool that is not
        installed: one line that names its package.
    """
    folders: dict[str, Path] = {}
    versions: dict[str, str] = {}
    for name in sorted(_downloaded(info)):
        if name in HOST_TOOLS:
            _check(HOST_TOOLS[name])
            continue
        given = _given(name)
        if given is not None:
            folders[name], versions[name] = given, f"{given.name} of {SOURCES_VARIABLE}"
            continue
        if name not in DEBIAN_SOURCES:
            raise EascopeError(
                f"Buildroot's package {name}: no sources; put them into a directory {name} in the "
                f"directory that {SOURCES_VARIABLE} names"
            )
        tarball = source_apt().tarball(DEBIAN_SOURCES[name])
        # Buildroot's patches are for its own version.
        same = tarball.version == info[name]["version"]
        patches = [checkout / patch for patch in info[name].get("patches", ())] if same else []
        folders[name], versions[name] = unpacked(tarball, patches), tarball.version
    if any(map(_as_in_a_repository, folders.values())):
        for name in _AUTORECONF:
            _check(HOST_TOOLS[name])
    return folders, versions


def _as_in_a_repository(folder: Path) -> bool:
    """True if automake has not run on sources that are written for it, as in no release of them."""
    return (folder / "Makefile.am").is_file() and not (folder / "Makefile.in").is_file()


def _check(tool: HostTool) -> None:
    """:raises EascopeError: when a program of ``tool`` is missing, or older than it may be."""
    paths = tool.paths()
    if paths is None:
        for program in tool.programs:
            need(program, tool.debian)
    elif tool.oldest:
        version = run([paths[0], "--version"]).decode().strip()
        if tuple(map(int, re.findall(r"\d+", version)[: len(tool.oldest)])) < tool.oldest:
            oldest = ".".join(map(str, tool.oldest))
            name = tool.programs[0]
            raise EascopeError(
                f"{paths[0]}: version {version}: allowed: {oldest} or newer: run: "
                f"{sys.executable} -m pip install '{name}>={oldest}'"
            )


def _downloaded(info: Mapping[str, Any]) -> Iterable[str]:
    for name, details in info.items():
        if details.get("downloads") and details.get("version") != "local":
            yield name


def _given(name: str) -> Path | None:
    folder = os.environ.get(SOURCES_VARIABLE)
    path = Path(folder).absolute() / name if folder else None
    return path if path and path.is_dir() else None


def debian_toolchain(folder: Path) -> list[str]:
    """Fill ``folder`` with Debian's cross compiler as Buildroot takes one; lines of a defconfig.

    Buildroot copies the C library from the folder that a compiler looks in, so the folder has the
    compiler's libraries and headers, and nothing else that is installed.

    :raises EascopeError: when the compiler or the C library is not installed.
    """
    compiler = Path(arm64_tool("gcc", libc=True)).resolve()
    if not cross_prefix():
        raise EascopeError("Buildroot with Debian's cross compiler works only on an x86-64 host")
    prefix = Path("/usr") / TRIPLET
    bin_, own, sysroot = folder / "bin", folder / "gcc", folder / "sysroot"
    for item in (bin_, own / "bin", own / TRIPLET, sysroot / "lib", sysroot / "usr"):
        item.mkdir(parents=True)
    # A compiler finds its parts from where it lies: links to files in folders of its own.
    for parts in ("lib", "libexec"):
        if Path("/usr", parts, "gcc-cross").is_dir():
            (own / parts).mkdir()
            copied = ["cp", "--archive", "--symbolic-link", f"/usr/{parts}/gcc-cross"]
            run([*copied, own / parts])
    (own / TRIPLET / "bin").symlink_to(prefix / "bin")
    for tool in sorted(Path("/usr/bin").glob(f"{TRIPLET}-*")):
        if not re.search(r"-\d+$", tool.name):
            (bin_ / tool.name).symlink_to(tool)
    for name in ("gcc", "cpp"):
        program = own / "bin" / f"{TRIPLET}-{name}"
        shutil.copy2(Path(arm64_tool(name)).resolve(), program)
        wrapper = bin_ / program.name
        wrapper.unlink()
        wrapper.write_text(_COMPILER.format(program=program, sysroot=sysroot))
        wrapper.chmod(0o755)
    _libc(static_libc().resolve().parent, prefix / "include", sysroot)
    version = run([compiler, "-dumpversion"]).decode().strip().partition(".")[0]
    return [
        "BR2_TOOLCHAIN_EXTERNAL=y",
        "BR2_TOOLCHAIN_EXTERNAL_CUSTOM=y",
        "BR2_TOOLCHAIN_EXTERNAL_PREINSTALLED=y",
        f'BR2_TOOLCHAIN_EXTERNAL_PATH="{folder}"',
        f'BR2_TOOLCHAIN_EXTERNAL_CUSTOM_PREFIX="{TRIPLET}"',
        f"BR2_TOOLCHAIN_EXTERNAL_GCC_{version}=y",
        f"BR2_TOOLCHAIN_EXTERNAL_HEADERS_{_headers(prefix / 'include')}=y",
        "BR2_TOOLCHAIN_EXTERNAL_CUSTOM_GLIBC=y",
        "# BR2_TOOLCHAIN_EXTERNAL_INET_RPC is not set",
        "# BR2_TOOLCHAIN_EXTERNAL_CXX is not set",
        "BR2_TOOLCHAIN_EXTERNAL_OPENMP=y",
    ]


def _libc(libraries: Path, headers: Path, sysroot: Path) -> None:
    shutil.copytree(headers, sysroot / "usr/include", symlinks=True)
    shutil.copytree(libraries, sysroot / "usr/lib", symlinks=True)
    (loader,) = (sysroot / "usr/lib").glob("ld-linux-*.so.*")
    shutil.copy2(loader.resolve(), sysroot / "lib" / loader.name)
    loader.unlink()
    for script in (sysroot / "usr/lib").glob("*.so"):
        # Where a library is a linker's script, it names files by their paths on this machine.
        data = script.read_bytes()
        if b"GNU ld script" in data[:80]:
            text = data.decode().replace(f"{libraries}/ld-linux", "/lib/ld-linux")
            script.write_text(text.replace(f"{libraries}/", "/usr/lib/"))


def _headers(include: Path) -> str:
    """The release of the kernel's headers as Buildroot's options name it: ``6_1``."""
    text = (include / "linux/version.h").read_text()
    match = re.search(r"#define LINUX_VERSION_CODE (\d+)", text)
    if match is None:
        raise EascopeError(f"{include}/linux/version.h: no LINUX_VERSION_CODE")
    code = int(match[1])
    return f"{code >> 16}_{code >> 8 & 255}"
