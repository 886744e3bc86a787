"""Cards, each with all variants of one figure or table (printed, corrected, exact, both)."""

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
ORDER = ("printed", "simplified", "corrected", "exact", "both")  # of the switch, if it is about accounting
FIRST_SHOWN = ("both", "exact")  # the first of these that a card has is what it shows at first
REPRODUCES = "reproduces"
IN_THE_SWITCH = "accounting"
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


@dataclass(frozen=True)
class Variant:
    """Entry of a card; ``notes`` are the indices of the page's common paragraphs that belong to it."""

    entry: ManifestEntry
    label: str
    caption: Markup
    details: Markup
    links: tuple[Link, ...]
    picture: Picture | None
    table: Table | None
    explorable: bool
    notes: tuple[int, ...]


@dataclass(frozen=True)
class Setting:
    """Setting with its value, and the variants that have this value (empty for all variants)."""

    name: str
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Card:
    """Figure or table with all its variants; ``data_notes`` are the indices of the page's notes on its data."""

    anchor: str
    name: str
    title: str
    reproduces: str
    variants: tuple[Variant, ...]
    shown: int
    caption: Markup
    details: Markup
    settings: tuple[Setting, ...]
    guarantees: tuple[Setting, ...]
    data_notes: tuple[int, ...]

    @property
    def kind(self) -> str:
        """Kind of the card: figure or table."""
        return self.variants[0].entry.kind

    @property
    def best(self) -> Variant:
        """Variant that the card shows first."""
        return self.variants[self.shown]

    @property
    def finding(self) -> str:
        """Finding of the variant that the card shows first."""
        return heading(self.best.entry, self.title)


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


def heading(entry: ManifestEntry, title: str) -> str:
    """Return the heading of a picture, its finding or otherwise its title."""
    return entry.finding or title


def deck(results: Path, page: str, paper: DrawnPaper, explorable: Iterable[str] = ()) -> Deck:
    """Return the cards of a paper."""
    groups: dict[str, list[ManifestEntry]] = {}
    for entry in paper.entries:
        groups.setdefault(entry.drawing, []).append(entry)
    sorted_groups = {name: in_order(entries) for name, entries in groups.items()}
    texts = {name: [_parts(entry) for entry in entries] for name, entries in sorted_groups.items()}
    in_all = {
        name: [p for p in parts[0] if all(p in other for other in parts)] for name, parts in texts.items()
    }
    common = _often([part for parts in variants for part in parts] for variants in texts.values())
    data_notes = list(dict.fromkeys(entry.note for entry in paper.entries if entry.note))
    settings = _settings_in_common(sorted_groups.values())
    numbers, files = set(explorable), Files(results, page)
    cards = tuple(
        _card(name, entries, texts[name], in_all[name], common, data_notes, settings, numbers, files)
        for name, entries in sorted_groups.items()
    )
    return Deck(
        cards,
        tuple(
            Common(
                to_html(text, source=f"captions of {paper.key}", prefix=f"page-note-{i}-"),
                tuple(card.anchor for card in cards if any(i in each.notes for each in card.variants)),
            )
            for i, text in enumerate(common)
        ),
        tuple(
            Common(Markup.escape(text), tuple(card.anchor for card in cards if i in card.data_notes))
            for i, text in enumerate(data_notes)
        ),
        tuple(Setting(name, (("", value),)) for name, value in settings.items()),
    )


def in_order(entries: Sequence[ManifestEntry]) -> list[ManifestEntry]:
    """Return the entries of one drawing in the order of `ORDER`."""
    if any(entry.variant not in ORDER for entry in entries):
        return list(entries)
    return sorted(entries, key=lambda entry: ORDER.index(entry.variant))


def first_shown(entries: Sequence[ManifestEntry]) -> int:
    """Return the index of the variant that is shown until the reader chooses another."""
    variants = [entry.variant for entry in entries]
    return next((variants.index(variant) for variant in FIRST_SHOWN if variant in variants), 0)


