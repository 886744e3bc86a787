"""Links between files of the repository, converted to links between pages of the site.

In the repository a page links to files: ``../CONTRIBUTING.md``, ``../notebooks/tour.ipynb``. Some of these files have a
page on the site, under another address. A file without a page is shown by its name, because the site must be complete
without the repository.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

# Label (which may hold brackets of its own) and target; a target never has blanks.
_LINK = re.compile(
    r"(?P<picture>!?)\[(?P<label>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)"
)
_FENCED = re.compile(r"^(?P<mark>```+|~~~+).*?^(?P=mark)[ \t]*$", re.MULTILINE | re.DOTALL)
_ELSEWHERE = re.compile(r"^([a-z][a-z0-9+.-]*:|#|//)", re.IGNORECASE)


@dataclass(frozen=True)
class Site:
    """Files of the repository that the site shows, and a test whether a file exists.

    Attributes
    ----------
    pages : mapping of str to str
        Files of the repository that the site shows, by path from the top, with the address of the page or picture.
    exists : callable
        Whether the repository has a file or folder, by path from the top.
    captioned : mapping of str to str
        Pictures to which a link leads to a place on the site instead, with this place.
    """

    pages: Mapping[str, str]
    exists: Callable[[str], bool]
    captioned: Mapping[str, str] = field(default_factory=dict)


def relinked(text: str, source: str, page: str, site: Site) -> tuple[str, list[str]]:
    """Convert the links of a text to links between pages of the site.

    Parameters
    ----------
    text : str
        Markdown. Blocks of code stay unchanged.
    source : str
        File that contains the text, by path from the top of the repository; links are relative to it.
    page : str
        Address of the page that shows the file.
    site : Site
        Files on the site.

    Returns
    -------
    str, list of str
        The text, and the targets that do not exist, whose links stay unchanged.
    """
    dead: list[str] = []

    def one(match: re.Match[str]) -> str:
        target = match["target"]
        if _ELSEWHERE.match(target):
            return match[0]
        path, mark, fragment = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if file in site.captioned and not match["picture"]:
            return f"[{match['label']}]({posixpath.relpath(site.captioned[file], posixpath.dirname(page) or '.')})"
        if file in site.pages:
            address = posixpath.relpath(site.pages[file], posixpath.dirname(page) or ".")
            return f"{match['picture']}[{match['label']}]({address}{mark}{fragment})"
        if match["picture"] or not site.exists(file):
            dead.append(target)
            return match[0]
        return _named(match["label"], file)

    outside = re.split(f"({_FENCED.pattern})", text, flags=_FENCED.flags)
    # re.split also returns the mark of each block: pieces come in threes, text, block, mark.
    return "".join(
        piece if i % 3 == 1 else _LINK.sub(one, piece)
        for i, piece in enumerate(outside)
        if i % 3 < 2
    ), dead


def _named(label: str, file: str) -> str:
    """Return the name of a file without a page."""
    plain = label.replace("`", "")
    return f"`{plain}`" if posixpath.basename(file) in plain else f"{label} (`{file}`)"
