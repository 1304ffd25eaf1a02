# SPDX-License-Identifier: GPL-2.0-or-later
"""The ledger: a line that is not as it was written is named by ``verify`` and never used."""

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.experiments.cli.main import main
from eascope.experiments.cli.status import campaign_lines
from eascope.experiments.sweeps.campaign_table import plain
from eascope.experiments.sweeps.ledger import (
    DONE,
    FAILED,
    LedgerFile,
    LedgerLine,
    ledger_folder,
    problems_of,
    read_ledger,
)
from eascope.experiments.sweeps.part import run_part
from eascope.experiments.sweeps.survey import cost_of
from eascope.host.cache import runs_root
from eascope.host.errors import EascopeError
from tests.support.campaigns import StandInRuns, campaign, part_of, surveyed
from tests.support.cells import Artefacts
from tests.support.command import output_of
from tests.support.reliability.corrupt import every_bit

LINES = (
    LedgerLine("a-0", DONE, "0" * 64, host_s=1.5, core_s=2.0, mips=900.0, disk_kib=444),
    LedgerLine("a-1", DONE, "1" * 64, host_s=1.25, peak_mib=120),
    LedgerLine("b-0", FAILED, "2" * 64, "QEMU ended with exit code 1"),
)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EASCOPE_RUNS", str(tmp_path / "runs"))
    path = ledger_folder("test") / "j-0.jsonl"
    write(path, *LINES)
    return path


def write(path: Path, *lines: LedgerLine) -> None:
    file = LedgerFile(path)
    for line in lines:
        file.add(line)
    file.close()


def checked(text: str) -> bytes:
    """A line of any content with the check that fits it."""
    body = text.encode()[:-1]
    return b'%s,"check":"%s"}\n' % (body, sha256(body).hexdigest()[:16].encode())


def test_lines_are_read_as_they_were_written(ledger: Path) -> None:
    assert read_ledger("test") == {line.cell: line for line in LINES}
    assert problems_of("test") == []
    assert all(json.loads(text)["check"] for text in ledger.read_text().splitlines())


def test_a_flipped_bit_anywhere_is_named_and_its_line_is_not_used(ledger: Path) -> None:
    done = every_bit(ledger, "test")
    assert done.tried.total() == 8 * ledger.stat().st_size
    assert done.unnoticed == []


@pytest.mark.parametrize(
    "change",
    [
        {"host_s": "x"},
        {"mips": None},
        {"peak_mib": [1]},
        {"peak_mib": 1.5},
        {"disk_kib": "9"},
        {"disk_kib": True},
        {"core_s": float("nan")},
        {"cpu_s": float("inf")},
        {"sim_s": -1e308},
        {"sim_s": 1e308},
        {"cause": 5},
        {"simkey": "../../x"},
        {"simkey": ""},
        {"state": "maybe"},
        {"cell": None},
        {"more": 1},
    ],
)
def test_a_line_with_a_wrong_value_does_not_count_even_when_its_check_fits(
    ledger: Path, change: dict[str, object]
) -> None:
    fields = {**LINES[0].encode(), **change}
    ledger.write_bytes(checked(json.dumps(fields)))
    assert read_ledger("test") == {}
    (problem,) = problems_of("test")
    assert problem.startswith(f"{ledger}: line 1 does not match its check")


@pytest.mark.parametrize("text", ["[" * 100_000 + "]", "[1]", "3}", '{"a":' * 9000 + "}" * 9000])
def test_a_line_that_is_no_object(ledger: Path, text: str) -> None:
    with ledger.open("ab") as stream:
        stream.write(checked(text) + text.encode() + b"\n")
    assert len(read_ledger("test")) == len(LINES)
    assert len(problems_of("test")) == 2


def test_a_line_without_a_check_is_of_an_earlier_version_and_does_not_count(ledger: Path) -> None:
    ledger.write_text(json.dumps(LINES[0].encode()) + "\n")
    assert read_ledger("test") == {}
    assert problems_of("test") == []


def test_a_line_that_a_killed_job_left_spoils_no_other(ledger: Path) -> None:
    ledger.write_bytes(ledger.read_bytes()[:-9])
    write(ledger, replace(LINES[0], cell="c-0"))
    assert list(read_ledger("test")) == ["a-0", "a-1", "c-0"]
    assert len(problems_of("test")) == 1


def test_verify_names_the_line(ledger: Path) -> None:
    assert main(["verify"]) == 0
    ledger.write_bytes(ledger.read_bytes().replace(b"a-0", b"a-1"))
    assert f"{ledger}: line 1 does not match its check" in output_of("verify", code=1)


Change = Callable[[dict[str, LedgerLine]], list[LedgerLine]]


def other_seed(lines: dict[str, LedgerLine]) -> list[LedgerLine]:
    """The run of seed 0 stands for seed 1, too."""
    first = next(iter(lines.values()))
    return [first, replace(first, cell=first.cell.removesuffix("0") + "1")]


def swapped(lines: dict[str, LedgerLine]) -> list[LedgerLine]:
    """The runs of mainline and cas."""
    keys = [line.simkey for line in lines.values()]
    pairs = zip(lines.values(), keys[len(keys) // 2 :] + keys[: len(keys) // 2], strict=True)
    return [replace(line, simkey=key) for line, key in pairs]


def rewritten(change: Change) -> None:
    lines = read_ledger("test")
    (path,) = ledger_folder("test").glob("*")
    path.unlink()
    write(path, *change(lines))


@pytest.mark.parametrize("change", [other_seed, swapped])
def test_a_table_prints_no_run_as_another_cell(
    artefacts: Artefacts, juno: Platform, change: Change
) -> None:
    """Even where a line whose check fits says so."""
    plan = campaign(seeds=2)
    run_part(part_of(surveyed(plan)), StandInRuns())
    before = plain(surveyed(plan), ["energy_j.total"])
    rewritten(change)
    assert plain(surveyed(plan), ["energy_j.total"]) == before


def test_another_cells_run_in_the_place_of_one_that_is_gone(
    artefacts: Artefacts, juno: Platform
) -> None:
    plan = campaign(seeds=2)
    run_part(part_of(surveyed(plan)), StandInRuns())
    second = list(read_ledger("test").values())[1]
    rewritten(other_seed)
    (runs_root() / second.simkey).rename(runs_root() / "elsewhere")
    with pytest.raises(EascopeError, match="another run than that of juno-r2, smoke, mainline, se"):
        plain(surveyed(plan, look_up=False), [])


def test_damaged_lines_are_looked_up_anew(artefacts: Artefacts, juno: Platform) -> None:
    plan = campaign(seeds=2)
    run_part(part_of(surveyed(plan)), StandInRuns())
    (path,) = ledger_folder("test").glob("*")
    path.write_bytes(path.read_bytes().replace(b'-0"', b'-1"', 1))
    without = surveyed(plan, look_up=False)
    assert without.counts == {"done": 3, "failed": 0, "missing": 1}
    assert surveyed(plan).counts["done"] == 4
    assert "3 cells: " in campaign_lines(without)[1]
    assert cost_of(without).core_s > 0
