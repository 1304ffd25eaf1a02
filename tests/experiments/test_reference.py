# SPDX-License-Identifier: GPL-2.0-or-later
"""A reference core: work that means the same on platforms of different speed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from eascope.experiments.controls import Controls
from eascope.experiments.reference import reference_turn_ns
from eascope.experiments.request import resolve
from eascope.host.errors import RequestError
from tests.support.cells import REQUEST, Artefacts, prepared

#: juno-r2's largest CPU at its top OPP.
JUNO = Controls(reference="cortex-a72@1200")


def turns(platform: str, controls: Controls) -> list[tuple[int | None, ...]]:
    cell = prepared(platform=platform, controls=controls)
    return [task.turns for task in cell.record.tasks]


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """juno-r2 without its bigs' fastest OPP."""
    path = tmp_path / "slow.toml"
    path.write_text(
        'base = "juno-r2"\nsummary = "a slow juno"\nremove = ["cluster.big.opps.1200000"]\n'
    )
    return str(path)


def test_the_platforms_own_top_is_the_usual_unit(artefacts: Artefacts) -> None:
    assert turns("juno-r2", JUNO) == turns("juno-r2", Controls())


def test_other_platforms_do_the_same_work(artefacts: Artefacts, slow: str) -> None:
    """Without a reference the slower board does less in the same number of microseconds."""
    assert turns(slow, Controls()) != turns("juno-r2", Controls())
    assert turns(slow, JUNO) == turns("juno-r2", JUNO) == turns("pixel6", JUNO)


def test_records_say_so(artefacts: Artefacts) -> None:
    cell = prepared(controls=JUNO)
    assert cell.record.set_otherwise == ("reference-cortex-a72-1200-mhz",)


def test_half_the_frequency_is_half_the_work() -> None:
    assert reference_turn_ns("cortex-a72@600") == 2 * reference_turn_ns("cortex-a72@1200")
    assert isinstance(reference_turn_ns("cortex-a53@850"), Fraction)


@pytest.mark.parametrize("text", ["", "cortex-a72", "cortex-a72@0", "cortex-a72@1.2", "a b@3"])
def test_other_forms(text: str) -> None:
    with pytest.raises(RequestError, match="allowed: CORE@MHZ"):
        reference_turn_ns(text)


def test_an_unknown_core() -> None:
    with pytest.raises(RequestError, match=r"core 'cortex-a73' \(did you mean cortex-a7"):
        resolve(
            REQUEST.__class__(
                **{**vars(REQUEST), "controls": Controls(reference="cortex-a73@1000")}
            )
        )


def test_not_together_with_the_sources_unit() -> None:
    with pytest.raises(RequestError, match="allowed: one of the two"):
        Controls(reference="cortex-a72@1200", calibration_ns=186).turn_ns()
