"""Cards of figures and tables on the page of a paper."""

from __future__ import annotations

import re
import struct
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup

from shuffledp.pipeline.manifest import ManifestError
from shuffledp.pipeline.site.caption_html import DETAILS, CaptionError, paragraphs, to_html
from shuffledp.pipeline.site.csv_tables import Table, table, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from shuffledp.pipeline.manifest import DrawnPaper, ManifestEntry

FORMATS = ("png", "pdf", "svg", "csv", "md", "tex", "tabular")  # the order of the links
LABELS = {"md": "Markdown", "tex": "TeX", "tabular": "plain TeX"}
SCALE = (
    0.7  # CSS pixels per pixel of a PNG, so that the text of all pictures has about the size of the page's
)
WIDE = 1100  # pixels of a PNG; wider pictures scroll on a phone, where they would be illegible at full view
REPRODUCES = "reproduces"
GUARANTEES = ("guarantee", "why in doubt")
#: Number of cards from which on a common paragraph or setting appears once, at the top of the page.
SAID_ONCE_FROM = 3


@dataclass(frozen=True)
class Link:
    """Link to a file."""

    href: str
    label: str
    size: str


@dataclass(frozen=True)
class Picture:
    """Picture of a figure with its size in CSS pixels, and the file that it links to."""

    src: str
    href: str
    width: int
    height: int
    wide: bool


#: Name and value of a setting.
Setting = tuple[str, str]


@dataclass(frozen=True)
class Card:
    """Figure or table; ``notes`` and ``data_notes`` are indices of common paragraphs."""

    entry: ManifestEntry
    name: str
    caption: Markup
    details: Markup
    links: tuple[Link, ...]
    picture: Picture | None
    table: Table | None
    explorable: bool
    reproduces: str
    settings: tuple[Setting, ...]
    guarantees: tuple[Setting, ...]
    notes: tuple[int, ...]
    data_notes: tuple[int, ...]

    @property
    def anchor(self) -> str:
        """Address of the card on its page."""
        return self.entry.id

    @property
    def kind(self) -> str:
        """Kind of the card: figure or table."""
        return self.entry.kind

    @property
    def title(self) -> str:
        """Title of the figure or table."""
        return self.entry.title

    @property
    def finding(self) -> str:
        """Heading of the card."""
        return heading(self.entry)


@dataclass(frozen=True)
class Common:
    """Paragraph or setting that several cards of a page have, with the names of these cards."""

    html: Markup
    cards: tuple[str, ...]


@dataclass(frozen=True)
class Deck:
    """Cards of a paper, and the parts that they have in common."""

    cards: tuple[Card, ...]
    notes: tuple[Common, ...]
    data_notes: tuple[Common, ...]
    settings: tuple[Setting, ...]


def heading(entry: ManifestEntry) -> str:
    """Return the heading of a picture, its finding or otherwise its title."""
    return entry.finding or entry.title


def deck(results: Path, page: str, paper: DrawnPaper, explorable: Iterable[str] = ()) -> Deck:
    """Return the cards of a paper."""
    common = _often(_parts(entry) for entry in paper.entries)
    data_notes = list(dict.fromkeys(entry.note for entry in paper.entries if entry.note))
    settings = _settings_in_common(paper.entries)
    numbers, files = set(explorable), Files(results, page)
    cards = tuple(
        _card(entry, common, data_notes, settings, entry.id in numbers, files) for entry in paper.entries
    )
    return Deck(
        cards,
        tuple(
            Common(
                to_html(text, source=f"captions of {paper.key}", prefix=f"page-note-{i}-"),
                tuple(card.anchor for card in cards if i in card.notes),
            )
            for i, text in enumerate(common)
        ),
        tuple(
            Common(Markup.escape(text), tuple(card.anchor for card in cards if i in card.data_notes))
            for i, text in enumerate(data_notes)
        ),
        tuple(settings.items()),
    )


def name_of_drawing(drawing: str) -> str:
    """Return the paper's number of a figure or table; empty if the paper has no such figure or table.

    ``fig4a`` is Fig. 4a, ``fig4ab`` has the panels a and b of Fig. 4, and ``fig4_s4`` has some panels of Fig. 4.
    """
    name = re.fullmatch(r"(fig|table)(\d+)([a-h]*)(?:_s\d)?", drawing)
    if name is None:
        return ""
    letters = name[3] if len(name[3]) < 2 else f" ({', '.join(name[3])})"
    return f"{'Fig.' if name[1] == 'fig' else 'Table'} {name[2]}{letters}"


