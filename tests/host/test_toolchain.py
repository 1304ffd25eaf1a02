# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools for arm64: a cross compiler's on other hosts, the host's own on arm64."""

import platform
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.host.dry import nothing_built
from eascope.host.errors import EascopeError
from eascope.host.toolchain import VERSIONS, arm64_tool, cross_prefix, said_of, static_libc

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make a host of one machine that has nothing but some programs."""

    def make(machine: str, **programs: str) -> None:
        for name, text in programs.items():
            path = tmp_path / name.replace("_", "-")
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(platform, "machine", lambda: machine)

    return make


@pytest.mark.parametrize(("machine", "prefix"), [("x86_64", "aarch64-linux-gnu-"), ("aarch64", "")])
def test_hosts_of_arm64_use_their_own_tools_and_others_cross_compile(
    machine: str, prefix: str, tmp_path: Path, install: Install
) -> None:
    install(machine, aarch64_linux_gnu_nm="", nm="")
    assert cross_prefix() == prefix
    assert arm64_tool("nm") == str(tmp_path / f"{prefix}nm")


@pytest.mark.parametrize("libc", [False, True])
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_missing_compiler_is_one_line(
    machine: str, libc: bool, install: Install, snapshot: SnapshotAssertion
) -> None:
    install(machine)
    with pytest.raises(EascopeError) as caught:
        arm64_tool("gcc", libc=libc)
    assert str(caught.value) == snapshot


def test_the_libc_is_where_the_compiler_says(tmp_path: Path, install: Install) -> None:
    (tmp_path / "libc.a").write_bytes(b"")
    install("x86_64", aarch64_linux_gnu_gcc=f"echo {tmp_path}/libc.a")
    assert static_libc() == tmp_path / "libc.a"


def test_a_missing_libc_is_one_line(install: Install) -> None:
    install("x86_64", aarch64_linux_gnu_gcc="echo libc.a")
    with pytest.raises(EascopeError, match="apt-get install libc6-dev-arm64-cross"):
        static_libc()


def absent() -> list[str]:
    raise EascopeError("gcc is not installed")


@pytest.fixture
def versions(own_cache: Path) -> Path:
    """Where an empty cache keeps versions of tools."""
    return own_cache / VERSIONS


def test_a_machine_without_the_tool_says_what_the_caches_machine_said(versions: Path) -> None:
    with pytest.raises(EascopeError, match="gcc is not installed"):
        said_of("kernel", absent)
    assert said_of("kernel", lambda: ["gcc 12", "ld 2.40"]) == ("gcc 12", "ld 2.40")
    assert said_of("kernel", absent) == ("gcc 12", "ld 2.40")
    with pytest.raises(EascopeError, match="gcc is not installed"):
        said_of("guest", absent)


def test_the_last_version_counts_and_a_machines_own_before_it(versions: Path) -> None:
    said_of("kernel", lambda: ["gcc 13"])
    said_of("kernel", lambda: ["gcc 12"])
    assert said_of("kernel", absent) == ("gcc 12",)
    assert said_of("kernel", lambda: ["gcc 11"]) == ("gcc 11",)


def test_a_damaged_version_does_not_count(versions: Path) -> None:
    said_of("kernel", lambda: ["gcc 12"])
    (versions / "kernel-0.json").write_text('{"said": 3')
    (versions / "kernel-1.json").write_text('{"said": ["gcc 14"]}')
    assert said_of("kernel", absent) == ("gcc 12",)


def test_a_dry_run_keeps_no_version(versions: Path) -> None:
    with nothing_built():
        assert said_of("kernel", lambda: ["gcc 12"]) == ("gcc 12",)
    assert not versions.exists()
