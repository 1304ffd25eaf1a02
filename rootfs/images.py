# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest images by name: the minimal image, and the image with kernel developers' programs.

The default provider's programs image is the minimal image, followed by further archives. The kernel
unpacks one after the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eascope.host.cache import artefact, sha256_bytes, sha256_file
from eascope.host.errors import RequestError, unknown
from eascope.rootfs.buildroot_image import buildroot_image, lacking
from eascope.rootfs.content import MINIMAL, PROGRAMS, load_content
from eascope.rootfs.cpio import Archive
from eascope.rootfs.debian import debian_programs
from eascope.rootfs.elide import ElidingCopy
from eascope.rootfs.headers import INCLUDE
from eascope.rootfs.image import ImageArtefact, compiled_programs, image_in, initramfs
from eascope.rootfs.provenance import PROVENANCE, ProvidedPrograms

#: Programs of ours that only the programs image has: a file each, or a folder of files.
MEMBERS = Path(__file__).parent / "members"
#: Names the provider in place of the first one.
PROVIDER_VARIABLE = "EASCOPE_IMAGE_PROVIDER"
#: The files of each program of `MEMBERS`.
UNITS = {
    "member": [
        *("base.c", "become.c", "log.c", "main.c", "outside.c", "pids.c", "room.c", "run.c"),
    ],
    "schbench": ["schbench.c"],
    "policy": [
        *("policy/browser.c", "policy/draws.c", "policy/groups.c", "policy/host.c"),
        *("policy/main.c", "policy/migrate.c", "policy/samples.c", "policy/watch.c"),
    ],
}


def debian_image(name: str, copies: Sequence[ElidingCopy]) -> ImageArtefact:
    """An image whose programs are of Debian's packages.

    :param copies: as for `rootfs.image.initramfs`.
    :raises EascopeError: when something that it is made of cannot be had.
    """
    minimal = initramfs(copies)
    return minimal if name == MINIMAL else _programs_image(minimal)


@dataclass(frozen=True)
class Provider:
    """Who builds the images of the content list.

    :param lacking: programs that an image should have, and does not when it is built this way.
    """

    image: Callable[[str, Sequence[ElidingCopy]], ImageArtefact]
    lacking: Callable[[str], frozenset[str]]


#: The first one is the default.
PROVIDERS: dict[str, Provider] = {
    "debian": Provider(debian_image, lambda name: frozenset()),
    "buildroot": Provider(buildroot_image, lacking),
}


def image_named(name: str, provider: str, copies: Sequence[ElidingCopy]) -> ImageArtefact:
    """A guest image, from the cache or built.

    :param copies: as for `rootfs.image.initramfs`.
    :param provider: one of `PROVIDERS`.
    :raises RequestError: a name that there is not.
    :raises EascopeError: when one of its parts is not available.
    """
    if name not in load_content().images:
        raise unknown("image", name, load_content().images)
    if provider not in PROVIDERS:
        raise unknown("image provider", provider, PROVIDERS)
    return PROVIDERS[provider].image(name, copies)


def provider_asked() -> str:
    """The provider that the environment names, or the default.

    :raises RequestError: a name that there is not.
    """
    name = os.environ.get(PROVIDER_VARIABLE) or next(iter(PROVIDERS))
    if name not in PROVIDERS:
        raise RequestError(
            f"{PROVIDER_VARIABLE} = {name!r}: allowed: one of {', '.join(PROVIDERS)}"
        )
    return name


def with_archive(image: ImageArtefact, more: bytes, label: str) -> ImageArtefact:
    """``image`` with a further archive at its end.

    :param label: the archive's contents, for records.
    """
    digest = sha256_file(image.path)

    def build(folder: Path) -> None:
        path = folder / "initramfs.cpio"
        path.write_bytes(image.path.read_bytes() + more)
        longer = replace(image.provenance, sha256=sha256_file(path), prepared=label)
        longer.write(folder / PROVENANCE)

    fields = {"image": digest, "more": sha256_bytes(more), "label": label}
    return image_in(artefact("initramfs", fields, build, label="guest image", estimate_s=1))


def _programs_image(base: ImageArtefact) -> ImageArtefact:
    provided = debian_programs()
    sources = [*sorted(MEMBERS.rglob("*.[ch]")), *sorted(INCLUDE.glob("*.h"))]
    ours = compiled_programs("members", "programs of the guest", MEMBERS, sources, UNITS)
    archive = Archive()
    for name in UNITS:
        archive.file(f"bin/{name}", (ours / name).read_bytes(), 0o755)
    archives = [base.path.read_bytes(), (provided / "programs.cpio").read_bytes(), archive.data()]

    def build(folder: Path) -> None:
        path = folder / "initramfs.cpio"
        path.write_bytes(b"".join(archives))
        replace(
            base.provenance,
            sha256=sha256_file(path),
            image=PROGRAMS,
            provided=ProvidedPrograms.read(provided / PROVENANCE),
            members={name: sha256_file(ours / name) for name in UNITS},
        ).write(folder / PROVENANCE)

    fields = {
        "image": PROGRAMS,
        "base": sha256_file(base.path),
        "provided": sha256_file(provided / "programs.cpio"),
        "members": {name: sha256_file(ours / name) for name in UNITS},
    }
    return image_in(artefact("initramfs", fields, build, label="guest image", estimate_s=1))
