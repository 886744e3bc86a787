"""Checks of the built site of the results: links, three widths, print and its sheets, keyboard, no request elsewhere.

``make -C tools site-check`` runs them; ``RESULTS=results/quick`` names another folder. They are not part of the tests,
which have no results.
"""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from browser import one_browser as one_browser, open_page, requires_browser

RESULTS = Path(os.environ["RESULTS"])
PAGES = [RESULTS / "index.html", *sorted((RESULTS / "pages").rglob("*.html"))]
WIDTHS = (1400, 800, 420)
#: A4 lying, in CSS pixels, within the margins of a print.
SHEET = (1031, 702)
MOST_SHEETS = 6


class Read(HTMLParser):
    """Ids and addresses of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the id and the addresses of an element."""
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in ("href", "src") and value:
                self.addresses.append(value)


READ = {page.resolve(): Read(page.read_text(encoding="utf-8")) for page in PAGES}


@pytest.mark.parametrize("page", READ, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Follow every address of a page, to its anchor; ids must be unique."""
    read = READ[page]
    assert len(set(read.ids)) == len(read.ids)
    for address in read.addresses:
        if address.startswith(("https://doi.org/", "data:")):
            continue
        assert not re.match(r"/|\w+:", address), address
        target, _, anchor = address.partition("#")
        found = (page.parent / unquote(target)).resolve() if target else page
        assert found.is_file(), address
        assert not anchor or found not in READ or unquote(anchor) in READ[found].ids, address


@requires_browser
@pytest.mark.parametrize("page", READ, ids=lambda page: page.name)
def test_page_fits_widths_and_paper(page: Path) -> None:
    """Open a page at three widths and for print, and reach its content by keyboard."""
    for width in WIDTHS:
        with open_page(page, (width, 900)) as opened:
            opened.page.keyboard.press("Tab")
            opened.page.keyboard.press("Enter")
            assert opened.page.evaluate("document.activeElement.id") == "page-main"  # the skip link
            assert not opened.scrolls_sideways(), width
            if width == WIDTHS[0]:
                opened.page.emulate_media(media="print")
                opened.page.set_viewport_size({"width": SHEET[0], "height": SHEET[1]})
                opened.page.wait_for_load_state("load")
                assert opened.broken_images() == []  # without scrolling
                assert not opened.scrolls_sideways(), "print"
            assert opened.errors == [] and opened.foreign_requests == []


#: Pages of a paper, a study or a protocol.
PRINTED = [
    page for page in READ if page.parent.name == "protocols" or 'class="columns"' in page.read_text("utf-8")
]


@requires_browser
@pytest.mark.parametrize("page", PRINTED, ids=lambda page: page.name)
def test_page_prints_on_six_sheets(page: Path) -> None:
    """Print a page as PDF and count its sheets."""
    with open_page(page) as opened:
        pdf = opened.page.pdf(prefer_css_page_size=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= MOST_SHEETS
