# SPDX-License-Identifier: GPL-2.0-or-later
"""The simkey: the same for the same bytes, another for every byte that could change the outcome."""

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eascope.analysis.records.cell import CellRecord, WindowRecord
from eascope.configs.core import Parameter
from eascope.engines.base import EngineFailed
from eascope.engines.gem5.eliding_copy import COPY, OWN_CYCLES, iteration_table, quiesce_function
from eascope.engines.gem5.elision import elision
from eascope.engines.qemu.engine import QemuEngine
from eascope.engines.records import FAILED
from eascope.experiments.controls import Controls
from eascope.experiments.runs import cell as cells
from eascope.experiments.runs.cell import Cell, check_kernels_differ, prepare, without_effect
from eascope.experiments.runs.request import double, resolve
from eascope.experiments.runs.store import execute
from eascope.host.cache import runs_root
from eascope.host.errors import Again, EascopeError, RequestError
from eascope.kernels.switches import FEATURES
from eascope.kernels.variants import Kernel
from eascope.power.given import given_model
from eascope.rootfs.elide import FUNCTION_OFFSET
from eascope.rootfs.image import RT_APP
from tests.support.cells import REQUEST, Artefacts, FakeSettings, prepared
from tests.support.fake import FakeEngine


def test_the_same_request_is_the_same_cell(artefacts: Artefacts) -> None:
    first, second = prepared(), prepared()
    assert first.simkey == second.simkey
    assert len(first.simkey) == 64
    assert first.record.to_bytes() == second.record.to_bytes()
    assert json.loads(first.record.to_bytes())["simkey"] == first.simkey


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"variant": "cas"},
        {"scenario": "eas/video-playback"},
        {"full": True},
        {"elide": False},
        {"energy_model": given_model("published", ["big=+20%"])},
        {"energy_model": given_model("derived")},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_every_part_of_a_request_counts(artefacts: Artefacts, changes: dict[str, Any]) -> None:
    assert prepared(**changes).simkey != prepared().simkey


CHANGES: dict[str, Callable[[Artefacts, pytest.MonkeyPatch], None]] = {
    "image": lambda artefacts, _: artefacts.write("image", "Image 2"),
    "initramfs": lambda artefacts, _: artefacts.write("initramfs", "cpio 2"),
    "engine": lambda artefacts, _: artefacts.change(
        identity=replace(artefacts.identity, version="10.1")
    ),
    "code": lambda artefacts, _: artefacts.change(
        identity=replace(artefacts.identity, code_sha256="c2")
    ),
    "plugin": lambda artefacts, _: artefacts.change(
        identity=replace(artefacts.identity, plugin="p2")
    ),
    "settings": lambda artefacts, _: artefacts.change(settings=FakeSettings(quantum_ns=1_000)),
    "device tree": lambda _, patch: patch.setattr(cells, "device_tree", lambda *_: b"other"),
    "boot arguments": lambda _, patch: patch.setattr(cells, "boot_args", lambda _: "quiet2"),
    "proofs": lambda _, patch: patch.setattr(
        cells, "state_expectations", lambda *_: [("exists", "/proc/version")]
    ),
}


