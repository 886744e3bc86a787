"""Gallery of the documentation: small pictures of the papers' figures, in the repository.

    python tools/gallery.py make      bring docs/gallery/ up to date with results/: ``make -C tools gallery``
    python tools/gallery.py check     check that it is up to date: ``make -C tools release-check``

``docs/gallery/<paper>/`` has the pictures. Each picture has an entry in ``docs/gallery/<paper>.json``: its caption, and
the sha256 of its table, of the original picture, and of itself. Only figures at the papers' scale are taken, and only
changed pictures are written.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from shuffledp.pipeline.manifest import MANIFEST, ManifestEntry, read
from shuffledp.storage import IntegrityError, sha256_of, write_atomically

ROOT = Path(__file__).resolve().parent.parent
COLORS = 256  # the most frequent ones; of a picture's colors these are lines, markers and most of their smoothed edges
SAME = 2  # of 255: a color that is no farther from a more frequent one takes no place of its own
FREQUENT = 60  # pixels; a color of a legend has more
MOST_MOVED = 8  # of 255: a frequent color may be so far from its own
MOST_BYTES = 6_500_000
CAPTION = "the caption has changed"
UNTRAINED = "Training is left out"  # begins the note of a figure without its accuracies


class GalleryError(RuntimeError):
    """Error of results that give no gallery."""


@dataclass(frozen=True)
class Picture:
    """Entry of the gallery; digests are sha256 in hexadecimal digits."""

    id: str
    reproduces: str
    title: str
    alt: str
    caption: str
    note: str
    table: str
    source: str
    file: str


@dataclass(frozen=True)
class DrawnFigures:
    """Drawn figures of a paper in a run."""

    paper: Mapping[str, Any]
    figures: tuple[ManifestEntry, ...]


def figures_of(folder: Path) -> DrawnFigures:
    """Return the figures of a paper, in the order of its page.

    Raises `IntegrityError` or `ManifestError` for a missing or damaged file, and `GalleryError` for another scale than
    the paper's.
    """
    drawn = read(folder)
    if drawn.run.scale != "paper":
        raise GalleryError(f"{folder} was drawn at a small scale; the gallery shows what `make all` draws.")
    figures = tuple(entry for entry in drawn.entries if entry.kind == "figure")
    return DrawnFigures(drawn.model_dump(include={"key", "title", "citation", "doi"}), figures)


def papers_in(results: Path) -> list[Path]:
    """Return the folders of figures by paper. Raise `GalleryError` if there is none."""
    found = sorted(path.parent for path in (results / "figures").glob(f"*/{MANIFEST}"))
    if not found:
        raise GalleryError(f"{results} has no figures: run `make all` first.")
    return found


Color = tuple[int, int, int]


def colors_of(png: bytes) -> dict[Color, int]:
    """Count the pixels of a picture by color, in decreasing order."""
    with Image.open(io.BytesIO(png)) as picture:
        counts: Any = picture.convert("RGB").getcolors(picture.width * picture.height)
    return {color: count for count, color in sorted(counts, key=lambda one: (-one[0], one[1]))}


def small(png: bytes) -> bytes:
    """Return a picture of the same size with only its most frequent colors.

    A quantizer that averages colors would merge the colors of two lines if the colors of smoothed edges fill the
    palette.
    """
    chosen: list[Color] = []
    for color in colors_of(png):
        if len(chosen) < COLORS and all(_apart(color, other) > SAME for other in chosen):
            chosen.append(color)
    with Image.open(io.BytesIO(png)) as picture:
        pixels = np.asarray(picture.convert("RGB"), np.int64) @ np.array([2**16, 2**8, 1], np.int64)
    colors, which = np.unique(pixels, return_inverse=True)
    channels = zip((colors >> 16, colors >> 8 & 255, colors & 255), np.transpose(chosen), strict=True)
    nearest = sum((own[:, None] - others) ** 2 for own, others in channels).argmin(axis=1)
    few = Image.fromarray(nearest[which].reshape(pixels.shape).astype(np.uint8))
    few.putpalette([channel for color in chosen for channel in color])
    sink = io.BytesIO()
    few.save(sink, "PNG", optimize=True)
    return sink.getvalue()


def moved(png: bytes, few: bytes) -> int:
    """Return the largest distance (0 to 255) from a frequent color of a picture to the colors of its small copy."""
    left = colors_of(few)
    frequent = [color for color, count in colors_of(png).items() if count >= FREQUENT]
    return max(min(_apart(color, other) for other in left) for color in frequent)


def _apart(one: Color, other: Color) -> int:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def index_of(gallery: Path, paper: str) -> dict[str, Picture]:
    """Return the entries of a paper by id; empty if there is no index."""
    path = gallery / f"{paper}.json"
    if not path.exists():
        return {}
    return {e["id"]: Picture(**e) for e in json.loads(path.read_text(encoding="utf-8"))["figures"]}


def _empty(figure: ManifestEntry) -> bool:
    """Return whether the table of a figure has a header but no rows, or another quantity as its run has no training."""
    rows = figure.files["csv"].read_text(encoding="utf-8").splitlines()
    return len(rows) < 2 or figure.note.startswith(UNTRAINED)


def _picture(figure: ManifestEntry, file: str) -> Picture:
    return Picture(
        id=figure.id,
        reproduces=dict(figure.settings).get("reproduces", ""),
        title=figure.title,
        alt=figure.alt,
        caption=figure.caption.read_text(encoding="utf-8").strip(),
        note=figure.note,
        table=sha256_of(figure.files["csv"]),
        source=sha256_of(figure.files["png"]),
        file=file,
    )


def change_of(figure: ManifestEntry, before: Picture | None, path: Path) -> str:
    """Return how a figure differs from its picture in the gallery; empty if it does not."""
    if before is None:
        return "is not in the gallery"
    now = _picture(figure, before.file)
    if before.table != now.table:
        return "the numbers have changed"
    if before.source != now.source:
        return "the picture is drawn differently"
    if not path.exists() or sha256_of(path) != before.file:
        return "is damaged"
    if moved(figure.files["png"].read_bytes(), path.read_bytes()) > MOST_MOVED:
        return "its colors are not those of the picture"
    return CAPTION if before.caption != now.caption else ""


def _update_paper(drawn: DrawnFigures, gallery: Path) -> Iterator[str]:
    key = drawn.paper["key"]
    old, new = index_of(gallery, key), {}
    for figure in drawn.figures:
        name, before = figure.id, old.get(figure.id)
        path = gallery / key / f"{name}.png"
        if _empty(figure):
            yield f"{key}.{name}: nothing was drawn ({figure.note or 'its table is empty'}); " + (
                "left out" if before is None else "the picture that is there stays"
            )
            if before is not None:
                new[name] = before
        elif before is not None and change_of(figure, before, path) in ("", CAPTION):
            new[name] = _picture(figure, before.file)
        else:
            content = small(figure.files["png"].read_bytes())
            write_atomically(path, content)
            new[name] = _picture(figure, hashlib.sha256(content).hexdigest())
            yield f"{key}.{name}: " + ("added" if before is None else "refreshed")
    index = {"paper": dict(drawn.paper), "figures": [asdict(picture) for picture in new.values()]}
    if new or old:
        content = (json.dumps(index, indent=1, ensure_ascii=False) + "\n").encode()
        write_atomically(gallery / f"{key}.json", content)
    for path in sorted((gallery / key).glob("*.png")):
        if path.stem not in new:
            path.unlink()
            yield f"{key}.{path.stem}: removed, no figure has this name"


def update(results: Path, gallery: Path) -> list[str]:
    """Update the gallery (``docs/gallery``) from the results; return one line per change.

    Raises `GalleryError`, `IntegrityError` or `ManifestError` if results are missing, damaged or of another scale.
    """
    said = []
    for folder in papers_in(results):
        said += list(_update_paper(figures_of(folder), gallery))
    return said


def damaged(gallery: Path) -> list[str]:
    """Return the problems inside the gallery: missing, changed or unlisted files."""
    wrong, listed, total = [], set(), 0
    for index in sorted(gallery.glob("*.json")):
        for picture in index_of(gallery, index.stem).values():
            path = gallery / index.stem / f"{picture.id}.png"
            listed.add(path)
            if not path.exists():
                wrong.append(f"{path.relative_to(gallery)} is missing")
            elif sha256_of(path) != picture.file:
                wrong.append(f"{path.relative_to(gallery)} is not the file that its index names")
    for path in sorted(gallery.glob("*/*.png")):
        total += path.stat().st_size
        if path not in listed:
            wrong.append(f"{path.relative_to(gallery)} is in no index")
    if total > MOST_BYTES:
        wrong.append(f"the pictures have {total:,} bytes, more than {MOST_BYTES:,}")
    return wrong


def outdated(results: Path, gallery: Path) -> list[str]:
    """Return one line per figure that differs between the gallery and the results; raises the errors of `update`."""
    wrong = []
    for folder in papers_in(results):
        listed = index_of(gallery, folder.name)
        for figure in figures_of(folder).figures:
            before = listed.pop(figure.id, None)
            if not _empty(figure):
                change = change_of(figure, before, gallery / folder.name / f"{figure.id}.png")
            else:
                change = before and f"cannot be compared: {figure.note or 'its table is empty'}"
            if change:
                wrong.append(f"{folder.name}.{figure.id}: {change}")
        wrong += [f"{folder.name}.{name}: no figure has this name any more" for name in listed]
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if there is no problem."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", choices=["make", "check"])
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--gallery", type=Path, default=ROOT / "docs/gallery")
    given = parser.parse_args(arguments)
    try:
        if given.command == "make":
            lines = update(given.results, given.gallery)
            print("\n".join(lines) or "The gallery is that of the results.")
            return 0
        lines = damaged(given.gallery) + outdated(given.results, given.gallery)
    except (GalleryError, IntegrityError, ValueError) as error:
        print(f"Gallery: {error}", file=sys.stderr)
        return 2
    if lines:
        print(
            "\n".join(["The gallery is not current; `make -C tools gallery` makes it so:", *lines]),
            file=sys.stderr,
        )
        return 1
    print("The gallery is that of the results.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
