"""Simulated quantiles of a column: in Python and by the command, with remarks and refusals."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import shuffledp
from command_line import invoked, printed, refused, typed
from one_process import compare_here

BATCH = {"protocol": "balls_into_bins", "eps": 1.0, "delta": 1e-6}


def test_file_quantiles_are_near_true_ones(tmp_path):
    ages = np.random.default_rng(7).integers(20, 60, 4_000)
    file = tmp_path / "ages.csv"
    file.write_text("\n".join(["age", *map(str, ages), "old", "101"]))
    options = typed("--column age --bins 0:100:5 --protocol balls_into_bins --eps 1")
    done = invoked("quantiles", str(file), *options, *typed("--delta 1e-6 --quantile 50% --json"))
    assert done.exit_code == 0, done.output
    assert "a simulation, not a private release" in done.stderr
    answer = json.loads(done.stdout)
    assert answer["users"] == 4_000 and answer["values"] == list(range(0, 100, 5))
    assert "2 rows left out: 1 not a finite number" in answer["remarks"][0]
    (median,) = answer["quantiles"]
    assert median["truth"] == int(np.quantile(ages, 0.5, method="inverted_cdf")) // 5 * 5
    # An interval goes up to the end of its last bin: it contains the median of the numbers themselves.
    assert median["low"] <= np.median(ages) < median["high"] and median["high"] % 5 == 0
    assert median["low"] <= median["truth"] <= median["high"] - 5
    errors = np.abs(np.subtract(answer["estimates"], answer["truth"]))
    assert 0 < errors.max() <= answer["band"]
    text = invoked("quantiles", str(file), *options, "--delta", "1e-6").stdout
    assert f"fan-outs {' x '.join(map(str, answer['fan_outs']))}" in text.replace("\n  ", " ")
    assert text.count("\n") >= 6 and f"{median['low']} to {median['high']}" in text


def test_intervals_of_wide_bins_contain_quantiles():
    """All users are in one bin, and the interval is this bin, up to its end."""
    ages, shares = pd.DataFrame({"age": np.full(5_000, 23.5)}), (0.05, 0.95)
    for bins, ends in [("0:60:20", (20, 40)), ("20:24:2", (22, 24))]:
        answer = shuffledp.simulate_ranges(ages, column="age", bins=bins, quantiles=shares, **BATCH)
        assert [(q.value, q.low, q.high, q.truth) for q in answer.quantiles] == [
            (ends[0], *ends, ends[0])
        ] * 2
        assert str(answer).count(f"{ends[0]} to {ends[1]}") == 2


def test_data_frame_equals_its_counts():
    values = np.repeat(np.arange(8), np.arange(100, 108))
    same = [
        shuffledp.simulate_ranges(**source, fan_outs="2,4", **BATCH)
        for source in ({"data": values, "domain_size": 8}, {"counts": np.arange(100, 108)})
    ]
    assert str(same[0]) == str(same[1]) and same[0].tree.fan_outs == (2, 4)


@pytest.mark.parametrize(
    "more, message",
    [
        ({"max_value": 3}, "max_value must be left out"),
        ({"users": 30}, "users must be left out"),
        ({"rounds": 2}, "rounds, neighbours and dropout must be left out"),
        ({"quantiles": [1.0]}, "quantiles must be"),
        ({"protocol": "solh"}, "protocol must be one of"),
        ({"protocol": "silent_users", "fan_outs": "2,4"}, "protocol must be one of"),
        ({"counts": None}, "Give data"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_other_arguments_are_refused(more, message):
    with pytest.raises(ValueError, match=message):
        shuffledp.simulate_ranges(**{"counts": np.arange(100, 108), **BATCH, **more})


def test_remarks_on_the_data_are_warnings():
    with pytest.warns(UserWarning, match="1 outside the bins from 0 up to 8"):
        shuffledp.simulate_ranges([*range(8)] * 100 + [8], bins="0:8:1", **BATCH)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shuffledp.simulate_ranges([*range(8)] * 100, bins="0:8:1", **BATCH)


def test_binned_counts_are_merged_and_deployed(tmp_path, monkeypatch):
    compare_here(monkeypatch)
    monkeypatch.chdir(tmp_path)
    for name, ages in (("a", range(40)), ("b", range(30, 80))):
        lines = "\n".join(["age", *map(str, [*ages] * 40)])
        (tmp_path / f"{name}.csv").write_text(lines)
        words = ["count", f"{name}.csv", *typed("--column age --bins 0:80:10 -o"), f"{name}.json"]
        printed(*words)
    printed("merge a.json b.json -o all.json")
    content = json.loads((tmp_path / "all.json").read_text())
    assert content["counts"] == [400, 400, 400, 800, 400, 400, 400, 400] and content["bins"] == "0:80:10"
    budget = typed("--eps 1 --delta 1e-6")
    for data in (["--counts", "all.json"], typed("--data a.csv --column age --bins 0:80:10")):
        text = printed("compare", *data, *budget, "--protocols", "balls_into_bins")
        words = text.partition("Next command:\n  shuffledp ")[2].splitlines()[0].split()
        folder = tmp_path / data[0].strip("-")
        printed(*words[:-1], str(folder))
        stated = json.loads((folder / "parameters.json").read_text())
        assert (stated["domain"], stated["inputs"]) == ({"first": "0", "width": "10"}, 8)
    printed("count b.csv --column age --bins 0:80:20 -o c.json")
    assert "differ in their domain" in refused("merge a.json c.json -o no.json")
