# SPDX-License-Identifier: GPL-2.0-or-later
"""A run carries what it was made of: by itself it is read by that, for a request by today's."""

import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from eascope.analysis.compare import comparison
from eascope.configs.activity import load_activity
from eascope.configs.billing import ChipShared, Idle
from eascope.configs.platform import Cluster, Platform
from eascope.configs.platform_file import load_platform
from eascope.configs.resolved import machine_json
from eascope.experiments.runs.cell import Cell, prepare
from eascope.experiments.runs.finished import BilledBy, derived_by, derived_for, platform_of
from eascope.experiments.runs.inputs import FILES, FOLDER, MACHINE
from eascope.experiments.runs.measure import Group
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.runs.store import Run, check, execute
from eascope.host.cache import runs_root
from eascope.host.errors import EascopeError
from eascope.kernels.own import read_own
from eascope.power.stated import StatedPower
from tests.support.cells import Artefacts, prepared
from tests.support.command import inside
from tests.support.fake import badly, cell
from tests.support.synthetic import playback, reseal, write_run


def own_platform(folder: Path, power_uw: int) -> Platform:
    """juno-r2 in a file of one's own, with this power of a little CPU at its first OPP."""
    text = load_platform("juno-r2").path.read_text()
    folder.mkdir(exist_ok=True)
    path = folder / "juno-r2.toml"
    path.write_text(text.replace("power_uw = 34_700", f"power_uw = {power_uw}"))
    return load_platform(path)


def total(run: Path) -> float:
    shown = json.loads(inside("show", str(run), "--json").stdout)[0]
    return float(shown["result"]["energy_j"]["total"])


def test_a_run_is_read_by_the_platform_it_was_made_of(juno: Platform, tmp_path: Path) -> None:
    """Not by the file of that name: the energy differs from that of today's juno-r2."""
    low, high = tmp_path / "low", tmp_path / "high"
    write_run(low, own_platform(tmp_path / "own", 34_000), playback("mainline", 0))
    write_run(high, own_platform(tmp_path / "own", 70_000), playback("mainline", 0), variant="cas")
    (tmp_path / "own" / "juno-r2.toml").unlink()
    usual = tmp_path / "usual"
    write_run(usual, juno, playback("mainline", 0))
    assert total(low) < total(usual) < total(high)
    assert platform_of(Run(high)).clusters[0].busy[0].power_uw[0] == 70_000
    two_platforms = [derived_by(Run(run), "published") for run in (low, high)]
    with pytest.raises(EascopeError, match="made from another platform file"):
        comparison(juno, {"mainline": two_platforms[:1], "cas": two_platforms[1:]})


def test_activity_is_the_runs_own_too(juno: Platform, tmp_path: Path) -> None:
    """Without measured events a busy CPU has the reference activity, and another energy."""
    totals = []
    activity = load_activity(juno)
    for name, made_of in (("with", activity), ("without", replace(activity, measured=()))):
        run = tmp_path / name
        write_run(run, juno, playback("mainline", 0))
        (run / FOLDER / MACHINE).write_bytes(machine_json(juno, made_of))
        reseal(run)
        totals.append(derived_by(Run(run), "derived").result.energy_j.total)
    assert totals[0] != totals[1]


def test_the_folder_holds_what_a_cell_is_made_of(
    artefacts: Artefacts,
    tmp_path: Path,
) -> None:
    cell_made = prepared()
    inputs = cell_made.inputs()
    assert inputs == prepared().inputs(), "the same bytes"
    names = cell_made.resolved
    assert inputs["scenario.toml"] == names.scenario.path.read_bytes()
    assert inputs["script"] == cell_made.machine.script
    assert inputs["rt-app.json"] in cell_made.machine.script
    assert inputs["machine.dtb"] == cell_made.machine.dtb.read_bytes()
    assert b"juno" in inputs["machine.dts"]
    patches = json.loads(inputs["patches.json"])
    assert {patch["queue"] for patch in patches} == {"base"}
    assert all(len(patch["sha256"]) == 64 for patch in patches)
    with tarfile.open(fileobj=io.BytesIO(inputs[FILES])) as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    for path in ("platforms/juno-r2.toml", "cores/cortex-a53.toml", "activity/juno-r2.json",
                 "cores/pipelines/cortex-a72.toml", "activity/system/juno-r2.json"):  # fmt: skip
        assert members[path] == (Path("configs") / path).read_bytes()
    assert members["kernel/config"] == b"CONFIG_HZ=250\nCONFIG_SMP=y\n"
    assert b"CONFIG_ENERGY_MODEL=y" in members["kernel/fragments.config"]
    assert str(tmp_path).encode() not in b"".join([*inputs.values(), *members.values()])


