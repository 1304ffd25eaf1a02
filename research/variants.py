# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.variants``: ``docs/variants``, a page per family of variants and their list.

A page comes from ``kernels/variants.toml``, and what its variants showed from the records of
studies. A person writes the list (``variants.md.in``), in which ``{sum}`` are the
variants of that kernel. An entry of it is a family; its page is named after its first kernel.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from eascope.host.cache import write_atomic
from eascope.host.errors import RequestError
from eascope.host.table import Table
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
_AS = re.compile(r"as ([\w-]+)")
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
    links = {
        each.name: f"{page}.md" + (f"#{each.name}" if _deviates(each) else "")
        for page, of in families.items()
        for each in of
    }
    pages, shown = {}, _shown()
    for head, text, (page, *_) in entries:
        about = [text[:1].upper() + text[1:].replace("\n  ", "\n") + "\n"] if text else []
        pages[page] = "\n".join([f"# {head}\n", *about, *_family(families[page], links, shown)])
    listed = {
        name: " · ".join(f"[{variant.name}]({links[variant.name]})" for variant in group)
        for name, group in groups.items()
    }
    return {**pages, INDEX: written.format(**listed)}


def _deviates(variant: Variant) -> bool:
    """True if its deviations need a section: more than those of another variant."""
    return bool(variant.deviations[1:]) or not all(map(_AS.match, variant.deviations))


def _family(
    variants: Sequence[Variant], links: Mapping[str, str], shown: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """What all of them have, a row for each, and the deviations of those that have their own."""
    usual = [
        Counter(said).most_common(1)[0][0] for said in zip(*map(_state, variants), strict=True)
    ]
    common = [word for word in _words(variants[0]) if all(word in _words(own) for own in variants)]
    source = Counter(variant.source for variant in variants).most_common(1)[0][0]
    yield f"Unless a row has others: {_URL.sub(_as_link, '; '.join([source, *usual]))}.\n"
    if common:
        yield f"All set {', '.join(common)}.\n"
    rows = []
    for variant in variants:
        name, first, rest = variant.name, *variant.summary.split(" ", 1)
        own = _deviates(variant)
        of = [f"{first if first.rstrip(';') in links else first[:1].upper() + first[1:]} {rest}."]
        of += [f"Source: {_URL.sub(_as_link, variant.source)}."] if variant.source != source else []
        of += [] if own else [f"Deviations: {_linked(text, links)}." for text in variant.deviations]
        more = [word for word in _state(variant) if word not in usual]
        more += [word for word in _words(variant) if word not in common]
        row = (f"[{name}](#{name})" if own else name, " ".join(of), ", ".join(more))
        rows.append((*row, "<br>".join(shown.get(name, ["-"]))))
    heads = ("variant", "what it is", "sets", "energy in the studies")
    yield Table.of(heads, rows, left=4).markdown() + "\n"
    for variant in filter(_deviates, variants):
        entries = (f"* {_linked(text, links)}" for text in variant.deviations)
        yield "\n".join([f"## {variant.name}\n", *entries]) + "\n"


def _state(variant: Variant) -> tuple[str, str, str]:
    return (
        f"kernel `{variant.kernel}` of Linux {' and '.join(releases_of(variant))}",
        f"EAS {'on' if variant.declares.eas else 'off'}",
        f"governor {variant.declares.governor}",
    )


def _words(variant: Variant) -> list[str]:
    """The device tree, the boot arguments and the switches that a variant sets."""
    tree = [f"device tree {variant.dtb}"] if variant.dtb != "std" else []
    return [*tree, *(f"`{it}`" for it in (*variant.boot.split(), *switch_words(variant.switches)))]


def _as_link(found: re.Match[str]) -> str:
    return f"<{found[0]}>"


def _linked(deviation: str, links: Mapping[str, str]) -> str:
    """A deviation; ``as NAME`` leads to NAME."""
    found = _AS.match(deviation)
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
        yield f"{' to '.join(ends)} compared with {', '.join(baselines)} ({count})"
    else:
        yield "the baseline"
    counts = Counter(verdict["verdict"] for verdict in verdicts)
    if counts:
        yield f"claims: {', '.join(f'{name} {count}' for name, count in counts.most_common())}"


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
