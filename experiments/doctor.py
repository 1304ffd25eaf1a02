# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of this machine: what eascope needs, whether it is there, and how to get it."""

from __future__ import annotations

import os
import platform as host
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.platform_file import list_platforms
from eascope.engines.registry import ENGINES, get_engine
from eascope.host.cache import cache_root, check_artefact, entries, runs_root
from eascope.host.errors import EascopeError, RequestError
from eascope.host.proc import run, say
from eascope.kernels.build import built
from eascope.kernels.naming import kernel_names
from eascope.kernels.releases import DEFAULT, RELEASES
from eascope.kernels.source import known_offers
from eascope.kernels.variants import load_catalogue
from eascope.kernels.worktree import unfit_place

#: Debian packages that eascope needs; ``make setup`` reads it, too.
PACKAGES = Path(__file__).parent.parent / "host" / "system-packages.txt"
#: Disk that kernels, image, engine and some hundred runs take.
DISK_GB = 6
#: Memory of one run on the fast engine and of the kernel's link, in GB.
MEMORY_GB = 3


@dataclass(frozen=True)
class Check:
    """What was looked for, whether it is there, what was found, and what mends it."""

    check: str
    ok: bool
    detail: str
    remedy: str


#: What eascope works without, and why: such a check fails without failing ``doctor``.
OPTIONAL = {
    **{
        f"source of Linux {name}": f"needed only for variants @{name}"
        for name in RELEASES
        if name != DEFAULT
    },
    **{f"engine {kind.name}": kind.remedy for kind in ENGINES.values() if kind.remedy},
}


def _check(name: str, ok: bool, detail: str, remedy: str) -> Check:
    return Check(name, ok, detail, "" if ok else remedy)


#: What a package of the list is known by on other distributions, if not by a command of its name.
_COMMANDS = {
    "device-tree-compiler": "dtc",
    "gcc-aarch64-linux-gnu": "aarch64-linux-gnu-gcc",
    "xz-utils": "xz",
    **dict.fromkeys(("ca-certificates", "libc6-dev", "libc6-dev-arm64-cross", "python3-venv")),
}


def _wanted() -> list[str]:
    lines = (line.partition("#")[0].strip() for line in PACKAGES.read_text().splitlines())
    return [line for line in lines if line]


def _is_debian() -> bool:
    return all(map(shutil.which, ("apt-get", "dpkg-query", "dpkg-deb")))


def _missing(wanted: Iterable[str]) -> list[str]:
    listing = run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev}\n"]).decode()
    installed = {line.split()[0] for line in listing.splitlines() if line.rstrip().endswith("ii")}
    return [name for name in wanted if name not in installed]


def install_missing() -> None:
    """Install the Debian packages that are missing, as ``host/setup.sh`` does.

    :raises EascopeError: we may not, or the system is not Debian: one line says what to run.
    """
    wanted = _wanted()
    if not _is_debian():
        raise EascopeError(f"doctor --fix: not Debian; run: {_no_debian(wanted).remedy}")
    missing = _missing(wanted)
    if not missing:
        return
    install = ["apt-get", "install", "--no-install-recommends", *missing]
    prefix: list[str] = []
    if os.geteuid() != 0:
        prefix = ["sudo", "-n"]
        try:
            run([*prefix, "true"])
        except EascopeError as error:
            raise EascopeError(f"doctor --fix: run once: sudo {' '.join(install)}") from error
    say(f"installing {' '.join(missing)} (about 1 min)")
    # The mirror's lists may be older than its pool.
    run([*prefix, "apt-get", "-q", "update"], label="doctor --fix")
    quiet = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", *install, "-q", "-y"]
    run(quiet, label="doctor --fix")


def _packages() -> Iterator[Check]:
    wanted = _wanted()
    if not _is_debian():
        yield _no_debian(wanted)
        return
    missing = _missing(wanted)
    yield _check(
        "system packages",
        not missing,
        f"{len(wanted) - len(missing)} of {len(wanted)}"
        + (f", missing: {' '.join(missing)}" if missing else ""),
        f"apt-get install --no-install-recommends {' '.join(missing)} (or eascope doctor --fix)",
    )


def _no_debian(wanted: Iterable[str]) -> Check:
    """QEMU, the kernels' sources and the guest's programs are Debian's, fetched by its apt."""
    try:
        system = host.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = "this system"
    commands = ["apt-get", "dpkg-deb", *(_COMMANDS.get(name, name) for name in wanted)]
    missing = [name for name in commands if name and shutil.which(name) is None]
    detail = f"{system} is not Debian; missing commands: {' '.join(missing)}"
    return Check("system packages", False, detail, "podman build -t eascope . (see Containerfile)")


