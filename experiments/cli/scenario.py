# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope scenario``: rt-app's JSON and recordings to scenarios; tasks to rt-app and boards."""

from __future__ import annotations

import argparse
import json
import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from eascope.experiments.arguments import count
from eascope.experiments.cli.output import print_columns, print_json, shown
from eascope.host.errors import RequestError, unknown

if TYPE_CHECKING:
    from eascope.experiments.recordings.importing import Imported

SUMMARY = (
    "import a recording or rt-app JSON as a scenario, check it, or export a scenario for rt-app"
)
EXAMPLE = "eascope scenario import phone.perfetto-trace --name my-load"

#: What ``eascope scenario`` can be asked to do.
VERBS = ("import", "check", "export", "kit")
#: Threads of a recording that are kept by themselves.
MOST = 1000
RECORDING, JSON, EXPORT = "a recording", "rt-app's JSON", "scenario export"
KIT = "scenario kit"
#: Of the options that some kind of source does not take: the default, and the kinds that take it.
ONLY = {
    **{option: ("", (RECORDING,)) for option in ("capacities", "window")},
    **{option: (False, (RECORDING,)) for option in ("model", "drop_recorder")},
    "most": (MOST, (RECORDING,)),
    "platform": (None, (RECORDING, EXPORT, KIT)),
    "name": ("", (RECORDING, JSON)),
    "rt_app": (False, (EXPORT,)),
}
#: Threads that the report lists.
LISTED = 12


def add_options(parser: argparse.ArgumentParser) -> None:
    """What is read, and what is to become of it."""
    parser.add_argument(
        "verb",
        metavar="import|check|export|kit",
        help="import: write the scenario; check: also run a recording's and print the run next to "
        "the recording; export: write a scenario's tasks for rt-app; kit: the same with a LISA "
        "script for a board and a page",
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="rt-app JSON, also as workgen writes it; or a recording: Perfetto protobuf, "
        "trace.dat, text of trace-cmd report, text or HTML of ftrace or systrace, also .xz and "
        ".gz; export, kit: a scenario, see: eascope list scenarios",
    )
    parser.add_argument(
        "--rt-app", action="store_true", help="export: write rt-app JSON, which LISA reads, too"
    )
    parser.add_argument(
        "--platform",
        default=None,
        metavar="P",
        help="platform of the recorded device, if its frequencies do not identify it; export, kit: "
        "platform to resolve CPU names and capacities on (default juno-r2)",
    )
    parser.add_argument(
        "--capacities",
        default="",
        metavar="A,B,...",
        help="capacity of each recorded CPU at its top OPP, for an unknown device",
    )
    parser.add_argument(
        "--window",
        default="",
        metavar="FROM..TO",
        help="part of the recording, in s from its start or by its own clock (default: all)",
    )
    parser.add_argument("--name", default="", metavar="X", help="name of the scenario")
    parser.add_argument(
        "--out",
        default="",
        metavar="FILE",
        help="default: NAME.toml here; export: stdout; kit: a directory (default: NAME here)",
    )
    parser.add_argument(
        "--model",
        action="store_true",
        help="fit periods and distributions instead of replaying every burst",
    )
    parser.add_argument(
        "--drop-recorder", action="store_true", help="leave out the recorder's own threads"
    )
    parser.add_argument(
        "--most",
        type=count,
        default=MOST,
        metavar="N",
        help=f"number of threads to keep; smaller ones are merged (default {MOST})",
    )


