# SPDX-License-Identifier: GPL-2.0-or-later
"""The provider ``buildroot``: with a program in Buildroot's place, and with Buildroot itself."""

import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from eascope.experiments.runs.guest_image import COPIES, guest_image, main
from eascope.host import toolchain
from eascope.host.debian_sources import SourceTarball
from eascope.host.errors import EascopeError, RequestError
from eascope.host.proc import CommandFailed, run
from eascope.rootfs import buildroot_image, buildroot_make, buildroot_site
from eascope.rootfs.buildroot_make import BUILDROOT, SITE_VARIABLE, TREE, defconfig
from eascope.rootfs.buildroot_site import SOURCES_VARIABLE
from eascope.rootfs.content import load_content
from eascope.rootfs.cpio import Archive
from eascope.rootfs.debian import USERS
from eascope.rootfs.image import FLAGS, LINK_FLAGS, program_names
from eascope.rootfs.images import UNITS
from tests.support.newc import parse

#: Stands in Buildroot's place: notes what it is given, and copies an archive.
MAKE = """\
#!/bin/sh
echo "$@" >> {folder}/calls
case "$*" in
*show-info*) cat {folder}/info.json ;;
*defconfig*) for each; do case $each in BR2_DEFCONFIG=*)
    cp "${{each#BR2_DEFCONFIG=}}" {folder}/given; esac; done ;;
*)  [ -e {folder}/fails ] && {{ echo "no rule to make x"; exit 2; }}
    cp "$(dirname "$PWD")"/*.mk {folder} 2>/dev/null
    mkdir images && cp {folder}/rootfs.cpio images/ ;;
esac
"""
INFO: dict[str, dict[str, Any]] = {
    "busybox": {"version": "1.37.0", "downloads": [{"source": "b"}], "patches": []},
    "eascope-guest": {"version": "local", "downloads": [{"source": "x"}]},
    "host-fakeroot": {"version": "1.36", "downloads": [{"source": "f"}]},
    "skeleton": {"virtual": True},
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a checkout, sources, and a program ``make`` before all others."""
    checkout, programs = tmp_path / "buildroot", tmp_path / "programs"
    for part in buildroot_make.PARTS:
        (checkout / part).mkdir(parents=True)
    (checkout / "Makefile").write_text("export BR2_VERSION := 2025.02.16\n")
    (checkout / "Config.in").write_text("")
    programs.mkdir()
    for name, text in (("make", MAKE.format(folder=tmp_path)), ("fakeroot", "")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (tmp_path / "info.json").write_text(json.dumps(INFO))
    (tmp_path / "rootfs.cpio").write_bytes(what_buildroot_makes())
    (tmp_path / "sources/busybox").mkdir(parents=True)
    (tmp_path / "sources/busybox/Makefile").write_text("all:\n")
    (tmp_path / "arm64").mkdir()
    for name in ("rt-app", "trace-cmd"):
        (tmp_path / "arm64" / name).write_bytes(name.encode())
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(BUILDROOT, str(checkout))
    monkeypatch.setenv(SOURCES_VARIABLE, str(tmp_path / "sources"))
    monkeypatch.delenv(SITE_VARIABLE, raising=False)
    monkeypatch.setattr(buildroot_image, "lisa_binaries", lambda: tmp_path)
    buildroot_make._checkout_digest.cache_clear()
    return tmp_path


def what_buildroot_makes() -> bytes:
    archive = Archive()
    archive.file("init", b"agent", 0o755)
    archive.file("bin/busybox", b"busybox", 0o755)
    for name in (*program_names(), *UNITS):
        archive.file(f"bin/{name}", name.encode(), 0o755)
    return archive.data()


def test_an_image_of_what_buildroot_makes(site: Path) -> None:
    image = buildroot_image.buildroot_image("minimal", ())
    present = parse(image.path.read_bytes())
    contents = {"init": b"agent", "exec/rt-app": b"rt-app", "bin/trace-cmd": b"trace-cmd"}
    assert {name: present[name][1] for name in contents} == contents
    assert stat.S_ISLNK(present["bin/rt-app"][0]["mode"])
    made = image.provenance
    assert made.provided
    assert made.provided.provider == "buildroot"
    assert made.provided.packages["buildroot"] == "2025.02.16"
    assert made.provided.packages["busybox"] == f"busybox of {SOURCES_VARIABLE}"
    assert (made.image, made.members) == ("", {})
    assert made.agent.compiler.startswith(f"{toolchain.cross_prefix()}gcc")
    assert buildroot_image.buildroot_image("minimal", ()).path == image.path
    assert (site / "calls").read_text().count("-j1") == 1


def test_the_members_of_the_programs_image(site: Path) -> None:
    image = buildroot_image.buildroot_image("programs", ())
    assert image.provenance.image == "programs"
    assert set(image.provenance.members) == {*UNITS}


def test_what_buildroot_is_given_here(site: Path) -> None:
    buildroot_image.buildroot_image("minimal", ())
    given = (site / "given").read_text()
    assert given.startswith(defconfig("minimal").read_text())
    assert "BR2_TOOLCHAIN_EXTERNAL_CUSTOM_GLIBC=y" in given
    assert "BR2_PRIMARY_SITE_ONLY=y" in given
    override = (site / "local.mk").read_text()
    assert f"BUSYBOX_OVERRIDE_SRCDIR = {site}/sources/busybox" in override
    assert f"host-tool,HOST_FAKEROOT,{site}/programs/fakeroot,bin,)" in override
    assert "EASCOPE_GUEST_OVERRIDE" not in override


def test_what_stands_in_place_of_a_host_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs are linked where packages look for them, and nothing is linked for a library.

    What a package's own file says afterwards of how it is installed is not done.
    """
    zic = buildroot_site.HostTool("coreutils", ("true", "false"), "sbin", needs=("host-lib",))
    tools = {"host-zic": zic, "host-lib": buildroot_site.HostTool("libcrypt-dev", ())}
    monkeypatch.setattr(buildroot_site, "HOST_TOOLS", tools)
    (tmp_path / "local.mk").write_text(buildroot_site.local_mk(tmp_path, {}))
    recipe = "\t$(HOST_ZIC_INSTALL_CMDS)\n\t$(HOST_LIB_INSTALL_CMDS)\n"
    recipe += "\techo $(HOST_ZIC_DEPENDENCIES) > needed\n"
    packages = "define HOST_ZIC_INSTALL_CMDS\n\tfalse\nendef\nHOST_ZIC_DEPENDENCIES = host-moon\n"
    rules = f"HOST_DIR = host\ninclude local.mk\n{packages}all:\n{recipe}"
    run(["make", "-s", "-f", "-"], stdin=rules.encode(), cwd=tmp_path)
    links = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("host/*/*"))
    assert links == ["host/sbin/false", "host/sbin/true"]
    assert (tmp_path / "host/bin").is_dir()
    assert (tmp_path / "needed").read_text().split() == ["host-skeleton", "host-lib"]


