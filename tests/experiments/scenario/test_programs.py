# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of the programs image as members of a scenario: keys, script, record."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eascope.analysis.programs import PARSERS
from eascope.configs.platform import Platform
from eascope.experiments.runs.cell import check_image, guest_of, prepare
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.scenario.checks import COMMAND_WORDS
from eascope.experiments.scenario.members import command
from eascope.experiments.scenario.model import Scenario
from eascope.experiments.scenario.names import names
from eascope.experiments.scenario.program import MOST_WORDS, Program
from eascope.experiments.scenario.program_kinds import KINDS
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from eascope.rootfs.content import load_content
from eascope.rootfs.image import ImageArtefact
from eascope.rootfs.images import PROVIDER_VARIABLE, PROVIDERS, Provider
from tests.support.cells import Artefacts, prepared
from tests.support.scenarios import check_refused

HEAD = 'summary = "s"\nsource = "here"\nloads = "as they are"\n'
IMAGE = 'image = "programs"\n'
LATENCY = """
[[program]]
name = "latency"
run = "cyclictest"
arguments = "-t -a -l {count} -h 100"
short_count = 10
full_count = 20
"""
LOAD = '[[program]]\nname = "stress"\nrun = "stress-ng"\nrole = "load"\narguments = "--cpu 0"\n'
SYSBENCH = (
    '[[program]]\nname = "p"\nrun = "sysbench-cpu"\narguments = "{} --time={{count}}"\n'
    "short_count = 1\nfull_count = 2\n"
)
SERVER = '[[program]]\nname = "db"\nrun = "postgres"\n'
CLIENT = (
    '[[program]]\nname = "client"\nrun = "pgbench"\narguments = "-T {count}"\n'
    "short_count = 1\nfull_count = 2\n"
)
UNTIL = '[window]\nwarmup_ms = 300\nuntil = "programs-end"\n'
STATEMENT = '[[expect]]\nvariant = "cas"\nsource = "s"\nstatement = "{}"\n'
#: Scenarios of that image in other folders than programs.
OF_PROGRAMS_IMAGE = (
    "eas/sched-pipe-perf",
    *(f"latnice/idle-gating-{name}" for name in ("schbench", "pgbench-1", "pgbench-44")),
)
FIXED = "[window]\nwarmup_ms = 300\nshort_ms = 50\nfull_ms = 60\n"


def write(folder: Path, *parts: str) -> str:
    path = folder / "x.toml"
    path.write_text(HEAD + "".join(parts))
    return str(path)


def script_of(
    path: str, artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch, *, full: bool = False
) -> list[str]:
    """The agent's lines, with images that stand for the real ones."""
    monkeypatch.setattr(
        "eascope.experiments.runs.cell.with_prepared", lambda image, name, boot: image
    )
    cell = prepare(resolve(Request("juno-r2", "mainline", path, full=full)))
    return cell.machine.script.decode().splitlines()


def after(lines: Sequence[str], *words: str) -> list[str]:
    """The lines that begin with ``words``, which must be there in this order."""
    seen = [next(line for line in lines if line.startswith(word)) for word in words]
    places = [lines.index(line) for line in seen]
    assert places == sorted(places), seen
    return seen


def test_scenarios_without_programs_are_as_they_were(artefacts: Artefacts) -> None:
    """Neither their script nor their kernel knows of the programs image: their keys stay."""
    for name in names():
        if name.startswith(("programs/", "biglittle/")) or name in OF_PROGRAMS_IMAGE:
            continue
        if name == "eas/interrupted-big":  # its kernel accounts for interrupts
            continue
        own: dict[str, Any] = {}
        if name == "boards/worker-moves":  # 6.12 and fast switch leave nothing to move
            own = {"platform": "pixel6", "variant": "mainline@7.3", "source_conditions": True}
        cell = prepared(scenario=name, **own)
        assert b"/bin/member" not in cell.machine.script, name
        assert cell.resolved.kernel.more == ()
        assert cell.resolved.scenario.image == "minimal"
        assert cell.machine.initramfs == artefacts.initramfs().path
        for program in cell.record.encode()["programs"]:
            assert program.keys() == {"name", "run", "count", "log"}, name


