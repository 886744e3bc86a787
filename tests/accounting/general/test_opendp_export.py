"""The measurement for OpenDP has the same delta as the profile."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.accounting import (
    ClonesProfile,
    CountPair,
    GaussianProfile,
    OtherReports,
    WorstOf,
    amplified_epsilon,
    clone_delta,
    hockey_stick,
    to_opendp,
)
from shuffledp.accounting.general.opendp_export import group_delta
from shuffledp.populations import Fixed

OTHERS = Fixed(9_999)
PROFILE = ClonesProfile(OtherReports(OTHERS), 1.0)


@pytest.fixture(autouse=True)
def dp():
    """OpenDP with what the project uses of it, imported by its tests alone: it imports much itself."""
    import opendp.prelude

    opendp.prelude.enable_features("contrib", "honest-but-curious")
    yield opendp.prelude
    opendp.prelude.disable_features("contrib", "honest-but-curious")


def test_measurement_has_deltas_of_profile(dp):
    curve = PROFILE.to_opendp().map(1)
    for eps in (0.0, 0.01, 0.053, 0.2):
        assert curve.delta(eps) == pytest.approx(clone_delta(OTHERS, 1.0, eps), rel=1e-9)
    for delta in (1e-4, 1e-6, 1e-9):
        assert curve.epsilon(delta) == pytest.approx(amplified_epsilon(OTHERS, 1.0, delta), rel=1e-6)
    assert curve.delta(1.5) == 0.0
    with pytest.raises(dp.OpenDPException, match="This measurement cannot be invoked"):
        PROFILE.to_opendp()([1, 2])


def test_measurement_releases_input_and_composes(dp):
    measurement = PROFILE.to_opendp(sum, domain=dp.vector_domain(dp.atom_domain(T=int)))
    assert measurement([1, 2, 4]) == 7
    fixed = dp.c.make_fix_delta(measurement, 1e-6)
    eps, delta = dp.c.make_composition([fixed, fixed]).map(1)
    assert eps == pytest.approx(2 * amplified_epsilon(OTHERS, 1.0, 1e-6), rel=1e-6)
    assert delta == pytest.approx(2e-6)


def test_no_user_or_several():
    measurement = PROFILE.to_opendp()
    assert measurement.map(0).delta(0.0) == 0.0
    assert measurement.map(2).epsilon(1e-6) > 1.9 * measurement.map(1).epsilon(1e-6)


def test_groups_are_bounded_by_brute_force():
    """k of n users change their answer; the analyzer sees the number of ones of binary randomized response."""
    users, eps_local = 6, 0.8
    keep = 1 / (1 + math.exp(-eps_local))

    def counts(ones):
        zeros = users - ones
        kept, changed = (binom.pmf(np.arange(n + 1), n, p) for n, p in ((ones, keep), (zeros, 1 - keep)))
        return np.log(np.convolve(kept, changed))

    worst = WorstOf(tuple(CountPair(counts(m), counts(m + 1)) for m in range(users)))
    for k in (1, 2, 3):
        for eps in (0.0, 0.1, 0.5, 1.0):
            truth = max(
                float(hockey_stick(*pair, eps))
                for m in range(users - k + 1)
                for pair in itertools.permutations((counts(m), counts(m + k)))
            )
            assert truth <= group_delta(worst, eps, k) * (1 + 1e-12)
    assert group_delta(worst, 0.3, 1) == pytest.approx(float(worst.delta(0.3)))
    assert group_delta(GaussianProfile(0.1), 0.0, 2) == pytest.approx(
        2 * float(GaussianProfile(0.1).delta(0.0))
    )


def test_large_groups_stay_within_floats():
    assert group_delta(GaussianProfile(50.0), 1e4, 3) == 1.0
    assert 0 < group_delta(GaussianProfile(1.0), 30.0, 3) < 1e-3
    assert group_delta(PROFILE, 0.5, 10**6) == 1.0


def test_lower_bounds_are_refused():
    lower = CountPair(np.log([0.5, 0.5]), np.log([0.5, 0.5]), kind="lower")
    with pytest.raises(ValueError, match="exact or an upper bound, got 'lower'"):
        to_opendp(lower)
    other = CountPair(np.log([0.5, 0.5]), np.log([0.5, 0.5]), neighbours="swap")
    with pytest.raises(ValueError, match="neighbours must be one of replace_one, add_remove; got 'swap'"):
        to_opendp(other)
