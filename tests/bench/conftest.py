# SPDX-License-Identifier: GPL-2.0-or-later
"""Benches print their figures."""

from collections.abc import Mapping

import pytest

from tests.support.measuring import Keep


@pytest.fixture
def keep() -> Keep:
    """Prints figures under the name of a measurement."""

    def keep(name: str, figures: Mapping[str, float]) -> None:
        words = ", ".join(f"{figure} {value:.4g}" for figure, value in figures.items())
        print(f"{name}: {words}")

    return keep
