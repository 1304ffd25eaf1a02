# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.variants``: ``docs/variants``, a page per family of variants and their list.

A section of a page comes from ``kernels/variants.toml``, and what the variant showed from the
records of studies. A person writes the list (``variants.md.in``), in which ``{sum}`` are the
variants of that kernel. An entry of it is a family; its page is named after its first kernel.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from eascope.host.cache import write_atomic
from eascope.host.errors import RequestError
from eascope.kernels.naming import releases_of
from eascope.kernels.switches import switch_words
from eascope.kernels.variants import Variant, load_catalogue
from research.draw import INDEX, RECORD, Row, records_of, rows, signed, studies
from research.plan import STUDIES

PAGES = STUDIES.parent / "docs" / "variants"
_WRITTEN = Path(__file__).with_name("variants.md.in")
_URL = re.compile("https://[^ ,;]+")
_GROUP = re.compile(r"{(.*?)}")
#: An entry of the list: the head, what follows it, and the groups.
_ENTRY = re.compile(r"^\* \*\*(.*?)[.,:]?\*\*\s*(.*?)\s*({[^\n]*})$", re.MULTILINE | re.DOTALL)
_POLICY = "eascope.policy="


def group_of(variant: Variant) -> str:
    """Where a variant is listed: by its kernel, but policies of user space by themselves."""
    return "policies" if _POLICY in variant.boot else variant.kernel


def every_variant() -> dict[str, str]:
    """All pages of ``docs/variants``, by name: one for each entry of the list, and the list.

    :raises RequestError: the list lacks a group of variants, or names one that there is not.
    """
    groups: dict[str, list[Variant]] = {}
    for variant in load_catalogue().shipped():
        groups.setdefault(group_of(variant), []).append(variant)
    written = _WRITTEN.read_text()
    if {*_GROUP.findall(written)} != {*groups}:
        raise RequestError(f"{_WRITTEN.name}: groups of variants; expected each of {[*groups]}")
    entries = [(head, text, _GROUP.findall(names)) for head, text, names in _ENTRY.findall(written)]
    families = {
        names[0]: [each for name in names for each in groups[name]] for *_, names in entries
    }
    links = {each.name: f"{page}.md#{each.name}" for page, of in families.items() for each in of}
    pages, shown = {}, _shown()
    for head, text, (page, *_) in entries:
        about = [text[:1].upper() + text[1:].replace("\n  ", "\n") + "\n"] if text else []
        sections = [_section(each, links, shown.get(each.name, ())) for each in families[page]]
        pages[page] = "\n".join([f"# {head}\n", *about, *sections])
    listed = {
        name: " · ".join(f"[{variant.name}]({links[variant.name]})" for variant in group)
        for name, group in groups.items()
    }
    return {**pages, INDEX: written.format(**listed)}


def _section(variant: Variant, links: Mapping[str, str], shown: Sequence[str]) -> str:
    """A heading, what the variant is and sets, its deviations and its results."""
    first, _, rest = variant.summary.partition(" ")
    deviations = [_linked(text, links) for text in variant.deviations]
    switches = " ".join(f"`{word}`" for word in switch_words(variant.switches))
    settings = {
        "kernel": f"`{variant.kernel}` of Linux {' and '.join(releases_of(variant))}",
        "switches": switches or "none",
        "boot arguments": f"`{variant.boot}`" if variant.boot else "",
        "device tree": variant.dtb if variant.dtb != "std" else "",
        "EAS": f"{'on' if variant.declares.eas else 'off'}, governor {variant.declares.governor}",
    }
    lines = (
        f"## {variant.name}\n",
        f"{first if first in links else first[:1].upper() + first[1:]} {rest}.",
        f"**Source:** {_URL.sub(_as_link, variant.source)}.",
        f"**Set:** {'; '.join(f'{name} {value}' for name, value in settings.items() if value)}.",
        _listed("Deviations", deviations or ["none"]),
        _listed("Results", shown or ["not in any study"]),
    )
    return "\n".join(lines).rstrip() + "\n"


def _listed(title: str, entries: Sequence[str]) -> str:
    """``entries`` after their title, as a list where there are several."""
    if entries[1:]:
        return "\n".join([f"**{title}:**\n", *(f"* {entry}" for entry in entries)]) + "\n"
    return f"**{title}:** {entries[0]}."


def _as_link(found: re.Match[str]) -> str:
    return f"<{found[0]}>"


def _linked(deviation: str, links: Mapping[str, str]) -> str:
    """A deviation; ``as NAME`` leads to NAME."""
    found = re.match(r"as ([\w-]+)", deviation)
    if not found or found[1] not in links:
        return deviation
    return f"as [{found[1]}]({links[found[1]]}){deviation[found.end() :]}"


def _shown() -> dict[str, list[str]]:
    """What each variant showed, by study."""
    told: dict[str, list[str]] = {}
    for study in studies():
        if not (STUDIES / study / RECORD).is_file():
            continue
        record = records_of(STUDIES / study)["record"]
        cells, verdicts = record.get("cells", []), record.get("verdicts", [])
        for name in dict.fromkeys(cell["variant"] for cell in cells):
            variant, _, release = name.partition("@")
            words = _told(rows(cells, variant=name), rows(verdicts, variant=name))
            where = f"[{study}](../results/{study}.md){release and f' on Linux {release}'}"
            told.setdefault(variant, []).append(f"{where}: {'; '.join(words)}")
    return told


def _told(cells: Iterable[Row], verdicts: Iterable[Row]) -> Iterator[str]:
    """The change of energy, and how the statements about the variant ended."""
    compared = [cell for cell in cells if cell["change"] is not None]
    if compared:
        changes = [cell["change"] for cell in compared]
        ends = dict.fromkeys(f"{signed(end)} %" for end in (min(changes), max(changes)))
        baselines = dict.fromkeys(cell["baseline"] for cell in compared)
        count = f"{len(compared)} cell{'s'[: len(compared) > 1]}"
        yield f"energy {' to '.join(ends)} compared with {', '.join(baselines)} ({count})"
    else:
        yield "the baseline"
    counts = Counter(verdict["verdict"] for verdict in verdicts)
    if counts:
        yield "expectations: " + ", ".join(
            f"{count} {name}" for name, count in counts.most_common()
        )


def main() -> None:
    """Write every page, and remove those of variants that are gone."""
    pages = every_variant()
    PAGES.mkdir(exist_ok=True)
    for name, text in pages.items():
        write_atomic(PAGES / f"{name}.md", text.encode())
    for path in PAGES.glob("*.md"):
        if path.stem not in pages:
            path.unlink()


if __name__ == "__main__":
    main()
