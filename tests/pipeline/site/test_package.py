import io
import shutil

import numpy as np
import pytest
from fabricated import CHART, PAPERS, PROTOCOLS, fabricate
from matplotlib.image import imread

from browser import (
    DESKTOP,
    one_browser as one_browser,
    open_page,
    requires_browser,
)
from shuffledp.pipeline import site as pages
from shuffledp.pipeline.site.selector import kept_tables

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
    const seen = element => element.checkVisibility() && !element.closest("script, style, option, .hidden");
    const found = [];
    while (walker.nextNode()) {
        if (!walker.currentNode.data.trim()) continue;
        const element = walker.currentNode.parentElement;
        if (!seen(element)) continue;
        const a = light(rgb(getComputedStyle(element).color)), b = light(below(element));
        found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), walker.currentNode.data.trim()]);
    }
    return found;
}"""


pytestmark = [pytest.mark.browser, requires_browser]
NARROW = (390, 844)
SIZES = pytest.mark.parametrize("viewport", [DESKTOP, NARROW])
PAGES = (
    "index.html",
    *(f"pages/{name}.html" for name in (*PAPERS, "papers", "overall", "protocols", "protocols/pure_dump")),
    *(f"pages/{name}.html" for name in ("choose", "claims", "audit", "errata", "open_questions")),
)
ERRATA_PAGE, SELECTOR_PAGE = "pages/errata.html", "pages/choose.html"
LIBRARY = "bokeh.min.js"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site, which no test changes."""
    folder = tmp_path_factory.mktemp("site")
    fabricate(folder)
    pages.publish(folder, PAPERS, PROTOCOLS)
    return folder


def focused(page, attribute):
    return page.evaluate(f"document.activeElement.getAttribute({attribute!r})")


def shown_pictures(page, card):
    """Return the visible pictures of a card."""
    return page.evaluate(
        "id => [...document.querySelectorAll(`#${id} img`)].filter(i => i.checkVisibility())"
        ".map(i => i.getAttribute('src').split('/').pop())",
        card,
    )


@SIZES
@pytest.mark.parametrize("name", PAGES)
def test_everything_shows_without_foreign_requests(site, name, viewport):
    with open_page(site / name, viewport) as opened:
        opened.page.keyboard.press("Tab")
        opened.page.keyboard.press("Enter")
        assert focused(opened.page, "id") == "page-main"  # the skip link
        opened.scroll_through()
        assert not opened.scrolls_sideways()
        for label in opened.page.locator(".tabs label").all():
            label.click()
            assert not opened.scrolls_sideways()
        opened.scroll_through()
        assert opened.broken_images() == []
        opened.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert not opened.scrolls_sideways()
        assert opened.errors == []
        assert opened.foreign_requests == []
        assert not any(LIBRARY in url for url in opened.requests)  # nobody asked for a chart
        if name == PAGES[1]:
            opened.page.locator("article img:visible").first.scroll_into_view_if_needed()
            pixels = imread(io.BytesIO(opened.page.screenshot()))[:, :, :3]
            saturated = pixels.max(axis=2) - pixels.min(axis=2) > 0.4
            assert saturated.mean() > 0.001  # curves in several colors


