# SPDX-License-Identifier: GPL-2.0-or-later
"""The settings: nothing shapes QEMU's command but them, and each of them is in a run's key."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from eascope.configs.inherit import activity_of
from eascope.configs.platform import Platform
from eascope.configs.program_activity import ClusterProgram
from eascope.engines.base import Machine, ProgramSpeed
from eascope.engines.qemu.command import BootFiles, command
from eascope.engines.qemu.settings import (
    WORK_UNITS,
    BudgetSettings,
    BudgetStepSettings,
    ProgramSettings,
    QemuSettings,
    settings_of,
)
from eascope.engines.timing.mixture import mixture
from eascope.host.cache import digest_of
from eascope.host.errors import EascopeError
from eascope.host.imports import REPO, imported_names
from eascope.host.record import Record

Value = TypeVar("Value")

FILES = BootFiles(("ld", "qemu"), Path("/p.so"), Path("/image"), Path("/dtb"), Path("/initrd"))
#: Words that say what comes next in the command or in a part of a word, and mean nothing alone.
NAMES = re.compile(r"-[a-z]+")


@pytest.fixture
def settings(linux_like: Machine) -> QemuSettings:
    """With a cluster-sleep, a loop with its own rate, tasks with memory, a budget, a program."""
    record = settings_of(replace(linux_like, memory=(0.2, 0.3)))
    steps = (BudgetStepSettings(2, 1_200_000), BudgetStepSettings(6, 900_000))
    weights = tuple(tuple(70_000 for _ in cluster.opps) for cluster in record.clusters)
    program = ProgramSettings(1, ("0123", "0456"), weights)
    record = replace(record, budget=BudgetSettings(1_000_000, steps), programs=(program,))
    assert record.loop is not None
    assert record.clusters[0].cluster_sleep is not None
    return record


def changed(value: Value) -> Value:
    """Another value of the same type and shape: every leaf of it differs."""
    new: object
    if isinstance(value, Record):
        new = replace(value, **{field.name: changed(getattr(value, field.name))
                                  for field in fields(value)})  # fmt: skip
    elif isinstance(value, tuple):
        new = tuple(changed(part) for part in value)
    elif isinstance(value, str):
        new = value + "x"
    else:
        assert isinstance(value, int), value
        assert not isinstance(value, bool), value
        new = value + 1
    return cast("Value", new)


def leaves(value: Record) -> Iterator[tuple[str, Record]]:
    """Every way in which one number or word of a record can differ: its place, the other record."""
    for field in fields(value):
        for place, part in parts(getattr(value, field.name)):
            yield f"{field.name}{place}", replace(value, **{field.name: part})


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Record):
        yield from ((f".{place}", part) for place, part in leaves(value))
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            for place, changed_part in parts(part):
                yield f".{number}{place}", (*value[:number], changed_part, *value[number + 1 :])
    else:
        yield "", changed(value)


def constants(words: Sequence[str], changed_words: Sequence[str]) -> list[str]:
    """Words, and parts between commas, that two commands share besides files and names."""
    assert len(words) == len(changed_words)
    unchanged = []
    for number, (word, changed_word) in enumerate(zip(words, changed_words, strict=True)):
        named = number + 1 < len(words) and words[number + 1] != changed_words[number + 1]
        if word == changed_word and NAMES.fullmatch(word) and named:
            continue  # an option whose value is a setting
        pieces = zip(word.split(","), changed_word.split(","), strict=True)
        unchanged += [piece for piece, again in pieces if piece == again]
    return unchanged


def test_every_word_of_the_command_is_a_setting_or_a_file(settings: QemuSettings) -> None:
    """An argument that is added outside of the record stands in both commands, and fails here."""
    files = [*FILES.qemu, "-dtb", "/dtb", "-kernel", "/image", "-initrd", "/initrd", "/p.so"]
    assert constants(command(settings, FILES), command(changed(settings), FILES)) == files


@pytest.mark.parametrize("added", [("-icount", "1"), ("-nodefaults",), ("-smp", "6,threads=1")])
def test_an_argument_outside_of_the_record_is_seen(
    settings: QemuSettings, added: tuple[str, ...]
) -> None:
    words, changed_words = (command(record, FILES) for record in (settings, changed(settings)))
    assert constants([*added, *words], [*added, *changed_words]) != constants(words, changed_words)


def test_every_setting_is_in_the_command_and_in_the_key(settings: QemuSettings) -> None:
    words, key = command(settings, FILES), digest_of(settings.encode())
    keys = {key}
    for place, changed_settings in leaves(settings):
        assert isinstance(changed_settings, QemuSettings)
        assert command(changed_settings, FILES) != words, place
        keys.add(digest_of(changed_settings.encode()))
    assert len(keys) == 1 + len(list(leaves(settings)))


def test_a_run_without_memory_has_the_key_that_it_had_before(linux_like: Machine) -> None:
    """Its record and its command know nothing of mixtures; with memory both do."""
    without = settings_of(linux_like)
    assert without.mixtures == ()
    assert "mixtures" not in without.encode()
    assert "mixture" not in " ".join(command(without, FILES))
    having = settings_of(replace(linux_like, memory=(0.3,)))
    assert "mixtures" in having.encode()
    assert replace(having, mixtures=()).encode() == without.encode()


PAGES_OF = "eascope.engines.qemu.settings.program_pages"


def speed_of(platform: Platform) -> ProgramSpeed:
    times = (ClusterProgram(cluster.name, 1.25, 0.5, ()) for cluster in platform.clusters)
    return ProgramSpeed("/bin/program", tuple(times))


def test_a_run_without_figures_of_programs_has_the_key_that_it_had_before(
    linux_like: Machine, juno: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With them, an instruction weighs its time at every OPP, at the rate of system code."""
    without = settings_of(linux_like)
    assert "programs" not in without.encode()
    assert "program=" not in " ".join(command(without, FILES))
    monkeypatch.setattr(PAGES_OF, lambda *_: (1, 2**64 - 1))
    having = settings_of(replace(linux_like, programs=(speed_of(juno),)))
    assert replace(having, programs=()).encode() == without.encode()
    (program,) = having.programs
    assert program.pages == ("0000000000000001", "f" * 16)
    for cluster, weights in zip(having.clusters, program.weights, strict=True):
        for opp, weight in zip(cluster.opps, weights, strict=True):
            ns = weight / WORK_UNITS / opp.instructions_per_s * 1e9
            assert ns == pytest.approx(1.25e6 / opp.khz + 0.5, rel=1e-4)


