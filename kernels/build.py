# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds kernels: from source, queues and fragments to Image, vmlinux and .config, in the cache.

A kernel is a function of its source, its patches, its configuration and the compiler. The
artefact's key is the digest of these, so an unchanged kernel is never built again.
``python -m kernels.build`` builds all that the variants name (``make kernels``).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from host.cache import (
    MANIFEST,
    artefact,
    cache_root,
    check_artefact,
    digest_of,
    sha256_bytes,
    sha256_file,
)
from host.debian import apt
from host.errors import EascopeError
from host.proc import CommandFailed, Ending, Step, need, run, say
from host.toolchain import arm64_tool, cross_prefix, said_of
from kernels import times
from kernels.faults import compile_errors
from kernels.naming import kernel_named, kernel_names
from kernels.provenance import KERNEL_SRC, BuiltKernel, KernelProvenance
from kernels.queues import series_digest
from kernels.releases import DEFAULT, release_of
from kernels.source import ARCHITECTURE, Source, find_source
from kernels.trees import tree_source
from kernels.variants import FRAGMENTS, SERIES, Kernel, load_variants
from kernels.worktree import OUT, Objects, kept_objects, worktree

#: Raised whenever the way of building changes what comes out.
RECIPE = 2
#: What a built kernel is, next to its files.
BUILT = "kernel.json"
#: The directory that `check_queues` compiles.
SCHEDULER = "kernel/sched/"
#: Fixed, so that the same inputs give the same bytes.
IDENTITY = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 2026",
    "KBUILD_BUILD_USER": "eascope",
    "KBUILD_BUILD_HOST": "eascope",
    "KBUILD_BUILD_VERSION": "1",
}


@dataclass(frozen=True)
class KernelArtefact:
    """A built kernel.

    :param image: the arm64 ``Image`` that the fast engine boots.
    :param vmlinux: the ELF file with symbols that gem5 boots.
    :param config: the complete ``.config``.
    :param version: what ``uname -r`` prints.
    :param provenance: source, patches, configuration and compiler, for records.
    """

    name: str
    image: Path
    vmlinux: Path
    config: Path
    version: str
    provenance: KernelProvenance

    @property
    def release(self) -> str:
        """The release whose queues and fragments it was built with."""
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
        label=kernel_label(spec.name, source),
        estimate=times.estimate(kept_objects(source, _series_folders(spec), spec.more)),
    )
    return _artefact(spec.name, folder)


def _source(spec: Kernel) -> Source:
    if spec.tree:
        return tree_source(spec.tree)
    return find_source(_series_folders(spec), spec.release)


def kernel_label(name: str, source: Source) -> str:
    """The label of the kernel ``name`` in progress lines."""
    return f"kernel {name}, {source.label}"


def built(name: str = "base") -> KernelArtefact | None:
    """The kernel ``name`` when the cache has it; downloads and builds nothing.

    :raises RequestError: an unknown name.
    :raises EascopeError: when it has changed since it was built.
    """
    spec = kernel_named(name)
    if not os.environ.get(KERNEL_SRC) and not apt(ARCHITECTURE).ready:
        return None
    try:
        folder = cache_root() / "kernel" / digest_of(_key(spec, find_source((), spec.release)))[:32]
    except EascopeError:  # no compiler, no source: then nothing was built from them either
        return None
    if not (folder / MANIFEST).is_file():
        return None
    check_artefact(folder)
    return _artefact(name, folder)


def _artefact(name: str, folder: Path) -> KernelArtefact:
    facts = BuiltKernel.read(folder / BUILT)
    return KernelArtefact(
        name=name,
        image=folder / "Image",
        vmlinux=folder / "vmlinux",
        config=folder / "config",
        version=facts.version,
        provenance=facts.provenance,
    )


def _series_folders(spec: Kernel) -> list[Path]:
    return spec.folders(SERIES)


def fragment_text(spec: Kernel, release: str = DEFAULT) -> str:
    """All fragments of a kernel, each followed by the differences of ``release``."""
    files = []
    for name in (*spec.fragments, *spec.more):
        files.append(FRAGMENTS / f"{name}.config")
        if release != DEFAULT and (other := FRAGMENTS / f"{name}-{release}.config").is_file():
            files.append(other)
    return "\n".join(file.read_text() for file in files)


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
        "fragment": sha256_bytes(fragment_text(spec, release).encode()),
        "compiler": compiler(),
    }


@cache
def compiler() -> str:
    """First lines of the compiler's and the linker's version.

    :raises EascopeError: when the compiler is not installed, and the cache does not know of one.
    """
    return "; ".join(said_of("kernel", _versions))


def _versions() -> list[str]:
    versions = (run([arm64_tool(name), "--version"]).decode() for name in ("gcc", "ld"))
    return [version.splitlines()[0] for version in versions]


def _build(spec: Kernel, source: Source, folder: Path) -> None:
    objects = kept_objects(source, _series_folders(spec), spec.more)
    with worktree(source, _series_folders(spec), spec.more) as tree:
        _build_in(tree, spec, source, folder, objects)