@pytest.mark.parametrize("viewport", [DESKTOP, (800, 900), (420, 900)])
def test_the_selector_answers_typed_numbers(site, viewport):
    with open_page(site / SELECTOR_PAGE, viewport) as opened:
        page = opened.page
        cells = page.locator("table.ranking tbody tr:not(.trust)").first.locator("[data-field]")
        for cell in cells.all():
            box = cell.bounding_box()
            assert box and box["x"] >= 0 and box["x"] + box["width"] <= viewport[0]
        command, status = page.locator(".command code"), page.locator(".nearest")
        for setting, offers in list(kept_tables().items())[:: 9 if viewport == DESKTOP else 90]:
            for name in ("task", "accounting"):
                page.locator(f"[name={name}]").select_option(getattr(setting, name))
            for name in ("users", "size", "eps", "rounds"):
                page.locator(f"[name={name}]").fill(f"{getattr(setting, name):g}".replace("e+06", "000000"))
            page.locator("[name=delta]").fill(setting.delta_text)
            assert command.inner_text() == setting.command
            assert page.locator(".words").inner_text() == setting.words
            assert status.inner_text() == "Computed for exactly your numbers."
            assert page.locator("circle").count() == len(offers)
        page.locator("[name=task]").select_option("frequency")
        page.locator("[name=users]").focus()
        page.keyboard.press("Control+A")
        page.keyboard.type("30,000")
        assert "--users 30000 " in command.inner_text() and "from yours in n" in status.inner_text()
        page.locator("[name=accounting]").select_option("best")
        page.locator("[name=rounds]").fill("52")
        assert "30 releases to the same users" in page.locator(".words").inner_text()
        page.locator("[name=task]").select_option("vectors")
        assert not page.locator("table").is_visible() and "run the command" in status.inner_text()
        page.locator("[name=task]").select_option("frequency")
        page.locator("[name=users]").focus()
        page.keyboard.press("Tab")
        page.keyboard.type("x")
        assert page.locator("[name=size]").get_attribute("aria-invalid") == "true"
        page.locator("tbody a").first.click()
        page.wait_for_url("**/protocols/pure_dump.html")
        assert opened.errors == [] and opened.foreign_requests == []


def test_page_works_without_scripts(site):
    """The first setting is shown, and no picture is blank in print."""
    with open_page(site / SELECTOR_PAGE) as opened:
        context = opened.page.context.browser.new_context(java_script_enabled=False)
        plain = context.new_page()
        plain.goto((site / SELECTOR_PAGE).resolve().as_uri())
        assert plain.locator("circle").count() > 20
        assert not plain.locator("form").is_visible()
        for name in (PAGES[0], PAGES[1]):
            plain.goto((site / name).resolve().as_uri())
            plain.emulate_media(media="print")
            shown = "all => all.filter(i => i.checkVisibility()).map(i => i.complete && i.naturalWidth > 0)"
            found = plain.locator("img").evaluate_all(shown)
            assert found and all(found)  # none waits for a reader who scrolls
        context.close()


BOARD = """method,who is trusted,squared error,why not
noise,shuffler permutes,9.5,
coins,shuffler permutes,100.25,
geometric,curator,7.8,
hashes,shuffler permutes,infeasible,too few users
"""


def methods(page):
    """Return the visible methods of a leaderboard in their order."""
    return page.evaluate(
        "[...document.querySelectorAll('table.board tbody tr')].filter(r => r.checkVisibility())"
        ".map(r => r.cells[0].textContent)"
    )


@SIZES
def test_leaderboard_is_sorted_and_filtered(papers, tmp_path, viewport):
    papers[PAPERS[1]].table("board", BOARD, title="Protocols", board="who is trusted")
    papers[PAPERS[1]].publish()
    pages.publish(tmp_path, PAPERS, PROTOCOLS)
    assert '<form class="filter" hidden>' in (tmp_path / PAGES[2]).read_text()  # without scripts
    with open_page(tmp_path / PAGES[2], viewport) as opened:
        page = opened.page
        assert methods(page) == ["noise", "coins", "geometric", "hashes"]
        assert page.locator("#board .count").inner_text() == "4 of 4"
        if viewport == DESKTOP:  # on a phone rows are cards without a head
            head = page.get_by_role("columnheader", name="squared error").locator("button")
            head.click()
            assert methods(page) == ["geometric", "noise", "coins", "hashes"]
            head.click()
            assert methods(page) == ["coins", "noise", "geometric", "hashes"]  # infeasible ones stay last
        page.locator("#board select").select_option("curator")
        assert methods(page) == ["geometric"]
        page.locator("#board button[type=reset]").click()
        page.locator("#board input[type=search]").fill("few users")
        page.wait_for_function("document.querySelector('#board .count').textContent === '1 of 4'")
        assert methods(page) == ["hashes"]
        assert not opened.scrolls_sideways()
        assert opened.errors == [] and opened.foreign_requests == []


def chart(page, card):
    """Open the chart of a card, and wait until it is drawn."""
    page.locator(f"#{card} button.explore").focus()
    page.keyboard.press("Enter")
    page.locator(f"#{card} .stage[data-entry]").wait_for()
    return page.locator(f"#{card} .plot")