def test_a_measured_program_and_a_load(
    tmp_path: Path, artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = 'nice = 5\nuclamp = { max = "1.0*little" }\nlimit_s = 7\nexit = 3\ncpus = "big"\n'
    more += 'environment = { LANG = "C" }\ngroup = "bg"\n'
    path = write(tmp_path, IMAGE, '[[group]]\nname = "bg"\n', LATENCY, LOAD, more, UNTIL)
    lines = script_of(path, artefacts, monkeypatch)
    offset = prepared(scenario=path).record.replicate.programs_us["stress"]
    _, load, _, measured, *_ = after(
        lines,
        *("spawn programs-setup /bin/member setup", "spawn-in /sys/fs/cgroup/bg stress "),
        *("start", "spawn latency "),
        *("wait latency", "stop", "spawn stress-stop /bin/member stop stress", "wait stress "),
        *("collect /tmp/latency.log program-latency.log", "collect /tmp/stress.log "),
    )
    checked, sleeps = (
        lines.index("spawn programs-alive /bin/member alive stress"),
        "sleep-us 100000",
    )
    assert lines[checked + 1 : checked + 3] == [sleeps, "wait programs-alive"]
    assert checked < lines.index("start")
    assert load == (
        f"spawn-in /sys/fs/cgroup/bg stress /bin/member run stress delay-us={offset} "
        "limit-ms=7000 exit=3 endless=1 cpus=4,5 nice=5 uclamp-max=383 env=LANG=C "
        "-- /usr/bin/stress-ng --cpu 0 --metrics"
    )
    assert measured == (
        "spawn latency /bin/member run latency delay-us=0 limit-ms=120000 exit=0 endless=0 "
        "-- /usr/bin/cyclictest -q -t -a -l 10 -h 100"
    )
    assert "write /proc/sys/kernel/sched_util_clamp_min_rt_default 1023" in lines
    assert max(len(line.split()) for line in lines if line.startswith("spawn")) <= 64


def test_a_program_and_its_group_have_a_latency_nice_where_the_kernel_has_one(
    tmp_path: Path, artefacts: Artefacts
) -> None:
    more = 'latency_nice = -9\ngroup = "bg"\n'
    group = '[[group]]\nname = "bg"\nlatency_nice = 19\n'
    path = write(tmp_path, IMAGE, group, LATENCY, LOAD, more, UNTIL)
    script = prepared(scenario=path, variant="latnice-off").machine.script.decode()
    assert "\nwrite /sys/fs/cgroup/bg/cpu.latency.nice 19\n" in script
    assert re.search(r"^spawn-in \S+ stress .* latency-nice=-9 ", script, re.MULTILINE)
    script = prepared(scenario=path, variant="mainline").machine.script.decode()
    assert "latency-nice" not in script
    assert "cpu.latency.nice" not in script
    assert "latency.nice" not in script


def test_a_server_is_ready_before_the_warm_up(
    tmp_path: Path, artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = script_of(write(tmp_path, IMAGE, SERVER, CLIENT, UNTIL), artefacts, monkeypatch)
    server, *_ = after(
        lines,
        *("spawn db /bin/member run db ", "wait db-ready", "start", "spawn client ", "stop"),
        *("wait db 60000", "trace-collect", "wait client-gather"),
        "collect /tmp/client.transactions program-client-transactions.log",
    )
    assert "uid=100" in server.split()
    assert "endless=1" in server.split()
    assert "/bin/busybox tar -xf /data/postgres.tar -C /tmp/server" in "\n".join(lines)


def test_a_program_that_is_stopped_with_the_window(
    tmp_path: Path, artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = LATENCY.replace(" -l {count}", "").replace("short_count = 10\nfull_count = 20\n", "")
    path = write(tmp_path, IMAGE, program, 'stop = "window"\n', FIXED)
    lines = script_of(path, artefacts, monkeypatch)
    after(lines, "start", "spawn latency ", "sleep-ms 50", "stop", "wait latency-stop")
    assert "wait latency" not in lines


def test_what_the_record_says(tmp_path: Path, juno: Platform) -> None:
    scenario = load_scenario(write(tmp_path, IMAGE, SERVER, CLIENT, UNTIL), juno)
    server, client = (program.record(full=False) for program in scenario.programs)
    assert (server.role, server.count, server.transactions) == ("server", 0, "")
    assert client.transactions == "program-client-transactions.log"
    assert client.command.startswith("/usr/bin/pgbench -n -T 1 -l --log-prefix=/tmp/client-tx-")
    assert scenario.kernel_fragments == ("ipc",)
    assert scenario.prepared == "postgres"


def test_only_programs_that_need_another_kernel_get_one() -> None:
    for name in names():
        if name.startswith("programs/"):
            wanted = ("ipc",) if "pgbench" in name else ()
            assert resolve(Request("pixel6", "cas", name)).kernel.more == wanted, name


def test_every_kind_is_in_the_list_and_has_a_parser_or_is_none() -> None:
    listed = load_content().programs
    for name, kind in KINDS.items():
        assert not kind.program or kind.path == listed[kind.program].path
        assert name in PARSERS or kind.is_server or name == "busybox"
        assert not kind.server or KINDS[kind.server].is_server


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([LATENCY, UNTIL], ["program[0].run", "'cyclictest'", 'needs image = "programs"']),
        (['image = "big"\n', LATENCY, UNTIL], ["image = 'big'", "minimal, programs"]),
        ([IMAGE, CLIENT, UNTIL], ["program[0].run", "'pgbench'", "a program postgres"]),
        ([IMAGE, LATENCY, FIXED], ["window.until", "programs-end"]),
        ([IMAGE, LOAD, UNTIL], ["window.until", "programs that end"]),
        ([IMAGE, LATENCY, 'role = "boss"\n', UNTIL], ["program[0].role", "load, measured, server"]),
        ([IMAGE, LATENCY, 'role = "server"\n', UNTIL], ["program[0].role", "for servers"]),
        ([IMAGE, LOAD, 'stop = "itself"\n', FIXED], ["program[0].stop", "a load does not end"]),
        ([IMAGE, LATENCY, LATENCY, UNTIL], ["program[1].name", "no other program"]),
        (
            [IMAGE, LOAD, LOAD.replace('"stress"', '"other"'), FIXED],
            ["program[1].run", "threads of both are called stress-ng-cpu"],
        ),
        ([IMAGE, LATENCY.replace("-l {count} ", ""), UNTIL], ["arguments", "{count}"]),
        (
            [IMAGE, *(LATENCY.replace('"latency"', f'"p{n}"') for n in range(8)), UNTIL],
            ["program", "8 programs", "up to 7"],
        ),
        ([IMAGE, LATENCY.replace("-t -a", "-t  -a"), UNTIL], ["arguments", "single spaces"]),
        *(
            ([IMAGE, LATENCY.replace("-t -a", f"-t {more}"), UNTIL], ["].arguments", more, "as us"])
            for more in ("-N", "-mN", "-Nm", "--nsecs", "--ns")
        ),
        *(
            ([IMAGE, SYSBENCH.format(more), UNTIL], ["].arguments", more, "--percentile=95"])
            for more in ("--percentile=99", "--percentile=950", "--percentile 95")
        ),
        (
            [IMAGE, LATENCY, "uclamp = { max = 2000 }\n", UNTIL],
            ["program[0].uclamp.max", "0..1024"],
        ),
        ([IMAGE, LATENCY, 'group = "a"\n', UNTIL], ["program[0].group", "there is none"]),
        ([IMAGE, LATENCY, 'environment = { "1" = "x" }\n', UNTIL], ["environment.1", "letters"]),
        (
            [IMAGE, LATENCY.replace("cyclictest", "hackbench"), 'stop = "window"\n', FIXED],
            ["program[0].stop", "hackbench prints no results when it is stopped"],
        ),
        (
            [IMAGE, '[[program]]\nname = "b"\nrun = "busybox"\nrole = "measured"\n', FIXED],
            ["reads"],
        ),
        (
            [IMAGE, LATENCY, UNTIL, STATEMENT.format("program.latency.p98_us > 3")],
            ["expect[0].statement", "cyclictest prints no 'p98_us'", "p99_us"],
        ),
    ],
)
def test_a_wrong_program_is_one_line(
    tmp_path: Path, juno: Platform, parts: list[str], words: list[str]
) -> None:
    check_refused(write(tmp_path, *parts), juno, words)


def test_arguments_that_look_like_wrong_ones(tmp_path: Path, juno: Platform) -> None:
    """Nor does it matter what a load prints."""
    load = '[[program]]\nname = "load"\nrun = "cyclictest"\nrole = "load"\narguments = "-N"\n'
    latency = LATENCY.replace("-t -a", "-aN -F /N --no_enclave")
    parts = [IMAGE, load, latency, SYSBENCH.format("--percentile=95"), UNTIL]
    assert len(load_scenario(write(tmp_path, *parts), juno).programs) == 3


def test_as_many_words_as_the_agent_takes(tmp_path: Path, juno: Platform) -> None:
    """The most arguments fit with every other key; variables take what is left."""
    most = '[[program]]\nname = "p"\nrun = "pgbench"\nrole = "load"\ncpus = "big"\nnice = 1\n'
    most += "uclamp = { min = 1, max = 2 }\nlatency_nice = 1\n"
    most += f'arguments = "{" ".join(["-n"] * MOST_WORDS)}"\n'
    scenario = load_scenario(write(tmp_path, IMAGE, SERVER, most, FIXED), juno)
    assert len(command(scenario.programs[1], full=True, offset_us=0).split()) <= COMMAND_WORDS
    child = Path(__file__).parents[3] / "rootfs" / "agent" / "child.c"
    assert f"#define ARGUMENTS_MAX\t{COMMAND_WORDS}\n" in child.read_text()

    def with_variables(number: int) -> str:
        variables = ", ".join(f'V{item} = "1"' for item in range(number))
        return write(tmp_path, IMAGE, LATENCY, f"environment = {{ {variables} }}\n", UNTIL)

    (program,) = load_scenario(with_variables(48), juno).programs
    assert len(command(program, full=True, offset_us=0).split()) == COMMAND_WORDS
    words = ["program[0].environment = '49 variables'", "up to 48: ", "up to 64 words"]
    check_refused(with_variables(49), juno, words)


def test_statements_about_what_programs_print(tmp_path: Path, juno: Platform) -> None:
    for measure in ("p99_us", "thread3_max_us", "operations"):
        line = STATEMENT.format(f"program.latency.{measure} > 3")
        scenario: Scenario = load_scenario(write(tmp_path, IMAGE, LATENCY, UNTIL, line), juno)
        assert len(scenario.expect) == 1


def test_a_program_that_starts_later(
    tmp_path: Path, artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the millisecond after the window's start, whatever the others' draws, also alone."""
    second = SYSBENCH.replace('"p"', '"q"').format("--threads=2")
    second += "short_start_ms = 100\nfull_start_ms = 4_000\n"
    for parts in ((SYSBENCH.format("--threads=2"), second), (second,)):
        path = write(tmp_path, IMAGE, *parts, UNTIL)
        for full, delay_us in ((False, 100_000), (True, 4_000_000)):
            lines = script_of(path, artefacts, monkeypatch, full=full)
            _, line = after(lines, "start", "spawn q ")
            assert f" delay-us={delay_us} " in line
    warm_up = [int(line.split()[1]) for line in lines if line.startswith("sleep-us ")]
    assert warm_up[-1] == 1_300_000, "its start is no part of the warm-up"


def test_a_later_start_that_cannot_be(tmp_path: Path, juno: Platform) -> None:
    later = "short_start_ms = 50\nfull_start_ms = 55\n"
    at_window = LATENCY.replace("-l {count} ", "").partition("short_count")[0] + 'stop = "window"\n'
    for text, words in (
        (LATENCY + "short_start_ms = 300\n" + UNTIL, ["program[0]", "full_start_ms", "1..600000"]),
        (LATENCY + LOAD + later + UNTIL, ["program[1].short_start_ms", "ends by itself"]),
        (at_window + later + FIXED, ["program[0].short_start_ms", "50", "ends by itself"]),
    ):
        check_refused(write(tmp_path, IMAGE, text), juno, words)


def test_a_program_of_the_minimal_image_is_started_as_ever() -> None:
    pipe = Program("p", "ping-pong", (0, 1), 10, 20)
    assert pipe.command(False, 5) == "/bin/launch 5 0,1 /bin/ping-pong p 10"
    assert pipe.record(full=True).encode().keys() == {"name", "run", "count", "log"}
    assert pipe.trace_bytes(full=True) == 16_000


def test_a_program_that_the_providers_image_lacks(
    tmp_path: Path, juno: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused before an image is built: nobody is asked for one."""
    scenario = load_scenario(write(tmp_path, IMAGE, LATENCY, UNTIL), juno)

    def image(name: str, copies: object) -> ImageArtefact:
        raise AssertionError("asked for an image")

    monkeypatch.setenv(PROVIDER_VARIABLE, "buildroot")
    provider = Provider(image, lambda name: frozenset({"cyclictest"}))
    monkeypatch.setitem(PROVIDERS, "buildroot", provider)
    with pytest.raises(RequestError, match="'cyclictest': the image 'programs' of the provider"):
        guest_of(scenario)
    other = Provider(image, lambda name: frozenset({"hackbench"}))
    monkeypatch.setitem(PROVIDERS, "buildroot", other)
    with pytest.raises(AssertionError, match="asked for an image"):
        guest_of(scenario)
    monkeypatch.delenv(PROVIDER_VARIABLE)
    check_image(scenario)


def test_a_policy_is_the_variants_and_its_draws_are_the_seeds(artefacts: Artefacts) -> None:
    """Each variant gets the same draws; the argument that names a policy is proven by nobody."""
    scenario, lines = "biglittle/browser-launch", {}
    for variant, seed in (("cas", 1), ("priority-daemon-expedited", 1), ("cas", 2)):
        request = Request("tc2-like", variant, scenario)
        cell = prepare(resolve(request).with_seed(seed))
        script = cell.machine.script.decode()
        lines[variant, seed] = re.findall(r"browser seed=(\d+) rounds=10", script)
        assert ("rcupdate.rcu_expedited=1\n" in script) == (variant != "cas")
        assert "eascope.policy" not in script
    assert lines["cas", 1] == lines["priority-daemon-expedited", 1] != lines["cas", 2]
