"""Docstrings, pages and captions follow the rule for words: patterns of unclear sentences are rare."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NO_PEOPLE = "page|file|command|caption|label|note|column|guide|table|line|message|issue|test|function|it"
#: Patterns of unclear words. A hit should be rewritten, but is not always a fault.
PATTERNS = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^\s*(What|Whether|How|Whoever|Which)\b[^.?\n]{0,200}\.",  # a free relative as the subject
        r"\b(that|those) of\b",  # a pronoun for a noun
        r"\bstands? (behind|for|in|on|there|beside)\b",
        r"\b[Ss]o (many|few)\b",
        r"\b(whoever|whatever|nobody|somebody|strangers?)\b",
        r"\b[Tt]he own\b|\ban own\b",
        rf"\b({NO_PEOPLE}) (says|tells|asks|answers|knows)\b",
        r"\b(is|are|be) (told|asked|said|seen to|handed|held against)\b",
        r"\b(doors?|doubts?|blame|yardsticks?|raised to|settled|spent by|tells? apart)\b",
    )
]
#: Largest share of docstrings, and of sentences of pages and captions, with a hit.
CEILINGS = {"docstrings": 0.03, "sentences": 0.03}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CAPTIONS = sorted((ROOT / "src").rglob("captions/*.rst"))


def docstrings() -> Iterator[tuple[str, str]]:
    for file in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                found = ast.get_docstring(node)
                if found:
                    yield f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", found


def sentences() -> Iterator[tuple[str, str]]:
    """Yield sentences of at least five words, without code, tables, headings and marks."""
    for page in (*PAGES, *CAPTIONS):
        text = re.sub(r"```.*?```|{%.*?%}|{#.*?#}", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        text = " ".join(re.sub(r"^\|.*$|^#.*$|<!--.*?-->", "", text, flags=re.MULTILINE).split())
        for sentence in re.split(r"(?<=[.!?:]) ", text):
            if len(sentence.split()) >= 5:
                yield str(page.relative_to(ROOT)), sentence


@pytest.mark.parametrize(("kind", "texts"), [("docstrings", docstrings), ("sentences", sentences)])
def test_patterns_are_rare(kind, texts):
    every = list(texts())
    hits = [f"{place}: {text[:200]}" for place, text in every if any(p.search(text) for p in PATTERNS)]
    assert len(every) > 1000
    assert len(hits) <= CEILINGS[kind] * len(every), "\n".join(hits)
