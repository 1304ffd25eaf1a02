# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages about unknown names and about files that cannot be written."""

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure
from syrupy.assertion import SnapshotAssertion

from eascope.host.errors import MOST_LISTED, EascopeError, nearest, unknown
from eascope.host.writing import writing_into
from eascope.kernels.variants import load_catalogue

LISTING = "eascope list variants"
MANY = sorted(load_catalogue().variants)


def test_few_names_are_listed(snapshot: SnapshotAssertion) -> None:
    message = str(unknown("engine", "quemu", ["qemu", "gem5"], "eascope list engines"))
    assert message == snapshot


def test_of_many_names_the_nearest_are_shown(snapshot: SnapshotAssertion) -> None:
    assert len(MANY) > MOST_LISTED
    message = str(unknown("variant", "mainlin", MANY, LISTING))
    assert message == snapshot(name="one is near")
    assert "feec-d" not in message
    assert str(unknown("variant", "xyz", MANY, LISTING)) == snapshot(name="none is near")


def test_an_error_without_a_list_command_names_all_choices() -> None:
    assert all(name in str(unknown("page", "x", MANY)) for name in MANY)


def test_names_that_are_as_near() -> None:
    assert nearest("feec-e", MANY, 3) == " (did you mean feec-d, feec-c or feec-b?)"
    assert nearest("feec-e", MANY, 1) == " (did you mean feec-d?)"
    assert nearest("mainlin", MANY, 3) == " (did you mean mainline?)"
    assert nearest("", MANY, 3) == ""


FULL = (
    r"No space left on device \(\d+ bytes are free\): free space there \(eascope gc lists some\), "
    "then the same command continues"
)


@pytest.mark.parametrize(
    "write",
    [
        lambda: pl.DataFrame({"a": list(range(100_000))}).write_parquet("/dev/full"),
        lambda: Figure().savefig("/dev/full", format="svg"),
    ],
    ids=["polars", "matplotlib"],
)
def test_a_full_disk(tmp_path: Path, write: Callable[[], None]) -> None:
    with pytest.raises(EascopeError) as caught, writing_into(tmp_path):
        write()
    assert re.fullmatch(f"{re.escape(str(tmp_path))}: {FULL}", str(caught.value))


def test_an_error_that_names_its_file(tmp_path: Path) -> None:
    with pytest.raises(EascopeError) as caught, writing_into(tmp_path):
        (tmp_path / "absent" / "file").write_text("x")
    assert str(caught.value) == f"{tmp_path}/absent/file: No such file or directory"


def test_other_errors_are_left_alone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="os error 2"), writing_into(tmp_path):
        raise ValueError("not found (os error 2)")
    with pytest.raises(BrokenPipeError), writing_into(tmp_path):
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
    with pytest.raises(EascopeError, match=r"^as it is$"), writing_into(tmp_path):
        raise EascopeError("as it is")
