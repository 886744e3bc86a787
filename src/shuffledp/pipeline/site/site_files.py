"""Files of the site, which the workflow knows before any result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shuffledp.identities import identities

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

INDEX = "index.html"
PAPERS = "pages/papers.html"
PROTOCOLS = "pages/protocols.html"
SELECTOR = "pages/choose.html"
#: Key of the pictures over all papers, which have a page like a paper.
OVERALL = "overall"
CLAIMS = "pages/claims.html"
AUDIT = "pages/audit.html"
ERRATA = "pages/errata.html"
OPEN_QUESTIONS = "pages/open_questions.html"
CHECKSUM = "site.sha256"
#: Folders with only files of the site: an unlisted file in them is from an earlier site.
FOLDERS = ("pages", "site")

STYLE = "site/style.css"
SCRIPT = "site/site.js"
SELECTOR_DATA = "site/selector_data.js"
SELECTOR_SCRIPT = "site/selector.js"
EXPLORE = "site/explore.js"
#: Library for interactive charts; a page loads it when a reader opens such a chart.
LIBRARY = ("site/bokeh.min.js", "site/bokeh-api.min.js")


def paper_page(paper: str) -> str:
    """Return the page of a paper."""
    return f"pages/{paper}.html"


def protocol_page(protocol: str) -> str:
    """Return the page of a protocol."""
    return f"pages/protocols/{protocol}.html"


def with_page(ranked: Iterable[str]) -> tuple[str, ...]:
    """Return the protocols that have a page, sorted: those of the library and of the ranking."""
    return tuple(sorted({*ranked, *(name.rpartition(".")[2] for name in identities())}))


def chart_data(paper: str) -> str:
    """Return the script with the numbers of a paper's charts; a page opened as a file cannot read other files."""
    return f"site/charts/{paper}.js"


def outputs(papers: Sequence[str], protocols: Sequence[str] = ()) -> tuple[str, ...]:
    """Return every file of the site, relative to the folder of the results, with the checksum list last."""
    papers = [*papers, OVERALL]
    names = [
        INDEX,
        SELECTOR,
        PROTOCOLS,
        *(protocol_page(protocol) for protocol in with_page(protocols)),
        PAPERS,
        *(paper_page(paper) for paper in papers),
        CLAIMS,
        AUDIT,
        ERRATA,
        OPEN_QUESTIONS,
        *(chart_data(paper) for paper in papers),
        STYLE,
        SCRIPT,
        SELECTOR_DATA,
        SELECTOR_SCRIPT,
        EXPLORE,
        *LIBRARY,
        CHECKSUM,
    ]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"Each page has one place, but these are named twice: {', '.join(twice)}.")
    return tuple(names)
