# SPDX-License-Identifier: GPL-2.0-or-later
"""``make results``: run what the results pages need and write them; asked again, it goes on."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.scenario import load_scenario
from host.errors import unknown
from host.proc import Ending, say
from studies.pages.markdown import page_text
from studies.pages.pages import only, pages
from studies.pages.run import compare
from studies.wakeup_cost import write_cost

FOLDER = Path(__file__).resolve().parent.parent.parent / "docs" / "results"
COST = "wakeup-cost"
#: Start offsets where a verdict is given.
SEEDS = 10


def main(arguments: list[str] | None = None) -> int:
    """Write the named pages, by default all."""
    known = {page.name: page for page in pages()}
    parser = argparse.ArgumentParser(
        prog="python -m studies.pages",
        description=main.__doc__,
        epilog="example: python -m studies.pages uclamp --seeds 3",
    )
    parser.add_argument("page", nargs="*", help=", ".join([*known, COST]))
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"start offsets ({SEEDS})")
    parser.add_argument("--full", action="store_true", help="the scenarios' full durations")
    parser.add_argument("--variants", help="only these of a page's, with commas between (all)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the pages go")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        wanted = options.page or [*known, COST]
        for name in wanted:
            if name not in (*known, COST):
                raise unknown("page", name, [*known, COST])
        chosen = [known[name] for name in wanted if name != COST]
        if options.variants:
            chosen = [only(page, options.variants.split(",")) for page in chosen]
            chosen = [page for page in chosen if page.groups]
        found = compare(chosen, options.seeds, options.full) if chosen else {}
        options.folder.mkdir(parents=True, exist_ok=True)
        for page in chosen:
            parts = [
                (group, load_scenario(group.scenario, found[page.name, group].platform))
                for group in page.groups
            ]
            rows = [(group, one, found[page.name, group]) for group, one in parts]
            path = options.folder / f"{page.name}.md"
            path.write_text(page_text(page, rows, "make results"))
            say(f"  {path}")
        if COST in wanted:
            of = options.variants.split(",") if options.variants else None
            say(f"  {write_cost(options.folder / f'{COST}.md', of)}")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
