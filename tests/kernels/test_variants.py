# SPDX-License-Identifier: GPL-2.0-or-later
"""The variants file: what is in it, what it proves in a guest, and what it refuses."""

from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.host.errors import RequestError
from eascope.kernels import variants as module
from eascope.kernels.patch_series import folders_of_series
from eascope.kernels.state import on_platform, state_expectations
from eascope.kernels.switches import EAS_GOVERNOR, ENERGY_AWARE, FEATURES, STATS, check_switches
from eascope.kernels.variants import (
    SERIES,
    VARIANTS,
    Declared,
    Variant,
    load_catalogue,
    load_variants,
)
from tests.support.platforms import edits_of

IDLE_DRIVER = "/sys/devices/system/cpu/cpuidle/current_driver"


@pytest.fixture
def edited(tmp_path: Path) -> Callable[..., Path]:
    """Writes variants.toml with edits."""
    return edits_of(VARIANTS, tmp_path)


@pytest.fixture
def own_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The series that there are, and one of a person's own, ``mine``."""
    folder = tmp_path / "series"
    for series in (*(path.name for path in folders_of_series(SERIES)), "mine"):
        (folder / series).mkdir(parents=True)
        (folder / series / "series").write_text("0001-mine.patch\n")
        (folder / series / "0001-mine.patch").write_text("@@ -1 +1 @@\n-a\n+b\n")
    monkeypatch.setattr(module, "SERIES", folder)


def write_own(folder: Path, name: str, text: str) -> None:
    """A person's file beside the ``variants.toml`` of ``edited``."""
    (folder / "own").mkdir(exist_ok=True)
    (folder / f"own/{name}.toml").write_text(f'summary = "x"\n{text}\n')


@pytest.mark.usefixtures("own_series")
def test_a_file_makes_a_series_a_variant(tmp_path: Path, edited: Callable[..., Path]) -> None:
    path = edited()
    write_own(tmp_path, "mine", 'base = "feec-b"\nseries = "mine"')
    write_own(tmp_path, "first", 'base = "mainline"\nseries = "mine"\nfirst = true')
    catalogue, of = load_catalogue(path), load_variants()["feec-b"]
    mine = catalogue.variants["mine"]
    assert mine.kernel == "mine"
    assert catalogue.kernels["mine"].series == ("base", "feec", "mine")
    assert (mine.switches, mine.dtb, mine.declares) == (of.switches, of.dtb, of.declares)
    assert catalogue.kernels["first"].series == ("mine", "base")
    assert {*catalogue.variants} - {*load_variants()} == {"mine", "first"}


@pytest.mark.usefixtures("own_series")
def test_a_series_that_cannot_be_meant_is_its_own_variants_error(
    tmp_path: Path, edited: Callable[..., Path]
) -> None:
    (module.SERIES / "mine" / "series").write_text("0002-yours.patch\n")
    path = edited()
    write_own(tmp_path, "mine", 'base = "mainline"\nseries = "mine"')
    catalogue = load_catalogue(path)
    with pytest.raises(RequestError, match=r"mine/series: line 1 = '0002-yours\.patch'"):
        catalogue.check("mine")
    assert catalogue.variants == load_variants()
    assert catalogue.kernels == load_catalogue().kernels


def test_a_line_of_own_names_the_file_to_write(edited: Callable[..., Path]) -> None:
    catalogue = load_catalogue(edited(("[planned]", '[own]\nmine = "cas"\n\n[planned]')))
    with pytest.raises(RequestError, match=r"own = .*: allowed: a file kernels/own/mine\.toml"):
        catalogue.check("mine")


