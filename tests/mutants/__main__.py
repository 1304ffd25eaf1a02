# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m tests.mutants QUEUE``: break a line that a queue adds, and see which check says so.

One fault at a time is made in the patched source, compiled, and given to the guest checks that
execute what it changes, first to those that kill in the least time. Killed by a failed assertion
or a kernel's warning of a check that passes on the whole kernel; the limit of simulated time is
named as such. A check that takes too long, or that fails in another way, kills nothing. Everything
is noted as it is found: killed anywhere, the same command continues.
"""

import argparse
import json
import os
import shutil
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from eascope.host.cache import write_atomic
from eascope.host.errors import RequestError
from eascope.host.proc import Ending, duration, say
from eascope.host.scratch import locked
from eascope.kernels.build import KernelArtefact, kernel
from eascope.kernels.naming import kernel_named, kernel_names
from eascope.kernels.releases import DEFAULT
from eascope.kernels.source import Source, find_source
from tests.mutants import checks, code
from tests.mutants.checks import Check, Reach, cheapest_first
from tests.mutants.plugin import KILLS
from tests.mutants.source import Mutant, drawn, mutants_of, queue_lines

EQUIVALENT = Path(__file__).with_name("equivalent.toml")


@dataclass
class Found:
    """What is known of a mutant.

    :param built: ``equal``, ``not compiled``, or the instructions that it changes.
    :param ends: of its checks, by their keys: the name, the end, the reason.
    """

    built: str | code.Changed | None = None
    ends: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    @property
    def killer(self) -> tuple[str, str, str] | None:
        """The check that kills it."""
        return next((end for end in self.ends.values() if end[1] in KILLS), None)

    @property
    def counts(self) -> bool:
        """Whether it is a mutant."""
        return not isinstance(self.built, str)


class Journal:
    """A file of lines, each of which says one thing of one mutant of a kernel."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, Found] = defaultdict(Found)
        text = path.read_text() if path.is_file() else ""
        whole = text[: text.rfind("\n") + 1]
        for line in whole.splitlines():
            self._take(json.loads(line))
        if whole != text:  # a process was killed in its last line
            write_atomic(path, whole.encode())

    def _take(self, line: Mapping[str, Any]) -> None:
        found = self.found[line["mutant"]]
        if "built" in line:
            found.built = line["built"]
        else:
            found.ends[line["key"]] = (line["check"], line["end"], line["says"])

    def odds(self, check: Check) -> float:
        """That ``check`` kills a mutant; one in ten where nothing is known."""
        ends = [end for found in self.found.values() for end in found.ends.values()]
        asked = [end for name, end, _ in ends if name == check.name]
        return (1 + sum(end in KILLS for end in asked)) / (10 + len(asked))

    def note(self, mutant: Mutant, **what: Any) -> None:
        """Write a line, and know it."""
        line = {"mutant": mutant.id, **what}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as lines:
            lines.write(json.dumps(line) + "\n")
        self._take(line)


class Maker:
    """Builds the mutants of a kernel and asks its checks; the part that tests replace."""

    def __init__(self, name: str, artefact: KernelArtefact, source: Source, work: Path) -> None:
        self.name, self.artefact, self.source, self.work = name, artefact, source, work
        code.withdraw(artefact)
        self.reach = Reach(artefact, work / "cover")
        self.checks: list[Check] = []

    def cover(self) -> None:
        """Run every check on the whole kernel, unless that is known."""
        names = checks.names_of(self.name, self.work / "collect")
        missing = [name for name in names if not self.reach.known(name)]
        for number, check in enumerate(self.reach.cover(missing) if missing else (), start=1):
            say(
                f"  what checks execute, {number} of {len(missing)}: {check.name}: {check.end}, "
                f"{duration(check.cpu_s)}"
            )
        found = [known for name in names if (known := self.reach.known(name))]
        self.checks = [check for check in found if check.asked]
        for check in found:
            if not check.asked:
                why = check.end if check.end != "passed" else f"too slow ({duration(check.cpu_s)})"
                say(f"  not asked: {check.name}: {why}")

    def build(self, mutant: Mutant) -> str | code.Changed:
        """Build it, into the kernel's place."""
        folder = self.work / "build"
        shutil.rmtree(folder, ignore_errors=True)
        return code.build_mutant(self.name, self.artefact, mutant, self.source, folder)

    def reaching(self, changed: code.Changed) -> list[Check]:
        """The checks that execute what is changed."""
        return [check for check in self.checks if self.reach.reaches(check, changed)]

    def ask(self, asked: Sequence[Check]) -> Iterator[Mapping[str, str]]:
        """How they end on the mutant that was built last."""
        return checks.ask(asked, self.work / "checks")


def judge(mutant: Mutant, journal: Journal, maker: Maker) -> str:
    """Find out what is not yet known of ``mutant``; its verdict in words."""
    found = journal.found[mutant.id]
    built = False
    if found.built is None:
        journal.note(mutant, built=maker.build(mutant))
        built = True
    if isinstance(found.built, str):
        return found.built
    assert found.built is not None
    asked = maker.reaching(found.built)
    # Not whom the host was too busy for.
    known = {key for key, (_, end, _) in found.ends.items() if end != "too slow"}
    left = [check for check in asked if check.key not in known]
    if left and not found.killer:
        if not built:
            maker.build(mutant)
        keys = {check.name: check.key for check in left}
        for line in maker.ask(cheapest_first(left, journal.odds)):
            kept = {name: line[name] for name in ("check", "end", "says")}
            journal.note(mutant, key=keys[line["check"]], **kept)
    if found.killer:
        name, end, says = found.killer
        return f"killed by {name}: {end}: {says}"
    return _survives(found)


