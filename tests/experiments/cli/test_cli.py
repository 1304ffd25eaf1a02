# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line as a person meets it: its exit code, and one line on stderr."""

import argparse
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.devicetree import device_tree_source
from eascope.configs.platform_file import load_platform
from eascope.engines.registry import DEFAULT_ENGINE, get_engine
from eascope.experiments.arguments import count, natural
from eascope.experiments.cli.status import distinguishing
from eascope.experiments.cli.verbs import VERBS, make_parser
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.runs.store import execute
from eascope.host.cache import artefact, write_atomic
from eascope.host.version import eascope_version
from tests.support.calibration import row
from tests.support.command import COMPARE, RUN, eascope, inside, output_of, portable, refused
from tests.support.fake import KEY, badly, cell
from tests.support.repo import REPO

#: Arguments, in which RUN and COMPARE stand for those of `command`. `make accept` writes the error
#: lines anew; they stand in __snapshots__.
WRONG = """
comapre
RUN --platform juno-r3
RUN --variant mainlin
compare mainline cass --platform juno-r2 --scenario smoke
RUN --scenario eas/video-playbak
RUN --engine quemu
RUN --engine gem5 --mode elidde
RUN --mode timing
list platfroms
list scenarios --long
run --platform juno-r2 --variant mainline
RUN --seed -1
RUN --seed
COMPARE --seeds 0
RUN --ful1
compare cas --platform juno-r2 --scenario smoke
show ffff
verify ffff
export ffff --perfetto
export ffff
export ffff --lisa --power derived
scenario exprt smoke
scenario export smoke
scenario export eas/sched-pipe --rt-app
scenario import smoke
scenario import gone.json
RUN --em derrived
COMPARE --em-error big+20%
COMPARE --em-error prime=+20%
RUN --power derrived
derive --power x
derive ffff
RUN --rate-limit-us 0
COMPARE --rate-limit-us 40
RUN --events sched_eas_push
COMPARE --events 'eas;pelt'
em juno-r3
power predikt --core cortex-a15 --csv x.csv
power predict --core cortex-a14 --csv x.csv
power predict --core cortex-a15 --csv /nonexistent/x.csv
power predict --core cortex-a15
characterise juno-r2 --only loop
characterise juno-r2 --only system --program hackbench
status --seeds 3
status --keep bogus
status --set little.cpus=2
status --reference ''
status ''
status '' --seeds 3
status opp-sweep --variant ''
sweep --platform juno-r2 --scenario smoke --variant mainline,cas --script ''
COMPARE --robust=power,nothing
COMPARE --shared-power none
COMPARE --llc none
COMPARE --idle-exit-percent 101
COMPARE --kernel-rate-percent 9
run --platform pixel6 --variant mainline --scenario uclamp/frequency-spike --source-conditions
RUN --source-conditions
run --platform pixel6 --variant mainline --scenario smoke --speeds hardware
RUN --em-error mid=+20% --dry-run
RUN --reference cortex-a73@1000
"""


@pytest.mark.parametrize("line", re.sub(r"\n {4}", " ", WRONG.strip()).splitlines())
def test_wrong_request(line: str, snapshot: SnapshotAssertion) -> None:
    """Exit 2, one line, no traceback, nothing on stdout and nothing written."""
    first, *others = shlex.split(line)
    error = refused(*{"RUN": RUN, "COMPARE": COMPARE}.get(first, [first]), *others)
    assert "Traceback" not in error
    assert not Path(os.environ["EASCOPE_RUNS"]).exists()
    assert portable(error) == snapshot


