# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages that list keys list exactly those that the strict readers ask for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eascope.configs.activity import has_activity, load_activity
from eascope.configs.core import list_cores, load_core
from eascope.configs.knobs import AXES as MODEL_AXES
from eascope.configs.knobs import BILLINGS, KNOBS
from eascope.configs.overrides import COMPUTED
from eascope.configs.pipeline import load_pipeline
from eascope.configs.platform import Platform
from eascope.configs.platform_file import PLATFORMS, list_platforms, load_platform
from eascope.experiments.scenario_file import KEYS, load_scenario
from eascope.experiments.scenario_names import names as scenario_names
from eascope.experiments.sweeps import campaign_file
from eascope.host.strict import StrictTable
from eascope.kernels import variants
from eascope.kernels.variants import SERIES, VARIANTS, load_variants
from tests.support.markdown import ROOT

REFERENCE = ROOT / "docs" / "reference"
CODE = re.compile(r"`([^`]+)`")
#: A scenario with the keys that no shipped one has.
SCENARIO = """
summary = "s"
source = "s"
loads = "l"
[[task]]
name = "a"
policy = "fifo"
priority = 3
[[task.phase]]
runtime_us = 100
meet_before = "y"
meet = "x"
[[task]]
name = "b"
nice = 3
[[task.phase]]
run_instructions = 5
meet_before = "y"
meet = "x"
[window]
warmup_ms = 200
short_ms = 10
full_ms = 10
"""
#: What no shipped platform has.
L3 = """
[l3]
size_kib = 1024
ways = 16
line_bytes = 64
latency_ns = 10
source = "board"
"""


def _axes() -> str:
    """A value of every axis that a platform file may state."""
    lines = []
    for name, axis in MODEL_AXES.items():
        if not axis.elsewhere:
            lines += [f"[axes.{name}.v]", "source = 'assumed: so'"]
            for knob in axis.knobs:
                value = axis.common[-1].sets[knob.name]
                shown = ("off", "on")[value] if isinstance(value, bool) else value
                lines.append(f"{knob.name} = {shown!r}")
    return "\n".join(lines)


#: A platform that says only what differs.
DIFFERENCE = """
base = "juno-r2"
summary = "two clusters of littles"
remove = ["cluster.big"]
dvfs.fast_switch = false
[cluster.extra]
like = "little"
"""
#: What the shipped variants need not have.
OWN = """
[own]
mine = { of = "mainline", first = true }
[planned]
later = "a variant to come"
"""


def documented(page: str, section: str = "") -> set[str]:
    """Dotted paths of the keys in the tables of a page, and of the tables that hold them.

    :param section: only below the heading that contains it.
    """
    keys_of_page: set[str] = set()
    tables, rows, wanted = [""], False, not section
    for line in (REFERENCE / page).read_text().splitlines():
        if line.startswith("#"):
            wanted = not section or section in line
            named = [name.strip("[]") for name in CODE.findall(line) if name.startswith("[")]
            tables = named or [""]
            rows = False
        elif line.startswith("| key |"):
            rows = wanted
        elif not line.startswith("|"):
            rows = False
        elif rows:
            keys = CODE.findall(line.split("|")[1])
            keys_of_page |= {f"{table}.{key}".strip(".") for table in tables for key in keys}
    return keys_of_page | {
        path.rsplit(".", count)[0] for path in keys_of_page for count in range(path.count(".") + 1)
    }


