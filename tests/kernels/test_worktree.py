# SPDX-License-Identifier: GPL-2.0-or-later
"""The kept tree: what is built anew when it becomes another kernel's, and what a failure leaves."""

from pathlib import Path
from threading import Thread

import pytest

from eascope.experiments import doctor
from eascope.host.dry import NotBuilt, nothing_built
from eascope.host.errors import EascopeError, RequestError
from eascope.kernels import worktree as module
from eascope.kernels.patching import PatchFailed
from eascope.kernels.source import Source
from eascope.kernels.worktree import FOLDER, KEPT_OBJECTS, OUT, try_to_apply, worktree
from tests.support.waiting import until

FILES = ("a.c", "b.c", "c.c")


class Toy(Source):
    """A source of three files; counts how often it is unpacked."""

    unpacked = 0

    def unpack(self, folder: Path) -> None:
        Toy.unpacked += 1
        folder.mkdir(parents=True)
        for name in FILES:
            (folder / name).write_text("".join(f"line {n}\n" for n in range(1, 10)))


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    Toy.unpacked = 0
    return Toy("6.12.0", "toy", "ab" * 32)


def series(folder: Path, name: str, *changes: tuple[str, int, str]) -> Path:
    """A series of patches, each of one line of a file."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    names = []
    for number, (file, line, text) in enumerate(changes, start=1):
        names.append(f"{number:04}-change.patch")
        around = "".join(f" line {n}\n" for n in (line - 1, line + 1))
        body = around.replace(f" line {line + 1}\n", f"-line {line}\n+{text}\n line {line + 1}\n")
        (folder / name / names[-1]).write_text(
            f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n"
            f"@@ -{line - 1},3 +{line - 1},3 @@\n{body}"
        )
    (folder / name / "series").write_text("\n".join(names) + "\n")
    return folder / name


def stamps(tree: Path) -> dict[str, int]:
    return {name: (tree / name).stat().st_mtime_ns for name in FILES}


@pytest.mark.parametrize("name", ["ca che", "ca:che"])
def test_a_place_that_kbuild_cannot_take_is_said_before_anything(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / name))
    with pytest.raises(RequestError, match=f"{name}': .* no spaces or colons") as caught:  # noqa: SIM117
        with worktree(toy, [series(tmp_path, "q", ("a.c", 5, "five"))]):
            pass
    assert (Toy.unpacked, (tmp_path / name).exists()) == (0, False)
    [check] = [check for check in doctor._room() if not check.ok]
    assert check.detail == str(caught.value)


def test_only_what_differs_is_touched(toy: Toy, tmp_path: Path) -> None:
    base = series(tmp_path, "base", ("a.c", 5, "five"), ("b.c", 5, "five"))
    second = series(tmp_path, "other", ("c.c", 3, "three"))
    with worktree(toy, [base]) as tree:
        before = stamps(tree)
    with worktree(toy, [base, second]) as tree:
        after = stamps(tree)
        assert "three" in (tree / "c.c").read_text()
    assert {name for name in FILES if before[name] != after[name]} == {"c.c"}
    # The last patch of the first series changes: what follows it is taken back too.
    series(tmp_path, "base", ("a.c", 5, "five"), ("b.c", 5, "FIVE"))
    with worktree(toy, [base]) as tree:
        last = stamps(tree)
        assert "FIVE" in (tree / "b.c").read_text()
        assert (tree / "c.c").read_text() == "".join(f"line {n}\n" for n in range(1, 10))
    assert last["a.c"] == before["a.c"]
    assert Toy.unpacked == 1


def test_a_patch_that_does_not_apply_leaves_a_usable_tree(toy: Toy, tmp_path: Path) -> None:
    good = series(tmp_path, "good", ("a.c", 5, "five"))
    bad = series(tmp_path, "bad", ("b.c", 5, "five"), ("a.c", 5, "fifth"))
    with pytest.raises(PatchFailed, match=r"bad/0002-change\.patch does not apply"):  # noqa: SIM117
        with worktree(toy, [good, bad]):
            pass
    with worktree(toy, [good]) as tree:
        assert "five" in (tree / "a.c").read_text()
        assert "five" not in (tree / "b.c").read_text()
    assert Toy.unpacked == 1


def test_a_half_changed_tree_is_unpacked_anew(toy: Toy, tmp_path: Path) -> None:
    base = series(tmp_path, "base", ("a.c", 5, "five"))
    with worktree(toy, [base]) as tree:
        pass
    (tmp_path / "cache" / FOLDER / "tree.json").unlink()  # as while a patch is applied
    (tree / "a.c").write_text("half\n")
    with worktree(toy, [base]) as tree:
        assert "five" in (tree / "a.c").read_text()
    assert Toy.unpacked == 2


def test_a_tree_that_somebody_edited_is_unpacked_anew(toy: Toy, tmp_path: Path) -> None:
    base = series(tmp_path, "base", ("a.c", 5, "five"))
    with worktree(toy, [base]) as tree:
        pass
    (tree / "a.c").write_text("edited\n")
    with worktree(toy, []) as tree:
        assert "line 5" in (tree / "a.c").read_text()
    assert Toy.unpacked == 2


def test_another_source_is_unpacked(toy: Toy, tmp_path: Path) -> None:
    base = series(tmp_path, "base", ("a.c", 5, "five"))
    with worktree(toy, [base]) as tree:
        (tree / "leftover").touch()
    with worktree(Toy("6.12.1", "toy", "cd" * 32), [base]) as tree:
        assert not (tree / "leftover").exists()
    assert Toy.unpacked == 2


@pytest.mark.parametrize(
    ("end", "is_kept"), [(EascopeError("make"), True), (KeyboardInterrupt(), False)]
)
def test_objects_of_a_killed_build_are_removed(toy: Toy, end: BaseException, is_kept: bool) -> None:
    with pytest.raises(type(end)):  # noqa: PT012, SIM117 - what is left when it ends inside
        with worktree(toy, []) as tree:
            (tree / OUT / "half.o").touch()
            raise end
    with worktree(toy, []) as tree:
        assert (tree / OUT / "half.o").exists() == is_kept


def build(toy: Toy, *all_series: Path) -> set[str]:
    """Do as make: what was built anew, by the files' time stamps. It also checks the objects."""
    built = set()
    with worktree(toy, list(all_series)) as tree:
        for name in FILES:
            built_file, source = tree / OUT / f"{name}.o", tree / name
            if not built_file.exists() or built_file.stat().st_mtime_ns < source.stat().st_mtime_ns:
                built_file.write_text(source.read_text())
                built.add(name)
            assert built_file.read_text() == source.read_text()
    return built