def name_of_drawing(drawing: str) -> str:
    """Return the paper's number of a figure or table; empty if the paper has no such figure or table.

    ``fig4a`` is Fig. 4a, ``fig4ab`` has the panels a and b of Fig. 4, and ``fig4_s4`` has some panels of Fig. 4.
    """
    name = re.fullmatch(r"(fig|table)(\d+)([a-h]*)(?:_s\d)?", drawing)
    if name is None:
        return ""
    letters = name[3] if len(name[3]) < 2 else f" ({', '.join(name[3])})"
    return f"{'Fig.' if name[1] == 'fig' else 'Table'} {name[2]}{letters}"


def title_of(entries: Sequence[ManifestEntry]) -> str:
    """Return the title without the part that differs between variants."""
    first = entries[0]
    return first.title.removesuffix(f" ({first.by}: {first.variant})")


def _card(
    name: str,
    entries: Sequence[ManifestEntry],
    texts: Sequence[tuple[str, ...]],
    in_all: Sequence[str],
    common: Sequence[str],
    data_notes: Sequence[str],
    said: Mapping[str, str],
    explorable: set[str],
    files: Files,
) -> Card:
    shared = [part for part in in_all if part not in common]
    details = {part for entry in entries for part in _details(entry)}
    differences = [[part for part in parts if part not in {*in_all, *common}] for parts in texts]
    variants = tuple(
        Variant(
            entry=entry,
            label=entry.variant or entry.id,
            caption=_html([p for p in some if p not in details], entry, f"{entry.id}-caption-"),
            details=_html([p for p in some if p in details], entry, f"{entry.id}-details-"),
            links=files.links(entry),
            picture=files.picture(entry) if entry.kind == "figure" else None,
            table=table(entry.files["csv"]) if entry.kind == "table" else None,
            explorable=entry.id in explorable,
            notes=tuple(i for i, text in enumerate(common) if text in parts),
        )
        for entry, parts, some in zip(entries, texts, differences, strict=True)
    )
    settings = _settings(entries, said)
    return Card(
        anchor=name,
        name=name_of_drawing(name),
        title=title_of(entries),
        reproduces=dict(entries[0].settings).get(REPRODUCES, ""),
        variants=variants,
        shown=first_shown(entries),
        caption=_html([p for p in shared if p not in details], entries[0], f"{name}-shared-"),
        details=_html([p for p in shared if p in details], entries[0], f"{name}-details-"),
        settings=tuple(each for each in settings if each.name not in GUARANTEES),
        guarantees=tuple(each for each in settings if each.name in GUARANTEES),
        data_notes=tuple(
            i for i, note in enumerate(data_notes) if any(entry.note == note for entry in entries)
        ),
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


def _settings_in_common(groups: Iterable[Sequence[ManifestEntry]]) -> dict[str, str]:
    """Return the settings with one value in all cards that have them, if enough cards do."""
    values: dict[str, set[str]] = {}
    cards: Counter[str] = Counter()
    for entries in groups:
        pairs = {pair for entry in entries for pair in entry.settings}
        for name, value in pairs:
            values.setdefault(name, set()).add(value)
        cards.update({name for name, _ in pairs})
    order = dict.fromkeys(name for entries in groups for entry in entries for name, _ in entry.settings)
    return {
        name: next(iter(values[name]))
        for name in order
        if len(values[name]) == 1 and cards[name] >= SAID_ONCE_FROM and name not in GUARANTEES
    }


def _settings(entries: Sequence[ManifestEntry], said: Mapping[str, str]) -> tuple[Setting, ...]:
    left_out = {*said, REPRODUCES, *([IN_THE_SWITCH] if entries[0].by == IN_THE_SWITCH else [])}
    names = dict.fromkeys(name for entry in entries for name, _ in entry.settings if name not in left_out)
    settings = []
    for name in names:
        by_value: dict[str, list[str]] = {}
        for entry in entries:
            if name in dict(entry.settings):
                by_value.setdefault(dict(entry.settings)[name], []).append(entry.variant)
        everywhere = sum(map(len, by_value.values())) == len(entries) and len(by_value) == 1
        settings.append(
            Setting(
                name,
                tuple(("" if everywhere else ", ".join(whose), value) for value, whose in by_value.items()),
            )
        )
    return tuple(settings)


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
