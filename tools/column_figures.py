"""Redraw the pictures of curves of a finished run for a column of a two-column paper: ``make -C tools column-figures``.

python tools/column_figures.py results dump/fig5     all figures whose name begins with dump/fig5
"""

from __future__ import annotations

import sys
from pathlib import Path

from shuffledp.pipeline.config import Settings
from shuffledp.pipeline.config.config_files import read_yaml
from shuffledp.pipeline.figures.drawings import caption_folder, drawings_of, figure_folder
from shuffledp.pipeline.figures.paper import in_column
from shuffledp.pipeline.figures.selection import load_settings
from shuffledp.pipeline.manifest import MANIFEST

ROOT = Path(__file__).resolve().parent.parent


def settings_of(results: Path) -> Settings:
    """Return the settings of a run from config/config.yaml and the file of config/ that names its folder, if any."""
    base = read_yaml(ROOT / "config/config.yaml")
    others = [read_yaml(path) for path in sorted((ROOT / "config").glob("*.yaml"))]
    smaller = next((other for other in others if Path(str(other.get("results", ""))) == results), {})
    return load_settings(base | smaller, ROOT)


def write(results: Path, begins: str = "") -> list[Path]:
    """Write ``column/<paper>/<figure>.pdf`` below the results for every figure of the run; return the files.

    Raises ValueError if the run has no such figure.
    """
    files = []
    for key, paper in settings_of(results).papers.items():
        if not (figure_folder(results, key) / MANIFEST).is_file():
            continue  # a paper that this run left out
        for drawing in drawings_of(paper):
            curves = drawing.kind == "figure" and drawing.entry.get("kind", "curves") == "curves"
            if curves and f"{key}/{drawing.id}".startswith(begins):
                path = results / "column" / key / f"{drawing.id}.pdf"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(
                    in_column(drawing.job(str(results), ["pdf"], caption_folder(ROOT, key), "paper"))
                )
                files.append(path)
    if not files:
        raise ValueError(f"{results} has no figure of curves whose name begins with {begins!r}.")
    return files


def main(arguments: list[str]) -> int:
    """Write the figures and print their files; return 1 after an error, which is one line."""
    try:
        for file in write(Path(arguments[0]), *arguments[1:2]):
            print(file)
    except ValueError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
