"""Checks of the built documentation: ``make -C tools docs-check``. They are outside of tests/, which do not build it.

Links and loaded files of every page are checked; some pages are opened in a browser, as files.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from math_font import NAME, math_font
from reference import groups

from browser import one_browser as one_browser, open_page, requires_browser

SITE = Path(__file__).resolve().parents[2] / "results/docs"
PAGES = sorted(SITE.rglob("*.html"))
SIZES = [(1400, 900), (390, 844)]
#: Pages of every kind.
OPENED = [
    "index.html",
    "quickstart.html",
    "trust.html",
    "guides/experiment.html",
    "theory/clones.html",
    "api/accounting_general.html",
    "api/index.html",
    "gallery/index.html",
    "gallery/random_population.html",
    "break_it.html",
    "compare.html",
    "guides/client.html",
    "random_population.html",
    "notebooks/tour.html",
]


class Reader(HTMLParser):
    """Links, loaded files and anchors of a page."""

    LOADS = ("script", "img", "link", "iframe", "source", "video", "audio", "object", "embed")

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.places: set[str] = set()
        self.marks: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        if found.get("class") == "arithmatex":
            self.marks.add("arithmatex")
        address = found.get("href") or found.get("src") or found.get("data")
        if address is not None:
            # The address of the page itself is no file that is loaded.
            kind = (
                self.loads
                if tag in self.LOADS and found.get("rel") != "canonical"
                else self.links
            )
            kind.add(address)


@cache
def read(page: Path) -> Reader:
    reader = Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def name_of(page: Path) -> str:
    return page.relative_to(SITE).as_posix()


def test_the_site_is_built():
    assert {*OPENED} <= {name_of(page) for page in PAGES}, "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page):
    dead = []
    for address in read(page).links | read(page).loads:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        found = target.is_relative_to(SITE) and target.is_file()
        if found and parts.fragment and target.suffix == ".html":
            found = unquote(parts.fragment) in read(target).places
        dead += [] if found else [address]
    # The page for what is not found is served from anywhere, so its addresses start at the top.
    assert dead == [] or page.name == "404.html", dead


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_nothing_is_loaded_from_elsewhere(page):
    foreign = {address for address in read(page).loads if re.match(r"([a-z]+:)?//", address)}
    assert foreign == set()


def test_styles_load_nothing_from_elsewhere():
    found = {
        f"{path.name}: {address}"
        for path in SITE.rglob("*.css")
        for address in re.findall(
            r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)", path.read_text(encoding="utf-8")
        )
    }
    assert found == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_markup_is_left(page):
    """No page has formulas, reStructuredText roles or marks of generated parts that were not replaced."""
    text = page.read_text(encoding="utf-8")
    assert read(page).marks == set()
    assert re.findall(r":(?:func|class|mod|data|math|meth):", text) == []
    assert re.findall(r"<p>\.\. [a-z]+::", text) == []
    assert re.findall(r"<p>\s*(?:```|<code>python run)", text) == []
    if "api" in page.parts or "theory" in page.parts:
        prose = re.sub(r"<(pre|code|script)\b.*?</\1>", "", text, flags=re.S)
        assert re.findall(r"\$\$|\\frac|\\sum|&lt;math", prose) == []


def test_reference_has_every_public_name():
    for group in groups():
        places = read(SITE / group.page.replace(".md", ".html")).places
        assert {f"{group.door}.{name}" for name in group.names} - places == set()


def test_formulas_are_mathml():
    counts = {
        p.stem: p.read_text("utf-8").count("<math ")
        for p in sorted((SITE / "theory").glob("*.html"))
    }
    assert all(count >= 3 for count in counts.values()), counts


def test_formula_font_is_reproducible():
    """The font has a name of its own."""
    font = math_font()
    assert font == math_font() == (SITE / "assets/formulas.ttf").read_bytes()
    assert NAME.encode("utf-16-be") in font
    assert "DejaVu Serif".encode("utf-16-be") not in font


# -- in a browser -------------------------------------------------------------------------------------------------


def opens(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that opens a page in the browser."""
    return pytest.mark.browser(requires_browser(test))


@opens
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}")
@pytest.mark.parametrize("name", OPENED)
def test_page_fits_the_window(name, size):
    with open_page(SITE / name, size) as opened:
        opened.scroll_through()
        assert opened.foreign_requests == []
        assert opened.errors == []
        assert opened.broken_images() == []
        assert not opened.scrolls_sideways()
        wide = "[...document.querySelectorAll('pre code')].filter(e => e.scrollWidth > e.clientWidth + 1)"
        assert size[0] < 1400 or opened.page.evaluate(f"{wide}.map(e => e.innerText)") == []


@opens
def test_formulas_have_lowered_indices():
    with open_page(SITE / "theory/clones.html") as opened:
        boxes = opened.page.evaluate(
            "[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect()).map(b => [b.width, b.height])"
        )
        assert len(boxes) > 20
        assert all(width > 4 and height > 4 for width, height in boxes)
        lowered = opened.page.evaluate(
            """[...document.querySelectorAll('msub')].map(m =>
                 m.children[1].getBoundingClientRect().bottom - m.children[0].getBoundingClientRect().bottom)"""
        )
        assert len(lowered) > 5
        assert min(lowered) > 1


@opens
@pytest.mark.parametrize(
    ("words", "expected"), [("clone_delta", "api/"), ("privacy blanket", "theory/blanket.html")]
)
def test_search_needs_no_server(words, expected):
    with open_page(SITE / "index.html") as opened:
        opened.page.locator("input.md-search__input").focus()
        opened.page.keyboard.type(words)
        opened.page.wait_for_selector(".md-search-result__link", state="attached")
        links = opened.page.evaluate(
            "[...document.querySelectorAll('.md-search-result__link')].map(a => a.href)"
        )
        assert any(expected in link for link in links[:5]), links[:5]
        assert opened.foreign_requests == []
        assert opened.errors == []