def test_what_is_edited_after_preparing_is_not_in_the_folder(
    artefacts: Artefacts, tmp_path: Path
) -> None:
    scenario = tmp_path / "mine.toml"
    text = (Path("experiments/scenarios/smoke.toml")).read_text()
    scenario.write_text(text)
    platform = own_platform(tmp_path / "own", 42_001)
    names = resolve(Request(str(platform.path), "mainline", str(scenario)))
    cell_made = prepare(names, artefacts.engine("qemu").identity())
    scenario.write_text(text + "# edited\n")
    before = platform.path.read_bytes()
    platform.path.unlink()
    inputs = cell_made.inputs()
    assert inputs["scenario.toml"] == text.encode()
    with tarfile.open(fileobj=io.BytesIO(inputs[FILES])) as archive:
        kept = archive.extractfile("platforms/juno-r2.toml")
        assert kept is not None
        assert kept.read() == before
    other = own_platform(tmp_path / "other", 42_001)
    other.path.write_text(other.path.read_text() + "# of the same figures\n")
    other = load_platform(other.path)
    assert other.digest == platform.digest
    again = resolve(Request(str(other.path), "mainline", "smoke"))
    with tarfile.open(fileobj=io.BytesIO(prepare(again).inputs()[FILES])) as archive:
        own = archive.extractfile("platforms/juno-r2.toml")
        assert own is not None
        assert own.read().endswith(b"# of the same figures\n")
    assert cell_made.record.own_platform
    assert not prepared().record.own_platform


def test_all_files_of_a_platform_by_difference_are_kept(
    artefacts: Artefacts, tmp_path: Path
) -> None:
    """A complete file of one's own may be the base, and no shipped platform has its name."""
    base = Path("configs/platforms/juno-r2.toml").read_text()
    (tmp_path / "board.toml").write_text(base.replace('name = "juno-r2"', 'name = "board"', 1))
    for name, of in (("above", "./board.toml"), ("top", "./above.toml")):
        (tmp_path / f"{name}.toml").write_text(f'base = "{of}"\nsummary = "s"\n')
    inputs = prepare(resolve(Request(str(tmp_path / "top.toml"), "mainline", "smoke"))).inputs()
    with tarfile.open(fileobj=io.BytesIO(inputs[FILES])) as archive:
        names = {name for name in archive.getnames() if name.startswith("platforms/")}
    assert names == {f"platforms/{name}.toml" for name in ("top", "above", "board")}


def test_inputs_are_under_the_runs_digests(juno: Platform, tmp_path: Path) -> None:
    run = tmp_path / "run"
    write_run(run, juno, playback("mainline", 0))
    machine = run / FOLDER / MACHINE
    machine.write_bytes(machine.read_bytes().replace(b"42400", b"42401"))
    (run / FOLDER / "more").write_text("")
    assert [line.partition(": ")[2] for line in check(Run(run))][:2] == [
        "does not match its recorded SHA-256",
        "was added",
    ]
    machine.unlink()
    with pytest.raises(EascopeError, match=r"machine.json: is missing: remove .* and run again"):
        derived_by(Run(run), "published")


def test_a_failed_run_keeps_its_inputs() -> None:
    with pytest.raises(EascopeError, match="guest panic"):
        execute(cell(badly))
    again = execute(cell())
    assert (again.path / FOLDER / MACHINE).is_file()


def stated_idle(platform: Platform) -> Platform:
    """``platform`` with idle CPUs billed by its own figures: else these are not billed."""
    return replace(platform, idle=replace(platform.idle, leakage="stated"))


