from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from fabricated import PAPERS
from matplotlib.image import imread

from browser import BROWSERS, DESKTOP, PHONE, find_browser, may_skip, open_page, requires_browser
from shuffledp import pages

if TYPE_CHECKING:
    from pathlib import Path

    from fabricated import Folder

# Contrast of every piece of text with the background that it stands on, after WCAG 2.
CONTRAST = """() => {
    const rgb = text => text.match(/[\\d.]+/g).map(Number);
    const light = colour => {
        const [r, g, b] = colour.slice(0, 3).map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const below = element => {
        for (let at = element; at; at = at.parentElement) {
            const colour = rgb(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        if (!walker.currentNode.data.trim()) continue;
        const element = walker.currentNode.parentElement;
        const a = light(rgb(getComputedStyle(element).color)), b = light(below(element));
        found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), walker.currentNode.data.trim()]);
    }
    return found;
}"""


def in_browser(test: Any) -> Any:
    return pytest.mark.browser(requires_browser(test))


@pytest.fixture
def index(papers: dict[str, Folder], tmp_path: Path) -> Path:
    path = tmp_path / "index.html"
    path.write_text(pages.render(tmp_path, PAPERS), encoding="utf-8")
    return path


def focused(page: Any, attribute: str) -> str | None:
    value: str | None = page.evaluate(f"document.activeElement.getAttribute({attribute!r})")
    return value


@in_browser
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_everything_shows_and_nothing_leaves_the_machine(index: Path, viewport: tuple[int, int]) -> None:
    with open_page(index, viewport) as opened:
        opened.scroll_through()
        assert opened.page.evaluate("document.images.length") == 8
        assert opened.broken_images() == []
        assert not opened.scrolls_sideways()
        assert opened.errors == []
        assert opened.foreign_requests == []
        assert sum(url.endswith(".png") for url in opened.requests) >= 4
        opened.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert not opened.scrolls_sideways()
        opened.page.locator("article img").first.scroll_into_view_if_needed()
        pixels = imread(io.BytesIO(opened.page.screenshot()))[:, :, :3]
        assert (
            len(np.unique((pixels.reshape(-1, 3) * 255).astype(int), axis=0)) > 50
        )  # curves in several colours
        saturated = pixels.max(axis=2) - pixels.min(axis=2) > 0.4
        assert saturated.mean() > 0.001


@in_browser
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_the_keyboard_reaches_skip_link_contents_and_files(index: Path, viewport: tuple[int, int]) -> None:
    with open_page(index, viewport) as opened:
        page = opened.page
        page.keyboard.press("Tab")
        assert focused(page, "class") == "skip"
        assert page.locator(".skip").bounding_box()["y"] >= 0  # it shows itself
        page.keyboard.press("Tab")
        assert focused(page, "href") == f"#{PAPERS[0]}"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press("Tab")
        assert focused(page, "href") == f"#{PAPERS[0]}-fig4_printed"
        page.keyboard.press("Enter")
        page.wait_for_function("() => location.hash === '#random_population-fig4_printed'")
        seen = []
        for _ in range(14):
            page.keyboard.press("Tab")
            seen.append(focused(page, "href") or page.evaluate("document.activeElement.className"))
        assert seen[:3] == [
            "#random_population-fig4_printed",
            "picture wide",
            "figures/random_population/fig4_printed.svg",
        ]
        assert "figures/random_population/fig4_printed.pdf" in seen
        assert "figures/random_population/fig4_printed.csv" in seen


@in_browser
def test_the_skip_link_passes_the_contents(index: Path) -> None:
    with open_page(index) as opened:
        opened.page.keyboard.press("Tab")
        opened.page.keyboard.press("Enter")
        assert focused(opened.page, "id") == "page-main"
        opened.page.keyboard.press("Tab")
        assert "doi.org" in (focused(opened.page, "href") or "")


@in_browser
def test_every_entry_of_the_contents_leads_to_its_place(index: Path) -> None:
    with open_page(index) as opened:
        page = opened.page
        opened.scroll_through()  # afterwards nothing moves any more
        links = page.locator("nav a")
        assert links.count() == 2 + 6
        for i in range(links.count()):
            target = (links.nth(i).get_attribute("href") or "")[1:]
            links.nth(i).click()
            page.wait_for_function("id => location.hash === '#' + id", arg=target)
            box = page.locator(f"[id='{target}']").bounding_box()
            bottom = page.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 1")
            assert bottom or -1 <= box["y"] <= 40, target


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_told_from_its_background(index: Path, scheme: Any) -> None:
    with open_page(index, scheme=scheme) as opened:
        contrasts = opened.page.evaluate(CONTRAST)
        assert len(contrasts) > 100
        assert [(ratio, text) for ratio, text in contrasts if ratio < 4.5] == []
        background = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ("251" in background) == (scheme == "light")
        picture = opened.page.locator(".picture").first
        assert picture.evaluate("each => getComputedStyle(each).backgroundColor") == "rgb(255, 255, 255)"


@in_browser
def test_wide_tables_scroll_inside_their_box(index: Path) -> None:
    with open_page(index, PHONE) as opened:
        box = opened.page.locator("#dump-wide .scroll")
        assert box.evaluate("each => each.scrollWidth > each.clientWidth")
        box.focus()
        opened.page.keyboard.press("ArrowRight")
        opened.page.wait_for_function("() => document.querySelector('#dump-wide .scroll').scrollLeft > 0")


@in_browser
def test_the_page_may_be_moved_with_its_folder(index: Path, tmp_path: Path) -> None:
    moved = tmp_path / "a folder" / "moved #1"
    moved.mkdir(parents=True)
    (tmp_path / "figures").rename(moved / "figures")
    index.rename(moved / "index.html")
    with open_page(moved / "index.html") as opened:
        opened.scroll_through()
        assert opened.broken_images() == []
        assert opened.foreign_requests == []


@in_browser
def test_the_helper_notices_what_must_not_happen(tmp_path: Path) -> None:
    path = tmp_path / "bad.html"
    path.write_text(
        "<!DOCTYPE html><title>bad</title><div style='width: 3000px'>wide</div>"
        "<img src='https://example.org/a.png'><img src='missing.png'><script>throw Error('broken')</script>",
        encoding="utf-8",
    )
    with open_page(path) as opened:
        opened.scroll_through()
        assert opened.foreign_requests == ["https://example.org/a.png"]
        assert len(opened.broken_images()) == 2
        assert opened.scrolls_sideways()
        assert any("broken" in error for error in opened.errors)


def test_a_missing_browser_skips_here_and_fails_in_continuous_integration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    assert find_browser() is None
    assert may_skip()
    monkeypatch.setitem(os.environ, "CI", "true")
    assert not may_skip()
    with pytest.raises(RuntimeError, match=BROWSERS[0]), open_page(tmp_path / "index.html"):
        pass