def test_a_variant_has_what_it_does_not_state_from_its_base(edited: Callable[..., Path]) -> None:
    """Boot arguments and switches in the place of those that they undo, or after all."""
    table = """\
[variant.between]
base = "feec-b"
summary = "x"
boot = "a=2"
switches = [
    ["/sys/kernel/debug/sched/eascope/eas_push", "2"],
    ["/sys/kernel/debug/sched/features", "NO_UTIL_BOOST"],
]

[variant.below]
base = "between"
summary = "y"
boot = "a=3 b=1"
switches = [["/sys/kernel/debug/sched/features", "UTIL_BOOST"]]

[planned]"""
    known = load_variants(edited(("[planned]", table)))
    base, between, below = (known[name] for name in ("feec-b", "between", "below"))
    at = [path for path, _ in base.switches].index("/sys/kernel/debug/sched/eascope/eas_push")
    pushed = (base.switches[at][0], "2")
    switches = (*base.switches[:at], pushed, *base.switches[at + 1 :])
    assert between.switches == (*switches, ("/sys/kernel/debug/sched/features", "NO_UTIL_BOOST"))
    assert below.switches == (*switches, ("/sys/kernel/debug/sched/features", "UTIL_BOOST"))
    assert (between.boot, below.boot) == ("a=2", "a=3 b=1")
    assert (between.deviations, below.deviations) == (("as feec-b",), ("as between",))
    assert (below.kernel, below.source, below.dtb) == (base.kernel, base.source, base.dtb)


def test_a_switch_may_be_one_of_every_cpu(juno: Platform) -> None:
    """Of every idle state but the first as well: variants know no platform."""
    requests = on_platform(load_variants()["pm-qos"], juno).switches
    assert requests == tuple(
        (f"/sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us", "n/a")
        for cpu in juno.cpus
    )
    disabled = on_platform(load_variants()["idle-d10"], juno).switches
    assert {path for path, _ in disabled} == {
        f"/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}/disable"
        for cpu in juno.cpus
        for state in (1, 2)
    }


def test_proofs_of_mainline(juno: Platform) -> None:
    lines = state_expectations(load_variants()["mainline"], juno)
    assert ("expect", "/proc/sys/kernel/sched_energy_aware", "1") in lines
    assert ("contains", "/sys/kernel/debug/sched/eascope/variant", "energy_aware=1") in lines
    big = juno.clusters[1]
    for opp in big.opps:
        path = f"/sys/kernel/debug/energy_model/cpu4/ps:{opp.khz}/power"
        assert ("expect", path, str(opp.power_uw)) in lines
    policy = "/sys/devices/system/cpu/cpufreq/policy4"
    assert ("expect", f"{policy}/scaling_governor", "schedutil") in lines
    assert ("expect", f"{policy}/related_cpus", "4 5") in lines
    assert ("expect", "/sys/devices/system/cpu/cpu0/cpu_capacity", "383") in lines
    flags = "/sys/kernel/debug/sched/domains/cpu5/domain1/flags"
    assert ("contains", flags, "SD_ASYM_CPUCAPACITY_FULL") in lines
    assert not any("feec_called" in line[-1] for line in lines)


@pytest.mark.parametrize(
    ("boot", "proof"),
    [
        ("", ("contains", IDLE_DRIVER, "gem5_idle")),
        ("cpuidle.off=0", ("contains", IDLE_DRIVER, "gem5_idle")),
        ("cpuidle.off=0x0", ("contains", IDLE_DRIVER, "gem5_idle")),
        ("cpuidle.off=1", ("absent", IDLE_DRIVER)),
        ("cpuidle.off=1 quiet cpuidle.off=0", ("contains", IDLE_DRIVER, "gem5_idle")),
    ],
)
def test_no_cpuidle_driver_is_a_state_like_any_other(
    juno: Platform, boot: str, proof: tuple[str, ...]
) -> None:
    """It is proven, and a switch of cpuidle, which has no files then, is refused."""
    variant = replace(load_variants()["mainline"], boot=boot)
    lines = state_expectations(variant, juno)
    assert [line for line in lines if line[1] == IDLE_DRIVER] == [proof]
    switch = ("/sys/devices/system/cpu/cpuidle/current_governor", "teo")
    if proof[0] == "contains":
        check_switches("mine", boot, (switch,), juno)
        return
    with pytest.raises(
        RequestError, match=r"^mine: switch .*: cpuidle\.off leaves no cpuidle driv"
    ):
        check_switches("mine", boot, (switch,), juno)


def test_proofs_of_cas_include_that_eas_is_never_asked(juno: Platform) -> None:
    lines = state_expectations(load_variants()["cas"], juno)
    assert ("expect", "/proc/sys/kernel/sched_energy_aware", "0") in lines
    stats = "/sys/kernel/debug/sched/eascope/stats"
    assert ("contains", stats, "feec_called 0 0 0 0 0 0") in lines