def test_what_buildroot_is_given_where_it_downloads(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SITE_VARIABLE, "upstream")
    image = buildroot_image.buildroot_image("minimal", ())
    assert (site / "given").read_text() == defconfig("minimal").read_text()
    assert not (site / "local.mk").exists()
    assert image.provenance.agent.compiler == "Buildroot's"
    monkeypatch.setenv(SITE_VARIABLE, "moon")
    with pytest.raises(RequestError, match=rf"{SITE_VARIABLE} = 'moon': allowed: one of debian, u"):
        buildroot_image.buildroot_image("minimal", ())


def test_sources_that_cannot_be_had(site: Path) -> None:
    info = {**INFO, "moon": {"version": "1", "downloads": [{"source": "m"}]}}
    (site / "info.json").write_text(json.dumps(info))
    with pytest.raises(EascopeError, match=rf"package moon: no sources.*{SOURCES_VARIABLE}"):
        buildroot_image.buildroot_image("minimal", ())
    assert not list((site / "cache/buildroot").glob("*/rootfs.cpio"))


def tool_is(monkeypatch: pytest.MonkeyPatch, *names: str, **more: Any) -> None:
    """Package moon stands in place of the host packages ``names``."""
    tool = buildroot_site.HostTool("moon", **more)
    for name in names:
        monkeypatch.setitem(buildroot_site.HOST_TOOLS, name, tool)


