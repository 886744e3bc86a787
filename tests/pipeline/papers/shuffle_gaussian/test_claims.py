"""Claims on the shuffle Gaussian mechanism, on both sides of every threshold."""

import pytest
from judged_claims import assert_wrong_is_seen, judged, outcomes

from shuffledp.pipeline.papers.shuffle_gaussian import (
    divergence_claims as bounds,
    training_claims as training,
)
from shuffledp.pipeline.query import Array

PRINTED = ("printed",)


@pytest.mark.parametrize(
    "clones, outcome, measured",
    [
        (lambda rounds: 0.5 * rounds, "in part", "1.01 to 3.54"),
        (lambda rounds: 0.0, "fails", "0"),
    ],
)
def test_composition_is_judged_beyond_one_round(clones, outcome, measured):
    """A smaller value proves no lower bound; a proof needs the assumption of Theorem 1."""
    planted = {
        experiment: (
            {"rounds": [1, 2, 3, 7, 100]},
            dict.fromkeys(pairs, 0.99) | dict.fromkeys(pairs.values(), lambda a, p: clones(p["rounds"])),
        )
        for experiment, pairs, _ in training.TERMS.values()
    }
    found = judged(planted, "SG-12", PRINTED)
    assert {row["verdict"] for row in found.values()} == {outcome}
    assert found["printed", "-"]["measured"] == f"{measured} times smaller"
    assert found["exact", "-"]["measured"] == f"{measured}, {measured} times smaller"
    assert "3 points" in found["printed", "-"]["why"] and "6 points" in found["exact", "-"]["why"]
    assert all(("assumption of Theorem 1" in row["why"]) == (outcome == "in part") for row in found.values())


@pytest.mark.parametrize("clones, exact", [(0.5, "holds"), (2.0, "in part")])
def test_clones_are_tighter_by_proof(clones, exact):
    """The method is tighter only on its assumption."""
    planted = {
        "table1": ({"rounds": [1]}, {"shuffle_to_order_30": 1.0, "clones_as_printed": 0.5}),
        "composition": ({"rounds": [1]}, {"shuffle_distance_2": 1.0, "clones_sensitivity_2": clones}),
    }
    assert outcomes(planted, "SG-11", accountings=PRINTED) == {"printed": "holds", "exact": exact}


@pytest.mark.parametrize(
    "wrong, keys",
    [
        (lambda right, *a: 0.9 * right(*a), ["SG-01", "SG-03"]),
        (lambda right, orders, n, sigma: right(orders, 1, sigma), ["SG-04"]),
        (lambda right, orders, n, sigma: right(orders, 10**10 // n, sigma), ["SG-18"]),
    ],
)
def test_wrong_formulas_are_seen(wrong, keys):
    assert_wrong_is_seen(bounds, "shuffle_gaussian_rdp", wrong, {key: ["-"] for key in keys})


def plant(**eps):
    """Return results of Figures 1a and 1b: eps of methods as functions of the round."""
    own = {
        method: lambda a, p, m=method, e=value: (
            e(p["round"]) if a == training.SINGLE.get(m, "printed") else None
        )
        for method, value in eps.items()
    }
    checkin = {"sigma": [5.0], "round": [1, 100, 5540]}
    return {"checkin": (checkin, own), "sgd": ({"round": [1000, 10_000]}, own)}


def test_figure_1b_orderings_follow_results():
    planted = plant(
        gauss=lambda t: 5.0,
        generic=lambda t: 6.0,
        baseline=lambda t: 4.0 if t == 1 else 7.0,
        shuffling_only=lambda t: 1.0,
        convex=lambda t: 0.5,
        pair=lambda t: 0.6 if t == 1 else 0.4,
    )
    verdicts = {"SG-28": "in part", "SG-29": "in part", "O-10": "in part", "O-11": "fails", "O-12": "in part"}
    every = ("printed", "exact", "corrected")
    assert {key: outcomes(planted, key, accountings=every)["printed"] for key in verdicts} == verdicts
    assert outcomes(planted, "SG-28")["exact"] == "untestable"


@pytest.mark.parametrize("central, outcome", [(0.5, "holds"), (0.1, "in part"), (10.0, "fails")])
def test_what_shuffling_costs(central, outcome):
    ours, theirs = zip(*training.SGD.values(), strict=True)
    planted = plant(**dict.fromkeys(ours, lambda t: 5.0), **dict.fromkeys(theirs, lambda t: central))
    assert outcomes(planted, "SG-23") == {"printed": outcome, "exact": outcome}
    below = "fails" if central > 5 else "holds"
    assert set(outcomes(planted, "SG-26").values()) == {below}
    assert outcomes(planted, "O-13") == {"printed": below}


@pytest.mark.parametrize(
    "reached, outcomes_of",
    [(0.95, ("holds", "holds")), (0.85, ("fails", "holds")), (0.5, ("fails", "fails"))],
)
def test_accuracies_that_are_reached(monkeypatch, reached, outcomes_of):
    curve = Array([0.3, reached, reached], {"round": [1000, 5540, 100_000]}, ["round"])
    monkeypatch.setattr(training, "accuracies", lambda case, experiment, method: curve)
    assert tuple(outcomes({}, key)["printed"] for key in ("SG-24", "SG-27")) == outcomes_of
    assert outcomes({}, "SG-21") == {"printed": "holds"}
    monkeypatch.setattr(training, "accuracies", lambda case, experiment, method: curve[:1])
    assert outcomes({}, "SG-24") == outcomes({}, "SG-27") == {"printed": "untestable"}


@pytest.mark.parametrize("eps, outcome", [(9.9, "holds"), (10.1, "fails")])
def test_budget_at_largest_accuracy(monkeypatch, eps, outcome):
    curve = Array([0.3, 0.9, 0.9], {"round": [100, 1000, 10_000]}, ["round"])
    monkeypatch.setattr(training, "accuracies", lambda case, experiment, method: curve)
    planted = plant(**dict.fromkeys(("shuffle_2c", "shuffle_2c_pair"), lambda rounds: eps * rounds / 1000))
    assert outcomes(planted, "SG-25") == {"printed": outcome, "exact": outcome}


def test_budgets_of_table_1_that_grow():
    grid = {"rounds": [1, 7]}
    planted = {
        "table1": (grid, {"shuffle_to_order_30": 0.5}),
        "composition": (grid, {"shuffle_distance_1": lambda a, p: 0.1 * p["rounds"]}),
    }
    assert outcomes(planted, "SG-13", accountings=PRINTED) == {"printed": "holds", "exact": "fails"}
