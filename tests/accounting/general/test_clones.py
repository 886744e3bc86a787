import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from numerical.laws import binomial, labels
from numpy.testing import assert_allclose

from shuffledp.accounting import (
    ClonesProfile,
    CountPair,
    amplified_epsilon,
    clone_delta,
    clone_rate,
    hockey_stick,
    local_budget,
)
from shuffledp.accounting.general.clones import OtherReports, clone_divergences
from shuffledp.numerics import binomial_upper_tail
from shuffledp.populations import Binomial, Empirical, Fixed, Poisson


def enumerated_pair(clones: dict[int, float], eps_local: float) -> CountPair:
    """Return the joint laws P and Q, outcome by outcome, by their definition."""
    truth = 1 / (1 + math.exp(-eps_local))
    p: dict[tuple[int, int], float] = {}
    q: dict[tuple[int, int], float] = {}
    for c, weight in clones.items():
        for a, (b, coin) in itertools.product(range(c + 1), ((1, truth), (0, 1 - truth))):
            mass = weight * math.comb(c, a) / 2**c * coin
            for law, outcome in ((p, (a + b, c - a + 1 - b)), (q, (a + 1 - b, c - a + b))):
                law[outcome] = law.get(outcome, 0.0) + mass
    outcomes = sorted(set(p) | set(q))
    with np.errstate(divide="ignore"):
        return CountPair(*(np.log([law.get(o, 0.0) for o in outcomes]) for law in (p, q)))


def binomial_pmf(n: int, p: float) -> dict[int, float]:
    return {x: math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)}


def mixture(parts: list[tuple[float, int]], p: float) -> dict[int, float]:
    law: dict[int, float] = {}
    for weight, n in parts:
        for x, mass in binomial_pmf(n, p).items():
            law[x] = law.get(x, 0.0) + weight * mass
    return law


PMF = (0.1, 0.0, 0.25, 0.3, 0.2, 0.15)