def test_help(snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eascope itself; that of the commands is docs/reference/command-line.md."""
    monkeypatch.setenv("COLUMNS", "100")
    assert output_of("--help") == snapshot


@pytest.mark.parametrize("command", VERBS)
def test_help_has_an_example(command: str) -> None:
    done = inside(command, "--help")
    assert done.returncode == 0
    assert f"example: {VERBS[command].EXAMPLE}\n" in done.stdout
    assert "--json" in done.stdout


def test_the_version_is_that_of_records() -> None:
    done = eascope("--version")
    assert done.returncode == 0
    assert done.stdout == f"eascope {eascope_version()}\n"
    wrong = eascope("comapre")
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)


def test_examples_are_right() -> None:
    """The example of each help parses; what it names exists."""
    for verb in VERBS.values():
        options = make_parser().parse_args(verb.EXAMPLE.split()[1:])
        named = getattr(options, "variants", None) or getattr(options, "variant", None) or []
        for word in [named] if isinstance(named, str) else named:
            # A sweep takes several, with commas between.
            for variant in word.split(","):
                engine = options.engine or DEFAULT_ENGINE
                resolve(Request(options.platform, variant, options.scenario, engine))


def test_help_imports_nothing_heavy() -> None:
    """Help is quick because commands import what they need when they run."""
    code = (
        "import sys; from eascope.experiments.cli.verbs import make_parser as p; p().format_help();"
        "print([name for name in ('numpy', 'polars', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def in_main(before: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process that does ``before`` first; it writes to a closed pipe."""
    code = f"import sys\nfrom eascope.experiments.cli import main\n{before}\nsys.exit(main.main())"
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [sys.executable, "-c", code, "list", "scenarios"],
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)


def test_an_interrupt_during_imports_is_one_line() -> None:
    """Ctrl-C in the first tenth of a second meets the imports, not the command."""
    done = in_main(
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'eascope.experiments.cli.verbs':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())"
    )
    assert done.returncode == 130
    assert done.stderr == "\neascope: interrupted; the same command continues\n"


def test_the_entry_imports_only_what_python_has_at_its_start() -> None:
    code = (
        "import sys; before = set(sys.modules); import eascope.experiments.cli.main;"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.strip("[]\n").replace("'", "").split(", "))
    assert modules == {
        "eascope",
        *(f"eascope.experiments{part}" for part in ("", ".cli", ".cli.main")),
    }


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    done = in_main("")
    assert (done.returncode, done.stderr) == (0, "")


def test_output_that_cannot_be_written_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "eascope.experiments.cli.main", "list", "scenarios"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "eascope: error: output: No space left on device\n"


@pytest.mark.parametrize("kind", ["platforms", "variants", "scenarios", "engines"])
def test_list(kind: str) -> None:
    objects = json.loads(inside("list", kind, "--json").stdout)
    text = inside("list", kind).stdout
    for entry in objects:
        assert entry["summary"]
        assert f"{entry['name']} " in text


def test_variants_say_where_they_come_from() -> None:
    objects = json.loads(inside("list", "variants", "--long", "--json").stdout)
    text = "\n" + inside("list", "variants", "--long").stdout
    for entry in objects:
        block = text.partition(f"\n{entry['name']}\n")[2].partition("\n\n")[0]
        assert f"source: {entry['source']}" in block, entry["name"]
        assert block.count("deviates: ") == len(entry["deviations"])
        assert block.count("=") >= len(entry["switches"])
    (feec,) = [entry for entry in objects if entry["name"] == "feec-d"]
    assert "v5" in feec["source"]
    assert "https://lore.kernel.org/all/" in feec["source"]
    assert ["/sys/kernel/debug/sched/eascope/eas_push_min_interval_us", "0"] in feec["switches"]


def test_em_is_printed() -> None:
    rows = json.loads(inside("em", "juno-r2", "--json").stdout)
    assert {row["cluster"] for row in rows} == {"little", "big"}
    assert {"published_uw", "derived_uw", "difference", "derived_inefficient"} <= set(rows[0])
    assert len(inside("em", "juno-r2").stdout.splitlines()) == 1 + len(rows)


def test_a_device_tree_is_printed() -> None:
    layout = get_engine(DEFAULT_ENGINE).layout
    printed = inside("em", "juno-r2", "--device-tree").stdout
    assert printed == device_tree_source(load_platform("juno-r2"), layout)


def test_power_is_predicted(tmp_path: Path) -> None:
    source = tmp_path / "rows.csv"
    source.write_text(",".join(row()) + "\n" + ",".join(row().values()) + "\n")
    arguments = ("power", "predict", "--core", "cortex-a15", "--csv", str(source))
    done = inside(*arguments)
    assert done.returncode == 0, done.stderr
    head, line = done.stdout.splitlines()
    assert head == ",".join([*row(), "power_w"])
    assert line.startswith(",".join(row().values()))
    [printed] = json.loads(inside(*arguments, "--json").stdout)
    assert printed["power_w"] == float(line.rsplit(",", 1)[1])