class Asked:
    """What the strict readers ask for, by file."""

    def __init__(self) -> None:
        self.paths: set[tuple[str, str]] = set()

    def note(self, table: StrictTable, key: str) -> None:
        self.paths.add((table.file, re.sub(r"\[\d+\]", "", table.key(key))))

    def of(self, part: str, *names: tuple[str, str]) -> set[str]:
        """Dotted paths in the files whose name contains ``part``.

        :param names: pairs of a pattern and what stands for it on the page, in their order: names
            that a file chooses.
        """
        paths = {path for file, path in self.paths if part in file}
        for pattern, name in names:
            paths = {re.sub(pattern, name, path) for path in paths}
        return paths


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Notes what readers ask for until the test ends."""
    notes = Asked()
    has = StrictTable.has

    def noting(table: StrictTable, key: str) -> bool:
        notes.note(table, key)
        return has(table, key)

    monkeypatch.setattr(StrictTable, "has", noting)
    return notes


def platforms() -> list[Platform]:
    return [load_platform(name) for name, _ in list_platforms()]


def test_platform_files(asked: Asked, tmp_path: Path) -> None:
    platforms()
    with_l3 = tmp_path / "platforms" / "juno-r2.toml"
    with_l3.parent.mkdir()
    with_l3.write_text((PLATFORMS / "juno-r2.toml").read_text() + L3 + _axes())
    stated = {name for name, axis in MODEL_AXES.items() if not axis.elsewhere}
    assert set(load_platform(with_l3).axes) == stated
    by_difference = with_l3.with_name("mine.toml")
    by_difference.write_text(DIFFERENCE)
    load_platform(by_difference)
    keys = asked.of(
        "platforms/",
        (r"^sources\.[\w-]+", "sources.NAME"),
        (r"^axes\.\w+", "axes.AXIS"),
        (r"^axes\.AXIS\.[\w-]+", "axes.AXIS.VALUE"),
        (r"^cluster\.extra\.like", "cluster.NAME.like"),
        (r"^cluster\.(little|big|extra)(?=\.|$)", "cluster"),
        (r"^cluster\.busy\.(profile|measured)", "cluster.busy.NAME"),
    )
    keys -= {f"axes.AXIS.VALUE.{name}" for name in KNOBS}  # docs/reference/controls.md
    assert keys | {"cluster.NAME"} == documented("platform.md")


def test_core_files(asked: Asked) -> None:
    for name in list_cores():
        load_core(name)
    figure = r"^(parameters|structure)\.\w+\.(?=value|source)"
    assert asked.of("cores/", (figure, "FIGURE.")) | {"FIGURE"} == documented("core.md")


def test_pipeline_files(asked: Asked) -> None:
    for name in list_cores():
        load_pipeline(load_core(name))
    figure = r"^(latencies|memory_pipelines|stages|caches)\.\w+\.(?=value|source)"
    assert asked.of("pipelines/", (figure, "FIGURE.")) | {"FIGURE"} == documented("pipeline.md")


def test_activity_files(asked: Asked) -> None:
    for platform in platforms():
        if has_activity(platform.name):
            load_activity(platform)
    kernel, cluster = r"^(measured\.kernels)\.\w+", r"^(measured\.kernels\.KERNEL)\.[\w-]+"
    loops = asked.of(
        "activity/",
        (kernel, r"\1.KERNEL"),
        (cluster, r"\1.CLUSTER"),
        (r"\.ipc\.\d+$", ".ipc.KHZ"),
        (r"\.events_per_instruction\..+$", ".events_per_instruction.EVENT"),
        (r"^measured\.provenance\.\w+", "measured.provenance.KEY"),
        (r"^hardware\.turn_cycles\.[\w-]+", "hardware.turn_cycles.CLUSTER"),
        (r"^clusters\.[\w-]+", "clusters.CLUSTER"),
    )
    system = asked.of("activity/system/", (r"^clusters\.[\w-]+", "clusters.CLUSTER"))
    assert system == documented("activity.md", "activity/system/PLATFORM")
    assert loops == documented("activity.md", "activity/PLATFORM") | system


def test_scenario_files(asked: Asked, tmp_path: Path) -> None:
    platform = load_platform("juno-r2")
    for name in scenario_names():
        load_scenario(name, platform)
    sample = tmp_path / "scenarios" / "sample.toml"
    sample.parent.mkdir()
    sample.write_text(SCENARIO)
    load_scenario(str(sample), platform)
    controls = {f"source_conditions.{name}" for name in KNOBS if name != "switches"}
    # `finding` is asked for only to say where findings are.
    keys = asked.of("scenarios/") - {"expect.finding"} - controls
    assert keys == documented("scenarios.md")


@pytest.mark.parametrize(
    ("table", "section"),
    [
        ("", "At the top"),
        ("task", "`[[task]]`"),
        ("task.phase", "`[[task.phase]]`"),
        ("work", "`[work]`"),
        ("window", "`[window]`"),
    ],
)
def test_keys_that_a_scenario_may_have(table: str, section: str) -> None:
    rows = documented("scenarios.md", section)
    assert {path.rpartition(".")[2] for path in rows if path.rpartition(".")[0] == table} == {
        *KEYS[table]
    }


def test_variants_file(asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    series = tmp_path / "series"
    (series / "mine").mkdir(parents=True)
    (series / "mine" / "series").write_text("0001-mine.patch\n")
    (series / "mine" / "0001-mine.patch").write_text("@@ -1 +1 @@\n-a\n+b\n")
    for queue in SERIES.iterdir():
        (series / queue.name).symlink_to(queue)
    monkeypatch.setattr(variants, "SERIES", series)
    sample = tmp_path / "variants.toml"
    sample.write_text(VARIANTS.read_text().partition("\n[planned]\n")[0] + "\n" + OWN)
    assert "mine" in load_variants(sample)
    keys = asked.of("variants.toml", (r"^(kernel|variant|own|planned)\.[\w-]+", r"\1.NAME"))
    assert keys == documented("variants.md")


def test_campaign_files() -> None:
    assert documented("campaigns.md", "Keys") == {*campaign_file.KEYS[""]}
    assert documented("campaigns.md", "Axes") | {*BILLINGS} == {*campaign_file.KEYS["axes"]}
    page = (REFERENCE / "campaigns.md").read_text()
    overrides = page.partition("## Overrides")[2].partition("## Constraints")[0]
    assert {*re.findall(r"^\| `CLUSTER\.(\w+)`", overrides, re.MULTILINE)} == {*COMPUTED}


def test_every_key_is_explained() -> None:
    """No page has an empty list of keys, so that the comparisons above compare something."""
    for page in ("platform.md", "core.md", "pipeline.md", "activity.md", "variants.md"):
        assert len(documented(page)) > 10, page
