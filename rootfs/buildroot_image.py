# SPDX-License-Identifier: GPL-2.0-or-later
"""The provider ``buildroot``: whole images that Buildroot builds, of ``rootfs/buildroot``.

Buildroot builds busybox, the programs, and the agent. rt-app with its eliding copies and trace-cmd
are LISA's, as in every image: the copies are of one build of rt-app.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from host.cache import artefact, digest_of, sha256_bytes, sha256_file, tree_digest
from host.errors import RequestError
from host.lisa import VERSION as LISA_VERSION
from host.lisa import lisa_binaries
from host.proc import need, run
from host.record import parse_json
from host.toolchain import arm64_tool, static_libc
from rootfs.buildroot_site import (
    SOURCES_VARIABLE,
    debian_toolchain,
    local_mk,
    sources_of,
)
from rootfs.content import MINIMAL, load_content
from rootfs.elide import ElidingCopy
from rootfs.headers import INCLUDE
from rootfs.image import (
    AGENT,
    LINK,
    OVERLAY,
    PROGRAMS,
    RT_APP,
    TRACE_CMD,
    ImageArtefact,
    image_in,
    program_names,
)
from rootfs.newc import archive_of, entries
from rootfs.provenance import (
    PROVENANCE,
    CompiledPrograms,
    CopyDigest,
    DebianPackage,
    ImageProvenance,
    ProvidedPrograms,
    WheelProgram,
)

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
#: Files here that decide what is in the image.
MAKERS = (
    *("buildroot_image.py", "buildroot_site.py", "cpio.py", "elide.py", "newc.py", "headers.py"),
)
OLDEST = (2025, 2)
_SILENT = ("make", "--no-print-directory", "--silent")


def buildroot_image(name: str, copies: Sequence[ElidingCopy]) -> ImageArtefact:
    """An image that Buildroot builds, from the cache or built.

    :param copies: as for `rootfs.image.initramfs`.
    :raises RequestError: when `BUILDROOT` names no Buildroot that is new enough.
    :raises EascopeError: when a tool or sources are missing.
    :raises CommandFailed: when Buildroot fails, with its last lines.
    """
    checkout, site = checkout_asked(), site_asked()
    lisa = lisa_binaries() / "arm64"
    built = _built(name, checkout, site)
    data = (built / "rootfs.cpio").read_bytes()
    overlay = sorted(path for path in OVERLAY.rglob("*") if path.is_file())
    files = _rt_apps(lisa, copies)
    files[TRACE_CMD] = (lisa / "trace-cmd").read_bytes()
    files |= {f"/{path.relative_to(OVERLAY)}": path.read_bytes() for path in overlay}

    def build(folder: Path) -> None:
        image = folder / "initramfs.cpio"
        archive = archive_of(data)
        for path, content in files.items():
            archive.file(path[1:], content, 0o755)
        archive.link(LINK, RT_APP)
        for copy in copies:
            if copy.link:
                archive.link(copy.link, copy.path)
        image.write_bytes(archive.data())
        _provenance(name, image, built, overlay, copies).write(folder / PROVENANCE)

    fields = {
        "provider": "buildroot",
        "image": name,
        "built": sha256_bytes(data),
        "files": {path: sha256_bytes(content) for path, content in files.items()},
        "links": [[copy.link, copy.path] for copy in copies],
        "makers": _makers(),
    }
    return image_in(artefact("initramfs", fields, build, label="guest image", estimate_s=1))


def checkout_asked() -> Path:
    """The checkout that `BUILDROOT` names.

    :raises RequestError: when it names none, or one that is too old.
    """
    text = os.environ.get(BUILDROOT, "")
    path = Path(text).expanduser().absolute()
    if not text or not (path / "Makefile").is_file() or not (path / "package").is_dir():
        raise RequestError(f"{BUILDROOT} = {text!r}: allowed: a folder with Buildroot's sources")
    version = buildroot_version(path)
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
        oldest = f"{OLDEST[0]}.{OLDEST[1]:02}"
        raise RequestError(
            f"{BUILDROOT} = {text!r}: Buildroot {version}: allowed: {oldest} or newer"
        )
    return path


def buildroot_version(checkout: Path) -> str:
    """``BR2_VERSION`` of a checkout, empty where it has none."""
    found = re.search(r"^export BR2_VERSION := (\S+)", (checkout / "Makefile").read_text(), re.M)
    return found[1] if found else ""


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


def lacking(name: str) -> frozenset[str]:
    """Programs of the content list that ``name`` should have, and Buildroot does not build."""
    options = re.findall(r"^(BR2_\w+)=y$", defconfig(name).read_text(), re.M)
    return frozenset(
        program.name
        for program in load_content().provided()
        if name in program.images and program.option not in options
    )


def _rt_apps(lisa: Path, copies: Sequence[ElidingCopy]) -> dict[str, bytes]:
    rt_app = (lisa / "rt-app").read_bytes()
    return {RT_APP: rt_app, **{copy.path: copy.make(rt_app) for copy in copies}}


def _makers() -> dict[str, str]:
    return {name: sha256_file(Path(__file__).parent / name) for name in MAKERS}


@cache
def _checkout_digest(checkout: Path) -> str:
    parts = {part: tree_digest(checkout / part) for part in PARTS}
    files = {name: sha256_file(checkout / name) for name in ("Makefile", "Config.in")}
    return digest_of({"parts": parts, "files": files})


def _built(name: str, checkout: Path, site: str) -> Path:
    """Cached folder with Buildroot's ``rootfs.cpio``, and ``packages.json`` of what it built.

    Buildroot's first build of this machine is kept: its bytes are part of every run's key.
    """
    fields = {
        "image": name,
        "buildroot": _checkout_digest(checkout),
        "tree": tree_digest(TREE),
        "ours": {part.name: tree_digest(part) for part in (AGENT, PROGRAMS, MEMBERS, INCLUDE)},
        "site": site,
        "makers": _makers(),
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
    known = {each: str(info[each]["version"]) for each in info if info[each].get("version")}
    packages = {**known, **versions, "buildroot": buildroot_version(checkout)}
    packages |= {"compiler": "Buildroot's", "libc": ""}
    if site == DEBIAN:
        packages |= {"compiler": _compiler(), "libc": sha256_file(static_libc())}
    (folder / "packages.json").write_text(json.dumps(packages, indent=1, sort_keys=True))


def _info(out: Path) -> Mapping[str, Any]:
    """What Buildroot says of the packages that it is about to build."""
    info: Mapping[str, Any] = parse_json(run([*_SILENT, "show-info"], cwd=out))
    return info


def _provenance(
    name: str, image: Path, built: Path, overlay: Sequence[Path], copies: Sequence[ElidingCopy]
) -> ImageProvenance:
    packages = parse_json((built / "packages.json").read_bytes())
    every = {f"/{entry.name}": sha256_bytes(entry.content) for entry in entries(image.read_bytes())}
    wheel = f"lisa-linux {LISA_VERSION}"
    content = load_content().programs
    members = {
        each: every[program.path]
        for each, program in content.items()
        if program.made_by == "ours" and name in program.images and MINIMAL not in program.images
    }
    ours = {each: every[f"/bin/{each}"] for each in program_names()}
    return ImageProvenance(
        sha256=sha256_file(image),
        overlay={path.relative_to(OVERLAY).as_posix(): sha256_file(path) for path in overlay},
        agent=CompiledPrograms(
            compiler=packages["compiler"],
            libc_sha256=packages["libc"],
            sha256={"agent": every["/init"]},
        ),
        busybox=DebianPackage("busybox", packages["busybox"], "arm64", every["/bin/busybox"]),
        rt_app=WheelProgram(wheel, every[RT_APP]),
        trace_cmd=WheelProgram(wheel, every[TRACE_CMD]),
        programs=ours,
        copies={copy.name: CopyDigest(every[copy.path]) for copy in copies},
        image="" if name == MINIMAL else name,
        provided=ProvidedPrograms("buildroot", packages, digest_of({"packages": packages})),
        members=members,
    )
