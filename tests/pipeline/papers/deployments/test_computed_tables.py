"""Deployed systems: a verdict on every printed eps, and a source for every row."""

import math

import pytest

from shuffledp.accountant import deployed_epsilon, deployments
from shuffledp.accounting import dummy_cells_delta
from shuffledp.accounting.baselines.fragmented_rappor import rappor_delta
from shuffledp.pipeline.claims.claim_tables import table
from shuffledp.pipeline.papers.deployments import computed_tables as page


@pytest.mark.parametrize(
    "printed, lower, upper, verdict",
    [(1.0, 0.5, 1.0, page.HOLDS), (1.0, 0.5, 1.1, page.OPEN), (1.0, 1.1, 1.2, page.FAILS)],
)
def test_verdict_follows_from_both_bounds(printed, lower, upper, verdict):
    assert page.verdict(printed, lower, upper) == verdict


def test_row_has_bounds_of_its_system():
    rows = table("deployments", "systems")
    known = deployments()
    assert list(rows["setting"]) == [
        key for key, one in known.items() if one.status == "verified" and one.eps
    ]
    for row in rows.to_dict("records"):
        key = row["setting"]
        assert (row["users"], row["delta"]) == (known[key].users, known[key].delta)
        assert row["eps0"] == known[key].eps0 or (math.isnan(row["eps0"]) and known[key].cells)
        assert row["exact eps to"] == pytest.approx(deployed_epsilon(key), abs=1e-5)
        assert row["exact eps from"] == pytest.approx(deployed_epsilon(key, bound="lower"), abs=1e-5)
        assert row["exact eps to"] < row["eps, 1 % colluding"] < row["eps, 10 % colluding"]
        enough = row["users needed"] <= row["users"]
        assert row["verdict"] == (page.HOLDS if enough else page.OPEN)


def test_eps_bounds_round_to_their_sides():
    """Rounded to the nearest, 0.29741 and 0.95046 once exceeded the loss of a data set."""
    for row in table("deployments", "systems").to_dict("records"):
        if math.isnan(row["eps0"]):
            assert dummy_cells_delta(row["exact eps to"], 1245.12, 18, 18) < row["delta"]
            assert dummy_cells_delta(row["exact eps from"], 1245.12, 18, 18) > row["delta"]
            continue
        p = 1 / (1 + math.exp(row["eps0"]))
        lost = rappor_delta(row["users"], p, row["exact eps from"], calibration="worst_case")
        assert row["delta"] < lost < 1.002 * row["delta"]
        proven = rappor_delta(row["users"], p, row["exact eps to"], calibration="proven")
        assert 0.998 * row["delta"] < proven <= row["delta"]
    assert page.rounded_down(0.123456) == 0.12345 and page.rounded_up(0.123451) == 0.12346