def test_status_show_verify() -> None:
    execute(cell())
    with pytest.raises(Exception, match="guest panic"):
        execute(cell(badly, key="cd" * 32))
    objects = json.loads(inside("status", "--json").stdout)
    assert [entry["state"] for entry in objects] == ["done", "failed"]
    assert objects[0]["host_s"] == 1.5
    assert objects[1]["cause"] == "guest panic: Oops"
    assert "2 runs in" in inside("status").stdout

    shown = json.loads(inside("show", "cd", "--json").stdout)
    assert shown[0]["failed"]["console_tail"] == ["last words"]
    assert "last words" in inside("show", "cd").stdout

    assert inside("verify", KEY).returncode == 0
    console = Path(objects[0]["run"]) / "console.log"
    console.chmod(0o644)
    console.write_text("other")
    done = inside("verify", KEY[:8])
    assert done.returncode == 1
    assert "console.log: does not match" in done.stdout


def test_status_has_a_column_for_what_runs_differ_in() -> None:
    def differing(**words: str) -> list[str]:
        first = {"platform": "juno-r2", "mode": "elided", "kernel": "6.12", "duration": "short"}
        broken = {"state": "broken", "cause": "x"}
        return distinguishing([first, first | words, broken])

    assert differing() == []
    assert differing(controls="measured-speeds") == ["controls"]
    assert differing(duration="full", kernel="6.13", mode="timing") == [
        *("mode", "duration", "kernel")
    ]


def test_status_shows_controls() -> None:
    execute(cell())
    first = cell(key="cd" * 32)
    execute(replace(first, record=replace(first.record, set_otherwise=("rate-limit-2000-us",))))
    lines = inside("status").stdout.splitlines()
    assert "controls" in lines[0]
    assert ["rate-limit-2000-us" in line for line in lines[1:3]].count(True) == 1


def test_run_whose_trace_is_truncated() -> None:
    """Show says in one line what is wrong with it, and writes no half of a result."""
    run = execute(cell())
    done = inside("show", KEY)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    derived = run.path / "derived"
    assert not derived.exists() or list(derived.iterdir()) == []


def test_derive_says_which_runs_it_could_not() -> None:
    """A run without a usable trace, a failed one: a line each, exit 1."""
    done = inside("derive")
    assert (done.returncode, done.stdout) == (0, "0 of 0 runs by derived power in 0.0 s\n")
    execute(cell())
    with pytest.raises(Exception, match="guest panic"):
        execute(cell(badly, key="cd" * 32))
    done = inside("derive")
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1].startswith("0 of 1 runs by derived power in ")
    [entry] = json.loads(inside("derive", "cd", "--json").stdout)
    assert entry["problem"] == "failed: only a finished run has an energy"


def test_qemu_cannot_be_had(tmp_path: Path) -> None:
    """Nothing cached and no package tools: one line that names the engine and the remedy."""
    done = eascope(*RUN, EASCOPE_CACHE=str(tmp_path / "cache"), PATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("eascope: error: engine qemu is not available: ")
    assert "apt-get install" in done.stderr
    assert not (tmp_path / "cache").exists()
    assert not Path(os.environ["EASCOPE_RUNS"]).exists()


def test_verify_finds_a_corrupt_cache_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
        folder = artefact("thing", {"a": 1}, lambda work: write_atomic(work / "x", b"x"))
    assert eascope("verify", EASCOPE_CACHE=str(tmp_path / "cache")).returncode == 0
    (folder / "x").write_text("y")
    done = eascope("verify", EASCOPE_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert f"cache entry {folder} is corrupt: x does not match" in done.stdout


def test_the_installed_command_is_this_one() -> None:
    """What pyproject.toml installs as `eascope` can be called, and is what tests call."""
    scripts = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, name = scripts["eascope"].partition(":")
    entry = getattr(importlib.import_module(module), name)
    assert callable(entry)
    assert module == "eascope.experiments.cli.main"


@pytest.mark.parametrize(
    ("kind", "text", "allowed"),
    [
        *(
            (count, text, "from 1 to 1000")
            for text in ("0", "-3", "1001", str(2**70), "ten", "1.5")
        ),
        *((natural, text, "from 0") for text in ("-1", str(2**63), "ten")),
    ],
)
def test_a_refused_argument_states_what_is_allowed(
    kind: Callable[[str], int], text: str, allowed: str
) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        kind(text)
    assert str(caught.value) == f"{text!r}: allowed: an integer {allowed}"


def test_integers_in_range_are_accepted() -> None:
    assert (count("1"), count("1000"), natural("0")) == (1, 1000, 0)
