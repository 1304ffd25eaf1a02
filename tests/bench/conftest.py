# SPDX-License-Identifier: GPL-2.0-or-later
"""``--record``: benches put their figures into ``results/scale.json``, whose page is drawn anew."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from studies.measured import keep as kept
from studies.scale.plan import NAME
from tests.support.measuring import Keep


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--record``."""
    parser.addoption("--record", action="store_true", help="write figures into results/scale.json")


@pytest.fixture
def keep(request: pytest.FixtureRequest) -> Keep:
    """Keeps figures under the name of a measurement."""

    def keep(name: str, figures: Mapping[str, float]) -> None:
        words = ", ".join(f"{figure} {value:.4g}" for figure, value in figures.items())
        print(f"{name}: {words}")
        if request.config.getoption("--record", False):
            kept(NAME, name, figures, f"python -m tests.bench -k {request.node.originalname}")

    return keep