def _build_in(tree: Path, spec: Kernel, source: Source, folder: Path, objects: Objects) -> None:
    out, log = tree / OUT, folder / "build.log"
    started = time.monotonic()
    release = source.release.name
    configure(tree, out, fragment_text(spec, release), log)
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
    )
    version = (out / "include/config/kernel.release").read_text().strip()
    BuiltKernel(version, provenance).write(folder / BUILT)
    if objects is not Objects.COPIED:
        times.remember(objects is Objects.OWN, time.monotonic() - started)


def check_queues(spec: Kernel, *, compiled: bool) -> str:
    """Apply the queues of ``spec``; with ``compiled``, also compile kernel/sched/.

    This happens in the kept tree, so a later build starts from these objects.

    :returns: the source's label.
    :raises PatchFailed: naming patch, file and hunk.
    :raises EascopeError: no source, a lost option, or the compiler's errors.
    """
    source = _source(spec)
    release = source.release.name
    what = "applying and compiling" if compiled else "applying"
    with (
        Step(f"{what} {spec.name}, {source.label}"),
        worktree(source, _series_folders(spec)) as tree,
        tempfile.TemporaryDirectory() as folder,
    ):
        if compiled:
            log = Path(folder) / "build.log"
            configure(tree, tree / OUT, fragment_text(spec, release), log)
            make(tree, tree / OUT, [SCHEDULER], log, **names(spec, release))
    return source.label


def make(tree: Path, out: Path, targets: list[str], log: Path, **variables: str) -> None:
    """Run kbuild with our fixed identity, out of tree, through ccache when it is there.

    :raises CommandFailed: with the compiler's errors.
    """
    for program, package in (("flex", "flex"), ("bison", "bison"), ("bc", "bc")):
        need(program, package)
    prefix = cross_prefix()
    ccache = "ccache " if shutil.which("ccache") else ""
    cache_dir = os.environ.get("CCACHE_DIR") or str(cache_root() / "ccache")
    command = [need("make", "make"), "-C", str(tree), f"O={out}", f"-j{os.cpu_count() or 1}"]
    command += [f"CC={ccache}{prefix}gcc", "HOSTCC=gcc", f"CROSS_COMPILE={prefix}"]
    command += ["ARCH=arm64", *(f"{key}={value}" for key, value in variables.items()), *targets]
    env = {
        **IDENTITY,
        # Trees lie in a new folder each time: ccache is to know them again.
        "CCACHE_BASEDIR": str(tree),
        "CCACHE_NOHASHDIR": "1",
        # The compiler names the headers that it read: without this ccache runs the preprocessor for
        # it, a quarter of the processor time of a kernel that it has not seen. System headers are
        # not among them; the kernel reads none, and its host tools are compiled without ccache.
        "CCACHE_DEPEND": "1",
        "CCACHE_DIR": cache_dir,
    }
    label = "kernel build"
    try:
        run(command, log=log, env=env, nice=5, label=label)
    except CommandFailed as error:
        errors = compile_errors(error.log_text)
        raise CommandFailed(error.command, error.code, errors, label) from error


def configure(tree: Path, out: Path, fragment: str, log: Path) -> None:
    """Write ``out/.config`` from ``fragment``, everything else off.

    :raises EascopeError: naming every option of the fragment that did not survive.
    """
    out.mkdir(parents=True, exist_ok=True)
    answers = out / "fragment.config"
    answers.write_text(fragment)
    make(tree, out, ["allnoconfig"], log, KCONFIG_ALLCONFIG=str(answers))
    make(tree, out, ["olddefconfig"], log)
    lost = lost_options(fragment, (out / ".config").read_text())
    if lost:
        raise EascopeError(
            "kernel configuration: options did not survive (a dependency is missing, or another "
            f"option decides): {'; '.join(lost)}"
        )


def options(text: str) -> dict[str, str]:
    """``{"SMP": "y", "MODULES": "n", ...}``; an option's last line counts, as in kconfig."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        if match := re.fullmatch(r"CONFIG_(\w+)=(.*)", line.strip()):
            values[match[1]] = match[2]
        elif match := re.fullmatch(r"# CONFIG_(\w+) is not set", line.strip()):
            values[match[1]] = "n"
    return values


def lost_options(fragment: str, config: str) -> list[str]:
    """Options whose value in ``config`` differs from ``fragment``, as ``A=y (is n)``."""
    got = options(config)
    return [
        f"CONFIG_{key}={value} (is {got.get(key, 'n')})"
        for key, value in options(fragment).items()
        if got.get(key, "n") != value
    ]


def _usual() -> list[str]:
    """The kernels that variants name, for the default release; other releases must be named."""
    named = {variant.kernel for variant in load_variants().values()}
    return sorted(named & set(kernel_names()))


def main(arguments: list[str] | None = None) -> int:
    """Build the named kernels (default: all that a variant names)."""
    parser = argparse.ArgumentParser(
        prog="python -m kernels.build",
        description="Build kernels into the cache.",
        epilog="example: python -m kernels.build base",
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


if __name__ == "__main__":
    sys.exit(main())