def other_powers(cluster: Cluster, kind: str) -> Cluster:
    """``cluster`` with another power of one kind; none of them is given to the kernel."""
    if kind == "shared":
        return replace(
            cluster,
            opps=tuple(replace(opp, shared_uw=2 * opp.shared_uw) for opp in cluster.opps),
        )
    if kind == "shared off":
        return replace(cluster, shared_off_uw=2 * cluster.shared_off_uw)
    states = tuple(replace(state, power_uw=2 * state.power_uw) for state in cluster.idle_states)
    return replace(cluster, idle_states=states)


@pytest.mark.parametrize("kind", ["idle", "shared", "shared off"])
def test_a_comparison_is_by_the_powers_that_it_names(juno: Platform, kind: str) -> None:
    """Runs that were made with other powers have the same key; their energies are today's."""
    juno = stated_idle(juno)
    clusters = tuple(other_powers(cluster, kind) for cluster in juno.clusters)
    today = replace(juno, clusters=clusters, digest="another")
    activity = load_activity(juno)
    cells, before = [], []
    for number, variant in enumerate(("mainline", "cas")):
        key = f"{number}" * 64
        record = write_run(runs_root() / key, juno, playback(variant, 0), variant=variant)
        before.append(derived_by(Run(runs_root() / key), "published"))
        now = replace(record, inputs=replace(record.inputs, platform=today.digest))
        names = SimpleNamespace(platform=today, activity=activity)
        cells.append(Cell(names, names, key, now))  # type: ignore[arg-type]
    billing = BilledBy("published")
    group = Group([], billing)
    vars(group)["cells"] = [cells, []]
    runs_by_key = {
        result.asked: {billing: derived_for(result, Run(runs_root() / result.simkey), billing)}
        for result in cells
    }
    compared = group.compared(runs_by_key)
    assert compared.platform is today
    after = [compared.variants[name][0] for name in ("mainline", "cas")]
    totals = [run.result.energy_j.total for run in after]
    if kind != "shared off":  # no shared part of these runs is ever off
        assert any(new > old.result.energy_j.total for new, old in zip(totals, before, strict=True))
    assert all(new.path != old.path for new, old in zip(after, before, strict=True))
    for number in range(2):
        run = Run(runs_root() / (f"{number}" * 64))
        (run.path / FOLDER / MACHINE).write_bytes(machine_json(today, activity))
        reseal(run.path)
        assert derived_by(run, "published").result.energy_j.total == totals[number]


def test_every_billed_power_is_in_the_models_digest(juno: Platform) -> None:
    """And a source is not: it changes no energy."""
    juno = stated_idle(juno)
    kinds = ("idle", "shared", "shared off")
    machines = [juno]
    for kind in kinds:
        clusters = tuple(other_powers(cluster, kind) for cluster in juno.clusters)
        machines.append(replace(juno, clusters=clusters))
    busy = tuple(
        replace(cluster, opps=tuple(replace(opp, power_uw=1) for opp in cluster.opps))
        for cluster in juno.clusters
    )
    machines.append(replace(juno, clusters=busy))
    machines.append(replace(juno, shared=ChipShared(1, 0, "assumed: for a test")))
    machines.append(replace(juno, idle=replace(juno.idle, transition_share=1.0)))
    machines.append(replace(juno, idle=Idle()))
    assert len({StatedPower(platform).digest for platform in machines}) == len(machines)
    sources = tuple(replace(cluster, shared_off_source="none") for cluster in juno.clusters)
    renamed = StatedPower(replace(juno, clusters=sources, digest="another"))
    assert renamed.digest == StatedPower(juno).digest


def test_a_run_carries_the_patch_that_the_command_brought(
    artefacts: Artefacts, tmp_path: Path
) -> None:
    patch = tmp_path / "0001-sched-My-Idea.patch"
    patch.write_text("--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-one\n+two\n")
    own = read_own([], [f"x={patch}"])
    cell = prepare(resolve(Request("juno-r2", "x", "smoke", own=own)))
    inputs = cell.inputs()
    listed = json.loads(inputs["patches.json"])
    assert [entry["queue"] for entry in listed][-2:] == ["base", "x"]
    (tmp_path / "files.tar.gz").write_bytes(inputs["files.tar.gz"])
    with tarfile.open(tmp_path / "files.tar.gz") as archive:
        member = archive.extractfile("kernel/x/0001-sched-My-Idea.patch")
        assert member is not None
        assert member.read() == patch.read_bytes()
    assert str(tmp_path) not in json.dumps(cell.record.encode())
