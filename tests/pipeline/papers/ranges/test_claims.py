"""Claims of the study of ranges, on both sides of every threshold."""

import pytest
from judged_claims import InMemory, claim, judged, outcomes

from shuffledp.pipeline.claims.errata_data import errata

LOCAL = {"values": [1024, 22000]}
CLOSED = {
    "subset_selection": (26.29, 27.27),
    "pgr": (28.22, 27.28),
    "pi_rappor": (28.29, 27.26),
    "hadamard_response": (58.0, 68.73),
    "recursive_hadamard": (62.0, 68.91),
}


def at(values):
    """Return a function of the point: the first or second error by the number of values."""
    return lambda accounting, point: values[point["values"] != 1024]


def local(**changes):
    errors = {name: at(values) for name, values in (CLOSED | changes).items()}
    return {"local_reports": (LOCAL, errors)}


@pytest.mark.parametrize(
    "key, method",
    [
        ("RA-01", "subset_selection"),
        ("RA-02", "pgr"),
        ("RA-03", "pi_rappor"),
        ("RA-04", "hadamard_response"),
    ],
)
def test_released_errors_agree_with_formulas(key, method):
    assert outcomes(local(), key) == {"exact": "holds"}
    assert outcomes(local(**{method: (40.0, 40.0)}), key) == {"exact": "fails"}


def test_some_released_errors_agree():
    assert outcomes(local(subset_selection=(26.2, 40.0)), "RA-01") == {"exact": "fails"}
    assert outcomes(local(hadamard_response=(1.0, 69.5)), "RA-04") == {"exact": "in part"}
    found = judged(local(), "RA-05")["exact", "-"]
    assert (found["verdict"], found["measured"]) == ("fails", "0.526 to 0.532 times the error")
    assert found["difference"] == "" and found["errata"] == errata("ranges")[0].id
    assert outcomes(local(recursive_hadamard=(1.0, 36.5)), "RA-05") == {"exact": "holds"}


@pytest.mark.parametrize("ratio, outcome", [(1.05, "holds"), (1.5, "in part"), (3.0, "fails")])
def test_errors_match(ratio, outcome):
    for key, experiment in (("RA-06", "local_reports"), ("RA-07", "reports")):
        planted = {experiment: ({"values": [1024, 22000]}, {"subset_selection": 2.0, "pgr": 2 * ratio})}
        assert outcomes(planted, key) == {"exact": outcome}


@pytest.mark.parametrize(
    "others, outcome", [((2.0, 2.5), "holds"), ((2.0, 1.2), "in part"), ((0.1, 0.2), "fails")]
)
def test_errors_are_significantly_worse(others, outcome):
    methods = {"pgr": 1.0, **dict(zip(("hadamard_response", "recursive_hadamard"), others, strict=True))}
    for key, experiment in (("RA-08", "local_reports"), ("RA-09", "reports")):
        assert outcomes({experiment: ({"values": [100, 1000]}, methods)}, key) == {"exact": outcome}


@pytest.mark.parametrize("more, outcome", [(0, "holds"), (1, "in part"), (2, "fails")])
def test_bits_of_messages(more, outcome):
    bits = {100: 7, 1000: 10}

    def cell(accounting, point):
        return {"expected": 1.0, "bits_per_user": float(bits[point["values"]] + more)}

    assert outcomes({"reports": ({"values": [100, 1000]}, {"pgr": cell})}, "RA-10") == {"exact": outcome}


TREES = {"values": [64, 256], "eps": [0.2, 2.0]}


def trees(**errors):
    return {"trees": (TREES, errors)}


@pytest.mark.parametrize(
    "sums, outcome", [((3.0, 3.0), "holds"), ((3.0, 0.5), "in part"), ((0.5, 0.5), "fails")]
)
def test_consistent_counts_have_less_error(sums, outcome):
    names = ("central_laplace_two_sums", "central_laplace_binary_sums")
    planted = trees(
        central_laplace_two=1.0, central_laplace_binary=1.0, **dict(zip(names, sums, strict=True))
    )
    assert outcomes(planted, "RA-11") == {"exact": outcome}


@pytest.mark.parametrize("binary, outcome", [(3.0, "holds"), (0.5, "fails")])
def test_two_levels_beat_binary_trees(binary, outcome):
    planted = trees(central_laplace_two=1.0, central_laplace_binary=binary)
    assert outcomes(planted, "RA-12") == {"exact": outcome}


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


@pytest.mark.parametrize(
    "small, large, outcome", [(0.5, 2.0, "holds"), (2.0, 2.0, "in part"), (2.0, 0.5, "fails")]
)
def test_wavelets_win_at_small_eps(small, large, outcome):
    planted = trees(
        balls_into_bins_wavelet=lambda accounting, point: small if point["eps"] < 1 else large,
        balls_into_bins_two=1.0,
        balls_into_bins_binary=3.0,
    )
    assert outcomes(planted, "RA-14") == {"exact": outcome}


@pytest.mark.parametrize(
    "split, outcome", [((0.5, 0.5), "holds"), ((0.5, 2.0), "in part"), ((9.0, 9.0), "fails")]
)
def test_split_users_have_less_error(split, outcome):
    names = ("central_laplace", "balls_into_bins")
    methods = {f"{name}_two": 1.0 for name in names}
    methods |= {f"{name}_split": value for name, value in zip(names, split, strict=True)}
    assert outcomes(trees(**methods), "RA-15") == {"exact": outcome}


def test_no_constants_is_untestable():
    found = judged({}, "RA-16")["-", "-"]
    assert (found["verdict"], found["why"]) == ("untestable", "the abstract has no constants")
    assert not claim("RA-16").rule


def test_witness_has_the_released_error():
    (entry,) = errata("ranges")
    witness = entry.compute()
    assert entry.shown_by(witness)
    assert witness.printed == pytest.approx(2 / 2.737, rel=1e-3)
    assert "36.8" in witness.note and "68.9" in witness.note


def test_missing_results_are_untestable(tmp_path):
    found = InMemory(tmp_path, "ranges", {}, planted={})
    assert found.planted == {}
    assert outcomes({}, "RA-11") == {"exact": "untestable"}