def test_a_kernel_between_costs_nothing(toy: Toy, tmp_path: Path) -> None:
    base = series(tmp_path, "base", ("a.c", 5, "five"))
    second = series(tmp_path, "other", ("a.c", 3, "three"), ("b.c", 5, "five"))
    assert build(toy, base) == set(FILES)
    assert build(toy, base, second) == {"a.c", "b.c"}
    assert build(toy, base) == set()
    assert build(toy, base, second) == set()
    # A patch below the other series is taken back and applied again: that is no change.
    series(tmp_path, "base", ("a.c", 5, "five"), ("c.c", 5, "five"))
    assert build(toy, base, second) == {"c.c"}
    assert build(toy, base) == {"c.c"}


def test_a_file_built_for_another_kernel_is_rebuilt_for_this_one(toy: Toy, tmp_path: Path) -> None:
    """The file got its content before this kernel was built last, but not for this kernel."""
    first = series(tmp_path, "first", ("a.c", 5, "five"))
    second = series(tmp_path, "second", ("a.c", 5, "FIVE"))
    build(toy, first)
    build(toy, second)
    assert build(toy, first) == set()
    series(tmp_path, "first", ("a.c", 5, "FIVE"))
    assert build(toy, first) == {"a.c"}
    series(tmp_path, "first", ("b.c", 5, "FIVE"))
    assert build(toy, first) == {"a.c", "b.c"}
    assert build(toy, second) == set()


