"""Eps of repeated releases: independent exact laws, and brute force.

The exact laws were computed apart from this library, on grids of a thousandth of the spread of a loss. At these
parameters the composed eps is 1 at delta 1e-6, unless another eps is given.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.accounting import (
    ClonesProfile,
    GaussianProfile,
    OtherReports,
    composed_epsilon,
    hockey_stick,
)
from shuffledp.accounting.general.composition import ComposedProfile, composed_lower_bound
from shuffledp.numerics.roots import root_below
from shuffledp.populations import Fixed
from shuffledp.protocols.frequency.balls_into_bins import BallsIntoBins
from shuffledp.protocols.frequency.designated_coins import DesignatedCoins
from shuffledp.protocols.frequency.pure_dump import PureDump
from shuffledp.protocols.frequency.sageo import SAGeo

#: Relative error of eps by the number of points, and of a lower bound.
FINE, LOOSE, BELOW = 2.5e-5, 1e-3, 4e-4


GAUSSIAN = GaussianProfile(math.sqrt(2) / 32.72421)
EXACT = [
    (GAUSSIAN, 30, 1e-6, 1.0),
    (
        DesignatedCoins(domain_size=499, n_users=49_241, designated=4_284).privacy_profile(),
        30,
        1e-15,
        1.80159,
    ),
    (BallsIntoBins(499, 100_000, 0.1540120).privacy_profile(), 365, 1e-6, 1.0),
    (
        PureDump(
            n_users=100_000, domain_size=100, eps_local=math.inf, dummies_in_all=1_302_949
        ).privacy_profile(),
        365,
        1e-6,
        1.0,
    ),
]


@pytest.mark.parametrize("profile, rounds, delta, exact", EXACT)
def test_both_bounds_enclose_the_exact_law(profile, rounds, delta, exact):
    """The parameters are integers or rounded to seven digits, so that eps is known to about 3e-5."""
    known = 3.5e-5 * exact + (1.2e-4 if "coins" in repr(profile) else 0)
    upper = composed_epsilon([profile], delta, rounds=[rounds])
    lower = composed_lower_bound(profile, delta, rounds=rounds)
    fine = ComposedProfile([profile], [rounds], delta, points=960).epsilon(delta)
    assert exact - known - 2e-4 * exact <= fine <= upper * (1 + 1e-6) <= exact * (1 + LOOSE) + known
    assert fine <= exact * (1 + FINE) + known
    assert exact * (1 - BELOW) - 2e-4 <= lower <= min(exact + known, fine)


def test_rare_infinite_losses_are_composed():
    """Independent values: eps 6.926 and 19.99; two releases exceed a delta of 1e-6."""
    profile = SAGeo(domain_size=499, n_users=49_241, share=1.0, half_eps=0.5, turn=25).privacy_profile()
    for rounds, exact in ((7, 6.926), (30, 19.99)):
        assert composed_epsilon([profile], 1e-4, rounds=[rounds]) == pytest.approx(exact, rel=1e-4)
        assert composed_lower_bound(profile, 1e-4, rounds=rounds) == pytest.approx(exact, rel=5e-4)
    assert composed_epsilon([profile], 1e-6) == pytest.approx(1.0, rel=1e-6)
    assert composed_epsilon([profile], 1e-6, rounds=[2]) == math.inf
    assert composed_lower_bound(profile, 1e-6, rounds=2) == math.inf


def test_randomized_response_is_enclosed():
    """The loss is eps (2 B - R), and B is binomial."""
    for eps, rounds, delta in ((0.1, 40, 1e-6), (1.0, 1, 1e-3), (0.02, 300, 1e-30)):
        one = ClonesProfile(OtherReports(Fixed(0)), eps)
        log_p = binom.logpmf(np.arange(rounds + 1), rounds, 1 / (1 + math.exp(-eps)))
        upper = composed_epsilon([one], delta, rounds=[rounds])
        exact = root_below(
            lambda x, p=log_p, d=delta: d - float(hockey_stick(p, p[::-1], x)),
            0.9 * upper, 0.0, rounds * eps, xtol=1e-12,
        )  # fmt: skip
        lower = composed_lower_bound(one, delta, rounds=rounds)
        assert exact * (1 - BELOW) <= lower <= exact * (1 + 1e-9)
        assert exact * (1 - 1e-9) <= upper <= exact * (1 + LOOSE)
