"""Claims on the shuffle Gaussian mechanism, on both sides of every threshold."""

import math

import made_up_results
import pytest
from judged_claims import judged, outcomes

from shuffledp.pipeline.papers.shuffle_gaussian import (
    divergence_claims as bounds,
    training_claims as training,
)
from shuffledp.pipeline.papers.shuffle_gaussian.divergence_claims import enumerated_rdp
from shuffledp.pipeline.papers.shuffle_gaussian.training_claims import TERMS
from shuffledp.pipeline.query import Array


@pytest.mark.parametrize(
    "clones, outcome, measured",
    [
        (lambda rounds: 0.5 * rounds, "in part", "1.01 to 3.54"),
        (lambda rounds: 0.0, "fails", "0"),
    ],
)
def test_composition_is_judged_beyond_one_round(tmp_path, clones, outcome, measured):
    """A smaller value proves no lower bound; a proof needs the assumption of Theorem 1."""
    for experiment, pairs, _ in TERMS.values():
        every = {m: lambda a, p: 0.99 for m in pairs} | {
            m: lambda a, p: clones(p["rounds"]) for m in pairs.values()
        }
        for method, value in every.items():
            made_up_results.write(
                tmp_path,
                f"shuffle_gaussian.{experiment}.{method}",
                {"rounds": [1, 2, 3, 7, 100]},
                value,
                accountings=["printed"],
            )
    found = judged(tmp_path, "SG-12")
    assert {row["verdict"] for row in found.values()} == {outcome}
    assert found["printed", "-"]["measured"] == f"{measured} times smaller"
    assert found["exact", "-"]["measured"] == f"{measured}, {measured} times smaller"
    assert "3 points" in found["printed", "-"]["why"] and "6 points" in found["exact", "-"]["why"]
    assert all(("assumption of Theorem 1" in row["why"]) == (outcome == "in part") for row in found.values())


@pytest.mark.parametrize("clones, exact", [(0.5, "holds"), (2.0, "in part")])
def test_clones_are_tighter_by_proof(tmp_path, clones, exact):
    """The method is tighter only on its assumption."""
    for experiment, method, value in (
        ("table1", "shuffle_to_order_30", 1.0),
        ("table1", "clones_as_printed", 0.5),
        ("composition", "shuffle_distance_2", 1.0),
        ("composition", "clones_sensitivity_2", clones),
    ):
        made_up_results.write(
            tmp_path,
            f"shuffle_gaussian.{experiment}.{method}",
            {"rounds": [1]},
            lambda a, p, value=value: value,
            accountings=["printed"],
        )
    assert outcomes(tmp_path, "SG-11") == {"printed": "holds", "exact": exact}


def test_partition_sum_is_the_moment():
    """For two reports and order 2, the sum is the mean of the squares of (X + Y) / 2."""
    square, other = math.exp(1 / 0.25), 1.0
    assert enumerated_rdp(2, 2, 0.5) == pytest.approx(math.log((square + other) / 2), rel=1e-14)
    assert enumerated_rdp(3, 1, 0.5) == pytest.approx(3 / (2 * 0.25), rel=1e-14)


