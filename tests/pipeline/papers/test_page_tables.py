"""Tables of the documentation's pages."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from shuffledp.pipeline.claims import errata_data
from shuffledp.pipeline.claims.evaluation import evaluate
from shuffledp.pipeline.papers import page_tables


@pytest.mark.parametrize("paper", errata_data.papers())
def test_reading_notes_accuse_nobody(paper):
    accusing = re.compile(
        r"\b(unsafe|misprint\w*|mistake\w*|wrong\w*|slips?|erroneous\w*|incorrect\w*|falsely|fails?)\b",
        re.IGNORECASE,
    )
    texts = evaluate(paper, "reading_notes").drop(columns=["id", "formerly", "shown"]).astype(str)
    assert not accusing.findall(" ".join(texts.to_numpy().ravel()))


def test_a_finding_links_to_its_figure(tmp_path):
    figure = {
        "title": "Error (accounting: both)",
        "drawing": "fig1",
        "caption": "It\nfalls.\n\nMore.",
    }
    index = tmp_path / "dump.json"
    index.write_text(json.dumps({"figures": [figure]}))
    assert page_tables.findings(index).endswith("| Fig. 1 | [Error](gallery/dump.md#fig1) | It falls. |")


def test_ratios_are_of_equal_points_and_accounting():
    rows = [("a", "n=1", "exact", 6.0), ("b", "n=1", "exact", 2.0), ("b", "n=1", "printed", 1.0)]
    rows += [("a", "n=2", "exact", 5.0)]
    results = pd.DataFrame(rows, columns=["method", "point", "accounting", "mean"])
    assert page_tables.ratios(results, "a", "b", "exact").to_dict() == {"n=1": 3.0}
