"""Conversion of captions from reStructuredText to HTML without scripts and external files."""

from __future__ import annotations

import io
import re
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from docutils.core import publish_parts
from docutils.utils import SystemMessage
from docutils.writers import html5_polyglot
from markupsafe import Markup

# Of reStructuredText: what other lines refer to, so that a caption with it cannot be taken apart.
_REFERRED_TO = re.compile(r"^\.\. [\[|_]|^__ ", re.MULTILINE)
SCHEMES = frozenset({"", "http", "https", "mailto"})

SETTINGS: dict[str, Any] = {
    "_disable_config": True,  # a docutils.conf lying around must not change the page
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 2,
    "halt_level": 2,  # warnings stop: a caption with a mistake in it is not published
    "doctitle_xform": False,
    "initial_header_level": 4,
    "strip_comments": True,
    "math_output": "MathML",
    "syntax_highlight": "none",
    "stylesheet_path": "",
    "embed_stylesheet": False,
}


#: Line of a caption, a comment of reStructuredText, after which its details begin.
DETAILS = ".. details"


class CaptionError(ValueError):
    """Error of a caption that is invalid reStructuredText, or uses a directive that captions may not use."""


class _Writer(html5_polyglot.Writer):  # type: ignore[misc, unused-ignore]
    """The HTML5 writer, with a check of the caption's links."""

    def translate(self) -> None:
        for image in self.document.findall(nodes.image):
            raise CaptionError(f"it includes the picture {image['uri']!r}; a caption is text alone")
        for link in self.document.findall(nodes.reference):
            target = link.get("refuri", "")
            if urlsplit(target).scheme.lower() not in SCHEMES:
                raise CaptionError(f"it links to {target!r}; only http, https and mailto are allowed")
        super().translate()


def paragraphs(text: str) -> tuple[str, ...]:
    """Split a caption into paragraphs, lists and formulas; a caption with footnotes or link targets stays whole."""
    if _REFERRED_TO.search(text):
        return (text.strip(),)
    parts: list[str] = []
    for block in re.split(r"\n[ \t]*\n", text.strip("\n")):
        if parts and (not block.strip() or block[:1].isspace() or _continues(parts[-1], block)):
            parts[-1] = f"{parts[-1]}\n\n{block}"
        else:
            parts.append(block)
    return tuple(part.rstrip() for part in parts if part.strip())


def _continues(before: str, block: str) -> bool:
    """Return whether a block belongs to the block before: it continues a list, or follows ``::`` or a heading."""
    item = re.compile(r"(?:[-*+]|\w+[.)]|#\.) ")
    listed = bool(item.match(before)) and bool(item.match(block))
    return listed or before.endswith("::")


def to_html(text: str, *, source: str, prefix: str) -> Markup:
    """Return a caption as HTML."""
    settings = SETTINGS | {"id_prefix": prefix, "warning_stream": io.StringIO()}
    try:
        parts = publish_parts(text, source_path=source, writer=_Writer(), settings_overrides=settings)
    except SystemMessage as error:
        raise CaptionError(
            f"{source} is not a valid caption. Correct this reStructuredText: {error}"
        ) from None
    except CaptionError as error:
        raise CaptionError(f"{source} is not a valid caption: {error}.") from None
    return Markup(parts["fragment"].strip())  # safe: docutils wrote it, with raw HTML switched off
