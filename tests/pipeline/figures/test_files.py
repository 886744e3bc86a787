"""Entries of a drawing in the manifest: its finding, and how its numbers are drawn."""

import io
import json

import pandas as pd


def entries(files):
    return {entry["id"]: entry for entry in json.loads(files["manifest.json"])["entries"]}


def test_drawing_has_one_entry(files):
    assert list(entries(files)) == ["fig1_printed", "fig1", "fig2", "errors"]
    assert {e["finding"] for e in entries(files).values()} == {"Errors of all methods."}


def test_chart_names_its_columns(files):
    for id, entry in entries(files).items():
        if entry["kind"] == "table":
            assert entry["chart"] is None
            continue
        chart, numbers = entry["chart"], pd.read_csv(io.BytesIO(files[f"{id}.csv"]))
        assert {chart["x"], chart["y"], "curve"} <= set(numbers)
        assert {curve["id"] for curve in chart["curves"]} == set(numbers["curve"])
        assert len({(c["color"], c["marker"], str(c["dash"])) for c in chart["curves"]}) == len(
            chart["curves"]
        )
    chart = entries(files)["fig1"]["chart"]
    assert (chart["x_scale"], chart["y_scale"], chart["panels"]) == ("linear", "log", "rate")
    assert chart["panel_label"].format(0.5) == "rate = 0.5"
    ids = [c["id"] for c in chart["curves"]]
    assert sorted(ids) == sorted(
        f"{m}|{a}" for m in ("local", "picky", "constant") for a in ("printed", "exact")
    )
    dashes = {c["id"].rpartition("|")[2]: c["dash"] for c in chart["curves"]}
    assert dashes == {"printed": [0, [4, 2]], "exact": "-"}
    assert entries(files)["fig2"]["chart"]["panels"] is None