def test_every_switch_is_read_back(juno: Platform) -> None:
    for ours in load_variants().values():
        variant = on_platform(ours, juno)
        lines = state_expectations(variant, juno)
        for path, value in variant.switches:
            verb = "word" if path == FEATURES else "expect"
            read_back = (verb, path, value) in lines
            # The counters are reset, and count again at once; without schedutil there is no EAS,
            # of which `energy_aware` of the file `variant` speaks.
            gone = path == ENERGY_AWARE and variant.declares.governor != EAS_GOVERNOR
            assert read_back is not (path == STATS or gone), (variant.name, path)


def test_no_two_variants_are_the_same() -> None:
    points = [
        (variant.kernel, variant.dtb, variant.boot, variant.switches)
        for variant in load_variants().values()
    ]
    assert len(set(points)) == len(points)


def test_a_file_that_is_written_twice_reads_back_as_the_last_one(juno: Platform) -> None:
    path = "/proc/sys/kernel/sched_util_clamp_min"
    variant = replace(load_variants()["mainline"], switches=((path, "1"), (path, "2")))
    expectations = [line for line in state_expectations(variant, juno) if line[1] == path]
    assert expectations == [("expect", path, "2")]


def test_the_floor_of_latency_has_no_eas_to_switch_off(juno: Platform) -> None:
    variant = on_platform(load_variants()["cas-performance"], juno)
    lines = state_expectations(variant, juno)
    assert not any(ENERGY_AWARE in line for line in lines)
    governors = [line[2] for line in lines if line[1].endswith("scaling_governor")]
    assert {*governors} == {"performance"}
    assert any("SD_ASYM_CPUCAPACITY_FULL" in line for line in lines)


POLICY = "/sys/devices/system/cpu/cpufreq/policy"


def with_governors(name: str, boot: str, *switches: tuple[str, str]) -> Variant:
    """A variant of ours with more, as a person's is made."""
    return load_variants()[name].with_more(boot, switches)


def test_the_state_follows_the_governors(juno: Platform) -> None:
    """EAS is off with any other governor than schedutil, whatever the variant started as."""
    ondemand = ((f"{POLICY}*/scaling_governor", "ondemand"),)
    reset = [(ENERGY_AWARE, "0"), (STATS, "0")]
    for name in ("mainline", "cas"):
        variant = on_platform(with_governors(name, "", *ondemand), juno)
        assert variant.declares == Declared(False, "ondemand")
        assert list(variant.switches) == [
            *reset,
            *((f"{POLICY}{first}/scaling_governor", "ondemand") for first in (0, 4)),
        ]
        lines = state_expectations(variant, juno)
        assert not any(ENERGY_AWARE in line for line in lines), "the kernel shows nothing there"
        assert ("contains", STATS, "feec_called 0 0 0 0 0 0") in lines
        for first in (0, 4):
            assert ("expect", f"{POLICY}{first}/scaling_governor", "ondemand") in lines
            assert ("expect", f"{POLICY}{first}/fast_switch_enabled", "0") in lines
    boot = "cpufreq.default_governor=conservative"
    variant = on_platform(with_governors("cas", boot), juno)
    assert (variant.declares, variant.boot) == (Declared(False, "conservative"), boot)
    assert variant.switches == ((STATS, "0"),), "nothing to switch off"
    # One policy is enough.
    half = with_governors("mainline", "", (f"{POLICY}4/scaling_governor", "powersave"))
    variant = on_platform(half, juno)
    assert variant.declares == Declared(False, "schedutil, powersave")
    lines = state_expectations(variant, juno)
    assert ("expect", f"{POLICY}0/fast_switch_enabled", "1") in lines
    assert ("expect", f"{POLICY}4/fast_switch_enabled", "0") in lines
    # Back again, as a person may write it on top of another variant.
    back = with_governors("mainline", "cpufreq.default_governor=performance")
    back = back.with_more("cpufreq.default_governor=schedutil", ())
    assert on_platform(back, juno).declares == Declared(True, "schedutil")
    back = with_governors("cas-performance", "", (f"{POLICY}*/scaling_governor", "schedutil"))
    assert on_platform(back, juno).declares == Declared(False, "schedutil")
    # And EAS follows its own switch.
    off = on_platform(with_governors("mainline", "", (ENERGY_AWARE, "0")), juno)
    assert (off.declares.eas, list(off.switches)) == (False, reset)


