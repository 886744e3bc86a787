import json

import pytest
from fabricated import BUDGETS, CHART, PAPERS, PROTOCOLS, as_csv

from shuffledp.pipeline import site as pages


def charts(results, key=PAPERS[1]):
    """Return the charts of a paper from their script."""
    script = pages.render(results, PAPERS, PROTOCOLS)[f"site/charts/{key}.js"].decode()
    before, _, content = script.partition(f'["{key}"] = ')
    assert before == "(window.shuffledpCharts ??= {})"
    return json.loads(content.removesuffix(";\n"))


def drawn(paper, results, *rows, **changes):
    """Return the chart of one figure with other curves, rounds, eps, kinds and numbers."""
    entry = paper.manifest["entries"][0]
    entry["chart"] = CHART | {"panels": None} | changes
    common = {"method": "m", "accounting": "exact", "standard_error": "", "count": 1, "data_source": "mirror"}
    names = ("curve", "round", "eps", "kind", "tve")
    paper.files["fig5.csv"] = as_csv([common | dict(zip(names, row, strict=True)) for row in rows])
    paper.publish()
    return charts(results)["fig5"]


def test_charts_have_numbers_of_figures(papers, tmp_path):
    every = charts(tmp_path, PAPERS[0])
    assert list(every) == ["fig4", "fig5"]
    chart = every["fig4"]
    assert chart["x"] == {"label": CHART["x_label"], "log": True, "names": []}
    assert chart["y"] == {"label": CHART["y_label"], "log": True}
    assert chart["panels"] == [f"participation rate {rate:g}" for rate in (0.05, 0.1, 0.2, 0.5)]
    local, amplified, adaptive = chart["curves"]
    assert [(p["panel"], p["kind"], p["y"]) for p in local["parts"]] == [
        (i, "level", [5]) for i in range(4)
    ]  # one line, across the whole panel
    line, points = amplified["parts"][:2]
    assert (line["kind"], points["kind"]) == ("line", "points")
    assert line["x"] == points["x"] == list(BUDGETS)
    assert line["y"] == [50, 5, 0.5, 0.1]
    assert points["error"] == [5, 0.5, 0.05, 0.01]
    assert points["count"] == [200] * 4
    assert "error" not in line
    assert adaptive["parts"][0] | {"panel": 0} == {
        "panel": 0,
        "kind": "marked",
        "x": list(BUDGETS),
        "y": [100, None, 1, 0.2],  # where it lacks a number its line is interrupted
    }


def test_curve_along_variable_keeps_its_order(papers, tmp_path):
    rows = [
        (curve, i, eps, "simulated", 1)
        for curve, along in (("local", (3.0, 1.0, 2.0)), ("adaptive", (3.25, 1.25, 2.25)))
        for i, eps in enumerate(along)
    ]
    chart = drawn(papers[PAPERS[1]], tmp_path, *rows)
    assert [(p["kind"], p["x"]) for c in chart["curves"] for p in c["parts"]] == [
        ("path", [3, 1, 2]),
        ("path", [3.25, 1.25, 2.25]),
    ]


def test_lineless_points_and_text_values(papers, tmp_path):
    rows = [
        ("local", "", "small", "expected", 2),
        ("local", "", "large", "expected", 3),
        ("adaptive", "", "large", "read", 4),
    ]
    chart = drawn(papers[PAPERS[1]], tmp_path, *rows, x_scale="linear")
    assert chart["x"]["names"] == ["small", "large"]
    assert [(p["kind"], p["x"], p["y"]) for c in chart["curves"] for p in c["parts"]] == [
        ("line", [0, 1], [2, 3]),
        ("points", [1], [4]),
    ]


@pytest.mark.parametrize("scale, shown", [("log", [None, 1e-9]), ("linear", [0, 1e-9])])
def test_unplottable_logarithms_are_omitted(papers, tmp_path, scale, shown):
    rows = [("local", "", 0.1, "expected", 0), ("local", "", 0.2, "expected", 1e-9)]
    chart = drawn(papers[PAPERS[1]], tmp_path, *rows, y_scale=scale)
    assert chart["curves"][0]["parts"][0]["y"] == shown
