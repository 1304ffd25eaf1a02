# SPDX-License-Identifier: GPL-2.0-or-later
"""The site: all pages, the navigation of docs/README.md, and no wrong link."""

from pathlib import Path

import pytest

from eascope.host.errors import EascopeError
from research import latest, site
from research.site import ROOT, copied, navigation, slug, sources
from tests.support.markdown import anchors, pages


def test_every_page_and_what_it_links_is_copied(tmp_path: Path) -> None:
    copied(tmp_path)
    assert {path.relative_to(tmp_path) for path in tmp_path.rglob("*.md")} == {*sources()}
    own = {page.relative_to(ROOT) for page in pages()}
    assert {
        page for page in own - {*sources()} if page.parts[0] not in (".github", "changelog.d")
    } == set()
    figure = "docs/figures/frequency-spike.svg"
    assert (tmp_path / figure).read_bytes() == (ROOT / figure).read_bytes()


def test_the_navigation_has_the_sections_of_the_documentation() -> None:
    first, *sections = navigation()
    assert first == {"eascope": "README.md"}
    titles = [title for section in sections for title in section]
    assert titles[:3] == ["Concepts", "Recipes", "Reference"]
    listed = [
        page
        for part in sections
        for items in part.values()
        for item in items
        for page in item.values()
    ]
    assert len(listed) == len({*listed}) > 40
    assert all((ROOT / page).is_file() for page in listed)


def test_anchors_are_those_of_the_pages() -> None:
    heads = "`[variant.NAME.declares]`", "What it is, and why", "C/f + M"
    assert {slug(head, "-") for head in ("[variant.NAME.declares]", *heads[1:])} == anchors(
        "\n".join(f"# {head}" for head in heads)
    )


@pytest.mark.long
@pytest.mark.parametrize("link", ["", "[x](gone.md)", "[x](README.md#gone)"])
def test_a_wrong_link_ends_the_build(
    link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mkdocs", reason="make site installs MkDocs")
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")  # as the theme sets it
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(f"# eascope\n\n{link}\n")
    (tmp_path / "docs" / "README.md").write_text("# Documentation\n")
    monkeypatch.setattr(latest, "write", lambda _: [])
    monkeypatch.setattr(site, "ROOT", tmp_path)
    monkeypatch.setattr(site, "SITE", tmp_path / "site")
    monkeypatch.setattr(site, "sources", lambda: [Path("README.md"), Path("docs/README.md")])
    if link:
        with pytest.raises(EascopeError, match="1 warnings"):
            site.build()
    else:
        assert "eascope" in (site.build() / "index.html").read_text()