@pytest.mark.parametrize(("programs", "pages"), [(17, 1), (2, 2049)])
def test_more_programs_than_the_plugin_has_room_for_are_refused(
    linux_like: Machine, monkeypatch: pytest.MonkeyPatch, programs: int, pages: int
) -> None:
    monkeypatch.setattr(PAGES_OF, lambda *_: tuple(range(pages)))
    speeds = (speed_of(linux_like.platform),) * programs
    with pytest.raises(EascopeError, match="at most 16 programs, 4096 pages"):
        settings_of(replace(linux_like, programs=speeds))


def test_a_platform_without_a_budget_has_the_key_that_it_had_before(
    linux_like: Machine, wide: Platform
) -> None:
    without = settings_of(linux_like)
    assert without.budget is None
    assert "budget" not in without.encode()
    assert "budget" not in " ".join(command(without, FILES))
    having = settings_of(replace(linux_like, platform=wide, activity=activity_of(wide)))
    assert having.budget is not None
    assert having.budget.interval_ns == 1_000_000
    assert having.budget.steps[-1] == BudgetStepSettings(24, 2_048_000)
    last = command(having, FILES)[-1]
    assert ",budget_interval_ns=1000000,budget=9:2802000," in last
    assert last.endswith(",budget=24:2048000")


def test_a_mixture_needs_the_place_of_the_loop(linux_like: Machine) -> None:
    """Also where the busy loop and the kernel run at the same rate."""
    rates = tuple(replace(rate, system_ipc=None) for rate in linux_like.activity.clusters)
    alike = replace(linux_like, activity=replace(linux_like.activity, clusters=rates))
    assert settings_of(alike).loop is None
    assert settings_of(replace(alike, memory=(0.3,))).loop is not None


def test_weights_are_a_turns_time(linux_like: Machine, juno: Platform) -> None:
    """An instruction's weight, times a turn's instructions, at the rate of all others."""
    record = settings_of(replace(linux_like, memory=(0.3,)))
    turn = mixture(juno, linux_like.activity, 0.3)
    (settings,) = record.mixtures
    for cluster, weights in zip(record.clusters, settings.weights, strict=True):
        for opp, weight in zip(cluster.opps, weights, strict=True):
            ns = weight / WORK_UNITS * turn.instructions / opp.instructions_per_s * 1e9
            expected = turn.iteration_ns(juno.clusters[cluster.index], opp.khz)
            assert ns == pytest.approx(expected, rel=2e-5)


def test_the_command_is_a_function_of_its_arguments(settings: QemuSettings) -> None:
    """Its module has nothing to take a value from: it imports the record alone."""
    path = REPO / "engines" / "qemu" / "command.py"
    ours = {name for name in imported_names(path) if name.startswith("eascope.")}
    assert {name for name in ours if name[-1].islower() and ".settings." not in name} == {
        "eascope.engines.qemu.settings"
    }
    names = {name.rpartition(".")[2] for name in ours if ".settings." in name}
    assert all(not name.isupper() for name in names), "types, no constants"
    assert command(settings, FILES) == command(settings, FILES)


def test_more_than_eight_cpus_have_a_gicv3(linux_like: Machine, wide: Platform) -> None:
    record = settings_of(replace(linux_like, platform=wide, activity=activity_of(wide)))
    assert (record.gic_version, record.cpus) == (3, 24)
    words = command(record, FILES)
    assert words[words.index("-machine") + 1].startswith("virt,gic-version=3,")
    assert words[words.index("-smp") + 1] == "24"


def test_settings_hold_whole_instructions(linux_like: Machine, juno: Platform) -> None:
    """The plugin's arithmetic is integer, and the key of a run holds what it is given."""
    record, activity = settings_of(linux_like), linux_like.activity
    for cluster, of_cluster in zip(juno.clusters, record.clusters, strict=True):
        for opp in of_cluster.opps:
            assert type(opp.instructions_per_s) is int
            assert cluster.opp(opp.khz).uv == opp.uv
            rate = activity.system_ipc(cluster) * opp.khz * 1000
            assert opp.instructions_per_s == pytest.approx(rate, rel=1e-8)
        weight = activity.system_ipc(cluster) / activity.ipc(cluster)
        assert of_cluster.loop_weight / WORK_UNITS == pytest.approx(weight, rel=1e-4)
    assert record.gic_version == 2
    assert record.transition_latency_ns == juno.transition_latency_us * 1000
    assert record.cmdline == linux_like.cmdline
    assert record.memory_mib == juno.memory_mib
