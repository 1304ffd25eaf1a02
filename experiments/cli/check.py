# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope check``: a posted series against its base, in one table for a reply."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from eascope.experiments.arguments import count
from eascope.experiments.cli import b4, compare
from eascope.experiments.cli.options import Parser
from eascope.experiments.cli.output import print_json, shown
from eascope.experiments.cli.request import request_of
from eascope.host.errors import RequestError, unknown

if TYPE_CHECKING:
    from eascope.analysis.reply import Outcome
    from eascope.experiments.runs.request import Resolved
    from eascope.experiments.sweeps.resolver import KeptFiles
    from eascope.kernels.posted import Posted
    from eascope.kernels.whole import WholeTree

SUMMARY = "check a posted series against its base: one table for a reply on the list"
EXAMPLE = "eascope check v2.mbx"

PLATFORMS = "juno-r2,pixel6"
SEEDS = 20
#: Characters of a variant's name that is made of a subject.
NAME_LENGTH = 32
WORSE = "worse"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The series, what it is measured with, and how b4 asks."""
    parser.add_argument(
        "series",
        nargs="?",
        metavar="WHAT",
        help="directory of patches; an mbox or a patch; A..B or HEAD~3.. in a git tree of Linux; "
        "a message-id, fetched by b4; or a git tree of Linux, against its newest tag",
    )
    parser.add_argument(
        "--tree",
        default=".",
        metavar="DIR",
        help="git tree of Linux with the commits A..B, and with the tag that a base-commit is "
        "(default: the current directory)",
    )
    parser.add_argument(
        "--scenarios",
        metavar="S,...",
        help="scenarios (default: those for what the series touches)",
    )
    parser.add_argument(
        "--platforms", default=PLATFORMS, metavar="P,...", help=f"platforms (default {PLATFORMS})"
    )
    parser.add_argument(
        "--seeds",
        type=count,
        default=SEEDS,
        metavar="N",
        help=f"runs per variant, with seeds 0 to N-1 (default {SEEDS}, as a verdict needs)",
    )
    parser.add_argument(
        "--name", metavar="X", help="name of the variant (default: from the first subject)"
    )
    parser.add_argument(
        "--fail-on", metavar=WORSE, help=f"{WORSE}: exit code 1 if any verdict is {WORSE}"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print base, scenarios, and what would be built and run; write nothing",
    )
    parser.add_argument(
        "--b4",
        nargs="?",
        const="",
        metavar="FORM",
        help=f"read the series from stdin and answer as b4's check commands want it: {b4.FORMS[0]} "
        f"(default), JSON for b4.review-series-check-cmd; or {b4.FORMS[1]}, lines for "
        "b4.prep-perpatch-check-cmd",
    )


@dataclass(frozen=True)
class Checked:
    """A check that was done.

    :param facts: of the plan, as JSON has them.
    :param diff: the first lines of ``eascope diff`` for the largest change, if any is seen.
    """

    facts: dict[str, Any]
    outcomes: Sequence[Outcome]
    reports: Sequence[Path]
    diff: Sequence[str]

    @property
    def worse(self) -> bool:
        """True if any verdict is that."""
        return any(outcome.verdict == WORSE for outcome in self.outcomes)

    @property
    def text(self) -> str:
        """The table, below a line that says of what it is."""
        from eascope.analysis.reply import table

        linux = self.outcomes[0].comparison.cell.kernel.upstream
        count = f"{_patches(self.facts)}, {self.facts['seeds']} seeds"
        head = f"Simulated: Linux {linux} without and with the series ({count})."
        return f"{head}\n\n{table(self.outcomes)}"


def run(options: argparse.Namespace) -> int:
    """Print the plan, execute what is missing, print the table.

    :raises EascopeError: the request is wrong, or a run failed.
    """
    if options.fail_on not in (None, WORSE):
        raise unknown("--fail-on", options.fail_on, [WORSE])
    if options.b4 is not None:
        return b4.answer(options, _entry)
    done = checked(options, (lambda _: None) if options.json else _print_plan)
    if options.json and options.dry_run:
        print_json(done.facts)
    elif options.dry_run:
        print("dry run: nothing written")
    elif options.json:
        reports = [{"report": str(report)} for report in done.reports]
        outcomes = [each.record() | at for each, at in zip(done.outcomes, reports, strict=True)]
        print_json(done.facts | {"outcomes": outcomes, "table": done.text, "diff": [*done.diff]})
    else:
        print(f"\n{done.text}\n")
        print("\n".join(f"report: {shown(report)}" for report in done.reports))
        print("\n".join(["", *done.diff]) if done.diff else "", end="\n" * bool(done.diff))
    return int(options.fail_on == WORSE and done.worse)


def checked(options: argparse.Namespace, show: Callable[[dict[str, Any]], None]) -> Checked:
    """Plan, and do it; a dry run has no outcome.

    :param show: what is done with the facts of the plan first.
    :raises EascopeError: the request is wrong, or a run failed.
    """
    from eascope.experiments.sweeps.resolver import KeptFiles
    from eascope.host.dry import nothing_built
    from eascope.host.writing import writing_into

    reader = KeptFiles()
    with TemporaryDirectory(prefix="eascope-") as folder:
        place = Path(folder)
        with nothing_built() if options.dry_run else nullcontext(), writing_into(place):
            facts, commands = _asked(options, place, reader)
            with nullcontext() if options.dry_run else nothing_built():
                facts |= _planned(commands, reader)
        show(facts)
        return Checked(facts, (), (), ()) if options.dry_run else _done(facts, commands)


def _asked(
    options: argparse.Namespace, folder: Path, reader: KeptFiles
) -> tuple[dict[str, Any], list[argparse.Namespace]]:
    """What is asked for: as facts, and as options of ``eascope compare``.

    :param folder: an empty one, for the patches.
    """
    from eascope.experiments.runs.request import Request, resolve
    from eascope.experiments.topics import scenarios_for, touched
    from eascope.kernels.posted import ALLOWED, posted
    from eascope.kernels.whole import WholeTree, whole_tree

    if options.series is None:
        raise RequestError(f"check: WHAT is missing; expected {ALLOWED}")
    tree = Path(options.tree).expanduser()
    series = whole_tree(options.series) or posted(options.series, tree)
    topics = {} if options.scenarios else touched(series.patches.values())
    scenarios = _split(options.scenarios) if options.scenarios else scenarios_for(topics)
    platforms = _split(options.platforms)
    pairs = [(scenario, platform) for scenario in scenarios for platform in platforms]
    for scenario, platform in pairs:  # a wrong name is said before anything is tried
        resolve(Request(platform, "mainline", scenario), reader)
    if isinstance(series, WholeTree):
        facts, words = _of_tree(series, options.name)
    else:
        facts, words = _of_series(series, options.name, tree, folder)
    facts |= {
        "touches": topics,
        "scenarios": scenarios,
        "platforms": platforms,
        "seeds": options.seeds,
    }
    parser = Parser()
    compare.add_options(parser)
    words = [facts["base"], facts["variant"], f"--seeds={options.seeds}", *words]
    return facts, [
        parser.parse_args([*words, f"--scenario={scenario}", f"--platform={platform}"])
        for scenario, platform in pairs
    ]


def _of_series(
    series: Posted, name: str | None, tree: Path, folder: Path
) -> tuple[dict[str, Any], list[str]]:
    """Facts of a series, and the options that name its patches, written into ``folder``."""
    from eascope.kernels.own import read_own
    from eascope.kernels.posted import base_for

    name = name or _named(next(iter(series.patches)).removesuffix(".patch"), "series")
    files = []
    built = series.built()
    for file, content in {**built, "config": series.config.encode()}.items():
        if content:
            (folder / file).write_bytes(content)
            files.append(f"{name}={folder / file}")
    base = base_for(read_own([], files), name, series.base, tree)
    facts = {
        "base": base.named("mainline"),
        "base_why": base.words,
        "variant": base.named(name),
        "patches": [*built],
        "not_built": [name for name in series.patches if name not in built],
    }
    return facts, [f"--patch={file}" for file in files]


def _of_tree(tree: WholeTree, name: str | None) -> tuple[dict[str, Any], list[str]]:
    """Facts of a tree, and the options that name it and its tag."""
    from eascope.kernels.variants import load_catalogue

    if not name:
        name, known = _named(tree.path.name, "tree"), load_catalogue()
        if name in known.variants or name in known.kernels:
            name += "-tree"
    facts = {
        "base": f"{name}-base",
        "base_why": f"{tree.tag} of {shown(tree.path)}, the newest tag there",
        "variant": name,
        "patches": [],
        "not_built": [],
        "options": [*tree.otherwise],
    }
    places = {name: f"{tree.path}", f"{name}-base": f"{tree.path}@{tree.tag}"}
    return facts, [f"--kernel={variant}={place}" for variant, place in places.items()]


def _named(text: str, usual: str) -> str:
    """A variant's name from a subject or a folder."""
    stem = re.sub(r"[^a-z0-9]+", "-", re.sub(r"^[^a-z]+", "", text.lower()))
    return stem[:NAME_LENGTH].strip("-") or usual


