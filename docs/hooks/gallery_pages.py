"""Pages of the gallery, generated from ``docs/gallery/<paper>.json`` and its pictures (see tools/gallery.py)."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shuffledp.pipeline.config.config_files import read_yaml
from shuffledp.pipeline.figures import overall_jobs
from shuffledp.pipeline.site.caption_html import DETAILS, to_html

ROOT = Path(__file__).resolve().parents[2]
NONE_YET = (
    "The repository has no pictures of this paper. `make all` draws them into `results/`, and `make -C tools gallery` "
    "copies them to this gallery."
)


#: Studies without a page of their own, and their page if it is not the accountant's.
ABOUT = {"comparison": "compare", "overall": "compare"}


class GalleryError(RuntimeError):
    """Error of a picture that differs from its entry in the index."""


def paper_page(key: str, title: str, gallery: Path) -> str:
    """Return the Markdown of a paper's page.

    Parameters
    ----------
    key, title : str
        Key and title of the paper in the configuration.
    gallery : Path
        ``docs/gallery``.

    Raises
    ------
    GalleryError
        If a picture is missing or differs from its entry in the index.
    """
    index = gallery / f"{key}.json"
    page = key if (gallery.parent / f"{key}.md").is_file() else ABOUT.get(key, "accountant")
    head = f"# {title}\n\nSettings, open choices and results: [{page}](../{page}.md).\n\n"
    if not index.exists():
        return head + NONE_YET + "\n"
    figures = json.loads(index.read_text(encoding="utf-8"))["figures"]
    drawn = "\n".join(_drawing(key, figure, gallery) for figure in figures)
    return f"{head}{_thumbnails(key, figures)}\n\n{drawn}"


def _thumbnails(paper: str, figures: Iterable[Mapping[str, Any]]) -> str:
    """Return a small picture of every drawing, with a link to its heading."""
    links = (
        f'<a href="#{figure["id"]}" title="{title}">'
        f'<img src="{paper}/{figure["id"]}.png" alt="{title}" loading="lazy"></a>'
        for figure in figures
        for title in [html.escape(figure["title"])]
    )
    return f'<p class="thumbnails">{"".join(links)}</p>'


def _drawing(paper: str, figure: Mapping[str, Any], gallery: Path) -> str:
    where = f"Reproduces {figure['reproduces']}.\n\n" if figure["reproduces"] else ""
    return (
        f"## {figure['title']} {{ #{figure['id']} }}\n\n{where}{_figure(paper, figure, gallery)}"
    )


def _figure(paper: str, figure: Mapping[str, Any], gallery: Path) -> str:
    path = gallery / paper / f"{figure['id']}.png"
    if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != figure["file"]:
        raise GalleryError(
            f"{path} is not the picture that {paper}.json describes: run `make -C tools gallery`."
        )
    shown, _, rest = figure["caption"].partition(f"\n{DETAILS}\n")
    note = f"<p><strong>{html.escape(figure['note'])}</strong></p>" if figure["note"] else ""
    first = _html(shown, f"{paper}.{figure['id']}, finding")
    more = _html(rest, f"{paper}.{figure['id']}, caption") if rest else ""
    details = (
        f"<details><summary>Caption and digests</summary>{more}"
        f"<p class='digests'>sha256 of the table: <code>{figure['table']}</code><br>"
        f"sha256 of the picture: <code>{figure['file']}</code></p></details>"
    )
    address = f"{paper}/{figure['id']}.png"
    picture = f'<a href="{address}"><img src="{address}" alt="{html.escape(figure["alt"])}" loading="lazy"></a>'
    return f'<figure class="drawn">{picture}<figcaption>{first}{note}</figcaption></figure>\n\n{details}\n'


def _html(text: str, name: str) -> str:
    """Return a part of a caption as HTML on one line, which Markdown does not split."""
    prefix = "".join(c if c.isalnum() else "-" for c in name) + "-"
    return " ".join(str(to_html(text, source=name, prefix=prefix)).split())


@cache
def papers() -> dict[str, str]:
    """Return the titles of papers, studies and the pictures over all papers, by key, in the configuration's order."""
    keys = read_yaml(ROOT / "config/config.yaml")["papers"]
    files = {key: read_yaml(ROOT / f"config/experiments/{key}.yaml") for key in keys}
    titles = {key: (file.get("paper") or file["study"])["title"] for key, file in files.items()}
    return titles | {overall_jobs.KEY: overall_jobs.TITLE}


def overview(titles: Mapping[str, str], gallery: Path) -> str:
    """Return the Markdown of the list of papers, one line each with a small picture and the number of pictures."""
    rows = []
    for key, title in titles.items():
        index = gallery / f"{key}.json"
        figures = (
            json.loads(index.read_text(encoding="utf-8"))["figures"] if index.exists() else []
        )
        first = (
            f'<img class="thumbnail" width="180" src="{key}/{figures[0]["id"]}.png" alt="">'
            if figures
            else ""
        )
        rows.append(f"| {first} | [{title}]({key}) | {len(figures)} |")
    return "| | paper | pictures |\n| --- | --- | ---: |\n" + "\n".join(rows) + "\n"