def _card(
    entry: ManifestEntry,
    common: Sequence[str],
    data_notes: Sequence[str],
    said: Mapping[str, str],
    explorable: bool,
    files: Files,
) -> Card:
    parts, details = _parts(entry), _details(entry)
    paragraphs = [part for part in parts if part not in common]
    settings = [pair for pair in entry.settings if pair[0] not in {*said, REPRODUCES}]
    return Card(
        entry=entry,
        name=name_of_drawing(entry.id),
        caption=_html([p for p in paragraphs if p not in details], entry, f"{entry.id}-caption-"),
        details=_html([p for p in paragraphs if p in details], entry, f"{entry.id}-details-"),
        links=files.links(entry),
        picture=files.picture(entry) if entry.kind == "figure" else None,
        table=table(entry.files["csv"]) if entry.kind == "table" else None,
        explorable=explorable,
        reproduces=dict(entry.settings).get(REPRODUCES, ""),
        settings=tuple(pair for pair in settings if pair[0] not in GUARANTEES),
        guarantees=tuple(pair for pair in settings if pair[0] in GUARANTEES),
        notes=tuple(i for i, text in enumerate(common) if text in parts),
        data_notes=tuple(i for i, note in enumerate(data_notes) if entry.note == note),
    )


# -- captions ------------------------------------------------------------------------------------------------------


def _parts(entry: ManifestEntry) -> tuple[str, ...]:
    """Return the paragraphs of a caption after its finding."""
    text = re.sub(r"\r\n?", "\n", text_of(entry.caption, CaptionError)).strip("\n")
    shown, _, details = text.partition(f"\n{DETAILS}\n")
    if not entry.finding:
        return (*paragraphs(shown), *paragraphs(details))
    finding, _, rest = shown.partition("\n\n")
    to_html(
        finding, source=str(entry.caption), prefix=""
    )  # a mistake in it is one, though its plain text is shown
    return (*paragraphs(rest), *paragraphs(details))


def _details(entry: ManifestEntry) -> tuple[str, ...]:
    """Return the paragraphs of a caption that a reader unfolds."""
    return paragraphs(text_of(entry.caption, CaptionError).partition(f"\n{DETAILS}\n")[2])


def _often(cards: Iterable[Sequence[str]]) -> list[str]:
    counts = Counter(part for parts in cards for part in dict.fromkeys(parts))
    return [part for part, count in counts.items() if count >= SAID_ONCE_FROM]


def _html(parts: Iterable[str], entry: ManifestEntry, prefix: str) -> Markup:
    text = "\n\n".join(parts)
    return to_html(text, source=str(entry.caption), prefix=prefix) if text else Markup()


# -- settings ------------------------------------------------------------------------------------------------------


def _settings_in_common(entries: Iterable[ManifestEntry]) -> dict[str, str]:
    """Return the settings with one value in all cards that have them, if enough cards do."""
    values: dict[str, list[str]] = {}
    for entry in entries:
        for name, value in entry.settings:
            values.setdefault(name, []).append(value)
    return {
        name: every[0]
        for name, every in values.items()
        if len(set(every)) == 1 and len(every) >= SAID_ONCE_FROM and name not in GUARANTEES
    }


# -- files ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Files:
    """Files of entries, as links from a page."""

    results: Path
    page: str

    def href(self, path: Path) -> str:
        """Return the link to a file."""
        return "../" * self.page.count("/") + quote(path.relative_to(self.results).as_posix())

    def links(self, entry: ManifestEntry) -> tuple[Link, ...]:
        """Return the links to all files of an entry."""
        forms = sorted(
            entry.files, key=lambda form: (FORMATS.index(form) if form in FORMATS else len(FORMATS), form)
        )
        return tuple(
            Link(
                self.href(entry.files[form]),
                LABELS.get(form, form.upper()),
                _size(entry.files[form].stat().st_size),
            )
            for form in forms
        )

    def picture(self, entry: ManifestEntry) -> Picture:
        """Return the picture of a figure. Raise `ManifestError` if the file is not a PNG image."""
        png = entry.files["png"]
        width, height = _png_size(png)
        target = next(entry.files[form] for form in ("svg", "pdf", "png") if form in entry.files)
        size = round(SCALE * width), round(SCALE * height)
        return Picture(self.href(png), self.href(target), *size, width > WIDE)


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    if count < 999_500:
        return f"{count / 1e3:.0f} kB"
    return f"{count / 1e6:.1f} MB"


def _png_size(path: Path) -> tuple[int, int]:
    with path.open("rb") as stream:
        head = stream.read(24)
    if len(head) < 24 or head[:8] != b"\x89PNG\r\n\x1a\n" or head[12:16] != b"IHDR":
        raise ManifestError(f"{path} is not a PNG file.")
    width, height = struct.unpack(">II", head[16:24])
    return int(width), int(height)