@pytest.mark.parametrize("part", CHANGES)
def test_every_artefact_counts(
    artefacts: Artefacts, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = prepared().simkey
    CHANGES[part](artefacts, monkeypatch)
    assert prepared().simkey != before


def test_words_do_not_count(artefacts: Artefacts, tmp_path: Path) -> None:
    """What is said about a scenario, and what is expected of it, changes nothing that runs."""
    text = Path(resolve(REQUEST).scenario.path).read_text()
    first = tmp_path / "x.toml"
    first.write_text(text)
    before = prepared(scenario=str(first))
    extra = '\n[[expect]]\nvariant = "cas"\nstatement = "migrations > 3"\nsource = "none"\n'
    first.write_text("# a remark\n" + text + extra)
    after = prepared(scenario=str(first))
    assert after.simkey == before.simkey
    assert prepared(scenario=str(first), variant="cas").record.expect[0].source == "none"


def test_energy_model_is_told_proven_and_recorded(artefacts: Artefacts) -> None:
    """Another energy model is another device tree and another proof, and nothing else."""
    usual, wrong = prepared(), prepared(energy_model=given_model("published", ["big=+20%"]))
    assert usual.record.energy_model.words == "published"
    assert wrong.record.energy_model.words == "published, big +20 %"
    power_uw = wrong.record.energy_model.opp_microwatt["big"]["1200000"]
    assert power_uw == 648_000
    changed = {name for name, value in usual.record.digests.items()
               if wrong.record.digests[name] != value}  # fmt: skip
    assert changed == {"dtb", "script"}
    proof = "/sys/kernel/debug/energy_model/cpu4/ps:1200000/power"
    lines = wrong.machine.script.decode().splitlines()
    assert f"expect {proof} 648000" in lines
    assert f"expect {proof} 540000" not in lines
    assert wrong.machine.platform == usual.machine.platform, "energy is computed as before"
    assert "energy model published, big +20 %" in wrong.resolved.request.words


def test_record_says_the_controls(artefacts: Artefacts) -> None:
    record = prepared().record
    controls = record.controls
    assert controls.hz == 250
    assert controls.rate_limit_us == 500
    assert controls.transition_latency_us == 50
    assert controls.trace_kib_per_cpu == 2048
    assert controls.others == {"trace_markers": "rt-app: main,task,stats", "temperature_c": 57}
    assert record.kernel.version == "6.12.1"
    assert record.declares == {"eas": True, "governor": "schedutil"}
    states = [line.partition(" takes ")[0] for line in record.borrowed]
    assert states == ["big: cpu-sleep-0", "big: cluster-sleep-0"]
    assert prepared(platform="pixel6").record.borrowed
    assert record.assumed
    assert record.window == WindowRecord(warmup_ms=300, window_ms=500)
    assert CellRecord.decode(json.loads(record.to_bytes()), "cell.json") == record


def test_a_trace_that_did_not_fit_has_larger_buffers(artefacts: Artefacts) -> None:
    """Up to what the guest's memory allows. A record that is damaged says nothing."""

    def full(_: object) -> None:
        raise EngineFailed("script line 9: ring buffer of cpu 6 was too small: overrun: 7", [], [])

    tried: list[Cell] = []
    again = True
    while again:
        tried.append(prepared())
        engine: Any = FakeEngine(full)
        with pytest.raises(EascopeError) as failed:
            execute(replace(tried[-1], resolved=replace(tried[-1].resolved, engine=engine)))
        again = isinstance(failed.value, Again)
    sizes = [item.record.controls.trace_kib_per_cpu for item in tried]
    assert sizes == [2048, 8192, 32768, 1024 * 1024 // 2 // 6]
    for size, item in zip(sizes, tried, strict=True):
        assert f"\ntrace-setup {size} " in item.machine.script.decode()
    assert "give the platform more memory_mib" in str(failed.value)
    assert prepared().simkey == tried[-1].simkey
    (runs_root() / tried[1].simkey / FAILED).unlink()
    assert prepared().simkey == tried[1].simkey
    first = runs_root() / tried[0].simkey / FAILED
    first.chmod(0o644)
    first.write_text("{")
    assert prepared().simkey == tried[0].simkey


@pytest.mark.parametrize(("engine", "lines"), [("qemu", 2), ("gem5", 0)])
def test_an_assumed_rate_of_the_kernel_is_recorded_on_the_fast_engine(
    artefacts: Artefacts, engine: str, lines: int
) -> None:
    names = resolve(replace(REQUEST, engine=engine))
    assert prepare(names).record.assumed == tuple(names.activity.assumed)
    clusters = tuple(replace(cluster, system_ipc=None) for cluster in names.activity.clusters)
    unknown = replace(names, activity=replace(names.activity, clusters=clusters))
    more = prepare(unknown).record.assumed[len(names.activity.assumed) :]
    assert len(more) == lines
    assert all("the kernel's instructions per cycle: as the busy loop's" in line for line in more)


def test_gem5s_copy_of_rt_app_gets_its_function_and_the_cycles_of_a_turn(
    artefacts: Artefacts,
) -> None:
    """Of each CPU, in sixteenths: 223 instructions at 1 and at 2.111 per cycle."""
    lines = prepared(engine="gem5").machine.script.decode().splitlines()
    table = struct.pack("<8H", *[3568] * 4, *[1690] * 2, 0, 0)
    assert iteration_table([223.0] * 4 + [105.625] * 2) == table
    written = bytearray()
    for line in lines:
        if line.startswith("bytes "):
            _, program, offset, digits = line.split()
            assert program == COPY.path
            assert int(offset) == FUNCTION_OFFSET + len(written)
            assert 1 <= len(digits) // 2 <= 64
            written += bytes.fromhex(digits)
    assert bytes(written) == quiesce_function(OWN_CYCLES["elided"])[: -len(table)] + table
    assert f"spawn rt-app {COPY.path} /tmp/rt-app.json" in lines
    assert not any(line.startswith("bytes ") for line in prepared().machine.script.decode().split())


def test_a_mode_that_executes_everything_elides_nothing(artefacts: Artefacts) -> None:
    cell = prepared(engine="gem5", mode="detailed")
    assert cell.record.elide is False
    assert cell.record.mode == "detailed"
    assert f"spawn rt-app {RT_APP} /tmp/rt-app.json\n" in cell.machine.script.decode()
    assert prepared(engine="gem5").record.elide is True


def test_gem5_boots_the_kernel_with_symbols(artefacts: Artefacts) -> None:
    plain = prepared(), prepared(engine="gem5")
    artefacts.write("vmlinux", "another ELF")
    changed = prepared(), prepared(engine="gem5")
    assert plain[0].simkey == changed[0].simkey
    assert plain[1].simkey != changed[1].simkey


def test_a_core_that_fetches_past_the_loops_check_is_refused(artefacts: Artefacts) -> None:
    names = resolve(REQUEST)
    big = names.platform.clusters[1]
    structure = {**big.core.structure, "fetch_width": Parameter(8, "made up")}
    core = replace(big.core, structure=structure)
    clusters = (names.platform.clusters[0], replace(big, core=core))
    platform = replace(names.platform, clusters=clusters)
    assert elision("elided", platform, names.activity).function
    with pytest.raises(RequestError, match=r"a72.toml: structure.fetch_width = 8: .* 1 to 6; use"):
        elision("elided-detailed", platform, names.activity)


def test_controls_change_the_key_and_stand_in_the_record(artefacts: Artefacts) -> None:
    plain = prepare(resolve(REQUEST))
    assert prepare(resolve(replace(REQUEST, controls=Controls()))).simkey == plain.simkey
    keys = {plain.simkey}
    cases: tuple[tuple[Controls, dict[str, Any]], ...] = (
        (Controls(rate_limit_us=2000), {"rate_limit_us": 2000}),
        (Controls(transition_latency_us=10), {"transition_latency_us": 10}),
        (Controls(fast_switch=False), {"others": {"fast_switch": False}}),
        (Controls(delay_dequeue=False), {"others": {"delay_dequeue": False}}),
    )
    for controls, changed in cases:
        cell = prepare(resolve(replace(REQUEST, controls=controls)))
        others = {**plain.record.controls.others, **changed.pop("others", {})}
        assert cell.record.controls == replace(plain.record.controls, **changed, others=others)
        assert cell.record.set_otherwise == tuple(controls.words)
        keys.add(cell.simkey)
        if "transition_latency_us" in changed:  # the real engine's, which the fake one has not
            assert QemuEngine().settings(cell.machine).transition_latency_ns == 10_000
        else:
            assert cell.simkey != plain.simkey
    assert len(keys) == 4
    lines = cell.machine.script.decode().splitlines()
    features = f"{FEATURES} NO_DELAY_DEQUEUE"
    assert (FEATURES, "NO_DELAY_DEQUEUE") in cell.record.switches
    assert lines.index(f"write {features}") < lines.index(f"word {features}")


def test_measured_speeds_change_machine_and_device_tree(artefacts: Artefacts) -> None:
    plain = prepare(resolve(REQUEST))
    cell = prepare(resolve(replace(REQUEST, controls=Controls(speeds="measured"))))
    assert cell.record.controls == replace(plain.record.controls, speeds="measured")
    for part in ("dtb", "script"):  # capacities; loops of rt-app by the speed of the largest CPU
        assert cell.record.digests[part] != plain.record.digests[part]
    assert cell.record.inputs.activity == cell.machine.activity.digest


def test_a_patch_that_changes_no_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The double of the noise floor has such a patch; it is compared with other seeds only."""
    code = {"base": "a", "null": "a"}
    void = "CONFIG_DESKTOP_TWEAKS: no Kconfig of this tree declares it"

    def built(spec: Kernel) -> Any:
        own = bool(spec.own)
        options = SimpleNamespace(options=("off: X",) * own, not_compiled=(void,) * own)
        return SimpleNamespace(name=spec.name, code=code[spec.name], provenance=options)

    monkeypatch.setattr(cells, "_kernel", built)
    monkeypatch.setattr(cells, "built", built)
    names = [resolve(replace(REQUEST, variant=name, own=double())) for name in ("mainline", "null")]
    with pytest.raises(RequestError) as refused:
        check_kernels_differ(names)
    assert str(refused.value) == (
        "variants 'mainline' and 'null' have the same kernel code: at most line numbers differ "
        f"(off: X; {void})"
    )
    named = f"null: {void}"
    same = "null builds the same kernel code as base: its patches have no effect"
    assert [*without_effect([*names, names[1]])] == [named, same]
    # The switches differ, or the code, or nobody knows.
    check_kernels_differ([resolve(replace(REQUEST, variant="cas")), names[1]])
    check_kernels_differ([names[0], names[0]])
    twin = replace(names[0], variant=replace(names[0].variant, name="twin"))
    with pytest.raises(RequestError, match="'mainline' and 'twin' are identical on juno-r2"):
        check_kernels_differ([names[0], twin])
    for unlike in ("b", ""):
        code["null"] = unlike
        check_kernels_differ(names)
        assert [*without_effect(names)] == [named]
    monkeypatch.setattr(cells, "built", lambda _: None)
    code["null"] = "a"
    assert [*without_effect(names)] == [named], "the kernel below was not built"
