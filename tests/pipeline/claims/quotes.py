"""Whether what an erratum quotes stands in the paper, word for word.

The text of a paper is what a program extracted from its pages, formulas as LaTeX where they survived. White space, also
around the dollar signs of a formula, and a word that is hyphenated at the end of a line depend on the extraction and
are evened out; nothing else is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from shuffledp.pipeline.claims.errata_data import Erratum

_BROKEN_WORD = re.compile(r"(?<=[a-z])-\s*\n\s*(?=[a-z])")
_AROUND_FORMULA = re.compile(r"\s*\$\s*")


def normalized(text: str) -> str:
    """Return a text on one line, for comparison.

    Words broken by a hyphen at a line's end are joined (a compound that happens to break there loses its hyphen), white
    space beside a dollar sign is dropped, and any other white space is one blank.
    """
    return " ".join(_AROUND_FORMULA.sub("$", _BROKEN_WORD.sub("", text)).split())


def missing_quotes(errata: Iterable[Erratum], text: str) -> list[tuple[str, str]]:
    """Return the passages that errata quote and the text does not have."""
    paper = normalized(text)
    return [
        (e.id, passage)
        for e in errata
        if not e.code
        for passage in e.quote
        if normalized(passage) not in paper
    ]
