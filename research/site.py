# SPDX-License-Identifier: GPL-2.0-or-later
"""``make site``: every page of the repository as a site with search, in ``build/site/html``.

The navigation is that of ``docs/README.md``, then `research.latest`. A link that leads nowhere, or
to no heading, ends the build. Nothing is loaded from elsewhere when the site is read.
"""

from __future__ import annotations

import io
import logging
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from eascope.host.errors import EascopeError
from eascope.host.proc import Ending, say
from research import latest

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build" / "site"
_LINK = re.compile(r"\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")


def sources() -> list[Path]:
    """Every page, relative to the checkout; what ``research`` draws stands in ``docs``."""
    command = ["git", "ls-files", "-z", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    left_out = re.compile(r"research/(?!README)|changelog\.d/|\.github/")
    return [Path(name) for name in listed.split("\0") if name and not left_out.match(name)]


def copied(folder: Path) -> None:
    """Copy the pages, and the files that they link, to the same places below ``folder``.

    A link to a folder becomes its words.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for page in sources():

        def followed(link: re.Match[str], page: Path = page) -> str:
            path = (ROOT / page.parent / link[2]).resolve()
            if path.is_dir():
                return link[1]
            if path.suffix != ".md" and path.is_file() and path.is_relative_to(ROOT):
                _write(folder / path.relative_to(ROOT), path.read_bytes())
            return link[0]

        _write(folder / page, _LINK.sub(followed, (ROOT / page).read_text()).encode())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def navigation() -> list[dict[str, Any]]:
    """The sections of ``docs/README.md`` with the pages that they link, each once."""
    parts: list[dict[str, Any]] = [{"eascope": "README.md"}]
    seen = {"README.md"}
    text = (ROOT / "docs" / "README.md").read_text()
    for head, section in re.findall(r"^## (.*)\n([^#]*)", text, re.MULTILINE):
        items = []
        for title, target in _LINK.findall(section):
            page = (ROOT / "docs" / target).resolve().relative_to(ROOT).as_posix()
            if page.endswith(".md") and page not in seen:
                seen.add(page)
                items.append({title[:1].upper() + title[1:]: page})
        parts.append({head.partition(":")[0]: items})
    return parts


def slug(heading: str, _separator: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def build() -> Path:
    """The folder of the site.

    :raises EascopeError: MkDocs is not installed, or a link is wrong.
    """
    try:
        from mkdocs.commands.build import build as build_site
        from mkdocs.config import load_config
        from mkdocs.exceptions import Abort
    except ImportError as error:
        raise EascopeError(f"{error}: make site installs it") from error
    logging.basicConfig(level=logging.WARNING, format="  %(message)s")
    copied(SITE / "pages")
    more = latest.write(SITE / "pages")
    links = ("not_found", "absolute_links", "unrecognized_links", "anchors")
    options = {
        "site_name": "eascope",
        "docs_dir": str(SITE / "pages"),
        "site_dir": str(SITE / "html"),
        "use_directory_urls": False,
        "strict": True,
        "nav": navigation() + more,
        "validation": {
            "nav": {"omitted_files": "ignore", "not_found": "warn"},
            "links": dict.fromkeys(links, "warn"),
        },
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.indexes", "search.suggest", "content.code.copy"],
        },
        "plugins": ["search"],
        "markdown_extensions": ["tables", {"toc": {"slugify": slug, "permalink": True}}],
    }
    try:
        build_site(load_config(io.StringIO("{}"), config_file_path=str(SITE), **options))
    except Abort as error:
        raise EascopeError(f"{error}; the lines above have page and link") from error
    return SITE / "html"


def main() -> int:
    """Build the site."""
    with Ending() as ending:
        folder = build()
        say(f"  {folder.relative_to(ROOT)}/index.html: {len(sources())} pages")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
