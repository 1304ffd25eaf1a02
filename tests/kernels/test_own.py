# SPDX-License-Identifier: GPL-2.0-or-later
"""``--kernel`` and ``--patch``: variants for one comparison."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eascope.host.errors import RequestError
from eascope.kernels import variants
from eascope.kernels.kconfig import fragment_text
from eascope.kernels.naming import variant_named, variant_names
from eascope.kernels.own import read_own
from eascope.kernels.patch_series import series_digest, series_patches
from eascope.kernels.patching import PatchFailed
from eascope.kernels.source import Source
from eascope.kernels.variants import SERIES, load_catalogue, load_variants
from eascope.kernels.worktree import worktree
from tests.support.command import refused
from tests.support.refusals import refusal
from tests.support.toy_linux import LINES

PATCH = "--- a/a.c\n+++ b/a.c\n@@ -4,3 +4,3 @@\n line 4\n-line 5\n+line V\n line 6\n"


@pytest.fixture
def patch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A patch as ``git format-patch`` names one."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "0001-sched-My-Idea.patch"
    file.write_text(PATCH)
    return file


def test_a_tree_is_a_variant_as_mainline(linux: Path) -> None:
    own = read_own([f"mine={linux}@old"], [])
    kernel, variant = variant_named("mine", own)
    usual = load_variants()["mainline"]
    assert (variant.name, variant.kernel) == ("mine", "base@mine")
    assert (variant.switches, variant.declares) == (usual.switches, usual.declares)
    assert (kernel.name, kernel.release, kernel.series) == ("base@mine", "7.3", ("base",))
    assert kernel.tree == own.trees[0]
    kernel, variant = variant_named("cas@mine", own)
    assert (variant.name, variant.kernel) == ("cas@mine", "base@mine")
    assert variant.switches == load_variants()["cas"].switches
    assert variant_named("mainline@7.3", own) == variant_named("mainline@7.3")


def test_a_patch_is_a_variant_as_mainline(patch: Path) -> None:
    own = read_own([], [str(patch), f"both={patch}", f"both={patch}"])
    kernel, variant = variant_named("sched-my-idea", own)
    assert (variant.kernel, kernel.series) == ("sched-my-idea", ("base", "sched-my-idea"))
    folders = kernel.folders(SERIES)
    assert folders[0] == SERIES / "base"
    assert [path.name for path in series_patches(folders[1])] == ["0001-sched-My-Idea.patch"]
    assert series_patches(folders[1])[0].read_text() == PATCH
    kernel, variant = variant_named("both@7.3", own)
    assert (variant.kernel, kernel.release) == ("both@7.3", "7.3")
    assert [path.name[:4] for path in series_patches(kernel.folders(SERIES)[1])] == ["0001", "0002"]


TEO = "cpuidle.governor=teo"
MIGRATION = "/proc/sys/kernel/sched_util_clamp_min"


def test_boot_arguments_and_switches_are_a_variant_as_mainline(linux: Path, patch: Path) -> None:
    own = read_own(
        [f"mine={linux}@old"],
        [f"x={patch}"],
        ["pelt8=a.b=8", f"pelt8={TEO}", "x=a.b=16", "mine=a.b=32"],
        [f"pelt8:{MIGRATION}=512", f"late:{MIGRATION}=100"],
    )
    assert own.names == ["mine", "x", "pelt8", "late"]
    mainline, plain = variant_named("mainline")
    kernel, variant = variant_named("pelt8", own)
    assert kernel == mainline
    assert variant.boot == f"a.b=8 {TEO}"
    assert variant.switches == (*plain.switches, (MIGRATION, "512"))
    assert variant_named("late", own)[1].boot == ""
    assert variant_named("pelt8@7.3", own)[0].release == "7.3"
    kernel, variant = variant_named("x", own)
    assert ([own.name for own in kernel.own], variant.boot) == (["x"], "a.b=16")
    kernel, variant = variant_named("mine", own)
    assert (kernel.name, variant.boot) == ("base@mine", "a.b=32")
    assert variant_named("mainline", own)[1] == plain
    begins = {name: variant_named(name, own)[0].starts_as_mainline for name in own.names}
    assert begins == {"mine": False, "x": False, "pelt8": True, "late": True}
    with pytest.raises(RequestError, match="--boot or --switch: 'late' is not among the variants"):
        own.check_used(["pelt8", "x", "mine"])


@pytest.mark.parametrize(
    ("boots", "switches", "words"),
    [
        (["pelt8"], [], "--boot 'pelt8': allowed: NAME=ARGUMENTS, kernel arguments without quotes"),
        (["pelt8="], [], "--boot 'pelt8=': allowed: NAME=ARGUMENTS"),
        (["a=maxcpus=2"], [], "none of isolcpus, maxcpus"),
        (["cas=x"], [], "--boot 'cas=x': name 'cas': allowed: a name of lower-case letters"),
        ([], ["a=/proc/sys/x"], "--switch 'a=/proc/sys/x': allowed: NAME:PATH=VALUE, path below"),
        ([], ["a:/etc/passwd=1"], "allowed: NAME:PATH=VALUE, path below /proc/sys/"),
        ([], ["a:/sys/devices/system/cpu/cpu1/online=0"], "none that takes a CPU away"),
        ([], [f"feec-b:{MIGRATION}=1"], "name 'feec-b': allowed: a name of lower-case letters"),
        (["a=x-y=1", "a=x_y=2"], [], "--boot 'a=x_y=2': duplicate argument of a"),
        ([], [f"a:{MIGRATION}=1", f"a:{MIGRATION}=2"], "=2': duplicate file of a"),
    ],
)
def test_a_wrong_change_is_one_line(boots: list[str], switches: list[str], words: str) -> None:
    assert words in refusal(read_own, [], [], boots, switches)


@pytest.fixture
def own_file(patch: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Writes a variant's own file ``mine.toml``, in place of the checkout's."""
    monkeypatch.setattr(variants, "own_folder", lambda _: patch.parent)
    load_catalogue.cache_clear()

    def write(text: str, name: str = "mine") -> Path:
        (file := patch.parent / f"{name}.toml").write_text(f'summary = "x"\n{text}')
        return file

    yield write
    load_catalogue.cache_clear()


