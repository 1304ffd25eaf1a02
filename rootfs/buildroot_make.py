# SPDX-License-Identifier: GPL-2.0-or-later
"""Running Buildroot: a checkout, a configuration of `TREE`, and the archive that comes out."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from eascope.host.cache import artefact, digest_of, sha256_file, tree_digest
from eascope.host.errors import RequestError
from eascope.host.proc import need, run
from eascope.host.record import parse_json
from eascope.host.toolchain import arm64_tool, static_libc
from eascope.rootfs.buildroot_site import SOURCES_VARIABLE, debian_toolchain, local_mk, sources_of
from eascope.rootfs.headers import INCLUDE
from eascope.rootfs.image import AGENT, PROGRAMS

#: Where an ordinary checkout of Buildroot lies.
BUILDROOT = "BUILDROOT"
#: Whose sources and compiler: Debian's, or those that Buildroot downloads itself.
SITE_VARIABLE = "EASCOPE_BUILDROOT_SITE"
SITES = DEBIAN, UPSTREAM = "debian", "upstream"
#: The BR2_EXTERNAL tree.
TREE = Path(__file__).parent / "buildroot"
MEMBERS = Path(__file__).parent / "members"
#: Folders of a checkout that decide what it builds.
PARTS = ("arch", "boot", "fs", "linux", "package", "support", "system", "toolchain")
#: Files here that decide what is built.
MAKERS = ("buildroot_make.py", "buildroot_site.py")
#: The first release that is supported: year and month.
OLDEST = (2025, 2)
_SILENT = ("make", "--no-print-directory", "--silent")


def checkout_asked() -> Path:
    """The checkout that `BUILDROOT` names.

    :raises RequestError: when it names none, or one that is too old.
    """
    text = os.environ.get(BUILDROOT, "")
    path = Path(text).expanduser().absolute()
    if not text or not (path / "Makefile").is_file() or not (path / "package").is_dir():
        raise RequestError(f"{BUILDROOT} = {text!r}: expected a directory with Buildroot's sources")
    version = buildroot_version(path)
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
        oldest = f"{OLDEST[0]}.{OLDEST[1]:02}"
        raise RequestError(
            f"{BUILDROOT} = {text!r} is Buildroot {version}; {oldest} or newer is needed"
        )
    return path


def buildroot_version(checkout: Path) -> str:
    """``BR2_VERSION`` of a checkout, empty where it has none."""
    match = re.search(r"^export BR2_VERSION := (\S+)", (checkout / "Makefile").read_text(), re.M)
    return match[1] if match else ""


def site_asked() -> str:
    """Whose sources and compiler the environment asks for.

    :raises RequestError: a name that there is not.
    """
    site = os.environ.get(SITE_VARIABLE) or DEBIAN
    if site not in SITES:
        raise RequestError(f"{SITE_VARIABLE} = {site!r}: allowed: one of {', '.join(SITES)}")
    return site


def defconfig(name: str) -> Path:
    """The configuration of an image."""
    return TREE / "configs" / f"eascope_{name}_defconfig"


@cache
def _checkout_digest(checkout: Path) -> str:
    parts = {part: tree_digest(checkout / part) for part in PARTS}
    files = {name: sha256_file(checkout / name) for name in ("Makefile", "Config.in")}
    return digest_of({"parts": parts, "files": files})


def built(name: str, checkout: Path, site: str) -> Path:
    """Cached folder with Buildroot's ``rootfs.cpio``, and ``packages.json`` of what it built.

    Buildroot's first build of this machine is kept: its bytes are part of every run's key.
    """
    fields = {
        "image": name,
        "buildroot": _checkout_digest(checkout),
        "configuration": sha256_file(defconfig(name)),
        "tree": {part: tree_digest(TREE, part) for part in ("*.*", "package/**/*", "overlay/**/*")},
        "ours": {part.name: tree_digest(part) for part in (AGENT, PROGRAMS, MEMBERS, INCLUDE)},
        "site": site,
        "makers": {maker: sha256_file(Path(__file__).parent / maker) for maker in MAKERS},
    }
    if site == DEBIAN:
        fields["compiler"] = _compiler()
        fields["libc"] = sha256_file(static_libc())
        given = os.environ.get(SOURCES_VARIABLE)
        fields["sources"] = tree_digest(Path(given)) if given else ""
    version = buildroot_version(checkout)
    return artefact(
        "buildroot",
        fields,
        lambda folder: _build(name, checkout, site, folder),
        label=f"{name} image (Buildroot {version})",
        estimate="minutes",
    )


def _compiler() -> str:
    compiler = arm64_tool("gcc", libc=True)
    version = run([compiler, "-dumpfullversion"]).decode().strip()
    return f"{Path(compiler).name} {version}"


def _build(name: str, checkout: Path, site: str, folder: Path) -> None:
    need("make", "make")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".buildroot-") as place:
        work = Path(place)
        out = work / "out"
        out.mkdir()
        lines = [defconfig(name).read_text().rstrip("\n")]
        versions: dict[str, str] = {}
        if site == DEBIAN:
            (work / "toolchain").mkdir()
            lines += debian_toolchain(work / "toolchain")
            (work / "local.mk").write_text(local_mk(work, {}))
            # What is not overridden must not be downloaded.
            lines += [
                f'BR2_PACKAGE_OVERRIDE_FILE="{work}/local.mk"',
                f'BR2_PRIMARY_SITE="file://{work}/empty"',
                "BR2_PRIMARY_SITE_ONLY=y",
            ]
        (work / "defconfig").write_text("\n".join(lines) + "\n")
        given = (f"O={out}", f"BR2_EXTERNAL={TREE}", f"BR2_DEFCONFIG={work}/defconfig")
        run([*_SILENT, *given, "defconfig"], cwd=checkout, label="Buildroot's configuration")
        info = _info(out)
        if site == DEBIAN:
            sources, versions = sources_of(info, checkout)
            (work / "local.mk").write_text(local_mk(work, sources))
        log = work / "log"
        run([*_SILENT, "-j1"], cwd=out, log=log, label=f"Buildroot: {name} image", nice=10)
        (folder / "rootfs.cpio").write_bytes((out / "images/rootfs.cpio").read_bytes())
    known = {
        package: str(info[package]["version"]) for package in info if info[package].get("version")
    }
    packages = {**known, **versions, "buildroot": buildroot_version(checkout)}
    packages |= {"compiler": "Buildroot's", "libc": ""}
    if site == DEBIAN:
        packages |= {"compiler": _compiler(), "libc": sha256_file(static_libc())}
    (folder / "packages.json").write_text(json.dumps(packages, indent=1, sort_keys=True))


def _info(out: Path) -> Mapping[str, Any]:
    """What Buildroot says of the packages that it is about to build."""
    info: Mapping[str, Any] = parse_json(run([*_SILENT, "show-info"], cwd=out))
    return info