def test_what_our_variants_declare_is_what_their_switches_give(juno: Platform) -> None:
    for variant in load_variants().values():
        placed = on_platform(variant, juno)
        assert placed.declares == variant.declares, variant.name
        written = [switch for switch in placed.switches if switch not in variant.switches]
        stars = [path for path, _ in variant.switches if "*" in path]
        for path, _ in written:
            assert any(fnmatchcase(path, star) for star in stars), (variant.name, path)


@pytest.mark.parametrize(
    ("boot", "path", "value", "allowed"),
    [
        ("cpufreq.default_governor=fast", "", "", "one of schedutil, performance"),
        ("", "policy*/scaling_governor", "interactive", "one of schedutil, performance"),
        ("", "policy1/scaling_governor", "ondemand", "juno-r2 has policy0, policy4"),
        ("", "policy0/ondemand/up_threshold", "85", "to ondemand before it: it is schedutil"),
        ("", "policy0/scaling_setspeed", "450000", "to userspace before it: it is schedutil"),
        (
            *("cpufreq.default_governor=userspace", "policy4/scaling_setspeed", "1"),
            "a clock of its OPPs in kHz: 600000",
        ),
        (*("cpufreq.default_governor=ondemand", "policy0/ondemand/up_threshold", "85"), ""),
        (*("cpufreq.default_governor=userspace", "policy4/scaling_setspeed", "600000"), ""),
        ("", "policy0/schedutil/rate_limit_us", "500", ""),
    ],
)
def test_an_error_speaks_of_the_governor_that_was_asked_for(
    juno: Platform, boot: str, path: str, value: str, allowed: str
) -> None:
    switches = [(f"/sys/devices/system/cpu/cpufreq/{path}", value)] if path else []
    variant = on_platform(with_governors("cas", boot, *switches), juno)
    if not allowed:
        check_switches("mine", variant.boot, variant.switches, juno)
        return
    with pytest.raises(RequestError, match=rf"^mine: .* = '.*': allowed: .*{allowed}"):
        check_switches("mine", variant.boot, variant.switches, juno)


def test_proofs_are_words_of_the_agents_script(juno: Platform) -> None:
    for variant in load_variants().values():
        for line in state_expectations(variant, juno):
            assert line[0] in ("expect", "contains", "word", "exists", "absent", "write", "report")
            assert line[1].startswith("/")
            assert " " not in line[1]
            assert all(part == part.strip() and part and "\n" not in part for part in line)


#: A key's first value in the file and another one | what is wrong | what is allowed
BAD = """
kernel = "base" -> "bse" | variant.mainline.kernel = 'bse' | one of base
dtb = "std" -> "standard" | variant.mainline.dtb = 'standard' | std
governor = "schedutil" -> "schedutils" | variant.mainline.declares.governor | mean schedutil?
governor = "schedutil" -> "performance" | declares.governor | schedutil where eas = true
deviations = ["as uclamp-sum"] -> [" "] | deviations = [' '] | empty where nothing deviates
boot = "" -> "a\\nb" | variant.mainline.boot = 'a\\nb' | separated by single spaces
boot = "" -> 'a="b c"' | variant.mainline.boot = 'a="b c"' | without quotes
boot = "" -> "a isolcpus=5" | variant.mainline.boot = 'a isolcpus=5' | all CPUs are online
series = ["base"] -> ["base", "sum2"] | kernel.base.series = ['base', 'sum2'] | at least one of:
releases = ["6.12"] -> ["6.12", ["7.4"]] | variant.mainline-clamps-first.releases | one of: 6.12
releases = ["6.12"] -> [] | variant.mainline-clamps-first.releases = [] | at least one of: 6.12
base = "mainline" -> "cass" | variant.cas.base = 'cass' | a known name
fragments = ["base"] -> [] | kernel.base.fragments = [] | at least one of: base
"""
#: What cas writes first, and what may be written instead.
SWITCH = '["/proc/sys/kernel/sched_energy_aware", "0"]'