class Series:
    """The folder of the series, with one more."""

    def __init__(self, folder: Path, more: Path) -> None:
        self.folder, self.more = folder, more

    def __truediv__(self, name: str) -> Path:
        return self.more if name == self.more.name else self.folder / name

    def __getattr__(self, name: str) -> object:
        return getattr(self.folder, name)


def test_an_own_file_is_a_variant(patch: Path, own_file: Callable[..., Path]) -> None:
    own_file(f'base = "cas"\nboot = "{TEO}"\nswitches = [["{MIGRATION}", "512"]]')
    own_file(f'base = "feec-b"\npatches = ["{patch.name}"]\nconfig = ["CONFIG_A=y"]', "patched")
    base, cas = variant_named("cas")
    kernel, variant = variant_named("mine")
    assert (kernel, variant.boot, variant.declares) == (base, TEO, cas.declares)
    assert variant.switches == (*cas.switches, (MIGRATION, "512"))
    assert variant_named("mine@7.3")[0].release == "7.3"
    kernel, variant = variant_named("patched")
    assert (kernel.series, kernel.name) == (("base", "feec", "patched"), "patched")
    assert fragment_text(kernel).endswith("\nCONFIG_A=y\n")
    [queued] = series_patches(kernel.folders(SERIES)[2])
    assert queued.read_text() == PATCH
    assert {"mine", "patched"}.isdisjoint(each.name for each in load_catalogue().shipped())
    assert {"mine", "patched"} <= {*variant_names()}