def colored(page, plot, color):
    """Return the number of pixels of a chart with about this color."""
    page.wait_for_function("Bokeh.documents.every(each => each.is_idle)")
    pixels = imread(io.BytesIO(plot.screenshot()))[:, :, :3]
    wanted = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return int((np.abs(pixels - wanted).max(axis=2) < 0.1).sum())


@SIZES
def test_keyboard_explores_charts(site, viewport):
    orange = CHART["curves"][1]["color"]
    with open_page(site / PAGES[1], viewport) as opened:
        page = opened.page
        plot = chart(page, "fig4")
        assert sum(LIBRARY in url for url in opened.requests) == 1
        assert shown_pictures(page, "fig4") == []
        assert page.locator("#fig4 .panels label").all_inner_texts() == [
            f"participation rate {rate:g}" for rate in (0.05, 0.1, 0.2, 0.5)
        ]
        buttons = page.locator("#fig4 .curves button")
        assert buttons.all_inner_texts() == [curve["label"] for curve in CHART["curves"]]
        plot.scroll_into_view_if_needed()
        assert colored(page, plot, orange) > 100
        buttons.nth(1).focus()
        page.keyboard.press("Space")
        assert buttons.nth(1).get_attribute("aria-pressed") == "false"
        page.wait_for_timeout(200)
        assert colored(page, plot, orange) == 0
        buttons.nth(1).click()
        page.wait_for_timeout(200)
        assert colored(page, page.locator("#fig4 .plot"), orange) > 100
        assert not opened.scrolls_sideways()
        page.locator("#fig4 button.explore").click()
        assert shown_pictures(page, "fig4") == ["fig4.png"]
        chart(page, "fig5")
        assert sum(LIBRARY in url for url in opened.requests) == 1
        assert opened.errors == []
        assert opened.foreign_requests == []


@SIZES
def test_pointer_and_tap_show_values(site, viewport):
    with open_page(site / PAGES[1], viewport) as opened:
        page = opened.page
        plot = chart(page, "fig4")
        plot.scroll_into_view_if_needed()
        page.wait_for_timeout(300)
        # Where the last simulated point of AMPLIFIED stands, as the chart itself says.
        x, y = page.evaluate(
            """() => {
                const view = [...Bokeh.index].map(each => each[1] ?? each).find(each => each.frame);
                return [view.frame.x_scale.compute(0.5), view.frame.y_scale.compute(0.11)];
            }"""
        )
        box = plot.bounding_box()
        page.mouse.move(box["x"] + x - 40, box["y"] + y - 40)
        page.mouse.move(box["x"] + x, box["y"] + y)
        page.get_by_text("standard error: 0.01").first.wait_for()
        assert page.get_by_text("closed form: 0.1").first.is_visible()
        page.mouse.click(box["x"] + x - 2, box["y"] + y)
        told = page.locator("#fig4 p.values")
        told.wait_for()
        assert "AMPLIFIED" in told.inner_text()
        assert "standard error: 0.01" in told.inner_text()