@pytest.mark.parametrize("row", BAD.strip().splitlines())
def test_bad_file_is_one_line_with_key_and_what_is_allowed(
    edited: Callable[..., Path], row: str
) -> None:
    edit, wrong, allowed = row.split(" | ")
    first, _, value = edit.partition(" -> ")
    refused(edited((first, f"{first.partition(' = ')[0]} = {value}")), wrong, allowed)


@pytest.mark.parametrize(
    ("switch", "allowed"),
    [
        ('["/etc/passwd", "0"]', "below /proc/sys/"),
        ('["/proc/sys/../kcore", "0"]', "below /proc/sys/"),
        ('["/proc/sys/kernel/sched_energy_aware", 0]', "both strings"),
        ('["/sys/devices/system/cpu/cpu5/online", "0"]', "all CPUs are online"),
        ('["/sys/devices/system/cpu/cpu5/hotplug/target", "0"]', "all CPUs are online"),
        ('["/sys/devices/system/cpu/smt/control", "0"]', "all CPUs are online"),
        ('["/sys/devices/system/cpu//cpu5/online", "0"]', "all CPUs are online"),
        ('["/sys/kernel/debug/sched/eascope/sched_mc_power_savings", "3"]', "one of 0, 1, 2"),
        ('["/sys/fs/cgroup/a/cpuset.cpus.partition", "0"]', "path below /proc/sys/"),
    ],
)
def test_a_switch_that_no_variant_may_have(
    edited: Callable[..., Path], switch: str, allowed: str
) -> None:
    refused(edited((SWITCH, switch)), "variant.cas.switches = [[", allowed)


def test_a_name_with_capitals(edited: Callable[..., Path]) -> None:
    path = edited(("[variant.mainline]", "[variant.Mainline]"))
    refused(path, "variant.Mainline = ", "lower-case letters")


def refused(path: Path, wrong: str, allowed: str) -> None:
    with pytest.raises(RequestError) as error:
        load_variants(path)
    text = str(error.value)
    assert "\n" not in text
    for part in ("variants.toml: ", wrong, allowed):
        assert part in text, text
    assert error.value.exit_code == 2


def test_not_toml(tmp_path: Path) -> None:
    path = tmp_path / "variants.toml"
    path.write_text("[variant.x\n")
    with pytest.raises(RequestError, match=r"not TOML: .*line 1"):
        load_variants(path)


def written(folder: Path, planned: str) -> Path:
    """A copy of the real file with another ``[planned]``."""
    text = VARIANTS.read_text().partition("[planned]")[0]
    path = folder / "variants.toml"
    path.write_text(text + planned)
    return path


def test_without_the_table_nothing_is_planned(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    assert load_catalogue(path).planned == {}
    assert list(load_variants(path)) == list(load_variants())


@pytest.mark.parametrize(
    ("planned", "message"),
    [
        ('[planned]\ncas = "again"', r"planned\.cas = 'again': allowed: a name .* no \[variant\]"),
        ('[planned]\n"Sum" = "by sum"', r"planned\.Sum = 'by sum': allowed: a name of lower-case"),
        ('[planned]\nsum = ""', r"planned\.sum = '': allowed: a non-empty string"),
    ],
)
def test_a_wrong_planned_table_is_one_line(tmp_path: Path, planned: str, message: str) -> None:
    with pytest.raises(RequestError, match=message) as caught:
        load_catalogue(written(tmp_path, planned))
    assert "\n" not in str(caught.value)


def test_the_expected_state_of_opp2_has_its_opps_alone(juno: Platform) -> None:
    def performance_states(flavour: str) -> list[str]:
        variant = replace(load_variants()["mainline"], dtb=flavour)
        return [
            line[1].rsplit("/", 2)[1]
            for line in state_expectations(variant, juno)
            if "/ps:" in line[1]
        ]

    assert performance_states("std") == [
        f"ps:{khz}" for khz in (450_000, 800_000, 950_000, 600_000, 1_000_000, 1_200_000)
    ]
    assert performance_states("opp2") == [
        f"ps:{khz}" for khz in (450_000, 950_000, 600_000, 1_200_000)
    ]