def test_objects_of_few_kernels_are_kept(toy: Toy, tmp_path: Path) -> None:
    all_series = [
        series(tmp_path, f"q{number}", ("a.c", 5, f"five {number}"))
        for number in range(KEPT_OBJECTS + 3)
    ]
    for patches in all_series:
        build(toy, patches)
    assert len(list((tmp_path / "cache" / FOLDER / "objects").iterdir())) == KEPT_OBJECTS
    assert build(toy, all_series[-2]) == set()
    assert build(toy, all_series[0]) == {"a.c"}, "from a copy of another kernel's objects"


def test_objects_with_the_same_options_are_copied_first(toy: Toy, tmp_path: Path) -> None:
    """Another configuration differs in every file."""
    base = series(tmp_path, "base", ("a.c", 5, "five"))
    other = series(tmp_path, "other", ("b.c", 5, "five"))
    kernels = [([base], ["debug"]), ([base], []), ([base, other], ["debug"]), ([base, other], [])]
    configurations = []
    for all_series, more in kernels:
        with worktree(toy, all_series, more) as tree:
            config = tree / OUT / ".config"
            configurations.append(config.read_text() if config.exists() else "")
            config.write_text(f"{len(all_series)} {more}")
    assert configurations == ["", "1 ['debug']", "1 ['debug']", "1 []"]


def test_who_waits_for_another_build_says_so(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build may take minutes, and until it ends nothing else would be printed."""
    output: list[str] = []
    monkeypatch.setattr(module, "say", output.append)
    base = series(tmp_path, "base", ("a.c", 5, "five"))

    def second() -> None:
        with worktree(toy, [base]):
            output.append("has it")

    other = Thread(target=second)
    with worktree(toy, [base]):
        other.start()
        until(lambda: bool(output), "the second one waits")
    other.join()
    assert output == [
        "  waiting for another process, which builds a kernel in the same tree",
        "has it",
    ]


def test_trying_leaves_the_kept_tree_as_it_is(toy: Toy, tmp_path: Path) -> None:
    """A copy has other patches taken back, and those of the series applied."""
    base = series(tmp_path, "base", ("a.c", 5, "five"))
    other = series(tmp_path, "other", ("a.c", 4, "four"), ("b.c", 5, "five"))
    wrong = series(tmp_path, "wrong", ("c.c", 5, "five"), ("b.c", 15, "none"))
    with nothing_built(), pytest.raises(NotBuilt, match=r"tree of Linux 6\.12\.0"):
        try_to_apply(toy, [other])
    with worktree(toy, [base]) as tree:
        before = (stamps(tree), (tree.parent / "tree.json").read_bytes())
    with nothing_built():
        try_to_apply(toy, [other])
        with pytest.raises(PatchFailed, match=r"^wrong/0002-change\.patch does not .*: b\.c: hunk"):
            try_to_apply(toy, [wrong])
    assert (stamps(tree), (tree.parent / "tree.json").read_bytes()) == before
    assert Toy.unpacked == 1


def test_trying_where_there_is_no_tree_unpacks_one(toy: Toy, tmp_path: Path) -> None:
    try_to_apply(toy, [series(tmp_path, "q", ("a.c", 5, "five"))])
    with worktree(toy, [series(tmp_path, "q", ("a.c", 5, "five"))]):
        assert Toy.unpacked == 1


def test_a_patch_of_a_file_that_is_not_there_names_it(toy: Toy, tmp_path: Path) -> None:
    with pytest.raises(PatchFailed) as caught:
        try_to_apply(toy, [series(tmp_path, "q", ("gone.c", 5, "five"))])
    line = str(caught.value).splitlines()[0]
    assert line == f"q/0001-change.patch does not apply to {toy.label}: gone.c: no such file there:"