@SIZES
def test_keyboard_reaches_links_and_files(site, viewport):
    with open_page(site / PAGES[1], viewport) as opened:
        page = opened.page
        page.keyboard.press("Tab")
        assert focused(page, "class") == "skip"
        assert page.locator(".skip").bounding_box()["y"] >= 0  # it shows itself
        seen = []
        for _ in range(40):
            page.keyboard.press("Tab")
            seen.append(focused(page, "href") or page.evaluate("document.activeElement.className"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert seen[:2] == ["../index.html", "../index.html"]
        assert [each for each in seen if each.startswith("../pages/")][:5] == [
            f"../pages/{name}.html" for name in ("choose", "protocols", "papers", "claims", "audit")
        ]
        assert page.locator(".contents ul").first.is_visible() == (viewport == DESKTOP)  # folded on a phone
        for form in ("svg", "pdf", "csv"):
            assert f"../figures/random_population/fig4.{form}" in seen
        page.locator(".contents summary").focus()
        if viewport != DESKTOP:
            page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert focused(page, "href") == "#fig4"


@pytest.mark.parametrize("name", PAGES)
def test_text_contrasts_with_its_background(site, name):
    with open_page(site / name) as opened:
        opened.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        if name == PAGES[1]:
            chart(opened.page, "fig4")
            opened.page.locator("#fig4 .curves button").first.click()
        for scheme in ("light", "dark"):
            opened.page.emulate_media(color_scheme=scheme)
            contrasts = opened.page.evaluate(CONTRAST)
            assert len(contrasts) > 20
            assert [(ratio, text) for ratio, text in contrasts if ratio < 4.5] == []
            background = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert ("251" in background) == (scheme == "light")
            colors = "all => all.map(each => getComputedStyle(each).backgroundColor)"
            assert set(opened.page.locator(".picture").evaluate_all(colors)) <= {"rgb(255, 255, 255)"}


@SIZES
def test_long_tables_scroll_under_their_header(site, viewport):
    with open_page(site / PAGES[1], viewport) as opened:
        box = opened.page.locator("#budgets .scroll")
        assert box.bounding_box()["height"] < viewport[1]
        assert box.evaluate("each => each.scrollHeight > each.clientHeight")
        box.focus()
        opened.page.keyboard.press("PageDown")
        opened.page.wait_for_function("() => document.querySelector('#budgets .scroll').scrollTop > 50")
        head = opened.page.locator("#budgets thead th").first.bounding_box()["y"]
        assert abs(head - box.bounding_box()["y"]) < 3
    with open_page(site / PAGES[2], viewport) as opened:
        assert opened.page.locator("#wide .scroll").evaluate("each => each.scrollWidth > each.clientWidth")
        opened.page.locator("#wide .scroll").focus()
        opened.page.keyboard.press("ArrowRight")
        opened.page.wait_for_function("() => document.querySelector('#wide .scroll').scrollLeft > 0")


@SIZES
@pytest.mark.parametrize(
    "name, found, heading, ascending",
    [
        (
            ERRATA_PAGE,
            {("text", "lost on THE way"): ["RP-E16"], ("kind", "reading note"): ["RP-N2"]},
            "Number as printed",
            ["RP-E16", "RP-N2"],
        ),
        (
            "pages/claims.html",
            {("text", "random settings"): ["RP-08"], ("verdict", "in part"): ["RP-01"], ("kind", "ordering"): ["O-15"]},
            "Verdict",
            ["RP-08", "RP-01", "O-15"],
        ),
    ],
)  # fmt: skip
def test_entries_are_searched_filtered_and_sorted(site, viewport, name, found, heading, ascending):
    """What is folded is found, too."""

    def shown():
        return page.locator(".errata tbody tr:visible").evaluate_all("all => all.map(each => each.id)")

    with open_page(site / name, viewport) as opened:
        page = opened.page
        for (control, text), ids in found.items():
            field = page.locator(f"form.filter [name={control}]")
            (field.fill if control == "text" else field.select_option)(text)
            assert shown() == ids and page.locator(".count").inner_text() == f"1 of {len(ascending)}"
            page.get_by_role("button", name="Show all").click()
            page.wait_for_function("document.querySelector('.count').textContent[0] !== '1'")
        if viewport == DESKTOP:  # on a phone rows are cards without a header
            page.get_by_role("button", name=heading).focus()
            page.keyboard.press("Enter")
            assert shown() == ascending
            page.keyboard.press("Enter")
            assert shown() == ascending[::-1]
            assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
        assert opened.errors == []


def test_link_to_erratum_opens_its_details(site):
    with open_page(site / ERRATA_PAGE) as opened:
        opened.page.goto((site / ERRATA_PAGE).resolve().as_uri() + "#RP-N2")
        opened.page.reload()
        assert opened.page.locator("#RP-N2 details").get_attribute("open") is not None


def test_moved_site_works(site, tmp_path):
    moved = tmp_path / "a folder" / "moved #1"
    for name in ("figures", "pages", "site"):
        shutil.copytree(site / name, moved / name)
    shutil.copy(site / "index.html", moved)
    with open_page(moved / "index.html") as opened:
        opened.page.locator("nav a", has_text="Papers").click()
        opened.page.locator(".more a", has_text="Random population").first.click()
        opened.scroll_through()
        chart(opened.page, "fig4")
        assert opened.broken_images() == []
        assert opened.errors == []
        assert opened.foreign_requests == []
