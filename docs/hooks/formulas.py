"""LaTeX formulas as MathML, which a browser draws without loading anything.

``pymdownx.arithmatex`` marks formulas on a page; this hook translates them when the site is built.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

_MARKED = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\s*\\[(\[](?P<latex>.*?)\\[)\]]\s*</(?P=tag)>',
    re.DOTALL,
)


class FormulaError(ValueError):
    """Error of a formula that cannot be translated."""


def with_mathml(page: str, translate: Callable[..., str]) -> str:
    """Replace every marked formula of a page.

    Parameters
    ----------
    page : str
        HTML with formulas in ``<span class="arithmatex">\\(..\\)</span>``, or in a ``div`` with square brackets.
    translate : callable
        ``latex2mathml.converter.convert``: takes LaTeX and ``display``, returns MathML.

    Raises
    ------
    FormulaError
        If the formula, which the message has, cannot be translated or contains an unknown command.
    """

    def one(match: re.Match[str]) -> str:
        latex = html.unescape(match["latex"]).strip()
        block = match["tag"] == "div"
        try:
            mathml = translate(latex, display="block" if block else "inline")
        except Exception as error:
            raise FormulaError(f"cannot translate the formula {latex!r}: {error!r}") from error
        # A tilde between two symbols is a relation, with space around it; the converter takes it for a name.
        mathml = mathml.replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")
        # The converter shows an unknown command as its name, which must not reach a page.
        if unknown := re.search(
            r"\\[A-Za-z]+", re.sub(r"<annotation.*?</annotation>", "", mathml, flags=re.S)
        ):
            raise FormulaError(f"the formula {latex!r} uses {unknown[0]}, which is not known.")
        return f'<div class="formula">{mathml}</div>' if block else mathml

    return _MARKED.sub(one, page)
