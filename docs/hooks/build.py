"""Hooks that mkdocs calls while it builds the site: generated pages, links, formulas and executed code."""

from __future__ import annotations

import json
import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from examples import with_output
from formulas import with_mathml
from gallery_pages import paper_page, papers
from latex2mathml.converter import convert
from links import Site, relinked
from math_font import math_font
from mkdocs.structure.files import File
from notebook_pages import NotebookPage, notebook_page
from reference import group_page, groups, list_of_names

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

log = logging.getLogger("mkdocs.shuffledp")  # a warning here ends a strict build

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs/gallery"
EXECUTED = ROOT / "results/notebooks"

#: Pages of the site that show a file from elsewhere in the repository.
SHOWN = {
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "results.md": "results/README.md",
    **{
        f"notebooks/{p.stem}.md": f"notebooks/{p.name}"
        for p in sorted((ROOT / "notebooks").glob("*.ipynb"))
    },
}
#: Files of the repository that the site shows as another page.
STANDS_FOR = {
    "README.md": "index.md",
    "src/shuffledp/accounting/__init__.py": "api/index.md",
    "src/shuffledp/accounting/general/__init__.py": "api/accounting_general.md",
    "src/shuffledp/populations/__init__.py": "api/populations.md",
    "src/shuffledp/protocols/__init__.py": "api/protocols.md",
    "src/shuffledp/protocols/base.py": "api/protocols.md",
    "src/shuffledp/protocols/conformance/__init__.py": "api/conformance.md",
    "src/shuffledp/tasks.py": "api/tasks.md",
}


@cache
def site() -> Site:
    """Return the repository's files that the site shows, with pictures of notebooks."""
    own = {
        p.relative_to(ROOT).as_posix(): p.relative_to(ROOT / "docs").as_posix()
        for p in (ROOT / "docs").rglob("*")
        if p.is_file() and p.suffix != ".py"
    }
    made = {f"docs/gallery/{key}": f"gallery/{key}.md" for key in papers()}
    elsewhere = {source: page for page, source in SHOWN.items()}
    drawn = {
        f"notebooks/{name}": f"notebooks/{name}"
        for page in notebook_pages().values()
        for name in page.pictures
    }
    return Site(
        {**own, **made, **elsewhere, **drawn, **STANDS_FOR},
        lambda path: (ROOT / path).exists(),
        captioned_pictures(),
    )


def captioned_pictures() -> dict[str, str]:
    """Return the pictures of the gallery, each with the place of its caption."""
    return {
        f"docs/gallery/{index.stem}/{figure['id']}.png": f"gallery/{index.stem}.md#{figure['id']}"
        for index in GALLERY.glob("*.json")
        for figure in json.loads(index.read_text(encoding="utf-8"))["figures"]
    }


@cache
def notebook_pages() -> dict[str, NotebookPage]:
    """Return the pages of the notebooks by address."""
    return {
        page: notebook_page(ROOT / source, EXECUTED / Path(source).name)
        for page, source in SHOWN.items()
        if source.endswith(".ipynb")
    }


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    contents: dict[str, str | bytes] = {
        page: made.text for page, made in notebook_pages().items()
    }
    for made in notebook_pages().values():
        contents |= {f"notebooks/{name}": data for name, data in made.pictures.items()}
    for page, source in SHOWN.items():
        if page not in contents:
            contents[page] = (ROOT / source).read_text(encoding="utf-8")
    contents |= {group.page: group_page(group) for group in groups()}
    contents |= {
        f"gallery/{key}.md": paper_page(key, title, GALLERY) for key, title in papers().items()
    }
    contents["assets/formulas.ttf"] = math_font()
    for name, content in contents.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Run the code, replace links by links to pages of the site, and insert generated parts."""
    uri = page.file.src_uri
    if page.file.generated_by and uri not in SHOWN:
        return markdown  # made for the site
    markdown = with_output(markdown, uri)
    markdown, dead = relinked(markdown, SHOWN.get(uri, f"docs/{uri}"), uri, site())
    for target in dead:
        log.warning("%s links to %s, which the repository does not have", uri, target)
    if uri == "api/index.md":  # lists pages that only the site has
        markdown += f"\n{list_of_names(groups())}\n"
    return markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace the formulas by MathML."""
    return with_mathml(html, convert)
