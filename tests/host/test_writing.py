# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors of writing name the folder, whichever library writes."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure

from eascope.host.errors import EascopeError
from eascope.host.writing import writing_into

FULL = (
    r"No space left on device \(\d+ bytes are free\): free space there \(eascope gc lists some\), "
    "then the same command continues"
)


def test_polars_on_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(EascopeError) as caught, writing_into(tmp_path):
        pl.DataFrame({"a": list(range(100_000))}).write_parquet("/dev/full")
    assert re.fullmatch(f"{re.escape(str(tmp_path))}: {FULL}", str(caught.value))


def test_matplotlib_on_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(EascopeError) as caught, writing_into(tmp_path):
        Figure().savefig("/dev/full", format="svg")
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
