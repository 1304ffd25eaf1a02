# SPDX-License-Identifier: GPL-2.0-or-later
"""Knobs, and model axes that a platform file states."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.knobs import AXES, CONTROLS, Knob
from eascope.configs.platform import Platform
from eascope.configs.platform_file import PLATFORMS, load_platform
from eascope.configs.source import kind
from eascope.experiments.cli.request import request_of
from eascope.experiments.cli.verbs import make_parser
from eascope.experiments.controls import DEFAULT_CONTROLS, Controls
from eascope.host.errors import RequestError
from eascope.kernels.naming import variant_named
from eascope.kernels.own import NO_OWN
from eascope.kernels.switches import FEATURES, IDLE_GOVERNOR
from eascope.power.given import DEFAULT_MODEL
from tests.support.campaigns import campaign
from tests.support.command import RUN
from tests.support.refusals import refusal

BOARD = """
[axes.kernel_rate.slow]
kernel_rate_percent = 55
source = "measured: somewhere"

[axes.delayed_dequeue.off]
delay_dequeue = "off"
source = "assumed: a kernel without"
"""


def stating(folder: Path, text: str) -> Platform:
    """juno-r2 with ``text`` at the end of its file."""
    path = folder / "juno-r2.toml"
    path.write_text((PLATFORMS / "juno-r2.toml").read_text() + text)
    return load_platform(path)


def test_a_platform_states_the_values_of_an_axis(tmp_path: Path) -> None:
    platform = stating(tmp_path, BOARD)
    (slow,) = platform.axes["kernel_rate"]
    assert (slow.name, slow.source) == ("slow", "measured: somewhere")
    assert slow.sets == {"kernel_rate_percent": 55, "kernel_rate_of": "all"}
    (off,) = platform.axes["delayed_dequeue"]
    assert off.sets == {"delay_dequeue": False}


def test_no_run_depends_on_what_is_not_known(tmp_path: Path, juno: Platform) -> None:
    without = set(juno.axes)
    assert stating(tmp_path, BOARD).digest == juno.digest
    assert set(juno.axes) == without


def test_a_platform_by_difference_has_its_bases_axes(tmp_path: Path) -> None:
    stating(tmp_path, BOARD)
    base = tmp_path / "base.toml"
    base.write_text(
        (tmp_path / "juno-r2.toml").read_text().replace('name = "juno-r2"', 'name = "base"', 1)
    )
    path = tmp_path / "mine.toml"
    path.write_text(
        'base = "./base.toml"\nsummary = "s"\n'
        '[axes.kernel_rate.slower]\nkernel_rate_percent = 50\nsource = "assumed: slow"\n'
    )
    assert [value.name for value in load_platform(path).axes["kernel_rate"]] == ["slow", "slower"]


WRONG = [
    "[axes.idle_exits.x]",
    '[axes.idle_exit.x]\nidle_exit_percent = 101\nsource = "assumed: so"',
    "[axes.power.x]",
    "[axes.idle_exit.x]\nidle_exit_percent = 10",
    '[axes.idle_exit.x]\nidle_exit_percent = 10\nsource = "guess"',
    '[axes.idle_exit.x]\nidle_exit_percent = 10\nsource = "assumed: so"\nkhz = 1',
    '[axes.delayed_dequeue.x]\ndelay_dequeue = "maybe"\nsource = "assumed: so"',
]


def test_a_wrong_axis_is_one_line(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    lines = {text: refusal(stating, tmp_path, text) for text in WRONG}
    assert {text: line.removeprefix(str(tmp_path)) for text, line in lines.items()} == snapshot


def test_common_values_name_their_sources_and_set_all_keys() -> None:
    for axis in AXES.values():
        for value in axis.common:
            assert kind(value.source)
            assert set(value.sets) == {knob.name for knob in axis.knobs}


def controls_with(**values: Any) -> Controls:
    return Controls(**values)


@pytest.mark.parametrize("knob", CONTROLS.values(), ids=lambda knob: knob.name)
def test_a_control_is_an_option_an_axis_and_a_word(knob: Knob) -> None:
    """From its declaration alone, at each value that is not its default."""
    values: dict[type, list[Any]] = {
        bool: [knob.default is False],
        int: [item for item in knob.span[:2] if item != knob.default],
        str: [name for name in knob.choices if name != knob.default] or ["cortex-a72@1200"],
        tuple: [],
    }
    parser = make_parser()
    words = set()
    for value in values[knob.kind]:
        controls = controls_with(**{knob.name: value})
        assert controls.values == {knob.name: value}
        words.add(tuple(controls.words))
        assert controls_with(**{knob.name: knob.default}).words == []
        if knob.option:
            given = [] if knob.kind is bool else [str(value)]
            options = parser.parse_args([*RUN, knob.flag, *given])
            assert request_of(options, "mainline", 0, DEFAULT_MODEL).controls == controls
        if knob.swept:
            points = campaign(controls={knob.name: [value, "as is"]}).checked_points()
            asked = [point.request("juno-r2", 0).controls for point in points]
            assert {*asked} == {controls, DEFAULT_CONTROLS}
    own = knob.name not in ("kernel_rate_of",)  # its word is in that of the percentage
    assert len(words) == (len(values[knob.kind]) if own else 1)


def test_a_control_that_is_a_feature_or_a_field_does_what_it_says(juno: Platform) -> None:
    mainline = variant_named("mainline", NO_OWN)[1]
    seen = []
    for name, knob in CONTROLS.items():
        if knob.feature:
            off = controls_with(**{name: False}).of_variant(mainline, juno).switches
            assert off[-1] == (FEATURES, f"NO_{knob.feature}")
            seen.append(name)
        elif knob.default is None and hasattr(juno, name):
            other = {bool: False, int: 77, str: "all"}[knob.kind]
            assert getattr(controls_with(**{name: other}).of_platform(juno), name) == other
            seen.append(name)
    assert len(seen) >= 5
    own = replace(mainline, switches=((IDLE_GOVERNOR, "menu"),))
    with pytest.raises(
        RequestError, match="current_governor = 'teo' as a control sets it, but mainline"
    ):
        controls_with(idle_governor="teo").of_variant(own, juno)
    servers = controls_with(fair_server=False).of_variant(mainline, juno).switches
    assert servers[-len(juno.cpus) - 1][1] == "-1", "no admission test"
    assert {path.split("/")[-2] for path, _ in servers} >= {f"cpu{cpu}" for cpu in juno.cpus}
    assert (IDLE_GOVERNOR, "teo") in controls_with(idle_governor="teo").of_variant(
        mainline, juno
    ).switches
