# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's inputs: the files in its folder ``inputs/``, and reading the run with them.

A finished run is read with the platform and the activity of its simulation. The files that the
repository has under these names today do not count: they may have changed since, or be gone.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eascope.configs.activity import Activity
from eascope.configs.core import CORES
from eascope.configs.delta import base_path
from eascope.configs.pipeline import PIPELINES
from eascope.configs.platform import Platform
from eascope.configs.platform_file import PLATFORMS
from eascope.configs.program_activity import FOLDER as FIGURES
from eascope.configs.program_activity import ProgramActivity
from eascope.configs.resolved import machine_json, read_machine
from eascope.configs.system_activity import system_path
from eascope.engines.base import Machine
from eascope.experiments.scenario.recorded import document_name
from eascope.host.cache import sha256_file
from eascope.host.errors import EascopeError
from eascope.host.record import json_bytes
from eascope.host.strict import read_toml
from eascope.kernels.build import KernelArtefact
from eascope.kernels.kconfig import fragment_text
from eascope.kernels.patch_series import series_patches
from eascope.kernels.variants import SERIES, Kernel

#: The folder of a run.
FOLDER = "inputs"
#: Platform and activity as the run used them: what its energies are computed with.
MACHINE = "machine.json"
#: The files of the repository that the run was made from, as they were.
FILES = "files.tar.gz"


@dataclass(frozen=True)
class Texts:
    """Files as they were when a cell was prepared: a campaign starts its last cell hours later.

    :param scenario: the scenario's file.
    :param patches: content of ``patches.json``.
    :param archive: content of `FILES`.
    """

    scenario: bytes
    patches: bytes
    archive: bytes


#: Patches and archive by what they are made of: the cells of a campaign share them.
_SHARED: dict[tuple[Path, str, str, str, Path, tuple[str, ...]], tuple[bytes, bytes]] = {}


def texts_of(
    machine: Machine,
    kernel: Kernel,
    image: KernelArtefact,
    scenario: str,
    figures: Sequence[ProgramActivity],
) -> Texts:
    """The texts for ``inputs/``, read from files.

    :param image: ``kernel`` as it was built.
    :param scenario: the text of its file.
    :param figures: of programs.
    """
    platform, activity = machine.platform, machine.activity
    # Two files may describe the same machine: each cell keeps its own.
    programs = tuple(figure.digest for figure in figures)
    key = (platform.path, platform.digest, activity.digest, kernel.name, image.config, programs)
    if key not in _SHARED:
        _SHARED[key] = (
            json_bytes(_patches(kernel, image.release)),
            _archive(_texts(platform, activity) | _figures(figures) | _kernel_texts(kernel, image)),
        )
    return Texts(scenario.encode(), *_SHARED[key])


def inputs_of(
    machine: Machine, texts: Texts, documents: Mapping[str, bytes], dts: str
) -> dict[str, bytes]:
    """The files of ``inputs/`` by name; the same bytes wherever the repository lies.

    :param documents: rt-app's JSON, by the name under which it runs.
    :param dts: source of the device tree.
    """
    return {
        MACHINE: machine_json(machine.platform, machine.activity),
        "scenario.toml": texts.scenario,
        **{document_name(name): document for name, document in documents.items()},
        "script": machine.script,
        "machine.dtb": machine.dtb.read_bytes(),
        "machine.dts": dts.encode(),
        "patches.json": texts.patches,
        FILES: texts.archive,
    }


def _patches(kernel: Kernel, release: str) -> list[dict[str, str]]:
    """Queue, name and digest of each patch, in the order in which they are applied."""
    return [
        {"queue": folder.name, "patch": patch.name, "sha256": sha256_file(patch)}
        for folder in kernel.folders(SERIES)
        for patch in series_patches(folder, release)
    ]


def _texts(platform: Platform, activity: Activity) -> dict[str, bytes]:
    """The platform's own file and all that it refers to, by their places below ``configs``."""
    texts, path = {f"platforms/{platform.path.name}": platform.path.read_bytes()}, platform.path
    while base := read_toml(path).data.get("base"):
        path = base_path(path, base, PLATFORMS)
        texts[f"platforms/{path.name}"] = path.read_bytes()
    for name in sorted({cluster.core.name for cluster in platform.clusters}):
        for folder, label in ((CORES, "cores"), (PIPELINES, "cores/pipelines")):
            path = folder / f"{name}.toml"
            if path.is_file():
                texts[f"{label}/{path.name}"] = path.read_bytes()
    for path in platform.curves.files if platform.curves else ():
        texts[f"curves/{path.name}"] = path.read_bytes()
    if activity.path.is_file():  # else it is inherited
        texts[f"activity/{activity.path.name}"] = activity.path.read_bytes()
    system = system_path(platform, activity.path.parent)
    if system.is_file():
        texts[f"activity/system/{system.name}"] = system.read_bytes()
    return texts


def _figures(figures: Sequence[ProgramActivity]) -> dict[str, bytes]:
    """Files of programs with figures, by their places below ``configs``."""
    return {
        f"activity/{FIGURES}/{figure.path.parent.name}/{figure.path.name}": figure.path.read_bytes()
        for figure in figures
    }


def _kernel_texts(kernel: Kernel, image: KernelArtefact) -> dict[str, bytes]:
    """The kernel's configuration, asked for and complete, and the patches of an own kernel."""
    texts = {
        "kernel/fragments.config": fragment_text(kernel, image.release).encode(),
        "kernel/config": image.config.read_bytes(),
    }
    for folder in kernel.own:
        for patch in series_patches(folder, image.release):
            texts[f"kernel/{folder.name}/{patch.name}"] = patch.read_bytes()
    return texts


def _archive(files: Mapping[str, bytes]) -> bytes:
    """``files`` as a compressed tar archive without times or owners."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(stream.getvalue(), mtime=0)


def simulated_with(run: Path) -> tuple[Platform, Activity]:
    """The platform and the activity that ``run`` was simulated with.

    :raises EascopeError: one line, when the record of them is missing or damaged.
    """
    path = run / FOLDER / MACHINE
    if not path.is_file():
        raise EascopeError(f"{path}: is missing: remove {run} and run again")
    return _read(path, sha256_file(path))


@cache
def _read(path: Path, _digest: str) -> tuple[Platform, Activity]:
    """`read_machine`, once for each content of the file."""
    return read_machine(path)
