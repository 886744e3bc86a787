"""Composition of shuffled batches and central queries, against dp_accounting and brute force."""

import itertools
import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution

from shuffledp.accountant import amplification
from shuffledp.accounting import (
    ClonesProfile,
    CountPair,
    GaussianProfile,
    Infeasible,
    OtherReports,
    composed_epsilon,
    hockey_stick,
)
from shuffledp.accounting.baselines.gaussian_clones import gaussian_local_epsilon
from shuffledp.numerics.roots import root_below
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency


def clones(users, eps_local):
    return ClonesProfile(OtherReports(Fixed(users - 1)), eps_local)


def test_rounds_and_query_of_dp_accounting():
    """The reference composes with dp_accounting directly, on a finer grid."""
    batch, sigma, delta = clones(10**4, 1.0), 10.0, 1e-6
    step = 2e-4
    query = privacy_loss_distribution.from_gaussian_mechanism(sigma, value_discretization_interval=step)
    by_hand = batch.to_pld(step=step).self_compose(16).compose(query).get_epsilon_for_delta(delta)
    found = composed_epsilon([batch, GaussianProfile(1 / sigma)], delta, rounds=[16, 1])
    assert found == pytest.approx(by_hand, rel=2e-3)
    assert composed_epsilon([batch, query], delta, rounds=[16, 1], step=step) == pytest.approx(
        by_hand, rel=1e-4
    )
    assert found > composed_epsilon([batch], delta, rounds=[16])


def exact_composition(pairs, eps):
    """Return delta of the product of pairs, over all tuples of outcomes, in the worse direction."""
    log_p = [sum(t) for t in itertools.product(*(pair.log_p for pair in pairs))]
    log_q = [sum(t) for t in itertools.product(*(pair.log_q for pair in pairs))]
    return max(float(hockey_stick(log_p, log_q, eps)), float(hockey_stick(log_q, log_p, eps)))


def test_pairs_are_bounded_in_both_directions():
    """Rounds differ in their worse direction; the bound is at least brute force and close to it."""
    one = CountPair(np.log([0.70, 0.20, 0.10]), np.log([0.60, 0.15, 0.25]))
    two = CountPair(np.log([0.05, 0.55, 0.40]), np.log([0.20, 0.45, 0.35]))
    delta = 0.02
    for pairs in ([one, one], [one, two], [one, two, two]):
        found = composed_epsilon(pairs, delta)
        assert exact_composition(pairs, found) <= delta
        loose = 1.6 if len(pairs) == 3 else 1.4  # a profile has the worse direction only
        exact = root_below(lambda x, p=pairs: delta - exact_composition(p, x), 0.5, 0.0, 9.0, xtol=1e-9)
        assert exact <= found + 1e-9 < loose * exact


def test_accountant_composes_rounds_with_it():
    answer = amplification(1.0, 10_000, 1e-6, rounds=16)
    assert answer.eps == composed_epsilon([clones(10_000, 1.0)], 1e-6, rounds=[16])


@pytest.mark.parametrize(
    "mechanisms, options, message",
    [
        ([], {}, "mechanisms and rounds must have the same length, at least 1, got 0 and 0"),
        ([GaussianProfile(1.0)], {"rounds": [1, 2]}, "got 1 and 2."),
        ([GaussianProfile(1.0), GaussianProfile(1.0, "add_remove")], {}, "got add_remove and replace_one"),
        ([0.5], {}, "mechanisms must be privacy profiles or loss distributions, got 0.5"),
    ],
)
def test_what_cannot_be_composed_is_refused(mechanisms, options, message):
    with pytest.raises(ValueError, match=message):
        composed_epsilon(mechanisms, 1e-6, **options)


def test_too_fine_a_step_is_infeasible():
    with pytest.raises(Infeasible, match="choose a larger one"):
        composed_epsilon([GaussianProfile(1.0)], 1e-6, step=1e-7)


def test_permanent_loss_has_no_finite_epsilon():
    shown = CountPair(np.log([0.1, 0.9]), np.array([-np.inf, 0.0]))
    assert composed_epsilon([shown], 1e-3, step=0.01) == math.inf
    assert composed_epsilon([shown], 1e-3, rounds=[2]) == math.inf


def test_references_of_tiny_deltas():
    """Computed independently, with finer grids and 30 digits."""
    for delta, exact in ((1e-6, 0.01972), (1e-15, 0.042744)):
        assert exact * (1 - 3e-4) < composed_epsilon([clones(10**6, 1.0)], delta, rounds=[16]) < exact * 1.001
    for delta in (1e-100, 1e-290):
        exact = gaussian_local_epsilon(1 / 1.5, delta, sensitivity=1)
        assert (
            exact * (1 - 1e-9) <= composed_epsilon([GaussianProfile(0.5)], delta, rounds=[9]) < 1.001 * exact
        )


def test_profile_with_floor_is_composed():
    """Delta reaches its floor at 8 nats. The reference is a fine step."""
    jumps = get("frequency", "jump_counts")
    profile = jumps.calibrate(Budget(1.0, 1e-6), Fixed(49_240), Frequency(499)).privacy_profile()
    assert composed_epsilon([profile], 1e-6) == pytest.approx(1.0, abs=2e-3)
    assert composed_epsilon([profile], 1e-6, rounds=[30]) == pytest.approx(20.5356, rel=1e-3)