def _python() -> Iterator[Check]:
    yield _check(
        "python",
        sys.version_info >= (3, 11),
        host.python_version(),
        "use Debian 12 or 13, or Python 3.11 or later",
    )


def _room() -> Iterator[Check]:
    for name, folder in (("cache", cache_root()), ("runs", runs_root())):
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(existing).free / 1e9
        writable = os.access(existing, os.W_OK)
        yield _check(
            f"disk for {name}",
            writable and free >= DISK_GB,
            f"{folder}: {free:.0f} GB free{'' if writable else ', not writable'}",
            f"free {DISK_GB} GB there, or set EASCOPE_{name.upper()} to another folder",
        )
    if wrong := unfit_place():
        yield _check("kernel builds", False, wrong, "set EASCOPE_CACHE to another folder")


def _machine() -> Iterator[Check]:
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    yield _check(
        "memory",
        memory >= MEMORY_GB,
        f"{memory:.0f} GB, {cores} cores, {host.machine()}",
        f"use a machine with {MEMORY_GB} GB",
    )


def _platforms() -> Iterator[Check]:
    platforms = list_platforms()
    whole = [name for name, summary in platforms if isinstance(summary, str)]
    yield _check("platforms", bool(whole), ", ".join(whole), "restore configs/platforms")
    for name, error in platforms:
        if isinstance(error, RequestError):
            yield _check(f"platform {name}", False, str(error), "correct or remove its file")


def _whole(name: str, detail: str, folders: Iterable[Path]) -> Check:
    """A check that fails when an artefact has changed since it was written."""
    try:
        for folder in folders:
            check_artefact(folder)
    except EascopeError as error:
        return _corrupt(name, error)
    return _check(name, True, detail, "")


def _corrupt(name: str, error: EascopeError) -> Check:
    """A failed check from the error of `check_artefact`: an entry, its fault, a remedy."""
    what, _, remedy = str(error).rpartition(": ")
    return _check(name, False, what, remedy)


def _sources() -> Iterator[Check]:
    """The releases of Linux that this machine can get, from the lists that it has already."""
    offers = known_offers()
    if offers is None:
        detail = "not looked up yet; make kernels or the first run does"
        yield _check("kernel sources", True, detail, "")
        return
    for name in RELEASES:
        check = f"source of Linux {name}"
        detail = offers.get(name, "no suite offers it")
        remedy = OPTIONAL.get(check, "set KERNEL_SRC to a tree of your own")
        yield _check(check, name in offers, detail, remedy)
    if others := [name for name in offers if name not in RELEASES]:
        detail = f"Linux {', '.join(others)}: available, but eascope has no patch series for them"
        yield _check("other sources", True, detail, "")


def _kernels() -> Iterator[Check]:
    """Artefacts that the first run would make; a missing one is no fault."""
    catalogue = load_catalogue()
    for name, error in catalogue.broken.items():
        yield _check(f"kernel {name}", False, str(error), "correct or remove its file")
    for name in kernel_names():
        try:
            kernel = built(name)
        except EascopeError as error:
            yield _corrupt(f"kernel {name}", error)
            continue
        detail = (
            kernel.version if kernel else "not built yet; make kernels or the first run builds it"
        )
        yield _check(f"kernel {name}", True, detail, "")


def _image() -> Iterator[Check]:
    images = entries("initramfs")
    detail = "built" if images else "not built yet; make rootfs or the first run builds it"
    yield _whole("guest image", detail, images)


def _engines() -> Iterator[Check]:
    for name in ENGINES:
        remedy = OPTIONAL.get(f"engine {name}", "see the detail")
        try:
            engine = get_engine(name)
            detail = engine.status()
            folders = [folder for kind in engine.artefacts for folder in entries(kind)]
            yield _whole(f"engine {name}", detail, folders)
        except EascopeError as error:
            yield _check(f"engine {name}", False, str(error).splitlines()[0], remedy)


CHECKS: tuple[Callable[[], Iterator[Check]], ...] = (
    _python,
    _packages,
    _machine,
    _room,
    _platforms,
    _sources,
    _kernels,
    _image,
    _engines,
)


def diagnose() -> list[Check]:
    """Every check; a check that cannot be made fails, with the reason."""
    checks: list[Check] = []
    for check in CHECKS:
        try:
            checks += check()
        except EascopeError as error:
            name = check.__name__.strip("_")
            checks.append(_check(name, False, str(error).splitlines()[0], "see the detail"))
    return checks
