"""Docstrings as Markdown: roles and formulas of reStructuredText, which the library's docstrings use sparingly."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from griffe import Extension, Module, Object

_ROLE = re.compile(r":(?:py:)?(?:class|func|meth|mod|data|attr|exc):`~?(?P<name>[^`]+)`")
_FORMULA = re.compile(r"^(?P<indent> *)\.\. math::(?P<latex>.*(?:\n(?P=indent) +\S.*)*)", re.MULTILINE)
_INLINE = re.compile(r":math:`(?P<latex>[^`]+)`")


def as_markdown(text: str) -> str:
    """Return a docstring with roles as code and formulas between dollar signs."""

    def block(match: re.Match[str]) -> str:
        latex = " ".join(textwrap.dedent(match["latex"]).split())
        return f"{match['indent']}$$\n{match['indent']}{latex}\n{match['indent']}$$"

    text = _FORMULA.sub(block, text)
    text = _INLINE.sub(lambda match: f"${match['latex']}$", text)
    return _ROLE.sub(lambda match: f"`{match['name'].lstrip('~').rpartition('.')[2]}`", text)


class MarkdownDocstrings(Extension):
    """Rewrites every docstring of the package once it is loaded."""

    def on_package(self, *, pkg: Module, **kwargs: Any) -> None:
        """Rewrite the docstrings of a package and of all that it contains."""
        self._rewrite(pkg)

    def _rewrite(self, found: Object) -> None:
        if found.docstring is not None:
            found.docstring.value = as_markdown(found.docstring.value)
        for member in found.members.values():
            if not member.is_alias:
                self._rewrite(member)
