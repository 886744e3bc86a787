"""Tables of the documentation's pages."""

import json
import math

import pytest

from shuffledp.pipeline.papers import page_tables


def test_a_finding_links_to_its_figure(tmp_path):
    figure = {
        "title": "Error",
        "id": "fig1",
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
        "| Fig.&nbsp;1 | `dump_fig1` | [Error](gallery/dump/fig1.png) | It falls. | 1.4 |"
    )


def test_kept_results_answer_a_query(tmp_path):
    folder = tmp_path / "reference/dump"
    folder.mkdir(parents=True)
    (folder / "users.csv").write_text(
        "method,point,accounting,status,eps,expected,mean,parameters\n"
        "ours,eps=0.5 split=1-2 k=2,exact,ok,0.5,4,9,dummies=3\n"
        "ours,eps=1 split=1-2 k=2,exact,ok,1,,8,dummies=5\n"
        "ours,eps=1 split=1-2 k=2,printed,infeasible,1,,,\n"
    )
    query = page_tables.kept_results(tmp_path, "dump").where(experiment="users", accounting="exact")
    errors = query("error", "ours")
    assert errors.dims == ("eps", "split", "k")
    assert errors.to_numpy().ravel().tolist() == [4.0, 8.0]
    at = {"eps": 0.5, "split": "1-2", "k": 2}
    assert float(query("parameters.dummies", "ours", **at)) == 3
    assert page_tables.number_at(query, "error", "ours", **at) == 4
    assert math.isnan(page_tables.number_at(query, "error", "ours", accounting="printed"))
    with pytest.raises(ValueError, match=r"No method 'their' of users\. Known: ours"):
        query("error", "their")
