"""Pages in the system's Chromium with a record of their requests, shared by all browser tests.

The browser must be installed already; nothing is downloaded. Mark a test module with::

    pytestmark = [pytest.mark.browser, requires_browser]
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DESKTOP = (1280, 900)
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # whatever a page asks for, nothing leaves the machine by name
)


def find_browser() -> str | None:
    """Return the path of an installed Chromium, or None."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


def may_skip() -> bool:
    """Return whether a test may be skipped: there is no browser, and this is not continuous integration."""
    return find_browser() is None and os.environ.get("CI") != "true"


requires_browser = pytest.mark.skipif(
    may_skip(), reason=f"no browser found: none of {', '.join(BROWSERS)} is on the PATH"
)


@dataclass
class Opened:
    """Open page, with its requests and errors so far."""

    page: Any
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def foreign_requests(self) -> list[str]:
        """Requests, except for files of this machine and for data inside the page."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]

    def scroll_through(self) -> None:
        """Scroll to the bottom in steps, so that lazy pictures load, and wait for them."""
        self.page.evaluate(
            """async () => {
                for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
                    scrollTo({top: y, behavior: "instant"});
                    await new Promise(done => setTimeout(done, 20));
                }
                const seen = [...document.images].filter(image => image.checkVisibility());
                const waits = seen.map(image => image.complete ? null
                    : new Promise(done => { image.onload = image.onerror = done; }));
                await Promise.race([Promise.all(waits), new Promise(done => setTimeout(done, 10000))]);
            }"""
        )

    def broken_images(self) -> list[str]:
        """Return the addresses of visible images that show nothing."""
        found: list[str] = self.page.evaluate(
            "[...document.images].filter(i => i.checkVisibility())"
            ".filter(i => !i.complete || i.naturalWidth === 0).map(i => i.src)"
        )
        return found

    def scrolls_sideways(self) -> bool:
        """Return whether the page is wider than the window."""
        wider: bool = self.page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        return wider


@contextmanager
def open_page(path: Path, viewport: tuple[int, int] = DESKTOP) -> Iterator[Opened]:
    """Open a local HTML file.

    Parameters
    ----------
    path : Path
        The file.
    viewport : (width, height)
        Size of the window in CSS pixels.

    Yields
    ------
    Opened
        The page, the addresses it requested, and the errors of its console.

    Raises
    ------
    RuntimeError
        If no browser is installed.
    """
    browser_path = find_browser()
    if browser_path is None:
        raise RuntimeError(f"No browser found: install one of {', '.join(BROWSERS)}.")
    with ExitStack() as own:
        page = _page(browser_path, own)
        page.set_viewport_size({"width": viewport[0], "height": viewport[1]})
        page.emulate_media(media="null")
        opened = Opened(page)
        listeners = {
            "request": lambda request: opened.requests.append(request.url),
            "console": lambda message: (
                opened.errors.append(message.text) if message.type == "error" else None
            ),
            "pageerror": lambda error: opened.errors.append(str(error)),
        }
        for event, listener in listeners.items():
            page.on(event, listener)
            own.callback(page.remove_listener, event, listener)
        page.goto(path.resolve().as_uri(), wait_until="load")
        yield opened


@dataclass
class _Shared:
    """Browser page of a test module, opened by the first test that needs it, and the stack that closes it."""

    stack: ExitStack
    page: Any = None


_SHARED: list[_Shared] = []


@pytest.fixture(scope="module", autouse=True)
def one_browser() -> Iterator[None]:
    """Open one browser page for all files of a module, since each page takes a process of its own.

    Import this fixture into the module. The files must keep nothing in the browser. The page closes with the module,
    because a process can run only one event loop.
    """
    with ExitStack() as stack:
        _SHARED.append(_Shared(stack))
        yield
        _SHARED.pop()


def _page(path: str, own: ExitStack) -> Any:
    """Return the module's page, or a new one that a stack closes."""
    if not _SHARED:
        return _new_page(path, own)
    shared = _SHARED[-1]
    if shared.page is None:
        shared.page = _new_page(path, shared.stack)
    return shared.page


def _new_page(path: str, until: ExitStack) -> Any:
    from playwright.sync_api import sync_playwright

    playwright = until.enter_context(sync_playwright())
    browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
    until.callback(browser.close)
    page = browser.new_page(reduced_motion="reduce")
    page.set_default_timeout(20_000)
    return page