@pytest.mark.parametrize("reduction", ["clones", "randomized_response"])
@pytest.mark.parametrize("eps_local", [1e-3, 0.3, 1.0, 2.5, 6.0])
@pytest.mark.parametrize(
    ("population", "dummies", "adaptive", "others"),
    [
        (Fixed(9), 0, False, [(1.0, 9)]),
        (Fixed(4), 7, True, [(1.0, 7)]),
        (Fixed(9), 7, True, [(1.0, 9)]),
        (Binomial(8, 0.6), 0, False, [(w, n) for n, w in binomial_pmf(8, 0.6).items()]),
        (Binomial(8, 0.6), 5, False, [(w, n + 5) for n, w in binomial_pmf(8, 0.6).items()]),
        (Binomial(8, 0.6), 5, True, [(w, max(n, 5)) for n, w in binomial_pmf(8, 0.6).items()]),
        (Empirical(PMF, 2), 4, False, [(w, n + 4) for n, w in enumerate(PMF, 2)]),
        (Empirical(PMF, 2), 4, True, [(w, max(n, 4)) for n, w in enumerate(PMF, 2)]),
    ],
)
def test_delta_equals_full_enumeration_of_the_pair(
    population, dummies, adaptive, others, eps_local, reduction
):
    pair = enumerated_pair(mixture(others, clone_rate(eps_local, reduction)), eps_local)
    eps = np.array([0.0, 0.01, 0.3, 0.7, 0.95]) * eps_local
    got = [
        clone_delta(population, eps_local, e, dummies=dummies, adaptive=adaptive, reduction=reduction)
        for e in eps
    ]
    assert_allclose(got, pair.delta(eps), rtol=2e-10, atol=2e-15)
    # Mirror images: the other direction is the same number.
    assert_allclose(hockey_stick(pair.log_q, pair.log_p, eps), pair.delta(eps), rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize(
    ("trials", "rate", "eps_local", "eps"),
    [(120, 0.4, 1.0, 0.3), (150, 0.9, 0.2, 0.19), (100, 0.5, 4.0, 1.0), (150, 1.0, 0.5, 0.0)],
)
def test_delta_equals_fifty_digit_arithmetic(trials, rate, eps_local, eps):
    with mp.workdps(50):
        e = mp.exp(mp.mpf(eps_local))
        want = float(labels(e / (e + 1), 1 / (e + 1), binomial(trials, mp.mpf(rate) / e), eps))
    assert clone_delta(Binomial(trials, rate), eps_local, eps) == pytest.approx(want, rel=1e-11)


@pytest.mark.parametrize(
    ("start", "stop", "eps_local", "eps"),
    [
        (0, 700, 1.0, 0.1),
        (900, 1900, 0.5, 0.02),
        (40000, 46000, 2.0, 0.05),
        (400, 900, 3.0, 1.9),
        (10**6, 10**6 + 500, 1e-3, 1e-6),
    ],
)
def test_recurrence_agrees_with_incomplete_beta_functions(start, stop, eps_local, eps):
    c = np.arange(start, stop)
    theta = 0.5 + 0.5 * math.tanh(eps / 2) / math.tanh(eps_local / 2)
    x0 = np.floor(theta * (c + 1)) + 1
    e, y = math.exp(eps_local), math.exp(eps)
    a, b = (e - y) / (e + 1), (e * y - 1) / (e + 1)
    want = a * binomial_upper_tail(x0 - 1, c, 0.5) - b * binomial_upper_tail(x0, c, 0.5)
    got = clone_divergences(start, stop, eps_local, eps)
    # Deep in the tail the subtraction above loses digits, hence the absolute part.
    assert_allclose(got, want, rtol=1e-8, atol=1e-12 * got[0])
    assert np.all(np.diff(got) <= 1e-9 * got[:-1])


def test_delta_does_not_depend_on_the_law_used_to_state_it():
    """Three computations give one number: closed thinning, a mixture by Horner's rule, and convolution with dummies."""
    closed = clone_delta(Binomial(3000, 0.3), 1.0, 0.1)
    window = Binomial(3000, 0.3).window(1e-40)
    assert clone_delta(Empirical(tuple(window.pmf), window.start), 1.0, 0.1) == pytest.approx(
        closed, rel=1e-10
    )
    assert clone_delta(Binomial(1000, 1.0), 1.0, 0.1, dummies=500) == pytest.approx(
        clone_delta(Fixed(1500), 1.0, 0.1), rel=1e-10
    )


@pytest.mark.parametrize("reduction", ["clones", "randomized_response"])
@pytest.mark.parametrize("delta", [1e-300, 1e-5, 0.999])
@pytest.mark.parametrize("eps", [1e-6, 0.2, 30.0])
@pytest.mark.parametrize("population", [Fixed(0), Fixed(3000), Poisson(40.0)], ids=repr)
def test_budget_and_epsilon_are_inverse_and_safe(population, eps, delta, reduction):
    budget = local_budget(population, eps, delta, accounting="exact", reduction=reduction)
    assert budget >= eps
    assert clone_delta(population, budget, eps, reduction=reduction) <= delta * (1 + 1e-9)
    # A bit more would break the guarantee: the budget is the largest one.
    assert clone_delta(population, budget * (1 + 1e-7), eps, reduction=reduction) > delta * (1 - 1e-12) or (
        budget == eps
    )
    back = amplified_epsilon(population, budget, delta, accounting="exact", reduction=reduction)
    # Where delta hardly depends on eps the inverse is ill-conditioned; then only safety can be asked for.
    assert back <= eps * (1 + 1e-9)
    assert clone_delta(population, budget, back, reduction=reduction) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("population", [Fixed(5000), Binomial(48841, 0.05)], ids=repr)
@pytest.mark.parametrize("eps", [1e-3, 0.05, 0.5])
def test_round_trip_recovers_epsilon(population, eps):
    budget = local_budget(population, eps, 1e-5, accounting="exact")
    assert amplified_epsilon(population, budget, 1e-5, accounting="exact") == pytest.approx(eps, rel=1e-9)


def test_delta_is_monotone_in_everything():
    def delta(n=400, eps_local=1.0, eps=0.1, k=0, adaptive=False):
        return clone_delta(Binomial(n, 0.5), eps_local, eps, dummies=k, adaptive=adaptive)

    assert np.all(np.diff([delta(n=n) for n in (0, 1, 5, 50, 400, 2000)]) < 0)
    assert np.all(np.diff([delta(eps_local=x) for x in (0.1, 0.2, 0.5, 1.0, 3.0, 8.0)]) > 0)
    assert np.all(np.diff([delta(eps=x) for x in (0.0, 0.05, 0.2, 0.5, 0.9)]) < 0)
    assert np.all(np.diff([delta(k=k) for k in (0, 10, 100, 1000)]) < 0)
    assert np.all(np.diff([delta(k=k, adaptive=True) for k in (0, 190, 200, 210, 400)]) < 0)
    assert delta(k=150) < delta(k=150, adaptive=True) <= delta()


def test_nobody_else_leaves_randomized_response_alone():
    for eps_local, eps in ((1.0, 0.3), (5.0, 0.0), (1e-6, 5e-7), (700.0, 1.0), (2000.0, 1990.0)):
        want = -math.expm1(eps - eps_local) / (1 + math.exp(-eps_local))
        for nobody in (Fixed(0), Binomial(0, 0.5), Binomial(50, 0.0), Poisson(0.0)):
            assert clone_delta(nobody, eps_local, eps) == pytest.approx(want, rel=1e-12)


def test_delta_vanishes_at_the_local_budget():
    assert clone_delta(Poisson(10), 1.0, 1.0) == 0.0
    assert clone_delta(Poisson(10), 1.0, 2.0) == 0.0
    assert clone_delta(Poisson(10), 1.0, 1.0 - 1e-9) > 0.0


def test_large_local_budgets_do_not_overflow():
    for eps_local in (50.0, 800.0, 1e5):
        delta = clone_delta(Binomial(10**6, 0.5), eps_local, 1.0)
        assert 0.99 < delta <= 1
        assert amplified_epsilon(Binomial(10**6, 0.5), eps_local, 1e-5, accounting="exact") == pytest.approx(
            eps_local, rel=1e-3
        )


def test_randomized_response_rate_gives_less_than_clones_and_more_than_the_truth():
    """The comparison is with the shuffled output of randomized response when all others hold the same bit."""
    n, eps_local = 40, 1.0
    keep = 1 / (1 + math.exp(-eps_local))

    def ones(bits: list[int]) -> np.ndarray:
        law = np.ones(1)
        for bit in bits:
            p = keep if bit else 1 - keep
            law = np.convolve(law, [1 - p, p])
        return law

    others = [0] * n
    with np.errstate(divide="ignore"):
        truth = CountPair(np.log(ones([1, *others])), np.log(ones([0, *others])))
    for eps in (0.05, 0.2, 0.5):
        lower = float(truth.delta(eps))
        upper = clone_delta(Fixed(n), eps_local, eps, reduction="randomized_response")
        assert 0 < lower < upper < clone_delta(Fixed(n), eps_local, eps)


def test_profile_has_the_deltas_and_says_what_it_is():
    profile = ClonesProfile(OtherReports(Poisson(50), dummies=3), 1.0)
    eps = np.array([[0.0, 0.1], [0.5, 2.0]])
    got = profile.delta(eps)
    want = [[clone_delta(Poisson(50), 1.0, float(e), dummies=3) for e in row] for row in eps]
    assert_allclose(got, want, rtol=0)
    assert (profile.kind, profile.neighbours, profile.view) == ("upper", "replace_one", "analyzer")
    assert profile.delta(0.1).shape == ()
    with pytest.raises(ValueError, match="eps must be"):
        profile.delta([-0.1])


@pytest.mark.parametrize(
    ("others", "eps_local", "eps", "true"),
    # Sums over all clones in 80 digits (tools/numerical/clones.py); values were too small by up to 4e-11 relative.
    [
        (29, 0.01, 0.0, 0.0007286687224577699),
        (1910, 0.011075270314606133, 0.0044, 8.938517114429291e-74),
        (10**7, 1.0, 0.003, 1.7721142553173785e-14),
    ],
)
def test_delta_is_never_below_the_value_of_the_reduction(others, eps_local, eps, true):
    found = clone_delta(Fixed(others), eps_local, eps)
    assert true <= found <= true * (1 + 1e-10)
