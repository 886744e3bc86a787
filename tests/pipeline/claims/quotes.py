"""Search for the quotations of errata in the paper, word for word.

A program extracted the text of a paper from its pages, with most formulas as LaTeX. White space, also around the dollar
signs of a formula, and hyphens at line ends depend on the extraction and are normalized; nothing else is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from shuffledp.pipeline.claims.errata_data import Erratum

_BROKEN_WORD = re.compile(r"(?<=[a-z])-\s*\n\s*(?=[a-z])")
_AROUND_FORMULA = re.compile(r"\s*\$\s*")


def normalized(text: str) -> str:
    """Return a text on one line, for comparison.

    Words with a hyphen at the end of a line are joined (a compound word there loses its hyphen). White space beside a
    dollar sign is removed, and any other white space becomes one blank.
    """
    return " ".join(_AROUND_FORMULA.sub("$", _BROKEN_WORD.sub("", text)).split())


def missing_quotes(errata: Iterable[Erratum], text: str) -> list[tuple[str, str]]:
    """Return the passages that errata quote but the text lacks."""
    paper = normalized(text)
    return [
        (e.id, passage)
        for e in errata
        if not e.code
        for passage in e.quote
        if normalized(passage) not in paper
    ]