def run(options: argparse.Namespace) -> int:
    """Write the scenario; print what was found.

    :raises RequestError: a wrong recording or option; nothing is written then.
    """
    if options.verb not in VERBS:
        raise unknown("scenario command", options.verb, VERBS)
    kind = JSON if options.verb == "import" and options.source.endswith(".json") else RECORDING
    kind = {"export": EXPORT, "kit": KIT}.get(options.verb, kind)
    for option, (default, kinds) in ONLY.items():
        if getattr(options, option) != default and kind not in kinds:
            name = option.replace("_", "-")
            raise RequestError(
                f"--{name} has no effect here; it works only with {' or '.join(kinds)}"
            )
    if options.name and options.out and Path(options.out).stem != options.name:
        raise RequestError(f"--name {options.name} cannot be combined with --out {options.out}")
    if kind not in (EXPORT, KIT) and not Path(options.source).is_file():
        raise RequestError(
            f"scenario {options.verb} {options.source}: no such file; expected a recording, or a "
            ".json file of rt-app"
        )
    if kind == KIT:
        return _kit(options)
    if kind != RECORDING:
        return _rt_app(options)
    from eascope.experiments.recordings.toml import write_import

    made, out = _imported(options)
    again = options.verb == "check"
    platform = write_import(made, out, model=options.model, again=again)
    if options.verb == "check":
        return _check(made, out, platform, options)
    if options.json:
        print_json(_object(made, out, platform))
        return 0
    _print(made)
    print(
        f"\n{shown(out)}: eascope run --variant mainline --platform {platform} "
        f"--scenario {shown(out)}"
    )
    return 0


def _rt_app(options: argparse.Namespace) -> int:
    """Write the file of rt-app's JSON or from it; say what is meant otherwise in it.

    :raises RequestError: a wrong source; nothing is written then.
    """
    text, notes = (_import if options.verb == "import" else _export)(options)
    name = options.name or Path(options.source).stem
    out = options.out or (f"{name}.toml" if options.verb == "import" else None)
    if out is None:
        print(text, end="")
        return 0
    path = Path(out)
    if path.exists():
        raise RequestError(f"--out {path} already exists; choose another name")
    path.write_text(text)
    if options.json:
        print_json({"file": str(path), "notes": notes})
    else:
        print("\n".join([shown(path), *(f"  {note}" for note in notes)]))
    return 0


def _import(options: argparse.Namespace) -> tuple[str, list[str]]:
    """The scenario's text, and what is meant otherwise here than on a board."""
    from eascope.experiments.rtapp.json_file import read
    from eascope.experiments.rtapp.own import never_begin, text_of
    from eascope.host.strict import parse_toml

    path = Path(options.source)
    text = text_of(path)
    scenario = parse_toml(path.name, text)
    file = read(path.name, scenario["rt_app"])
    return text, [*file.notes, *never_begin(file, scenario["window"].get("short_ms"))]


def _export(options: argparse.Namespace) -> tuple[str, list[str]]:
    """rt-app's JSON, and what it cannot say."""
    from eascope.configs.inherit import activity_of
    from eascope.configs.platform_file import load_platform
    from eascope.experiments.rtapp.export import exported
    from eascope.experiments.scenario_file import load_scenario
    from eascope.host.proc import say

    if not options.rt_app:
        raise RequestError("scenario export: --rt-app is missing")
    platform = load_platform(options.platform or "juno-r2")
    document, unsaid = exported(
        load_scenario(options.source, platform), platform, activity_of(platform)
    )
    if not document["tasks"]:
        raise RequestError(f"scenario export {options.source}: it has no tasks, only programs")
    notes = [f"not in rt-app's JSON: {words}" for words in unsaid]
    if not options.out:
        for note in notes:
            say(f"  {note}")
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n", notes


def _kit(options: argparse.Namespace) -> int:
    """Write the kit into a new directory.

    :raises RequestError: a wrong source, or the directory is there; nothing is written then.
    """
    from eascope.configs.inherit import activity_of
    from eascope.configs.platform_file import load_platform
    from eascope.experiments.rtapp.kit import kit
    from eascope.experiments.scenario_file import load_scenario

    platform = load_platform(options.platform or "juno-r2")
    scenario = load_scenario(options.source, platform)
    files = kit(scenario, platform, activity_of(platform))
    folder = Path(options.out or scenario.name.replace("/", "-"))
    if folder.exists():
        raise RequestError(f"--out {folder} already exists; choose another name")
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    if options.json:
        print_json({"folder": str(folder), "files": [*files]})
    else:
        print("\n".join(shown(folder / name) for name in files))
    return 0


