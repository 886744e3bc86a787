"""Redraw the pictures of curves of a finished run for a column of a two-column paper: ``make column-figures``.

python tools/column_figures.py results dump/fig5     all figures whose name begins with dump/fig5
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

from shuffledp.pipeline.figures.drawings import caption_folder, drawings_of
from shuffledp.pipeline.figures.paper import in_column
from shuffledp.pipeline.figures.selection import load_settings

ROOT = Path(__file__).resolve().parent.parent


def write(results: Path, begins: str = "") -> list[Path]:
    """Write ``column/<paper>/<figure>.pdf`` below the results and return the files."""
    settings = load_settings(yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8")), ROOT)
    found = []
    for key, paper in settings.papers.items():
        for drawing in drawings_of(paper):
            curves = drawing.kind == "figure" and drawing.entry.get("kind", "curves") == "curves"
            if curves and f"{key}/{drawing.id}".startswith(begins):
                path = results / "column" / key / f"{drawing.id}.pdf"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(
                    in_column(drawing.job(str(results), ["pdf"], caption_folder(ROOT, key), "paper"))
                )
                found.append(path)
    return found


if __name__ == "__main__":
    for file in write(Path(sys.argv[1]), *sys.argv[2:3]):
        print(file)
