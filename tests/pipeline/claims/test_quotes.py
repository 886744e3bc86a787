"""Quotations of errata are in the paper, word for word.

A program extracted the text of a paper from its pages, with most formulas as LaTeX. White space, also around the dollar
signs of a formula, and hyphens at line ends depend on the extraction and are normalized; nothing else is.
"""

import dataclasses
import os
import re
from pathlib import Path

import pytest

from shuffledp.pipeline.claims import errata_data, review

PAPERS = "SHUFFLEDP_PAPERS"


def normalized(text):
    """Return a text on one line, for comparison: words broken at the end of a line are joined.

    A compound word there loses its hyphen.
    """
    whole = re.sub(r"(?<=[a-z])-\s*\n\s*(?=[a-z])", "", text)
    return " ".join(re.sub(r"\s*\$\s*", "$", whole).split())


def missing_quotes(errata, text):
    """Return the passages that errata quote but the text lacks."""
    paper = normalized(text)
    quoted = [(e.id, passage) for e in errata if not e.code for passage in e.quote]
    return [(id, passage) for id, passage in quoted if normalized(passage) not in paper]


def _text(paper):
    folder = os.environ.get(PAPERS)
    if not folder:
        pytest.skip(f"{PAPERS} does not name the folder with the texts of the papers")
    return (Path(folder) / f"{paper}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "paper", [p for p in errata_data.papers() if not all(e.code for e in errata_data.errata(p))]
)
def test_quoted_passages_are_in_the_papers(paper):
    assert missing_quotes(errata_data.errata(paper), _text(paper)) == []


def test_code_quotes_name_a_version():
    """A quote from code is not searched for in the paper."""
    of_code = [e for paper in errata_data.papers() for e in errata_data.errata(paper) if e.code]
    assert {e.id.partition("-")[0] for e in of_code} == {"CMP", "RA"}
    for entry in of_code:
        commit = re.search(r"commit ([0-9a-f]{40})$", entry.code)
        assert commit is not None, entry.id
        assert commit[1][:7] in entry.place
    assert missing_quotes(of_code, "") == []
    assert missing_quotes([dataclasses.replace(of_code[0], code="")], "") != []


def test_all_entries_have_one_verdict_each():
    found = [verdict for paper in errata_data.papers() for verdict in review.verdicts(paper).values()]
    assert len(found) == 81
    assert set(found) == set(review.VERDICTS)
