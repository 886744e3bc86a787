"""From the manifests of the papers to one HTML file."""

from __future__ import annotations

import csv
import re
import struct
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from shuffledp.pages.captions import CaptionError, to_html
from shuffledp.pages.manifest import DrawnPaper, Entry, ManifestError, Run, read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from markupsafe import Markup

TITLE = "shuffledp: results"
PACKAGE_DATA = ("templates/index.html.j2", "templates/style.css")
"""Files that this module reads; see `shuffledp.code_digest`."""

FORMATS = ("pdf", "svg", "png", "csv", "md", "tex")  # the order of the links
LABELS = {"md": "Markdown", "tex": "TeX"}
DIGITS = 6  # significant digits of a number in a table on the page
_LONG_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]+\b")
WIDE = 1100  # pixels of a PNG; wider pictures scroll on a phone, where they would be illegible at full view


@dataclass(frozen=True)
class Link:
    """A file to open or keep."""

    href: str
    label: str
    size: str


@dataclass(frozen=True)
class Picture:
    """The picture of a figure, the file that opens from it, and its size in pixels."""

    src: str
    href: str
    width: int
    height: int
    wide: bool


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text on the page, and the number in full where the page shows fewer digits."""

    text: str
    full: str = ""


@dataclass(frozen=True)
class Table:
    """A table as the page shows it."""

    header: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]
    shortened: bool


@dataclass(frozen=True)
class Item:
    """One entry of the page."""

    anchor: str
    entry: Entry
    caption: Markup
    links: tuple[Link, ...]
    picture: Picture | None
    table: Table | None


@dataclass(frozen=True)
class Section:
    """One paper of the page."""

    paper: DrawnPaper
    doi_url: str
    items: tuple[Item, ...]

    @property
    def run(self) -> Run:
        """What produced this paper's figures."""
        return self.paper.run

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits of the results, long hashes cut short; results of several may stand side by side."""
        return tuple(_LONG_HASH.sub(r"\1", commit.strip()) for commit in self.run.commit.split(","))


def render(results: Path, papers: Sequence[str], *, title: str = TITLE) -> str:
    """Write the results page.

    Parameters
    ----------
    results : Path
        Folder of the results; the page belongs into it, because all links are relative to it.
    papers : sequence of str
        Keys of the papers, in the order in which they appear.
    title : str
        Title of the page.

    Returns
    -------
    str
        One HTML file; it depends on the content of the folder alone.

    Raises
    ------
    shuffledp.storage.IntegrityError
        If a file is missing or damaged; names it and how to rebuild it.
    ManifestError
        If a manifest, picture or table does not have the agreed form.
    CaptionError
        If a caption is not valid reStructuredText.
    ValueError
        If a paper is named twice.
    """
    if twice := sorted({key for key in papers if list(papers).count(key) > 1}):
        raise ValueError(
            f"Each paper has one place on the page, but these are named twice: {', '.join(twice)}."
        )
    environment = Environment(
        loader=PackageLoader("shuffledp.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    sections = [_section(results, key) for key in papers]
    return environment.get_template("index.html.j2").render(title=title, sections=sections)


def _section(results: Path, key: str) -> Section:
    paper = read(results / "figures" / key)
    doi_url = f"https://doi.org/{quote(paper.doi, safe='/.;()')}" if paper.doi else ""
    return Section(paper, doi_url, tuple(_item(results, key, entry) for entry in paper.entries))


def _item(results: Path, key: str, entry: Entry) -> Item:
    anchor = f"{key}-{entry.id}"
    forms = sorted(
        entry.files, key=lambda form: (FORMATS.index(form) if form in FORMATS else len(FORMATS), form)
    )
    figure = entry.kind == "figure"
    return Item(
        anchor=anchor,
        entry=entry,
        caption=to_html(
            _text(entry.caption, CaptionError), source=str(entry.caption), prefix=f"{anchor}-caption-"
        ),
        links=tuple(_link(results, form, entry.files[form]) for form in forms),
        picture=_picture(results, entry) if figure else None,
        table=None if figure else _table(entry.files["csv"]),
    )


def _href(results: Path, path: Path) -> str:
    return quote(path.relative_to(results).as_posix())


def _link(results: Path, form: str, path: Path) -> Link:
    return Link(_href(results, path), LABELS.get(form, form.upper()), _size(path.stat().st_size))


def _size(count: int) -> str:
    """A file's size in decimal units."""
    if count < 1000:
        return f"{count} B"
    if count < 999_500:
        return f"{count / 1e3:.0f} kB"
    return f"{count / 1e6:.1f} MB"


def _picture(results: Path, entry: Entry) -> Picture:
    png = entry.files["png"]
    width, height = _png_size(png)
    target = next(entry.files[form] for form in ("svg", "pdf", "png") if form in entry.files)
    return Picture(_href(results, png), _href(results, target), width, height, width > WIDE)


def _png_size(path: Path) -> tuple[int, int]:
    """Width and height in pixels, from the file's first chunk."""
    with path.open("rb") as stream:
        head = stream.read(24)
    if len(head) < 24 or head[:8] != b"\x89PNG\r\n\x1a\n" or head[12:16] != b"IHDR":
        raise ManifestError(f"{path} is not a PNG file.")
    width, height = struct.unpack(">II", head[16:24])
    return int(width), int(height)


def _text(path: Path, problem: type[ValueError]) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise problem(f"{path} is not UTF-8 text: {error}.") from None


def _table(path: Path) -> Table:
    lines = [row for row in csv.reader(_text(path, ManifestError).splitlines(keepends=True)) if row]
    if not lines:
        raise ManifestError(f"{path} is empty, expected a header and rows.")
    header, *rows = lines
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise ManifestError(
                f"{path}, row {number} has {len(row)} cells, expected {len(header)} as in the header."
            )
    columns = [[row[i] for row in rows if row[i].strip()] for i in range(len(header))]
    cells = tuple(tuple(_cell(text) for text in row) for row in rows)
    return Table(
        header=tuple(header),
        numeric=tuple(
            bool(column) and all(_number(text) is not None for text in column) for column in columns
        ),
        rows=cells,
        shortened=any(cell.full for row in cells for cell in row),
    )


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        return None


def _cell(text: str) -> Cell:
    """Integers stay as they are; other numbers get at most six significant digits."""
    number = _number(text)
    if number is None or not number.is_finite() or not set(text) & set(".eE"):
        return Cell(text)
    if len(number.as_tuple().digits) <= DIGITS:
        return Cell(text)
    return Cell(f"{float(number):.{DIGITS}g}", full=text.strip())
