# SPDX-License-Identifier: GPL-2.0-or-later
"""Imports posted patches as a series of ``kernels/series`` and a variant's file of its own.

It is applied and compiled first. If that fails, nothing is written.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from eascope.host.cache import cache_root, write_atomic
from eascope.host.errors import RequestError
from eascope.host.scratch import locked
from eascope.host.strict import shown_path, toml_text
from eascope.kernels import variants
from eascope.kernels.build import check_series
from eascope.kernels.kconfig import Brought
from eascope.kernels.mails import read_patches
from eascope.kernels.naming import OWN_IS_AS
from eascope.kernels.own import check_name
from eascope.kernels.patch_series import CONFIG, changed_files, config_text
from eascope.kernels.patching import PatchFailed
from eascope.kernels.releases import DEFAULT
from eascope.kernels.variants import Catalogue, Kernel, load_catalogue

#: What a series was made against: a kernel with our base series, or one without.
ONTO = ("base", "plain")


@dataclass(frozen=True)
class Imported:
    """The result of an import.

    :param source: the source on which it applies, in words.
    :param options: those that its patches add, or whose defaults they change.
    :param not_compiled: code of its patches that is not compiled, in words.
    :param without_effect: the patches change no file that is compiled and no option that is set.
    """

    name: str
    folder: Path
    patches: tuple[str, ...]
    source: str
    compiled: bool
    release: str
    options: Brought
    not_compiled: tuple[str, ...]
    without_effect: bool

    @property
    def compare(self) -> list[str]:
        """The variants to compare: its base, and itself."""
        place = "" if self.release == DEFAULT else f"@{self.release}"
        return [f"{OWN_IS_AS}{place}", f"{self.name}{place}"]


def import_series(
    source: str, name: str, *, onto: str = "base", release: str = "", compiled: bool = True
) -> Imported:
    """Make the patches that ``source`` names the series and the variant ``name``.

    :param onto: `base`: applied after our base series; `plain`: before it.
    :param release: the release on which it is tried; empty: that of KERNEL_SRC or the default.
    :param compiled: also compile kernel/sched/.
    :raises RequestError: a wrong name or source, or a patch that does not apply; no file has
        changed then.
    :raises EascopeError: it does not compile; no file has changed then, either.
    """
    catalogue = load_catalogue(variants.VARIANTS)
    check_name(catalogue, "--name", name, name)
    folder = variants.SERIES / name
    if folder.exists():
        raise _taken(folder)
    patches = read_patches(source)
    config = config_text(Path(source).expanduser())
    with tempfile.TemporaryDirectory() as work:
        staged = Path(work) / name
        staged.mkdir()
        for file, content in patches.items():
            (staged / file).write_bytes(content)
        (staged / "series").write_text("".join(f"{file}\n" for file in patches))
        if config:
            (staged / CONFIG).write_text(config)
        kernel = _kernel(catalogue, staged, onto, release)
        try:
            where, options, not_compiled = check_series(kernel, compiled=compiled)
        except PatchFailed as error:
            raise RequestError(f"{error}\nnothing was written") from error
        changed = {name for file in patches for name in changed_files(staged / file)}
        _register(staged, folder, onto)
    return Imported(
        name=name,
        folder=folder,
        patches=tuple(patches),
        source=where,
        compiled=compiled,
        release=release or DEFAULT,
        options=options,
        not_compiled=tuple(not_compiled),
        without_effect=options.same
        and not config
        and all(
            changed_file.startswith("Documentation/")
            or changed_file.rpartition("/")[2].startswith("Kconfig")
            for changed_file in changed
        ),
    )


def _taken(folder: Path) -> RequestError:
    return RequestError(
        f"--name {folder.name!r}: {shown_path(folder)} already exists; choose another name"
    )


def _kernel(catalogue: Catalogue, folder: Path, onto: str, release: str) -> Kernel:
    """The kernel of the file that will be written, its patches lying in ``folder``."""
    below = catalogue.kernels[catalogue.variants[OWN_IS_AS].kernel]
    kernel = below.with_series(folder, first=onto == "plain")
    named = kernel.name if release in ("", DEFAULT) else f"{kernel.name}@{release}"
    return replace(kernel, name=named, release=release)


def _register(staged: Path, folder: Path, onto: str) -> None:
    """Put the series in its place, and its file into the folder of own ones: both, or neither."""
    name = staged.name
    file = variants.own_folder(variants.VARIANTS) / f"{name}.toml"
    with locked(cache_root() / "import.lock"):
        for there in (folder, file):
            if there.exists():
                raise _taken(there)
        new = folder.with_name(f".{name}.new")
        shutil.rmtree(new, ignore_errors=True)
        try:
            shutil.copytree(staged, new)
            new.rename(folder)
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(file, _file_text(name, onto).encode())
        except BaseException:
            for half in (new, folder):
                shutil.rmtree(half, ignore_errors=True)
            raise


def _file_text(name: str, onto: str) -> str:
    keys = {
        "base": OWN_IS_AS,
        "summary": f"{OWN_IS_AS} with the patches of kernels/series/{name}",
        "series": name,
        **({"first": True} if onto == "plain" else {}),
    }
    return toml_text(keys)
