"""reStructuredText as Markdown, for the roles and formulas in the library's docstrings."""

from __future__ import annotations

import re
import textwrap

_ROLE = re.compile(r":(?:py:)?(?:class|func|meth|mod|data|attr|exc):`~?(?P<name>[^`]+)`")
_FORMULA = re.compile(
    r"^(?P<indent> *)\.\. math::(?P<latex>.*(?:\n(?P=indent) +\S.*)*)", re.MULTILINE
)
_INLINE = re.compile(r":math:`(?P<latex>[^`]+)`")


def as_markdown(text: str) -> str:
    """Return a docstring with roles as code and formulas between dollar signs."""

    def block(match: re.Match[str]) -> str:
        latex = " ".join(textwrap.dedent(match["latex"]).split())
        return f"{match['indent']}$$\n{match['indent']}{latex}\n{match['indent']}$$"

    text = _FORMULA.sub(block, text)
    text = _INLINE.sub(lambda match: f"${match['latex']}$", text)
    return _ROLE.sub(lambda match: f"`{match['name'].lstrip('~').rpartition('.')[2]}`", text)
