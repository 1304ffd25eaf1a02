# SPDX-License-Identifier: GPL-2.0-or-later
"""The provider ``buildroot``: whole images that Buildroot builds, of ``rootfs/buildroot``.

Buildroot builds busybox, the programs, and the agent. rt-app with its eliding copies and trace-cmd
are LISA's, as in every image: the copies are of one build of rt-app.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from eascope.host.cache import artefact, digest_of, sha256_bytes, sha256_file
from eascope.host.errors import EascopeError
from eascope.host.lisa import VERSION as LISA_VERSION
from eascope.host.lisa import lisa_binaries
from eascope.host.record import parse_json
from eascope.rootfs.buildroot_make import built, checkout_asked, defconfig, site_asked
from eascope.rootfs.content import MINIMAL, load_content
from eascope.rootfs.elide import ElidingCopy
from eascope.rootfs.image import (
    LINK,
    OVERLAY,
    RT_APP,
    TRACE_CMD,
    ImageArtefact,
    image_in,
    program_names,
)
from eascope.rootfs.newc import archive_of, entries
from eascope.rootfs.provenance import (
    PROVENANCE,
    CompiledPrograms,
    CopyDigest,
    DebianPackage,
    ImageProvenance,
    ProvidedPrograms,
    WheelProgram,
)

#: Files here that decide what is in the image.
MAKERS = ("buildroot_image.py", "cpio.py", "elide.py", "newc.py")


def buildroot_image(name: str, copies: Sequence[ElidingCopy]) -> ImageArtefact:
    """An image that Buildroot builds, from the cache or built.

    :param copies: as for `rootfs.image.initramfs`.
    :raises RequestError: when `BUILDROOT` names no Buildroot that is new enough.
    :raises EascopeError: when a tool or sources are missing.
    :raises CommandFailed: when Buildroot fails, with its last lines.
    """
    checkout, site = checkout_asked(), site_asked()
    lisa = lisa_binaries() / "arm64"
    folder = built(name, checkout, site)
    data = (folder / "rootfs.cpio").read_bytes()
    overlay = sorted(path for path in OVERLAY.rglob("*") if path.is_file())
    files = _rt_apps(lisa, copies)
    files[TRACE_CMD] = (lisa / "trace-cmd").read_bytes()
    paths = {f"/{entry.name}" for entry in entries(data)} | set(files)
    for path in overlay:
        name_there = f"/{path.relative_to(OVERLAY)}"
        if name_there in paths:
            raise EascopeError(
                f"{path}: the guest image already has {name_there}; choose another path"
            )
        files[name_there] = path.read_bytes()

    def build(work: Path) -> None:
        image = work / "initramfs.cpio"
        archive = archive_of(data)
        for path, content in files.items():
            archive.file(path[1:], content, 0o755)
        archive.link(LINK, RT_APP)
        for copy in copies:
            if copy.link:
                archive.link(copy.link, copy.path)
        image.write_bytes(archive.data())
        _provenance(name, image, folder, overlay, copies).write(work / PROVENANCE)

    fields = {
        "provider": "buildroot",
        "image": name,
        "built": sha256_bytes(data),
        "files": {path: sha256_bytes(content) for path, content in files.items()},
        "links": [[copy.link, copy.path] for copy in copies],
        "makers": _makers(),
    }
    return image_in(artefact("initramfs", fields, build, label="guest image", estimate_s=1))


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


def _provenance(
    name: str, image: Path, result: Path, overlay: Sequence[Path], copies: Sequence[ElidingCopy]
) -> ImageProvenance:
    packages = parse_json((result / "packages.json").read_bytes())
    every = {f"/{entry.name}": sha256_bytes(entry.content) for entry in entries(image.read_bytes())}
    wheel = f"lisa-linux {LISA_VERSION}"
    content = load_content().programs
    members = {
        item: every[program.path]
        for item, program in content.items()
        if program.made_by == "ours" and name in program.images and MINIMAL not in program.images
    }
    ours = {name: every[f"/bin/{name}"] for name in program_names()}
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
