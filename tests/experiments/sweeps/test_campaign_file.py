# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaign files: what they say, and what is refused with one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eascope.experiments.sweeps.campaign_file import load_campaign, read_campaign
from eascope.experiments.sweeps.one_off import one_off, parsed_values
from eascope.host.errors import RequestError
from tests.support.campaigns import campaign
from tests.support.refusals import refusal

HEAD = 'summary = "a test"\n[axes]\nplatform = "juno-r2"\nscenario = "smoke"\nvariant = ["cas"]\n'
#: One more axis, up to the keys of its value.
AXIS = HEAD + '[[axis]]\nname = "t"\n[axis.values.a]\n'


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return path

    return write


def test_every_combination_seeds_fastest() -> None:
    plan = campaign(
        variant=["mainline", "cas"], seeds=[3, 5], set={"big.opps": ["as is", "every 2nd"]}
    )
    assert plan.combinations == 4
    assert plan.seeds == (3, 5)
    points = plan.checked_points()
    assert [(point.variant, dict(point.overrides)) for point in points] == [
        ("mainline", {}),
        ("cas", {}),
        ("mainline", {"big.opps": "every 2nd"}),
        ("cas", {"big.opps": "every 2nd"}),
    ]
    assert points[2].words == "juno-r2, big.opps=every 2nd, smoke, mainline"


def test_an_axis_whose_values_set_several_keys(written: Callable[[str], Path]) -> None:
    result = read_campaign(
        written(
            HEAD + '[[axis]]\nname = "topology"\n[axis.values."1+3"]\n'
            'set = { "big.cpus" = 1, "little.cpus" = 3 }\ncontrols = { llc = "all" }\n'
            '[axis.values."as is"]\n'
        )
    )
    first, second = result.checked_points()
    assert first.labels["topology"] == "1+3"
    assert first.overrides == {"big.cpus": 1, "little.cpus": 3}
    assert first.controls == {"llc": "all"}
    assert second.overrides == {}


def test_controls_and_the_reference() -> None:
    plan = campaign(controls={"rate_limit_us": [500, 2000]}, reference="cortex-a72@1200")
    requests = [point.request("juno-r2", 0) for point in plan.checked_points()]
    assert {request.controls.rate_limit_us for request in requests} == {500, 2000}
    assert {request.controls.reference for request in requests} == {"cortex-a72@1200"}


def test_constraints_keep_what_they_say() -> None:
    plan = campaign(
        set={"little.cpus": [2, 4, 6], "big.cpus": [2, 4]},
        constraints=["little.cpus + big.cpus <= 8"],
    )
    kept = {(p.overrides["little.cpus"], p.overrides["big.cpus"]) for p in plan.checked_points()}
    assert kept == {(2, 2), (2, 4), (4, 2), (4, 4), (6, 2)}


def test_files_are_relative_to_the_campaign(written: Callable[[str], Path]) -> None:
    path = written(HEAD.replace('"juno-r2"', '"boards/mine.toml"'))
    (point,) = read_campaign(path).checked_points()
    assert point.platform == str(path.parent / "boards" / "mine.toml")
    assert point.labels["platform"] == "mine"


def test_errors_of_the_energy_model() -> None:
    plan = campaign(em_error=["none", "big=+20%", ["big=-10%", "little=+5%"]], variant="cas")
    assert [point.em_error for point in plan.checked_points()] == [
        (),
        ("big=+20%",),
        ("big=-10%", "little=+5%"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD.replace('["cas"]', "[]"),
            "axes.variant = []: allowed: an axis with 1 to 1000 values",
        ),
        (HEAD.replace('["cas"]', '["cas", "cas"]'), "each value once: 'cas' appears 2 times"),
        (HEAD + "seeds = [1, 1]", "axes.seeds = [1, 1]: allowed: a count, or a list of different"),
        (HEAD + "set.little.cpus = [2]", "axes.set.little = {'cpus': [2]}: allowed: the whole key"),
        (HEAD + "set = {}", "axes.set = {}: allowed: a table with at least one axis"),
        (HEAD + "controls = {}", "axes.controls = {}: allowed: a table with at least one axis"),
        (HEAD + "controls.rate_limit = [1]", "no such key (did you mean rate_limit_us?)"),
        (
            HEAD + "controls.idle_exit_percent = [50, 101]",
            "axes.controls.idle_exit_percent = 101: allowed: an integer in 0..100 (% of what",
        ),
        (
            HEAD + "controls.speeds = 'slow'",
            "axes.controls.speeds = 'slow': allowed: one of board, hardware, measured, or",
        ),
        (HEAD + "controls.switches = [1]", "axes.controls.switches"),
        (HEAD + "controls.traced = [false]", "axes.controls.traced"),
        (HEAD + '[[axis]]\nname = "a"\nvalues = {}', "axis[0].values = {}: allowed: an axis"),
        (HEAD + '[[axis]]\nname = "variant"\n[axis.values.x]', "duplicate axis 'variant'"),
        (
            AXIS + '[axis.values.b]\nvariant = "mainline"',
            "axes 'variant' and 't' both set variant; only one may",
        ),
        (AXIS + 'platform = "pixel6"', "axes 'platform' and 't' both set platform; only one may"),
        (
            HEAD + 'set."little.cpus" = [2, 3]\n[[axis]]\nname = "t"\n[axis.values.a]\n'
            '[axis.values.b]\nset = { "little.cpus" = 4 }',
            "axes 'little.cpus' and 't' both set little.cpus; only one may",
        ),
        (
            HEAD + 'set."little.cpus" = "as is"\n[[axis]]\nname = "t"\n[axis.values.a]\n'
            'set = { "little.cpus" = 4 }',
            "axes 'little.cpus' and 't' both set little.cpus; only one may",
        ),
        (
            HEAD + 'controls.llc = ["all"]\n[[axis]]\nname = "t"\n[axis.values.a]\n'
            'controls = { llc = "as is" }',
            "axes 'controls.llc' and 't' both set controls.llc; only one may",
        ),
        (
            AXIS + 'set = { "big.cpus" = 1 }\n'
            '[[axis]]\nname = "u"\n[axis.values.a]\nset = { "big.cpus" = 2 }',
            "axes 't' and 'u' both set big.cpus; only one may",
        ),
        (
            HEAD.replace('variant = ["cas"]', "") + '[[axis]]\nname = "t"\n[axis.values.a]\n'
            'variant = "cas"\n[axis.values.b]\nmode = "elided"',
            "axis 't': its value 'b' sets no variant; each of its values must set one",
        ),
        (
            'constraints = ["1 + 1"]\n' + HEAD,
            "mine.toml: constraints = '1 + 1': character 6: found its end: allowed: < <=",
        ),
        (
            'constraints = ["f()"]\n' + HEAD,
            "mine.toml: constraints = 'f()': character 1: found 'f()': allowed: a measure or",
        ),
    ],
)
def test_what_is_wrong(written: Callable[[str], Path], text: str, message: str) -> None:
    wrong = refusal(read_campaign, written(text))
    assert message in wrong
    assert "mine.toml" in wrong


