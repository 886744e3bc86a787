"""Compare pictures and pages of two runs on one machine: ``make -C tools golden-pictures BEFORE=folder``.

    python tools/golden_pictures.py before/results results

Pictures are compared by their pixels, pages by the visible text, and captions, tables and SVG by their lines. Files
that differ are listed with a measure of the difference, and files in only one of the folders by name; the exit code is
then 1. PDF files have the drawings of the SVG files and are not compared.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from PIL import Image

TEXTS = (".csv", ".md", ".rst", ".svg", ".tex")
KINDS = (".html", ".png", *TEXTS)
#: Folders whose tables `shuffledp export` compares.
LEFT_OUT = ("runs", "logs")


class _Shown(HTMLParser):
    """Parser of the visible content of a page: its text, and the names of its pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count elements without visible text, and store the texts of pictures."""
        self._hidden += tag in ("script", "style")
        self.lines += [f"{name}: {value}" for name, value in attrs if name == "alt" and value]

    def handle_endtag(self, tag: str) -> None:
        """Count the end of an element without visible text."""
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        """Store a text with collapsed white space."""
        text = " ".join(data.split())
        if text and not self._hidden:
            self.lines.append(text)


def lines_of(path: Path) -> list[str]:
    """Return the lines of a text, or the visible texts of a page."""
    content = path.read_text(encoding="utf-8")
    if path.suffix != ".html":
        return content.splitlines()
    shown = _Shown()
    shown.feed(content)
    return shown.lines


def pixels_differ(before: Path, after: Path) -> str:
    """Return the size of the difference between two pictures; empty if their pixels are equal."""
    old, new = (np.asarray(Image.open(path).convert("RGBA"), dtype=np.int16) for path in (before, after))
    if old.shape != new.shape:
        return f"{old.shape[1]} x {old.shape[0]} pixels -> {new.shape[1]} x {new.shape[0]}"
    largest = np.abs(old - new).max(axis=2)
    if not largest.any():
        return ""
    return f"{np.count_nonzero(largest)} of {largest.size} pixels, by at most {largest.max()} of 255"


def texts_differ(before: Path, after: Path) -> str:
    """Return the number of different lines and the first of them; empty if there is none."""
    old, new = lines_of(before), lines_of(after)
    if old == new:
        return ""
    changes = [
        line
        for line in difflib.unified_diff(old, new, lineterm="", n=0)
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    return f"{len(changes)} lines, first {changes[0][:120]!r}"


def files(folder: Path) -> set[Path]:
    """Return the files of a folder of results that are compared, relative to the folder."""
    every = (path.relative_to(folder) for path in folder.rglob("*") if path.suffix in KINDS)
    return {path for path in every if path.parts[0] not in LEFT_OUT}


def differing(before: Path, after: Path) -> Iterator[str]:
    """Yield a line per file that differs between two folders of results."""
    old, new = files(before), files(after)
    for path in sorted(old | new):
        if path not in new or path not in old:
            yield f"{path}: only {'before' if path in old else 'after'}"
            continue
        compare = pixels_differ if path.suffix == ".png" else texts_differ
        if measure := compare(before / path, after / path):
            yield f"{path}: {measure}"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if there is no difference."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path, help="folder of results before the change")
    parser.add_argument("after", type=Path, nargs="?", default=Path("results"), help="after it (results)")
    given = parser.parse_args(arguments)
    for folder in (given.before, given.after):
        if not any(path.suffix == ".png" for path in files(folder)):
            print(f"{folder}: no picture below this folder; name one such as results or results/quick.")
            return 2
    found = list(differing(given.before, given.after))
    print("\n".join(found) or f"Nothing differs in {len(files(given.after))} files.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
