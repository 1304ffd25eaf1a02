# SPDX-License-Identifier: GPL-2.0-or-later
"""Derived platforms as files, and cell ids that stand for simkeys."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from eascope.experiments import controls
from eascope.experiments.runs.cell import prepare
from eascope.experiments.runs.request import Resolved
from eascope.experiments.sweeps.campaign import Campaign
from eascope.experiments.sweeps.campaign_file import load_campaign
from eascope.experiments.sweeps.resolver import Resolver, platform_name
from eascope.host.keys import is_name
from tests.support.campaigns import campaign
from tests.support.cells import Artefacts, prepared
from tests.support.refusals import refusal


def ids(of: Campaign, folder: Path) -> list[tuple[str, str]]:
    """Group id and simkey of every point."""
    resolver = Resolver(folder, of.file)
    resolved = [resolver.resolved(point) for point in of.checked_points()]
    return [(resolver.group_id(names), prepare(names).simkey) for names in resolved]


def test_the_ids_differ_where_simkeys_do(artefacts: Artefacts, tmp_path: Path) -> None:
    plan = campaign(
        set={"little.cpus": [2, 4], "big.opps": ["as is", "every 2nd"]},
        controls={"speeds": ["board", "measured"], "decisions": False},
        em_error=["none", "big=+20%"],
    )
    pairs = ids(plan, tmp_path)
    assert len(pairs) == 32
    assert len({group for group, _ in pairs}) == len({simkey for _, simkey in pairs}) == 32
    assert ids(plan, tmp_path) == pairs


def test_the_ids_differ_where_no_file_of_the_campaign_does(
    artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine's mode, a program's figures, and what a reference's platform says."""
    resolver = Resolver(tmp_path, "test.toml")

    def names(**axes: Any) -> Resolved:
        return resolver.resolved(campaign(**axes).checked_points()[0])

    modes = [names(engine="gem5", mode=mode) for mode in ("elided", "elided-detailed")]
    program = names(scenario="programs/sysbench")
    assert program.rates
    other = replace(program.rates[0], digest="0" * 64)
    groups = [resolver.group_id(each) for each in (*modes, program)]
    groups.append(resolver.group_id(replace(program, rates=(other,))))
    assert len({*groups}) == len(groups)

    referring = names(reference="cortex-a72@1200")
    before = resolver.group_id(referring)
    monkeypatch.setattr(controls, "reference_iteration_ns", lambda text: Fraction(7))
    assert resolver.group_id(referring) != before


def test_what_is_built_is_a_part_of_the_id(artefacts: Artefacts, tmp_path: Path) -> None:
    before = ids(campaign(), tmp_path)
    artefacts.write("initramfs", "another")
    assert {group for group, _ in before}.isdisjoint(
        group for group, _ in ids(campaign(), tmp_path)
    )


def test_an_override_to_what_the_base_has_is_the_bases_run(
    artefacts: Artefacts, tmp_path: Path
) -> None:
    """The name of a platform is not a part of its machine."""
    (_, simkey), _ = ids(campaign(set={"little.cpus": 4}), tmp_path)
    assert simkey == prepared().simkey


def test_an_override_to_what_the_base_has_derives_nothing(
    artefacts: Artefacts, tmp_path: Path
) -> None:
    """``as is`` and two CPUs are what juno-r2's big cluster has: of four platforms one is it."""
    plan = campaign(set={"big.opps": ["as is", "every 2nd"], "big.cpus": [2, 4]})
    resolver = Resolver(tmp_path, plan.file)
    for point in plan.checked_points():
        resolver.resolved(point)
    assert len([*tmp_path.glob("*.toml")]) == 4
    assert len(resolver.computed) == 3
    assert platform_name("juno-r2", {"big.cpus": 2}) not in resolver.computed


def test_the_file_is_one_that_a_person_can_use(artefacts: Artefacts, tmp_path: Path) -> None:
    resolver = Resolver(tmp_path, "test.toml")
    (point, _) = campaign(set={"big.opps": "3 even"}).checked_points()
    path = resolver.platform(point)
    assert Path(path).parent == tmp_path
    assert prepared(platform=path).simkey == prepare(resolver.resolved(point)).simkey
    assert any("computed: by 3 even" in line for line in resolver.computed[Path(path).stem])


def test_names_are_names_and_differ() -> None:
    settings: list[dict[str, Any]] = [
        {"big.uv": "+5%"},
        {"big.uv": "-5%"},
        {"big.opps": [600_000, 1_200_000], "little.idle_states.cpu-sleep-0.exit_us": 3},
    ]
    names = [platform_name("juno-r2", setting) for setting in settings]
    assert len({*names}) == 3
    assert all(is_name(name) for name in names), names


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (
            {"set": {"little.cpus": 33}},
            "juno-r2, little.cpus=33, smoke, mainline: little.cpus = 33",
        ),
        (
            {"set": {"little.cpus": 31}},
            "cell juno-r2, little.cpus=31, smoke, mainline: cluster.big.cpus "
            "(inherited from juno-r2) = 2: allowed: at most",
        ),
        ({"set": {"big.foo": 1}}, "cluster.big.foo = 1: no such key"),
        ({"variant": "csa"}, "cell juno-r2, smoke, csa: unknown variant 'csa' (did you mean cas"),
        ({"scenario": "smok"}, "cell juno-r2, smok, mainline: unknown scenario 'smok'"),
        ({"engine": "qem"}, "unknown engine 'qem'"),
        ({"em_error": ["huge=+3%"]}, "unknown cluster 'huge'"),
        ({"reference": "cortex-a72"}, "reference 'cortex-a72': allowed: CORE@MHZ"),
    ],
)
def test_a_wrong_cell_is_named(
    artefacts: Artefacts, tmp_path: Path, axes: dict[str, Any], message: str
) -> None:
    resolver = Resolver(tmp_path, "test.toml")
    first = campaign(**axes).checked_points()[0]
    wrong = refusal(resolver.resolved, first)
    assert wrong.startswith("test.toml: cell ")
    assert message in wrong


#: Points: cells of one seed.
POINTS = {
    "eas-paper": 2 * 5 * 6 * 2,
    "em-error-sweep": 3 * (17 + 1),
    "opp-sweep": 2 * 2 * (17 + 16),
    "rate-limit-sweep": 2 * 4 * 2 * 6,
    "topology-sweep": 4 * 2 * 8,
    "uclamp-paper": 2 * 5 * 4 * 2,
}


@pytest.mark.parametrize("name", POINTS)
def test_every_point_is_a_cell(artefacts: Artefacts, tmp_path: Path, name: str) -> None:
    campaign = load_campaign(name)
    assert campaign.question.endswith("?")
    assert campaign.limits
    assert len(campaign.seeds) == 20
    points = campaign.checked_points()
    assert len(points) == POINTS[name]
    resolver = Resolver(tmp_path, campaign.file)
    ids = [resolver.group_id(resolver.resolved(point)) for point in points]
    assert len({*ids}) == len(ids)


def test_topologies_are_what_they_are_called(artefacts: Artefacts, tmp_path: Path) -> None:
    resolver = Resolver(tmp_path, "topology-sweep")
    for point in load_campaign("topology-sweep").checked_points():
        platform = resolver.resolved(point).platform
        sizes = "+".join(str(len(cluster.cpus)) for cluster in platform.clusters)
        assert sizes == point.labels["topology"]