def test_a_constraint_reads_the_number_of_the_base() -> None:
    """juno-r2 has four little CPUs and two big ones."""
    plan = campaign(
        set={"little.cpus": ["as is", 6], "big.cpus": ["as is", 4]},
        controls={"rate_limit_us": ["as is", 2000]},
        constraints=["little.cpus + big.cpus <= 6", "controls.rate_limit_us < 1000"],
        variant="cas",
    )
    (point,) = plan.checked_points()
    assert point.words == (
        "juno-r2, little.cpus=as is, big.cpus=as is, controls.rate_limit_us=as is, smoke, cas"
    )


def test_a_constraint_on_a_percent() -> None:
    plan = campaign(transition_percent=[0, 50], constraints=["transition_percent > 0"])
    assert {point.billing["transition_percent"] for point in plan.checked_points()} == {50}


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"constraints": ["variant == 'feec-a'"]}, "none of the 2 combinations meets all of them"),
        (
            {"constraints": ["bg.cpus == 2"]},
            "test.toml: constraints = 'bg.cpus == 2': unknown name 'bg.cpus'.*; cell juno-r2",
        ),
        (
            {"set": {f"big.x{n}": list(range(100)) for n in range(4)}},
            "200000000 cells; one campaign has at most 2000000",
        ),
    ],
    ids=["nothing is left", "no such name", "too many"],
)
def test_axes_without_cells(axes: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        campaign(**axes).checked_points()


def test_names_of_shipped_campaigns_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "opp-sweep.toml"
    path.write_text(HEAD)
    with pytest.raises(RequestError, match="a shipped campaign has this file name"):
        load_campaign(str(path))
    with pytest.raises(RequestError, match=r"unknown campaign 'opp-swep' \(did you mean opp-sweep"):
        load_campaign("opp-swep")


def test_options_are_a_campaign() -> None:
    axes = {"platform": "juno-r2,pixel6", "scenario": "smoke", "variant": "mainline,cas"}
    settings = ["big.opps=every 2nd,[600000,1200000]", "controls.rate_limit_us=500,2000"]
    result = one_off(axes, settings, ["variant == 'cas'"], 3, None)
    again = one_off(axes, settings, ["variant == 'cas'"], 3, None)
    other = one_off(axes, settings, ["variant == 'cas'"], 4, None)
    assert result.name == again.name != other.name
    assert result.combinations == 2 * 2 * 2 * 2
    assert len(result.checked_points()) == 8


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2,3", [2, 3]),
        ("every 2nd, 4 even", ["every 2nd", "4 even"]),
        ("true,1.5,-3", [True, 1.5, -3]),
        ("[wfi,cpu-sleep-0],[wfi]", [["wfi", "cpu-sleep-0"], ["wfi"]]),
        ("+5%", ["+5%"]),
        *((text, [text]) for text in ("1__0", "1_", "\u0663")),  # almost a number
    ],
)
def test_values_of_options(text: str, values: list[object]) -> None:
    assert parsed_values(text) == values


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["little.cpus=2,,3"],
            "'little.cpus=2,,3': expected a value before, between and after com",
        ),
        (["little.cpus=2,"], "'little.cpus=2,': expected a value before, between and after commas"),
        (["little.cpus=" + "9" * 5000], "...: expected numbers of at most 18 digits"),
        (["big.opps=[600000," + "9" * 5000 + "]"], "...: expected numbers of at most 18 digits"),
        (["temperature_c=" + "9" * 500 + ".0"], "...: expected numbers of at most 18 digits"),
        *(([text], "expected KEY=VALUES") for text in ("little.cpus", "=3", "little.cpus=")),
        (["little.cpus=2", "little.cpus=3"], "'little.cpus=3': duplicate key"),
        (["controls.llc=all", "controls.llc=cluster"], "'controls.llc=cluster': duplicate key"),
        ("", "options: reference = '': allowed: a non-empty string"),
    ],
)
def test_wrong_options(settings: list[str] | str, message: str) -> None:
    """Of a key that is there twice the last one would count; an empty reference was none."""
    axes = {"platform": "juno-r2", "scenario": "smoke", "variant": "cas"}
    wrong = refusal(one_off, axes, [*settings], [], 1, None if settings else "")
    assert wrong.startswith("--set " if settings else "options: ")
    assert message in wrong
    assert len(wrong) < 200