def test_a_persons_variant_is_one_like_any_other(
    patch: Path, own_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An imported series, with a file on it, a file on that file, and options of a command."""
    series = patch.parent / "series/spread"
    series.mkdir(parents=True)
    (series / "series").write_text(patch.name)
    (series / patch.name).write_text(PATCH)
    monkeypatch.setattr(variants, "SERIES", Series(variants.SERIES, series))
    own_file('base = "cas"\nseries = "spread"', "spread")
    own_file(f'base = "spread-teo"\npatches = ["{patch.name}"]', "both")
    own_file(f'base = "spread"\nboot = "{TEO}"\nswitches = [["{MIGRATION}", "512"]]', "spread-teo")
    own_file('base = "ring-b"\nboot = "a"', "ring-a")
    own_file('base = "ring-a"\nboot = "a"', "ring-b")
    cas = variant_named("cas")[1]
    kernel, variant = variant_named("spread")
    assert (kernel.series, variant.switches) == (("base", "spread"), cas.switches)
    teo_kernel, teo = variant_named("spread-teo")
    assert (teo_kernel, teo.boot, teo.switches) == (
        kernel,
        TEO,
        (*cas.switches, (MIGRATION, "512")),
    )
    both, with_patch = variant_named("both")
    assert (both.series, both.our_series) == (("base", "spread", "both"), ("base",))
    assert [folder.name for folder in both.own] == ["spread", "both"]
    assert with_patch.boot == TEO
    own = read_own([], [], ["spread=cpuidle.governor=menu", "both=cpuidle.governor=menu"])
    assert variant_named("spread", own)[1].boot == "cpuidle.governor=menu"
    assert variant_named("both", own)[1].boot == "cpuidle.governor=menu", "it replaces the other"
    assert variant_named("both@7.3", own)[0].name == "both@7.3"
    broken = {name: str(error) for name, error in load_catalogue().broken.items()}
    assert broken.keys() == {"ring-a", "ring-b"}
    assert "base = 'ring-b': allowed: a known name" in broken["ring-a"]
    assert broken["ring-a"] == broken["ring-b"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('boot = "a"', "base is missing"),
        ('base = "maninline"\nboot = "a"', "base = 'maninline': allowed: a known name"),
        ('base = "cas"', "series is missing: allowed: one at least of series, patches, config"),
        ('base = "cas"\nboot = "maxcpus=2"', "boot = 'maxcpus=2': allowed: kernel arguments"),
        ('base = "cas"\nbooot = "a"', "booot = 'a'"),
        (
            'base = "cas"\nswitches = [["/etc/x", "1"]]',
            "switches = [['/etc/x', '1']]: allowed: a list",
        ),
        ('base = "cas"\nconfig = ["HZ=1"]', "config = ['HZ=1']: allowed: a list of CONFIG_NAME"),
        ('base = "cas"\npatches = ["no.patch"]', "no.patch: No such file or directory"),
        ('base = "cas"\npatches = ["mine.toml"]', "mine.toml has no hunk"),
        ('base = "cas"\nseries = "yours"', "series = 'yours': allowed: a series: a directory of"),
        (
            'base = "cas"\nseries = "feec"\nconfig = ["CONFIG_A=y"]',
            "config = ['CONFIG_A=y']: allowed: none",
        ),
        ('base = "cas"\nboot = "a"\nfirst = true', "first = True: allowed: false, or true beside"),
        ('base = "feec-b"\nseries = "feec"', "series = 'feec': allowed: a series that feec-b does"),
        ('base = "cas"\nboot = "a"\nfirst = 1', "first = 1: allowed: true or false"),
        ('base = "cas"\nswitch = []', "switch = []: allowed: switches, which is its name now"),
        ('base = "cas"\ndescription = "x"', "description = 'x': allowed: summary, which is"),
    ],
)
def test_a_wrong_own_file_affects_only_its_variant(
    own_file: Callable[..., Path], text: str, words: str
) -> None:
    file = own_file(text)
    own_file('base = "mainline"\nboot = "a"', "cas")  # a name that is taken
    command = ["run", "--platform", "juno-r2", "--scenario", "smoke", "--dry-run", "--variant"]
    error = refused(*command, "mine")
    assert error.startswith(f"{file}: ")
    assert words in error
    assert "cas.toml: name 'cas': allowed: a name of" in str(load_catalogue().broken["cas"])
    assert variant_named("mainline")[1].boot == ""


def test_a_patch_may_have_any_name(patch: Path) -> None:
    file = patch.with_name("0001-two words (größe).patch")
    file.write_text(PATCH)
    own = read_own([], [str(file)])
    assert own.names == ["two-words-gr-e"]
    kernel, _ = variant_named("two-words-gr-e", own)
    [queued] = series_patches(kernel.folders(SERIES)[1])
    assert queued.read_text() == PATCH


def test_options_come_with_a_patch(patch: Path) -> None:
    file = patch.with_name("more.config")
    file.write_text("# CONFIG_HZ_250 is not set\nCONFIG_HZ_1000=y\n")
    kernel, _ = variant_named("x", read_own([], [f"x={patch}", f"x={file}"]))
    plain, _ = variant_named("x", read_own([], [f"x={patch}"]))
    assert fragment_text(kernel) == f"{fragment_text(plain)}\n{file.read_text()}"
    assert len(series_patches(kernel.folders(SERIES)[1])) == 1
    assert series_digest(kernel.folders(SERIES)) != series_digest(plain.folders(SERIES))
    alone, _ = variant_named("x", read_own([], [f"x={file}"]))
    assert fragment_text(alone) == fragment_text(kernel)
    assert series_patches(alone.folders(SERIES)[1]) == []


def test_a_tree_that_no_variant_names_is_refused(linux: Path, patch: Path) -> None:
    own = read_own([f"mine={linux}"], [f"x={patch}"])
    own.check_used(["mainline", "cas@mine", "x@7.3"])
    with pytest.raises(RequestError, match=r"--patch: 'x' is not among the variants "):
        own.check_used(["mainline", "mine"])
    with pytest.raises(RequestError, match="--kernel: 'mine' is not among the variants"):
        own.check_used(["mainline", "x"])


def test_a_changed_patch_is_another_kernel(patch: Path) -> None:
    before, _ = variant_named("x", read_own([], [f"x={patch}"]))
    patch.write_text(PATCH.replace("line V", "line v"))
    after, _ = variant_named("x", read_own([], [f"x={patch}"]))
    assert series_digest(before.folders(SERIES)) != series_digest(after.folders(SERIES))


@pytest.mark.parametrize("time", ["", "\t2026-11-23 11:07:41.587737564 +0000"])
def test_a_patch_that_does_not_apply_names_itself_and_the_hunk(
    patch: Path, tmp_path: Path, time: str
) -> None:
    patch.write_text(PATCH.replace("a.c\n", f"a.c{time}\n"))

    class Toy(Source):
        def unpack(self, folder: Path) -> None:
            folder.mkdir(parents=True)
            (folder / "a.c").write_text(LINES.replace("line 6", "line six"))

    kernel, _ = variant_named("x", read_own([], [f"x={patch}"]))
    with pytest.raises(PatchFailed) as caught:  # noqa: SIM117
        with worktree(Toy("6.12.1", "toy", "0" * 64), kernel.folders(SERIES)[1:]):
            pass
    message = str(caught.value)
    assert message.startswith("x/0001-sched-My-Idea.patch does not apply to Linux 6.12.1 ")
    assert "a.c: hunk 1 at line 4:" in message
    assert "  -line 5" in message


@pytest.mark.parametrize(
    ("kernels", "patches", "words"),
    [
        (["mine"], [], "--kernel 'mine': expected NAME=TREE or NAME=TREE@REF"),
        (["cas={linux}"], [], "name 'cas': allowed: a name of lower-case letters"),
        (["base={linux}"], [], "name 'base': allowed: a name of lower-case letters"),
        (["Mine={linux}"], [], "name 'Mine': allowed: a name of lower-case letters"),
        (["a={linux}", "a={linux}@old"], [], "duplicate name"),
        ([], ["{patch}x"], "No such file or directory; expected a patch, [NAME=]FILE"),
        ([], ["x={patch}x"], "No such file or directory; expected a patch, [NAME=]FILE"),
        ([], ["x={linux}"], "Is a directory; expected a patch, [NAME=]FILE"),
        ([], ["{linux}/a.c"], "has no hunk; expected a patch, [NAME=]FILE"),
        ([], ["cas={patch}"], "name 'cas': allowed: a name of lower-case letters"),
        (["x={linux}"], ["x={patch}"], "a --kernel has this name already"),
    ],
)
def test_a_wrong_option_is_one_line(
    linux: Path,
    patch: Path,
    kernels: list[str],
    patches: list[str],
    words: str,
) -> None:
    def filled(text: str) -> str:
        return text.format(linux=linux, patch=patch)

    assert words in refusal(read_own, list(map(filled, kernels)), list(map(filled, patches)))


def test_a_variant_whose_series_is_not_ported_says_what_the_tree_can_be(
    linux: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "eascope.kernels.naming.unported", lambda kernel, _: list(kernel.series[1:])
    )
    own = read_own([f"mine={linux}"], [])
    with pytest.raises(RequestError) as caught:
        variant_named("uclamp-sum@mine", own)
    assert "the series sum is not ported to Linux 7.3; use mainline@mine, cas@mine" in str(
        caught.value
    )
