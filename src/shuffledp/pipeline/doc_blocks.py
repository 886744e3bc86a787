"""Measured values in pages, between ``<!-- measured NAME -->`` and ``<!-- measured NAME end -->``."""

from __future__ import annotations

import re
from pathlib import Path


def read_block(page: Path, name: str) -> str:
    """Return a block's content without surrounding empty lines. Raise ValueError unless the page has one such block."""
    return _only(page, name)[2].strip("\n")


def write_block(page: Path, name: str, text: str) -> None:
    """Replace a block's content by Markdown. Raise ValueError unless the page has exactly one such block."""
    found = _only(page, name)
    begin, end = found.span(2)
    whole = found.string
    page.write_text(f"{whole[:begin]}\n{text.strip(chr(10))}\n\n{whole[end:]}", encoding="utf-8")


def _only(page: Path, name: str) -> re.Match[str]:
    marks = (re.escape(f"<!-- measured {name} -->"), re.escape(f"<!-- measured {name} end -->"))
    blocks = list(
        re.finditer(
            rf"^({marks[0]}\n)(.*?)^{marks[1]}$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
    )
    if len(blocks) != 1:
        raise ValueError(f"{page} must have one block 'measured {name}', has {len(blocks)}.")
    return blocks[0]
