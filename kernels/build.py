# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds kernels: from source, series and fragments to Image, vmlinux and .config, in the cache.

A kernel is a function of its source, its patches, its configuration and the compiler. The
artefact's key is the digest of these, so an unchanged kernel is never built again.
``python -m eascope.kernels.build`` builds all that the variants name (``make kernels``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eascope.host.cache import (
    MANIFEST,
    artefact,
    cache_root,
    check_artefact,
    digest_of,
    sha256_bytes,
    sha256_file,
    write_atomic,
)
from eascope.host.debian import apt
from eascope.host.dry import nothing_built
from eascope.host.errors import EascopeError
from eascope.host.proc import Ending, Step, duration, say
from eascope.kernels.code import code_digest
from eascope.kernels.kconfig import Brought, brought, compiler, configure, fragment_text, make
from eascope.kernels.naming import kernel_named, kernel_names
from eascope.kernels.patch_series import series_digest
from eascope.kernels.provenance import KERNEL_SRC, BuiltKernel, KernelProvenance
from eascope.kernels.releases import DEFAULT, release_of
from eascope.kernels.source import ARCHITECTURE, Source, find_source
from eascope.kernels.trees import tree_source
from eascope.kernels.variants import SERIES, Kernel, load_variants
from eascope.kernels.void import not_compiled
from eascope.kernels.worktree import OUT, Objects, kept_objects, try_to_apply, worktree

#: Raised whenever the way of building changes what comes out.
RECIPE = 3
#: What a built kernel is, next to its files.
BUILT = "kernel.json"
#: The directory that `check_series` compiles.
SCHEDULER = "kernel/sched/"


@dataclass(frozen=True)
class KernelArtefact:
    """A built kernel.

    :param image: the arm64 ``Image`` that the fast engine boots.
    :param vmlinux: the ELF file with symbols that gem5 boots.
    :param version: what ``uname -r`` prints.
    :param provenance: source, patches, configuration and compiler, for records.
    :param code: digest of what it does (`kernels.code`); kernels that do the same have the same.
    """

    name: str
    image: Path
    vmlinux: Path
    config: Path
    version: str
    provenance: KernelProvenance
    code: str = ""

    @property
    def release(self) -> str:
        """The release whose series and fragments it was built with."""
        return release_of(self.provenance.upstream).name


def kernel(wanted: str | Kernel = "base") -> KernelArtefact:
    """A kernel, built when the cache does not have it.

    :param wanted: its name in ``variants.toml``, such as ``base`` or ``base@7.3``, or a `Kernel`.
    :raises RequestError: an unknown name.
    :raises EascopeError: no source, a patch that does not apply, a lost option, a failed build.
    """
    spec = wanted if isinstance(wanted, Kernel) else kernel_named(wanted)
    source = _source(spec)
    key = _key(spec, source)
    folder = artefact(
        "kernel",
        key,
        lambda work: _build(spec, source, work),
        label=f"kernel {spec.name}, {source.label}",
        estimate=estimate(kept_objects(source, _series_folders(spec), spec.more)),
    )
    return _artefact(spec.name, folder)


def _source(spec: Kernel) -> Source:
    if spec.tree:
        return tree_source(spec.tree)
    return find_source(_series_folders(spec), spec.release)


def built(wanted: str | Kernel = "base") -> KernelArtefact | None:
    """The same when the cache has it; downloads and builds nothing.

    :raises RequestError: an unknown name.
    :raises EascopeError: when it has changed since it was built.
    """
    spec = wanted if isinstance(wanted, Kernel) else kernel_named(wanted)
    if not os.environ.get(KERNEL_SRC) and not apt(ARCHITECTURE).ready:
        return None
    try:
        with nothing_built():
            key = _key(spec, find_source((), spec.release))
        folder = cache_root() / "kernel" / digest_of(key)[:32]
    except EascopeError:  # no compiler, no source: then nothing was built from them either
        return None
    if not (folder / MANIFEST).is_file():
        return None
    check_artefact(folder)
    return _artefact(spec.name, folder)


def _artefact(name: str, folder: Path) -> KernelArtefact:
    facts = BuiltKernel.read(folder / BUILT)
    return KernelArtefact(
        name=name,
        image=folder / "Image",
        vmlinux=folder / "vmlinux",
        config=folder / "config",
        version=facts.version,
        provenance=facts.provenance,
        code=facts.code,
    )


def _series_folders(spec: Kernel) -> list[Path]:
    return spec.folders(SERIES)


def names(spec: Kernel, release: str = DEFAULT) -> dict[str, str]:
    """Make variables by which a kernel names itself in ``uname -r`` and to the guest.

    They are not options: options reach every object through autoconf.h, and then kernels could
    share no objects.
    """
    return {
        # The release is in what comes before it.
        "LOCALVERSION": f"-eascope-{spec.name.partition('@')[0]}",
        "EASCOPE_KERNEL": spec.name,
        "EASCOPE_QUEUE": series_digest(_series_folders(spec), release)[:12],
    }


def _key(spec: Kernel, source: Source) -> dict[str, Any]:
    release = source.release.name
    return {
        "recipe": RECIPE,
        "name": spec.name,
        "source": source.sha256,
        "series": series_digest(_series_folders(spec), release),
        "fragment": sha256_bytes(_fragment(spec, release, brought(spec, source)).encode()),
        "compiler": compiler(),
    }


def _fragment(spec: Kernel, release: str, options: Brought) -> str:
    """Our fragments, and the options that patches or the tree bring along."""
    return "\n".join([fragment_text(spec, release), *options.taken])


def _build(spec: Kernel, source: Source, folder: Path) -> None:
    objects = kept_objects(source, _series_folders(spec), spec.more)
    options = brought(spec, source)
    for line in options.words:
        say(f"  {spec.name}: {line}")
    with worktree(source, _series_folders(spec), spec.more) as tree:
        out, log = tree / OUT, folder / "build.log"
        started = time.monotonic()
        release = source.release.name
        configure(tree, out, _fragment(spec, release, options), log)
        make(tree, out, ["Image", "vmlinux"], log, **names(spec, release))
        shutil.copy2(out / "arch/arm64/boot/Image", folder / "Image")
        shutil.copy2(out / "vmlinux", folder / "vmlinux")
        shutil.copy2(out / ".config", folder / "config")
        provenance = KernelProvenance(
            **vars(source.provenance()),
            upstream=source.version,
            series=tuple(spec.series),
            series_sha256=series_digest(_series_folders(spec), release),
            config_sha256=sha256_file(out / ".config"),
            compiler=compiler(),
            options=tuple(options.words),
            not_compiled=tuple(not_compiled(tree, spec.own, release)),
        )
        version = (out / "include/config/kernel.release").read_text().strip()
        BuiltKernel(version, provenance, code_digest(out)).write(folder / BUILT)
        if objects is not Objects.COPIED:
            remember_build(objects is Objects.OWN, time.monotonic() - started)


def check_series(spec: Kernel, *, compiled: bool) -> tuple[str, Brought, list[str]]:
    """Apply the series of ``spec``; with ``compiled``, also compile kernel/sched/.

    This happens in the kept tree, so a later build starts from these objects.

    :returns: the source's label, the options that the patches bring along, and what of them is not
        compiled as far as that was looked at.
    :raises PatchFailed: naming patch, file and hunk.
    :raises EascopeError: no source, a lost option, or the compiler's errors.
    """
    source = _source(spec)
    release = source.release.name
    options = brought(spec, source)
    what = "applying and compiling" if compiled else "applying"
    left_out: list[str] = []
    with (
        Step(f"{what} {spec.name}, {source.label}"),
        worktree(source, _series_folders(spec)) as tree,
        tempfile.TemporaryDirectory() as folder,
    ):
        if compiled:
            log = Path(folder) / "build.log"
            configure(tree, tree / OUT, _fragment(spec, release, options), log)
            make(tree, tree / OUT, [SCHEDULER], log, **names(spec, release))
            left_out = not_compiled(tree, spec.own, release, SCHEDULER)
    return source.label, options, left_out


def tried(spec: Kernel) -> Source:
    """The source of ``spec``, on which its series were tried.

    :raises PatchFailed: naming patch, file and hunk.
    :raises EascopeError: no source.
    """
    source = _source(spec)
    try_to_apply(source, _series_folders(spec))
    return source


def _usual() -> list[str]:
    """The kernels that variants name, for the default release; other releases must be named."""
    named = {variant.kernel for variant in load_variants().values()}
    return sorted(named & set(kernel_names()))


def main(arguments: list[str] | None = None) -> int:
    """Build the named kernels (default: all that a variant names)."""
    parser = argparse.ArgumentParser(
        prog="python -m eascope.kernels.build",
        description="Build kernels into the cache.",
        epilog="example: python -m eascope.kernels.build base",
    )
    parser.add_argument(
        "kernel", nargs="*", help="names from kernels/variants.toml, such as base or base@7.3"
    )
    wanted = parser.parse_args(arguments).kernel
    with Ending() as ending:
        for name in wanted or _usual():
            done = kernel(name)
            say(f"  kernel {name}: {done.version}")
            print(done.image)
    return ending.code


#: A build from nothing before there was any, on two cores.
FIRST_BUILD_S = 360.0
#: Builds of each kind that count.
KEPT_BUILDS = 5


def _times_file() -> Path:
    return cache_root() / "kernel-times.json"


def _kind_of_build(from_objects: bool) -> str:
    return "from_objects_s" if from_objects else "from_nothing_s"


def _past() -> dict[str, list[float]]:
    """Seconds of past builds by kind; none if the file is missing or damaged."""
    kinds = (_kind_of_build(True), _kind_of_build(False))
    try:
        noted = json.loads(_times_file().read_bytes())
        return {kind: [float(seconds) for seconds in noted[kind]] for kind in kinds}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {kind: [] for kind in kinds}


def estimate_s(from_objects: bool) -> float:
    """Estimated seconds of the next build: the median of the last ones of its kind here.

    A build from nothing takes the same time for every kernel. A build from the kernel's own objects
    compiles only the changes, and usually takes seconds.
    """
    past = _past()[_kind_of_build(from_objects)]
    return statistics.median(past) if past else FIRST_BUILD_S


def estimate(objects: Objects) -> str:
    """The same in words; for a build from another kernel's objects, the most that it may take.

    That is seconds or, if its patches change ``sched.h``, as long as from nothing.
    """
    if objects is Objects.COPIED:
        most = duration(estimate_s(from_objects=False))
        return f"at most {most}, depending on the files its patches touch"
    return f"about {duration(estimate_s(objects is Objects.OWN))}"


def remember_build(from_objects: bool, seconds: float) -> None:
    """Record that a build took ``seconds``."""
    past = _past()
    past[_kind_of_build(from_objects)] = [*past[_kind_of_build(from_objects)], round(seconds, 1)][
        -KEPT_BUILDS:
    ]
    write_atomic(_times_file(), json.dumps(past, indent=1, sort_keys=True).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
