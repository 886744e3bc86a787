"""Tables of the documentation's pages."""

from __future__ import annotations

import json

import pandas as pd

from shuffledp.pipeline.papers import page_tables


def test_a_finding_links_to_its_figure(tmp_path):
    figure = {
        "title": "Error (accounting: both)",
        "drawing": "fig1",
        "id": "fig1_both",
        "caption": "It\nfalls.\n\nMore.",
    }
    for name, text in {
        "docs/gallery/dump.json": json.dumps({"figures": [figure]}),
        "docs/measured/experiments.csv": "paper,experiment,cpu_s\ndump,users,1.36\n",
        "config/experiments/dump.yaml": "figures: {fig1: {experiment: users}}\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert page_tables.findings(tmp_path, "dump").endswith(
        "| Fig.&nbsp;1 | `dump_fig1` | [Error](gallery/dump/fig1_both.png) | It falls. | 1.4 |"
    )


def test_ratios_need_equal_points_and_accounting():
    rows = [("a", "n=1", "exact", 6.0), ("b", "n=1", "exact", 2.0), ("b", "n=1", "printed", 1.0)]
    rows += [("a", "n=2", "exact", 5.0)]
    results = pd.DataFrame(rows, columns=["method", "point", "accounting", "mean"])
    assert page_tables.ratios(results, "a", "b", "exact").to_dict() == {"n=1": 3.0}