def _split(text: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _planned(commands: Iterable[argparse.Namespace], reader: KeptFiles) -> dict[str, Any]:
    """As facts, what would be built and run for ``commands``, and the time that this takes."""
    from eascope.experiments.runs.cell import missing
    from eascope.experiments.runs.pool import Work, seconds_for
    from eascope.experiments.runs.request import resolve
    from eascope.power.given import DEFAULT_MODEL

    works: list[Work] = []
    different: dict[object, Resolved] = {}
    for command in commands:
        for variant in command.variants:
            names = resolve(request_of(command, variant, 0, DEFAULT_MODEL), reader)
            different[names.kernel, names.scenario.image] = names
            works += [Work.of_names(names)] * command.seeds
    lacking = {part.label: part.estimate for names in different.values() for part in missing(names)}
    return {
        "to_build": [{"what": name, "estimate": text} for name, text in lacking.items()],
        "to_run": len(works),
        "run_s": round(seconds_for(works), 1),
    }


def _patches(facts: dict[str, Any]) -> str:
    count = len(facts["patches"])
    if not count:
        return "a tree"
    return f"{count} patch{'es' if count > 1 else ''}"


def _print_plan(facts: dict[str, Any]) -> None:
    from eascope.host.proc import duration

    print(f"base: {facts['base_why']}")
    left = len(facts["not_built"])
    more = f"; left out: {left} of files that our builds do not read" if left else ""
    print(f"series: {_patches(facts)}, as {facts['variant']}{more}")
    if others := facts.get("options", []):
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        print(f"set otherwise than in its .config: {'; '.join(others[:3])}{more}")
    for topic, paths in facts["touches"].items():
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        print(f"touches {topic}: {', '.join(paths[:3])}{more}")
    print(f"scenarios: {', '.join(facts['scenarios'])}")
    print(f"platforms: {', '.join(facts['platforms'])}; {facts['seeds']} seeds")
    for part in facts["to_build"]:
        print(f"to build: {part['what']}{part['estimate'] and ' (' + part['estimate'] + ')'}")
    time = duration(facts["run_s"])
    print(f"to run: at most {facts['to_run']}, about {time}; existing runs are reused", flush=True)


def _done(facts: dict[str, Any], commands: Iterable[argparse.Namespace]) -> Checked:
    """Execute what is missing; write the reports."""
    from eascope.analysis.reply import Outcome
    from eascope.experiments.runs.comparisons import comparison_folder

    every = [compare.asked_of(command) for command in commands]
    answered = compare.answers(every)
    reports = [
        compare.draw(comparison_folder(compare.words(asked), result.digest), result).report
        for asked, result in zip(every, answered, strict=True)
    ]
    outcomes = [Outcome(each.result) for each in answered]
    return Checked(facts, outcomes, reports, [*_first_lines(outcomes)])


def _first_lines(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Of ``eascope diff`` for the largest change in energy, with seed 0."""
    from eascope.analysis.run_diff import RunDiff
    from eascope.analysis.run_diff_text import text

    seen = [outcome for outcome in outcomes if outcome.energy.seen]
    if not seen:
        return
    largest = max(seen, key=lambda outcome: outcome.energy.size)
    runs = [runs[0] for runs in largest.comparison.variants.values()]
    command = f"eascope diff {' '.join(run.run.name[:12] for run in runs)}"
    lines = text(RunDiff.of(largest.comparison.platform, *runs), command).splitlines()
    yield f"largest change: {largest.where}, seed {runs[0].cell.seed}"
    wanted = takewhile(lambda line: not line.startswith(("One seed", "repeat:")), lines)
    yield from filter(None, wanted)
    yield f"more: {command}"


def _entry(options: argparse.Namespace) -> b4.Entry:
    """The answer for b4: a worse verdict is a warning or, with ``--fail-on``, a failure."""
    from eascope.analysis.reply import MIXED

    done = checked(options, lambda _: None)
    verdicts = [outcome.verdict for outcome in done.outcomes]
    counted = [f"{verdicts.count(word)} {word}" for word in dict.fromkeys(verdicts)]
    status = b4.WARN if done.worse or MIXED in verdicts else b4.PASS
    status = b4.FAIL if done.worse and options.fail_on else status
    largest = max(done.outcomes, key=lambda outcome: outcome.energy.size)
    report = done.reports[done.outcomes.index(largest)].absolute().as_uri()
    summary = f"{', '.join(counted)} ({done.facts['base']})"
    return b4.entry(status, summary, "\n".join([done.text, "", *done.diff]), report)