def _survives(found: Found) -> str:
    """How many checks have let it pass, and which have not answered."""
    others = Counter(end for _, end, _ in found.ends.values() if end != "passed")
    also = "".join(f", of which {count} {end}" for end, count in sorted(others.items()))
    return f"survives the {len(found.ends)} checks that reach it{also}"


def marked(path: Path) -> dict[str, dict[str, str]]:
    """The mutants that are the kernel in other words, by their ids.

    :raises RequestError: an entry without a reason.
    """
    entries: dict[str, dict[str, str]] = tomllib.loads(path.read_text())
    for name, entry in entries.items():
        if set(entry) != {"file", "line", "fault", "reason"} or not entry["reason"].strip():
            raise RequestError(f"{path.name}: {name}: allowed: file, line, fault and a reason")
    return entries


def shown(mutant: Mutant) -> str:
    """A mutant for people."""
    signs = (("-", mutant.old), ("+", mutant.new))
    change = "".join(f"    {sign}{line}\n" for sign, part in signs for line in part.split("\n"))
    where = f"{mutant.edit.file}:{mutant.line}: {mutant.operator} ({mutant.id})"
    return f'{where}\n{change}    {mutant.name}: "{mutant.sentence}"\n'


def report(tried: Sequence[Mutant], found: Mapping[str, Found], same: int) -> str:
    """The table by operator, the survivors, and how many were killed."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    survivors = []
    for mutant in tried:
        known = found[mutant.id]
        if not known.counts:
            rows[mutant.operator][str(known.built)] += 1
        elif known.killer:
            rows[mutant.operator][known.killer[1]] += 1
        else:
            rows[mutant.operator]["survives"] += 1
            survivors.append(f"{_survives(known)}: {shown(mutant)}")
    words = [*KILLS, "survives", "equal", "not compiled"]
    table = ["| fault | " + " | ".join(words) + " |", "|---|" + "---|" * len(words)]
    for operator, row in sorted(rows.items()):
        table.append(f"| {operator} | " + " | ".join(str(row[word]) for word in words) + " |")
    total = sum(rows.values(), Counter())
    killed = sum(total[word] for word in KILLS)
    counts = (
        f"{total['equal']} equal, {total['not compiled']} not compiled, "
        f"{same} marked as equivalent, {total['simulated-time limit']} killed by the "
        "simulated-time limit"
    )
    last = f"{killed} of {killed + total['survives']} killed"
    return "\n".join([*table, "", *survivors, counts, last])


def run(
    order: Sequence[Mutant], most: int, journal: Journal, maker: Maker, tell: Callable[[str], None]
) -> tuple[list[Mutant], int]:
    """Try mutants of ``order`` until ``most`` of them count.

    :returns: those that were tried, and how many are marked as equivalent.
    """
    equivalent = marked(EQUIVALENT)
    tried: list[Mutant] = []
    same = counted = fresh = 0
    began = time.monotonic()
    for mutant in order:
        if counted >= most:
            break
        if mutant.id in equivalent:
            same += 1
            continue
        before = len(journal.found[mutant.id].ends), journal.found[mutant.id].built
        verdict = judge(mutant, journal, maker)
        tried.append(mutant)
        counted += journal.found[mutant.id].counts
        fresh += before != (len(journal.found[mutant.id].ends), journal.found[mutant.id].built)
        left = (time.monotonic() - began) / max(1, fresh) * (most - counted)
        about = f", about {duration(left)} left" if fresh and counted < most else ""
        where = f"{mutant.edit.file}:{mutant.line} {mutant.operator}"
        tell(f"  {counted} of {most}: {where}: {verdict}{about}")
    return tried, same


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants",
        description=(__doc__ or "").partition("\n\n")[2],
        epilog="example: python -m tests.mutants latnice --most 20 --seed 7",
    )
    parser.add_argument("queue", help="a series of kernels/series, such as latnice or latnice@7.3")
    parser.add_argument(
        "--patch", type=int, metavar="N", help="of this patch alone (0: of its own files)"
    )
    parser.add_argument("--most", type=int, metavar="N", help="mutants that count (default: all)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the lot (default: 0)")
    parser.add_argument(
        "--exceptions", action="store_true", help="only of conditions next to an exception"
    )
    parser.add_argument("--list", action="store_true", help="print them and try none")
    given = parser.parse_args(arguments)
    with Ending() as ending:
        spec = kernel_named(given.queue)
        if spec.series[-1] != given.queue.partition("@")[0]:
            raise RequestError(f"series {given.queue!r}: allowed: {', '.join(kernel_names())}")
        source = find_source((), spec.release or DEFAULT)
        lines = queue_lines(spec, source)
        patches = {line.patch for _, of in lines.values() for line in of.values()}
        if given.patch is not None and given.patch not in patches:
            raise RequestError(f"--patch {given.patch}: allowed: {sorted(patches)}")
        found = [each for name, (text, of) in lines.items() for each in mutants_of(name, text, of)]
        order = drawn(found, given.seed, patch=given.patch, exceptions=given.exceptions)
        say(f"  {len(order)} mutants of {spec.name}")
        if given.list:
            print("\n".join(shown(mutant) for mutant in order[: given.most]))
            return 0
        artefact = kernel(spec.name)
        own = code.own_cache()
        with patch.dict(os.environ, EASCOPE_CACHE=str(own)), locked(own.parent / ".lock"):
            work = own.parent / "work"
            journal = Journal(own.parent / "journal" / f"{artefact.image.parent.name}.jsonl")
            maker = Maker(spec.name, artefact, source, work)
            try:
                maker.cover()
                tried, same = run(
                    order, min(given.most or len(order), len(order)), journal, maker, say
                )
            finally:
                code.withdraw(artefact)
        print(report(tried, journal.found, same))
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
