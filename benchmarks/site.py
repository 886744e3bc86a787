"""Measure the site of a run in the system's Chromium: ``python benchmarks/site.py [results]``.

Per page and width of the window: visible words, height, where the first figure begins, what is loaded once everything
was scrolled past, and the time until the page's load event. Times depend on the machine; nothing depends on them.
"""

import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browser import open_page  # noqa: E402

WINDOWS = {"desktop": (1280, 900), "phone": (390, 844)}
LOADED = "Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)"
FIRST = "Math.round(document.querySelector('main img')?.getBoundingClientRect().top ?? -1)"


def row(page: Path, window: str) -> list[str]:
    """What one page is like in one window."""
    with open_page(page, WINDOWS[window]) as opened:
        seconds = opened.page.evaluate(LOADED) / 1000
        first = opened.page.evaluate(FIRST)
        words = len(opened.page.inner_text("body").split())
        height = opened.page.evaluate("document.documentElement.scrollHeight")
        opened.scroll_through()
        files = {unquote(urlsplit(url).path) for url in opened.requests if url.startswith("file:")}
        weight = sum(Path(file).stat().st_size for file in files)
    begins = f"{first:,} px" if first >= 0 else "none"
    return [
        page.name,
        window,
        f"{words:,}",
        f"{height:,} px",
        begins,
        f"{weight / 1e6:.2f} MB",
        f"{seconds:.2f} s",
    ]


def main(results: Path) -> None:
    """Print a Markdown table."""
    print("| page | window | words | height | first figure | loaded | load time |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for page in (results / "index.html", *sorted((results / "pages").glob("*.html"))):
        for window in WINDOWS:
            print(f"| {' | '.join(row(page, window))} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results")
