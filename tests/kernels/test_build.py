# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration survives, the artefact is complete, and an unchanged kernel is not rebuilt."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from eascope.host.cache import sha256_file
from eascope.host.errors import EascopeError
from eascope.kernels import build as module
from eascope.kernels import kconfig
from eascope.kernels.build import KernelArtefact, built, kernel, main
from eascope.kernels.kconfig import fragment_text, lost_options, options
from eascope.kernels.naming import kernel_named
from eascope.kernels.source import Source
from eascope.kernels.variants import FRAGMENTS, SERIES, load_catalogue


def test_no_option_is_given_twice() -> None:
    """Not in one fragment; a later fragment repeats an option to change it only."""
    for spec in load_catalogue().kernels.values():
        options_so_far: dict[str, str] = {}
        for name in spec.fragments:
            lines = [
                line
                for line in (FRAGMENTS / f"{name}.config").read_text().splitlines()
                if line.startswith(("CONFIG_", "# CONFIG_"))
            ]
            options = {
                line.split("=")[0].removeprefix("# ").removesuffix(" is not set"): line
                for line in lines
            }
            assert len(options) == len(lines), name
            assert not set(options.items()) & set(options_so_far.items()), name
            options_so_far |= options


def test_command_line_says_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bas"]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "unknown kernel 'bas' (did you mean base?)" in message


def test_missing_compiler_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kconfig.compiler.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    # A cache may have the versions of a compiler that another machine used.
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    try:
        with pytest.raises(EascopeError, match="apt-get install gcc-aarch64-linux-gnu"):
            kconfig.compiler()
    finally:
        kconfig.compiler.cache_clear()


def test_the_default_release_has_one_key_named_or_not() -> None:
    source = Source("6.12.117", "6.12.117-1", "0" * 64)
    base, named = kernel_named("base"), kernel_named("base@6.12")
    assert module._key(base, source) == module._key(named, source)
    assert module.names(base) == module.names(named, "6.12")


def test_a_kernel_of_a_release_names_itself() -> None:
    words = module.names(kernel_named("base@7.3"), "7.3")
    assert (words["LOCALVERSION"], words["EASCOPE_KERNEL"]) == ("-eascope-base", "base@7.3")
    assert words["EASCOPE_QUEUE"] != module.names(kernel_named("base"))["EASCOPE_QUEUE"]


def test_fragment_survived(base_kernel: KernelArtefact) -> None:
    spec = load_catalogue().kernels["base"]
    config = base_kernel.config.read_text()
    assert lost_options(fragment_text(spec), config) == []
    assert options(config)["HZ"] == "250"


def test_a_built_kernel_is_of_its_release_and_has_provenance(base_kernel: KernelArtefact) -> None:
    assert base_kernel.version.startswith("6.12.")
    assert base_kernel.version.endswith("-eascope-base")
    # arm64's header: the magic "ARM\x64" at offset 56.
    assert base_kernel.image.read_bytes()[56:60] == b"ARM\x64"
    assert base_kernel.vmlinux.read_bytes()[:4] == b"\x7fELF"
    symbols = subprocess.run(
        ["nm", base_kernel.vmlinux], capture_output=True, text=True, check=False
    ).stdout
    assert " T panic" in symbols  # gem5 stops at it
    provenance = base_kernel.provenance
    assert provenance.config_sha256 == sha256_file(base_kernel.config)
    assert provenance.options == ()
    assert provenance.not_compiled == ()
    own = ("options", "not_compiled")
    assert all(value for key, value in vars(provenance).items() if key not in own)
    assert len(base_kernel.code) == 64


def test_image_names_no_folder_of_this_machine(base_kernel: KernelArtefact) -> None:
    data = base_kernel.image.read_bytes()
    assert os.fsencode(Path.home() / ".cache") not in data
    assert os.fsencode(base_kernel.image.parent.parent) not in data


def test_unchanged_kernel_is_not_built_again(
    base_kernel: KernelArtefact, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(module, "_build", never)
    assert kernel("base") == base_kernel
    assert built("base") == base_kernel


def test_changed_patch_is_another_kernel(
    base_kernel: KernelArtefact, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    copy = tmp_path / "series" / "base"
    shutil.copytree(SERIES / "base", copy)
    first = sorted(copy.glob("*.patch"))[0]
    first.write_text(first.read_text() + "\n")
    monkeypatch.setattr(module, "SERIES", copy.parent)
    assert built("base") is None
