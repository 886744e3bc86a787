"""Claims of the study of ranges, on both sides of every threshold."""

import pytest
from judged_claims import assert_changes, judged, outcomes

from shuffledp.pipeline.claims.errata_data import errata

CLOSED = {
    "subset_selection": (26.29, 27.27),
    "pgr": (28.22, 27.28),
    "pi_rappor": (28.29, 27.26),
    "hadamard_response": (58.0, 68.73),
    "recursive_hadamard": (62.0, 68.91),
}


def local(changes):
    """Return the results with the first or second error by the number of values."""

    def at(values):
        return lambda accounting, point: values[point["values"] != 1024]

    errors = {name: at(values) for name, values in (CLOSED | changes).items()}
    return {"local_reports": ({"values": [1024, 22000]}, errors)}


@pytest.mark.parametrize(
    "key, changes, verdict",
    [
        *((f"RA-0{number}", {}, "holds") for number in range(1, 5)),
        ("RA-01", {"subset_selection": (40.0, 40.0)}, "fails"),
        ("RA-01", {"subset_selection": (26.2, 40.0)}, "fails"),
        ("RA-02", {"pgr": (40.0, 40.0)}, "fails"),
        ("RA-03", {"pi_rappor": (40.0, 40.0)}, "fails"),
        ("RA-04", {"hadamard_response": (40.0, 40.0)}, "fails"),
        ("RA-04", {"hadamard_response": (1.0, 69.5)}, "in part"),
        ("RA-05", {"recursive_hadamard": (1.0, 36.5)}, "holds"),
    ],
)
def test_released_errors_agree_with_formulas(key, changes, verdict):
    assert outcomes(local(changes), key) == {"exact": verdict}


def test_disagreeing_error_is_the_erratum():
    found = judged(local({}), "RA-05")["exact", "-"]
    assert (found["verdict"], found["measured"]) == ("fails", "0.526 to 0.532 times the error")
    assert found["difference"] == "" and found["errata"] == errata("ranges")[0].id


BITS = {100: 7.0, 1000: 10.0}


def reports(methods):
    """Return both experiments on reports with these errors."""
    return dict.fromkeys(("local_reports", "reports"), ({"values": [*BITS]}, methods))


def trees(**errors):
    return {"trees": ({"values": [64, 256], "eps": [0.2, 2.0]}, errors)}


@pytest.mark.parametrize(
    "keys, planted, verdicts",
    [
        (
            ["RA-06", "RA-07"],
            lambda ratio: reports({"subset_selection": 2.0, "pgr": 2 * ratio}),
            {1.05: "holds", 1.5: "in part", 3.0: "fails"},
        ),
        (
            ["RA-08", "RA-09"],
            lambda others: reports(
                {"pgr": 1.0, "hadamard_response": others[0], "recursive_hadamard": others[1]}
            ),
            {(2.0, 2.5): "holds", (2.0, 1.2): "in part", (0.1, 0.2): "fails"},
        ),
        (
            ["RA-10"],
            lambda more: reports(
                {"pgr": lambda a, p: {"expected": 1.0, "bits_per_user": BITS[p["values"]] + more}}
            ),
            {0: "holds", 1: "in part", 2: "fails"},
        ),
        (
            ["RA-11"],
            lambda sums: trees(
                central_laplace_two=1.0,
                central_laplace_binary=1.0,
                central_laplace_two_sums=sums[0],
                central_laplace_binary_sums=sums[1],
            ),
            {(3.0, 3.0): "holds", (3.0, 0.5): "in part", (0.5, 0.5): "fails"},
        ),
        (
            ["RA-12"],
            lambda binary: trees(central_laplace_two=1.0, central_laplace_binary=binary),
            {3.0: "holds", 0.5: "fails"},
        ),
        (
            ["RA-14"],
            lambda ends: trees(
                balls_into_bins_wavelet=lambda accounting, point: ends[point["eps"] > 1],
                balls_into_bins_two=1.0,
                balls_into_bins_binary=3.0,
            ),
            {(0.5, 2.0): "holds", (2.0, 2.0): "in part", (2.0, 0.5): "fails"},
        ),
        (
            ["RA-15"],
            lambda split: trees(
                central_laplace_two=1.0,
                central_laplace_split=split[0],
                balls_into_bins_two=1.0,
                balls_into_bins_split=split[1],
            ),
            {(0.5, 0.5): "holds", (0.5, 2.0): "in part", (9.0, 9.0): "fails"},
        ),
    ],
)
def test_verdicts_change_with_the_errors(keys, planted, verdicts):
    assert_changes(planted, verdicts, *keys)


@pytest.mark.parametrize("crossover, outcome", [(1, "holds"), (64, "in part"), (10**9, "fails")])
def test_trees_beat_histograms_from_crossover(crossover, outcome):
    names = ("central_laplace", "correlated_noise", "balls_into_bins")
    methods = dict.fromkeys(names, 1.0) | {
        f"{name}_tree": lambda accounting, point: 0.5 if point["values"] >= crossover else 2.0
        for name in names
    }
    found = judged({"prefixes": ({"values": [16, 64, 256]}, methods)}, "RA-13")["exact", "-"]
    assert found["verdict"] == outcome
    assert ("correlated noise never" in found["why"]) == (outcome == "fails")
    assert ("balls into bins from 64 values on" in found["why"]) == (outcome == "in part")