def _check(made: Imported, out: Path, platform: str, options: argparse.Namespace) -> int:
    """Run the scenario under mainline, and print the run beside the recording."""
    from eascope.experiments.recordings.check import check
    from eascope.experiments.runs.writable import check_runs_place

    check_runs_place()
    beside = check(made, out, platform)
    run = beside.run.path
    if options.json:
        print_json(_object(made, out, platform) | {"run": str(run), "figures": beside.figures})
        return 0
    _print(made)
    print(f"\n{platform}, mainline, seed 0\n\n{beside.text}\nrun: {shown(run)}")
    return 0


def _imported(options: argparse.Namespace) -> tuple[Imported, Path]:
    from eascope.analysis.recordings.device import device_of
    from eascope.analysis.recordings.read import read_recording
    from eascope.configs.platform_file import load_platform
    from eascope.experiments.recordings.importing import import_recording

    path = Path(options.source)
    name = options.name or path.name.split(".")[0].lower()
    out = Path(options.out or f"{name}.toml")
    if out.suffix != ".toml" or not out.parent.is_dir():
        raise RequestError(f"--out {options.out}: expected a file X.toml in an existing directory")
    if options.platform and options.capacities:
        raise RequestError("--capacities cannot be combined with --platform")
    try:
        capacities = [float(part) for part in options.capacities.split(",") if part]
        if not all(0 < capacity < math.inf for capacity in capacities):
            raise ValueError
    except ValueError as error:
        raise RequestError(
            f"--capacities {options.capacities}: expected numbers above 0, separated by commas"
        ) from error
    recording = read_recording(path)
    platform = load_platform(options.platform) if options.platform else None
    device = device_of(recording, platform, capacities)
    made = import_recording(
        recording,
        device,
        options.window,
        out.with_suffix(".bursts"),
        options.most,
        drop=options.drop_recorder,
    )
    return made, out


def _object(made: Imported, out: Path, platform: str) -> dict[str, object]:
    return {
        "scenario": str(out),
        "platform": platform,
        "device": made.device.name,
        "notes": made.notes,
        "threads": len(made.recorded.threads),
        "merged_threads": made.merged,
        "merged_work": made.merged_work,
    }


def _print(made: Imported) -> None:
    recording, device = made.recording, made.device
    clusters = ", ".join(f"{of.name}: CPU {_range(of.cpus)}" for of in device.clusters)
    print(f"{recording.path.name}: {recording.form}, {recording.seconds:.3f} s")
    for note in (f"{device.name} ({clusters})", *made.notes):
        print(textwrap.fill(note, 90, initial_indent="  ", subsequent_indent="    "))
    total = sum(of.work_share for of in made.threads) + made.merged_work
    rows = [
        (
            of.thread.comm[:15],
            str(of.thread.tid),
            str(len(of.thread.bursts)),
            f"{100 * of.work_share / total:.1f}",
            f"{of.thread.policy} {of.thread.priority}",
            of.loop + (", recorder" if of.recorder else ""),
        )
        for of in made.threads[:LISTED]
    ]
    print()
    print_columns(rows, ("thread", "tid", "bursts", "work %", "policy", "loop"))
    if len(made.threads) > LISTED:
        share = 100 * sum(of.work_share for of in made.threads[LISTED:]) / total
        print(f"and {len(made.threads) - LISTED} more threads with {share:.1f} % of the work")
    if made.merged:
        share = 100 * made.merged_work
        what = f"{made.merged} smaller threads with {share:.2f} % of the work"
        print(f"{what} are merged by CPU and policy")


def _range(cpus: tuple[int, ...]) -> str:
    return ",".join(map(str, cpus))
