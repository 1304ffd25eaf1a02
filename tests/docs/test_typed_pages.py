# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that README, recipes and two concepts print are typed in, in their page's order.

What is typed is the printed command, with these replacements and no others: one seed; the shortest
scenario where no conditions of a source are asked for; a run that there is for the beginning of a
run's name; the file that the page shows, and a table of measurements, for the reader's own. The
output must be as the page says: exit code 0 and words on stdout. `NOT_TYPED` has every other
command with the reason.
"""

import re
import sys
import textwrap
from contextlib import suppress
from itertools import permutations
from pathlib import Path

import pytest

from eascope.experiments.cli.diff import check
from eascope.experiments.runs.store import find_run
from eascope.host.errors import RequestError
from tests.support.calibration import row
from tests.support.command import changed, eascope
from tests.support.printed import EASCOPE, PYTHON, SHELL, Command, commands
from tests.support.repo import REPO
from tests.support.waiting import call

PAGES = [
    "README.md",
    *(str(page.relative_to(REPO)) for page in sorted((REPO / "docs/recipes").glob("*.md"))),
    "docs/concepts/model-axes.md",
    "docs/concepts/power.md",
    "docs/reference/measures.md",
]
#: Why a command is not typed here: it needs what no fresh machine has, or it is run elsewhere.
OF_CI = "CI runs it as it stands (.ci/run)"
OF_THE_HOST = "its exit code is about the host; tests/experiments has its cases"
READERS_OWN = "needs the reader's patch or tree of Linux; test_long_own_patches.py types it"
READERS_SERIES = "needs the reader's series; tests/experiments/cli/test_check.py checks one"
READERS_RECORDING = "needs a recording; test_recordings.py imports and checks one"
BUILDROOT = "needs a checkout of Buildroot; the long tests of rootfs build with one"
CAMPAIGN = "runs hundreds of cells; tests/research and tests/experiments run fewer"
MEASUREMENTS = "needs measurements that are not committed"
NOT_TYPED = {
    "make demo": OF_CI,
    "make test": OF_CI,
    "doctor": OF_THE_HOST,
    "verify": OF_THE_HOST,
    "my-idea": READERS_OWN,
    "~/linux": READERS_OWN,
    "KERNEL_SRC=": READERS_OWN,
    "check v2.mbx": READERS_SERIES,
    "phone.perfetto-trace": READERS_RECORDING,
    "IMAGE_PROVIDER=buildroot": BUILDROOT,
    "EASCOPE_IMAGE_PROVIDER=buildroot": BUILDROOT,
    "sweep opp-sweep": CAMPAIGN,
    "table opp-sweep": CAMPAIGN,
    "make power-calibration": MEASUREMENTS,
    "power freqbench": MEASUREMENTS,
}


def printed(name: str) -> list[Command]:
    """The commands of a page that are no shell words."""
    page = REPO / name
    return [
        command
        for command in commands(page, page.read_text())
        if command.words and command.words[0] not in SHELL
    ]


def reasons(command: Command) -> list[str]:
    """Why a command is not typed: the entries of `NOT_TYPED` that it contains."""
    return [words for words in NOT_TYPED if re.search(rf"(?<!\w){re.escape(words)}", command.text)]


def typed(name: str, *, gem5: bool) -> list[Command]:
    """The commands of a page that are typed: those that need gem5, or the others."""
    return [item for item in printed(name) if not reasons(item) and item.gem5 == gem5]


def alike(folder: Path) -> list[str]:
    """Two runs that `diff` compares."""
    runs = [find_run(str(path.parent)) for path in sorted((folder / "runs").glob("*/cell.json"))]
    for one, other in permutations(runs, 2):
        if (one.cell.variant, other.cell.variant) == ("mainline", "uclamp-sum"):
            with suppress(RequestError):
                check(one.cell, other.cell)
                return [str(one.path), str(other.path)]
    raise AssertionError("no two runs that differ in the variant alone")


def replaced(words: list[str], folder: Path) -> list[str]:
    """The arguments of a printed command, with what stands for the reader's own replaced."""
    if "--seeds" in words:
        words = changed(words, "--seeds", "1")
    if "--scenario" in words and "--source-conditions" not in words:
        words = changed(words, "--scenario", "smoke")
    if "./four-bigs.toml" in words:
        recipe = (REPO / "docs/recipes/add-a-platform.md").read_text()
        block = re.findall(r"(?:^    .*\n)+", recipe, re.MULTILINE)[0]
        path = folder / "four-bigs.toml"
        path.write_text(textwrap.dedent(block))
        words = changed(words, "--platform", str(path))
    if "rows.csv" in words:
        path = folder / "rows.csv"
        path.write_text("".join(",".join(line) + "\n" for line in (row(), row().values())))
        words = changed(words, "--csv", str(path))
    if words[0] == "show":
        runs = (folder / "runs").iterdir()
        known = sorted(run.name for run in runs if re.fullmatch("[0-9a-f]{64}", run.name))
        words = [words[0], known[0], *words[2:]]
    if words[0] == "diff" and "--scenario" not in words:
        words = [words[0], *alike(folder), *words[3:]]
    return words


def type_in(page: list[Command], folder: Path) -> None:
    """Run the commands one after the other, with runs of their own."""
    for command in page:
        if command.words[0] == EASCOPE:
            arguments = replaced(command.words[1:], folder)
            done = eascope(*arguments, EASCOPE_RUNS=str(folder / "runs"))
        else:
            assert command.words[0] == PYTHON, (
                f"{command.text}: type it, or say in NOT_TYPED why not"
            )
            done = call([sys.executable, *command.words[1:]])
        assert done.returncode == 0, f"{command.text}: {done.stderr}"
        assert done.stdout.strip(), command.text


def test_every_command_is_typed_or_has_one_reason() -> None:
    several = [
        (command.text, reasons(command))
        for name in PAGES
        for command in printed(name)
        if len({NOT_TYPED[words] for words in reasons(command)}) > 1
    ]
    assert several == []
    assert sum(len(typed(name, gem5=False)) for name in PAGES) > 20


@pytest.mark.parametrize("words", NOT_TYPED)
def test_what_is_not_typed_is_printed(words: str) -> None:
    assert [item for name in PAGES for item in printed(name) if words in reasons(item)]


TYPED = [name for name in PAGES if typed(name, gem5=False)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pages that one process types in have in common: runs that are there are not made."""
    return tmp_path_factory.mktemp("typed")


@pytest.mark.guest
@pytest.mark.kernels("feec", "null", "sum")
@pytest.mark.parametrize("name", TYPED)
def test_a_page_can_be_typed_in(name: str, folder: Path) -> None:
    type_in(typed(name, gem5=False), folder)


@pytest.mark.guest
@pytest.mark.gem5
@pytest.mark.parametrize("name", [name for name in PAGES if typed(name, gem5=True)])
def test_the_commands_of_a_page_that_need_gem5(name: str, tmp_path: Path) -> None:
    type_in(typed(name, gem5=True), tmp_path)