def test_a_host_tool_that_is_missing(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool_is(monkeypatch, "host-fakeroot", programs=("no-such",))
    with pytest.raises(EascopeError, match=r"no-such.*moon"):
        buildroot_image.buildroot_image("minimal", ())


def a_program(folder: Path, name: str, version: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho {version}\n")
    (folder / name).chmod(0o755)
    return folder


def test_a_host_tool_that_is_too_old(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its release is asked for; one of eascope's own environment goes before the system's."""
    a_program(site / "programs", "moon", "1.0.1")
    tool_is(monkeypatch, "host-fakeroot", programs=("moon",), oldest=(1, 3))
    words = r"moon: version 1\.0\.1: allowed: 1\.3 or newer: run: .*"
    with pytest.raises(EascopeError, match=words):
        buildroot_image.buildroot_image("minimal", ())
    own = a_program(site / "own", "moon", "1.10.0")
    monkeypatch.setattr(sys, "executable", str(own / "python"))
    buildroot_image.buildroot_image("minimal", ())
    assert f"host-tool,HOST_FAKEROOT,{own}/moon,bin," in (site / "local.mk").read_text()


def test_sources_on_which_automake_has_not_run(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are prepared with autoreconf, whose programs must be there."""
    busybox = site / "sources/busybox"
    (busybox / "Makefile.am").touch()
    (busybox / "Makefile.in").touch()
    buildroot_image.buildroot_image("minimal", ())
    assert "BUSYBOX_AUTORECONF" not in (site / "local.mk").read_text()
    (busybox / "Makefile.in").unlink()
    tool_is(monkeypatch, *buildroot_site._AUTORECONF, programs=("make",))
    buildroot_image.buildroot_image("minimal", ())
    assert "BUSYBOX_AUTORECONF = YES" in (site / "local.mk").read_text()
    (busybox / "configure.ac").touch()
    tool_is(monkeypatch, "host-libtool", programs=("no-such",))
    with pytest.raises(EascopeError, match=r"no-such.*moon"):
        buildroot_image.buildroot_image("minimal", ())


def test_debians_sources_have_buildroots_patches_for_the_same_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SOURCES_VARIABLE, raising=False)
    asked: list[tuple[str, list[Path]]] = []

    class Apt:
        def tarball(self, packages: tuple[str, ...]) -> SourceTarball:
            return SourceTarball(packages[0], "1.37.0", tmp_path, "0")

    def unpacked(tarball: SourceTarball, patches: list[Path]) -> Path:
        asked.append((tarball.package, patches))
        return tmp_path

    monkeypatch.setattr(buildroot_site, "source_apt", Apt)
    monkeypatch.setattr(buildroot_site, "unpacked", unpacked)
    for version in ("1.37.0", "1.36.1"):
        info = {"busybox": {**INFO["busybox"], "version": version, "patches": ["package/a"]}}
        folders, versions = buildroot_site.sources_of(info, Path("/checkout"))
        assert folders == {"busybox": tmp_path}
        assert versions == {"busybox": "1.37.0"}
    assert asked == [("busybox", [Path("/checkout/package/a")]), ("busybox", [])]


def test_the_command_ends_with_the_last_lines_of_a_build_that_fails(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "fails").touch()
    assert main(["minimal", "--provider=buildroot"]) == CommandFailed.exit_code
    assert capsys.readouterr().err.splitlines()[-1].strip() == "no rule to make x"


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (None, r"BUILDROOT = .*expected a directory with Buildroot's sources"),
        ("2024.11", "2025.02"),
    ],
)
def test_a_checkout_that_is_none_or_too_old(
    site: Path, version: str | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if version:
        (site / "buildroot/Makefile").write_text(f"export BR2_VERSION := {version}\n")
    else:
        monkeypatch.delenv(BUILDROOT)
    with pytest.raises(RequestError, match=words):
        guest_image("minimal", "buildroot")


def test_a_file_of_the_overlay_that_the_image_has(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buildroot_image, "OVERLAY", site / "overlay")
    (site / "overlay/bin").mkdir(parents=True)
    (site / "overlay/bin/more").write_bytes(b"more")
    image = buildroot_image.buildroot_image("minimal", ())
    assert parse(image.path.read_bytes())["bin/more"][1] == b"more"
    assert set(image.provenance.overlay) == {"bin/more"}
    (site / "overlay/bin/busybox").write_bytes(b"mine")
    with pytest.raises(EascopeError, match="the guest image already has /bin/busybox"):
        buildroot_image.buildroot_image("minimal", ())


def test_a_program_is_lacking_when_the_configuration_does_not_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "defconfig"
    path.write_text("BR2_PACKAGE_RT_TESTS=y\n# BR2_PACKAGE_SYSBENCH is not set\n")
    monkeypatch.setattr(buildroot_image, "defconfig", lambda name: path)
    every = {program.name for program in load_content().provided()}
    assert buildroot_image.lacking("programs") == every - {"cyclictest", "hackbench"}
    assert buildroot_image.lacking("minimal") == frozenset()


def test_the_package_of_ours_is_compiled_as_everywhere() -> None:
    text = (TREE / "package/eascope-guest/eascope-guest.mk").read_text()
    flags = re.search(r"^EASCOPE_GUEST_FLAGS = (.+)$", text, re.M)
    link = re.search(r"^EASCOPE_GUEST_LINK_FLAGS = (.+)$", text, re.M)
    assert flags
    assert link
    assert tuple(flags[1].split()) == FLAGS
    assert tuple(link[1].split()) == LINK_FLAGS
    folder = TREE.parent / "members"
    members = {str(path.relative_to(folder)) for path in folder.rglob("*.c")}
    assert members == {name for names in UNITS.values() for name in names}
    assert all(f"COMPILE,members,{name}," in text for name in UNITS)
    assert all(f"made/{name} $(TARGET_DIR)/bin/{name}\n" in text for name in UNITS)
    users = (TREE / "overlay/etc/passwd").read_bytes(), (TREE / "overlay/etc/group").read_bytes()
    assert users == USERS


def test_each_configuration_names_options_that_the_tree_or_the_list_has() -> None:
    texts = "".join(path.read_text() for path in (TREE / "package").glob("*/Config.in"))
    known = {*re.findall(r"^config (\w+)", texts, re.M), "BR2_PACKAGE_BUSYBOX"}
    known |= {program.option for program in load_content().provided()}
    for name in load_content().images:
        text = defconfig(name).read_text()
        assert "BR2_TARGET_ROOTFS_CPIO=y" in text
        assert {*re.findall(r"^(BR2_PACKAGE_\w+)=y$", text, re.M)} <= known


def test_perf_is_built_without_shellcheck_where_the_host_has_it() -> None:
    text = (TREE / "package/eascope-perf/eascope-perf.mk").read_text()
    flags = re.search(r"^EASCOPE_PERF_MAKE_FLAGS = ((?:.*\\\n)*.*)$", text, re.M)
    assert flags
    assert "NO_SHELLCHECK=1" in flags[1].split()


@pytest.mark.long
@pytest.mark.guest
@pytest.mark.skipif(not os.environ.get(BUILDROOT), reason=f"{BUILDROOT} names no checkout")
@pytest.mark.parametrize("name", ["minimal", "programs"])
def test_buildroot_itself(name: str) -> None:
    image = guest_image(name, "buildroot")
    present = parse(image.path.read_bytes())
    content = load_content()
    lacking = buildroot_image.lacking(name)
    for program in content.programs.values():
        if name in program.images and program.name not in lacking:
            assert present[program.path[1:]][1][:5] == b"\x7fELF\x02", program.name
    for copy in COPIES:
        assert copy.path[1:] in present
    assert image.provenance.provided
    assert image.provenance.provided.packages["buildroot"]
