# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders of comparisons: none takes another's name; what is there stays until it is replaced."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eascope.experiments.cli import compare
from eascope.experiments.cli.compare import Answered, Asked, draw
from eascope.experiments.cli.verbs import make_parser
from eascope.experiments.runs.comparisons import FILES, REPORT, comparison_folder, publish
from eascope.experiments.scenario.names import path_of
from eascope.host.errors import EascopeError
from tests.support.cells import Artefacts
from tests.support.compared import compared_runs


def drawing(text: str, *names: str) -> Callable[[Path], None]:
    """A ``draw`` that writes files with these names."""

    def draw(work: Path) -> None:
        for name in names:
            (work / name).write_text(text)

    return draw


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.name != FILES}


def test_the_name_has_words_and_a_digest() -> None:
    folder = comparison_folder(["eas/game", "juno-r2", "cas"], "0123456789abcdef")
    assert folder == Path(os.environ["EASCOPE_RUNS"]) / "comparisons/eas-game_juno-r2_cas_01234567"
    long = comparison_folder(["word"] * 200, "0123456789abcdef").name
    assert len(long.encode()) < 255
    assert long.endswith("_01234567")


def requested(platform: str, scenario: str, *arguments: str) -> Asked:
    words = ["compare", "mainline", "cas", "--platform", platform, "--scenario", scenario]
    return compare.asked_of(make_parser().parse_args([*words, *arguments]))


def request_and_digest(platform: str, scenario: str, *arguments: str) -> tuple[Asked, str]:
    """A request with words, and its digest."""
    request = requested(platform, scenario, *arguments)
    return request, compare.digest(request)


def test_an_own_file_of_a_shipped_name_has_a_folder_of_its_own(
    artefacts: Artefacts, tmp_path: Path
) -> None:
    shipped, digest = request_and_digest("juno-r2", "smoke")
    own = tmp_path / "smoke.toml"
    own.write_text(path_of("smoke").read_text().replace("short_ms", "short_ms  "))
    copied, copied_digest = request_and_digest("juno-r2", str(own))
    assert compare.words(copied) == compare.words(shipped)
    assert copied_digest == digest, "spaces change nothing"
    text = path_of("smoke").read_text()
    own.write_text(text.replace('summary = "', 'summary = "Mine: '))
    edited, edited_digest = request_and_digest("juno-r2", str(own))
    assert compare.words(edited) == compare.words(shipped)
    assert edited_digest != digest


def test_another_kernel_power_or_number_of_seeds_has_a_folder_of_its_own(
    artefacts: Artefacts,
) -> None:
    first = request_and_digest("juno-r2", "smoke")[1]
    artefacts.write("image", "another")
    digests = {
        first,
        request_and_digest("juno-r2", "smoke")[1],
        request_and_digest("juno-r2", "smoke", "--power", "derived")[1],
        request_and_digest("juno-r2", "smoke", "--seeds", "3")[1],
        request_and_digest("pixel6", "smoke")[1],
    }
    assert len(digests) == 5


def test_files_are_replaced_and_others_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    publish(folder, drawing("1", "energy.svg", "stack.svg", REPORT))
    (folder / "mine.txt").write_text("mine")
    publish(folder, drawing("2", "energy.svg", REPORT))
    assert contents(folder) == {"energy.svg": "2", REPORT: "2", "mine.txt": "mine"}
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))]
)
def test_an_earlier_comparison_survives_a_failure_while_drawing(
    tmp_path: Path, error: BaseException
) -> None:
    folder = tmp_path / "figures"
    publish(folder, drawing("1", "energy.svg", REPORT))

    def draw(work: Path) -> None:
        (work / "energy.svg").write_text("2")
        raise error

    with pytest.raises((KeyboardInterrupt, EascopeError)) as caught:
        publish(folder, draw)
    if isinstance(error, OSError):
        assert str(caught.value).startswith(f"{tmp_path}: No space left on device (")
    assert contents(folder) == {"energy.svg": "1", REPORT: "1"}
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]


def test_a_killed_process_leaves_the_report(tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    publish(folder, drawing("1", REPORT))
    code = (
        "import os, signal, sys; from pathlib import Path;"
        "from eascope.experiments.runs.comparisons import publish;"
        "publish(Path(sys.argv[1]), lambda work: os.kill(os.getpid(), signal.SIGKILL))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert contents(folder) == {REPORT: "1"}


def test_several_at_once_all_succeed(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "figures"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: publish(folder, drawing("1", "energy.svg", REPORT)), range(40)))
    assert contents(folder) == {"energy.svg": "1", REPORT: "1"}


def test_a_damaged_list_of_files_blocks_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    publish(folder, drawing("1", REPORT))
    (folder / FILES).write_text("[")
    publish(folder, drawing("2", REPORT))
    assert contents(folder) == {REPORT: "2"}


def test_the_null_is_the_same_variant_with_other_seeds() -> None:
    """Its kernel is one of its own; nothing else differs."""
    plain = requested("juno-r2", "smoke", "--seeds", "2")
    asked = requested("juno-r2", "smoke", "--seeds", "2", "--null")
    assert plain.all_resolved == plain.resolved
    assert asked.resolved == plain.resolved
    assert [(names.variant.name, names.request.seed) for names in asked.groups[0].null] == [
        *(("mainline", 0), ("mainline", 1)),
        *(("null", 2), ("null", 3)),
    ]
    usual, double = asked.groups[0].null[0], asked.groups[0].null[2]
    assert double.kernel.series == (*usual.kernel.series, "null")
    assert double.kernel.our_series == usual.kernel.series
    assert (double.variant.switches, double.scenario) == (usual.variant.switches, usual.scenario)
    assert compare.words(asked) == [*compare.words(plain), "null"]


def test_a_report_has_the_timeline_of_its_first_two_variants(tmp_path: Path) -> None:
    done = compared_runs(tmp_path / "runs", 2)
    answered = Answered(done, models=None, decided={}, judged={}, digest="")
    page = draw(tmp_path / "out", answered).report.read_text()
    assert "A: <b>mainline</b>, B: <b>cas</b>" in page
    assert page.count('id="timeline-data"') == 1
