"""Calibration of protocols for a fixed number of users, and for a random one."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.accounting import Infeasible
from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    MomentBounded,
    Poisson,
    SubGaussian,
)
from shuffledp.protocols import get
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.tasks import Budget, Frequency, Public, Sets, Summation, Vectors
from small_tasks import BUILT_INS

TASKS = {"frequency": Frequency(5), "summation": Summation(2), "sets": Sets(6, 2)}
OWN_TASKS = {"real_sum": Summation(2, real=True), "sparse_sum": Summation(2, coordinates=2)}
OWN_TASKS["privunit"] = Vectors(2, 1.0)
OWN_OPTIONS = {
    "real_sum": {"levels": 2},
    "public_coin": {"beyond_proof": True},
    "privunit": {"cap_mass": 0.1},
}
PROTOCOLS = [one for one in BUILT_INS if issubclass(get(*one), PlannedUsers)]
BUDGET = Budget(1.0, 1e-4)


@cache  # searches of several tests are the same
def calibrated(kind, name, population, *, accounting=None, budget=BUDGET, task=None):
    found = get(kind, name)
    how = accounting or ("exact" if "exact" in found.accountings else found.accountings[-1])
    task = task or OWN_TASKS.get(name, TASKS.get(kind))
    return found.calibrate(budget, population, task, accounting=how, **OWN_OPTIONS.get(name, {}))


def test_group_is_for_most_users():
    """It needs an upper tail of the population."""
    protocol = calibrated("summation", "split_and_mix", Binomial(3999, 0.5))
    assert protocol.n_users < 2001 < protocol.most_users
    assert not protocol.biased
    assert protocol.group_order > 2 * protocol.most_users
    with pytest.raises(Infeasible, match="from above"):
        calibrated("summation", "split_and_mix", SubGaussian(2000.0, 30.0))


@pytest.mark.parametrize("kind, name", PROTOCOLS)
def test_law_without_spread_is_fixed(kind, name):
    fixed, law = (calibrated(kind, name, p) for p in (Fixed(2000), Empirical((1.0,), 2000)))
    other = {"most_users": 0} if name == "split_and_mix" else {}
    assert replace(law, population=None, treatment="", **other) == fixed


@pytest.mark.parametrize("kind, name", PROTOCOLS)
def test_delta_falls_with_number_of_users(kind, name):
    protocol = calibrated(kind, name, Fixed(2000))
    if protocol.follows_announcement:
        return
    numbers = (2001, 2030, 2500) if protocol.noise_shares else (2, 300, 1500, 1990, 2001, 2030, 2500)
    profiles = [protocol.profile_for(n) for n in numbers]
    deltas = [1.0 if p is None else float(p.delta(1.0)) for p in profiles]
    assert all(b <= a * (1 + 1e-9) for a, b in pairwise(deltas)), deltas
    if protocol.noise_shares:
        assert protocol.profile_for(2000) is None


@pytest.mark.parametrize("name", ["segmented", "separate_weighted"])
def test_announced_numbers_have_own_parameters(name):
    task, budget = Sets(5, 2, 2), Budget((1.0, 1.5), 1e-3)
    protocol = get("sets", name).calibrate(budget, Binomial(199, 0.5), task, accounting="exact")
    for sizes in ((20, 30), (70, 60)):
        told = protocol.refine(Public(np.array([sum(sizes)]), np.array([sizes], float)))
        fixed = get("sets", name).calibrate(budget, Fixed(sum(sizes) - 1), task, accounting="exact")
        again = fixed.refine(Public(np.array([sum(sizes)]), np.array([sizes], float)))
        assert told.plan == again.plan
        assert told.population == Binomial(199, 0.5)


def test_weak_moments_leave_the_local_budget():
    protocol = calibrated("frequency", "grr_blanket", MomentBounded(2000.0, 900.0))
    assert protocol.eps_local == pytest.approx(1.0, rel=1e-3)
    assert protocol.treatment == "at least 1 users take part"


def test_pure_budget_ignores_other_users():
    protocol = get("frequency", "mix_dump").calibrate(
        Budget(1.0, 0.0), Poisson(50.0), Frequency(3), accounting="exact", eps_local=0.9
    )
    assert protocol.dummies_in_all == 0
    assert float(protocol.privacy_profile().delta(1.0)) == 0


@pytest.mark.parametrize(
    "kind, name, accounting",
    [
        ("frequency", "mix_dump", "printed"),
        ("frequency", "correlated_noise", "exact"),
        ("summation", "correlated_sum", "exact"),
    ],
)
def test_split_subtracts_failure_from_delta(kind, name, accounting):
    """The probability of fewer users than planned is a binomial tail; calibration uses the rest of delta."""
    found = calibrated(kind, name, Binomial(3999, 0.5), accounting=accounting)
    planned = found.planned_users
    failure = binom.cdf(planned - 2, 3999, 0.5)
    assert 0.01 * BUDGET.delta < failure < BUDGET.delta
    left, whole = (
        calibrated(kind, name, Fixed(planned - 1), accounting=accounting, budget=Budget(BUDGET.eps, delta))
        for delta in ((BUDGET.delta - failure) / (1 - failure), BUDGET.delta)
    )
    mine, alike, others = (
        {key: value for key, value in protocol.parameters().items() if key != "dummies_per_user"}
        for protocol in (found, left, whole)
    )
    assert mine == pytest.approx(alike, rel=1e-6)
    assert mine != pytest.approx(others, rel=1e-6)
    if found.noise_shares:  # nothing is claimed for fewer users
        delta = failure + (1 - failure) * float(left.privacy_profile().delta(BUDGET.eps))
        assert float(found.privacy_profile().delta(BUDGET.eps)) == pytest.approx(delta, rel=1e-3)