def test_wrong_formulas_are_seen(tmp_path, monkeypatch):
    right = bounds.shuffle_gaussian_rdp
    monkeypatch.setattr(bounds, "shuffle_gaussian_rdp", lambda *a: 0.9 * right(*a))
    assert outcomes(tmp_path, "SG-01") == {"-": "fails"}
    assert outcomes(tmp_path, "SG-03") == {"-": "fails"}
    monkeypatch.setattr(bounds, "shuffle_gaussian_rdp", lambda orders, n, sigma: right(orders, 1, sigma))
    assert outcomes(tmp_path, "SG-04") == {"-": "fails"}
    monkeypatch.setattr(
        bounds, "shuffle_gaussian_rdp", lambda orders, n, sigma: right(orders, 10**10 // n, sigma)
    )
    assert outcomes(tmp_path, "SG-18") == {"-": "fails"}


def plant(folder, **eps):
    """Write results of Figures 1a and 1b: eps of methods as functions of the round."""
    for method, value in eps.items():
        checkin = method in ("gauss", "generic", "baseline", "shuffling_only", "convex", "pair")
        grid = {"sigma": [5.0], "round": [1, 100, 5540]} if checkin else {"round": [1000, 10_000]}
        accounting = {
            "pair": "exact",
            "convex": "corrected",
            "shuffle_2c_pair": "exact",
            "central_pld": "exact",
        }
        made_up_results.write(
            folder,
            f"shuffle_gaussian.{'checkin' if checkin else 'sgd'}.{method}",
            grid,
            lambda a, p, value=value: value(p["round"]),
            accountings=[accounting.get(method, "printed")],
        )


def test_figure_1b_orderings_follow_results(tmp_path):
    plant(
        tmp_path,
        gauss=lambda t: 5.0,
        generic=lambda t: 6.0,
        baseline=lambda t: 4.0 if t == 1 else 7.0,
        shuffling_only=lambda t: 1.0,
        convex=lambda t: 0.5,
        pair=lambda t: 0.6 if t == 1 else 0.4,
    )
    assert outcomes(tmp_path, "SG-28") == {"printed": "in part", "exact": "untestable"}
    assert outcomes(tmp_path, "SG-29")["printed"] == "in part"
    assert outcomes(tmp_path, "O-10") == {"printed": "in part"}
    assert outcomes(tmp_path, "O-11") == {"printed": "fails"}
    assert outcomes(tmp_path, "O-12") == {"printed": "in part"}


@pytest.mark.parametrize("central, outcome", [(0.5, "holds"), (0.1, "in part"), (10.0, "fails")])
def test_what_shuffling_costs(tmp_path, central, outcome):
    plant(
        tmp_path,
        shuffle_2c=lambda t: 5.0,
        shuffle_2c_pair=lambda t: 5.0,
        central_to_order_63=lambda t: central,
        central_pld=lambda t: central,
    )
    assert outcomes(tmp_path, "SG-23") == {"printed": outcome, "exact": outcome}
    below = "fails" if central > 5 else "holds"
    assert set(outcomes(tmp_path, "SG-26").values()) == {below}
    assert outcomes(tmp_path, "O-13") == {"printed": below}


@pytest.mark.parametrize(
    "reached, outcomes_of",
    [(0.95, ("holds", "holds")), (0.85, ("fails", "holds")), (0.5, ("fails", "fails"))],
)
def test_accuracies_that_are_reached(tmp_path, monkeypatch, reached, outcomes_of):
    curve = Array([0.3, reached, reached], {"round": [1000, 5540, 100_000]}, ["round"])
    monkeypatch.setattr(training, "accuracies", lambda case, experiment, method: curve)
    assert tuple(outcomes(tmp_path, key)["printed"] for key in ("SG-24", "SG-27")) == outcomes_of
    assert outcomes(tmp_path, "SG-21") == {"printed": "holds"}
    monkeypatch.setattr(training, "accuracies", lambda case, experiment, method: curve[:1])
    assert outcomes(tmp_path, "SG-24") == outcomes(tmp_path, "SG-27") == {"printed": "untestable"}


@pytest.mark.parametrize("eps, outcome", [(9.9, "holds"), (10.1, "fails")])
def test_budget_at_largest_accuracy(tmp_path, monkeypatch, eps, outcome):
    curve = Array([0.3, 0.9, 0.9], {"round": [100, 1000, 10_000]}, ["round"])
    monkeypatch.setattr(training, "accuracies", lambda case, experiment, method: curve)
    plant(tmp_path, **dict.fromkeys(("shuffle_2c", "shuffle_2c_pair"), lambda rounds: eps * rounds / 1000))
    assert outcomes(tmp_path, "SG-25") == {"printed": outcome, "exact": outcome}


def test_budgets_of_table_1_that_grow(tmp_path):
    for experiment, method in (("table1", "shuffle_to_order_30"), ("composition", "shuffle_distance_1")):
        made_up_results.write(
            tmp_path,
            f"shuffle_gaussian.{experiment}.{method}",
            {"rounds": [1, 7]},
            lambda a, p, fixed=experiment == "table1": 0.5 if fixed else 0.1 * p["rounds"],
            accountings=["printed"],
        )
    assert outcomes(tmp_path, "SG-13") == {"printed": "holds", "exact": "fails"}
