import math

import numpy as np
import pytest
from scipy.special import ndtr

from shuffledp.accounting import (
    ACCOUNTINGS,
    Infeasible,
    amplified_epsilon,
    checkin_epsilon,
    checkin_local_budget,
    clone_delta,
    local_budget,
)
from shuffledp.accounting.general.clones import OtherReports
from shuffledp.accounting.random_population.closed_forms import (
    corrected_epsilon,
    corrected_omega,
    printed_epsilon,
    printed_omega,
    simplified_epsilon,
)
from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    MomentBounded,
    Poisson,
    SubExponential,
    SubGaussian,
)

D = 1e-5
E = math.e
L4, L2 = math.log(4 / D), math.log(2 / D)
EVERY = [
    Fixed(30000),
    Binomial(48841, 0.2),
    Poisson(20000.0),
    SubGaussian(20000, 1000.0),
    SubExponential(20000, 2.0, 0.01),
]


def by_hand(omega: float) -> float:
    """eps_central from a clone bound at eps_local = 1, as printed."""
    s = math.sqrt(omega / 2 * L4)
    return math.log(1 + (E - 1) / (E + 1) * (2 * s + 1) / (omega / 2 - s))


@pytest.mark.parametrize(
    ("population", "dummies", "omega"),
    [
        (Binomial(48841, 0.2), 0, 48842 * 0.2 / E - math.sqrt(3 * 48842 * 0.2 / E * L4)),
        (Fixed(9999), 0, 10000 / E - math.sqrt(3 * 10000 / E * L4)),
        (Binomial(48841, 0.2), 500, (48842 * 0.2 + 500) / E - math.sqrt(3 * (48842 * 0.2 + 500) / E * L4)),
        (Poisson(9000), 0, 9000 / E - math.sqrt(2 * 9000 / E * L2)),
        (Poisson(9000), 500, 9500 / E - math.sqrt((4 * 9000 + 2 * 500) / E * L2)),
        (
            SubGaussian(9000, 300),
            500,
            (9500 - 300 * math.sqrt(L4)) / E - math.sqrt((9500 - 300 * math.sqrt(L4)) / (0.5 * E) * L2),
        ),
        (
            SubExponential(9000, 2, 0.01),
            500,
            (9500 - math.log(8 / D) / 0.01) / E - math.sqrt((9500 - math.log(8 / D) / 0.01) / (0.5 * E) * L2),
        ),
    ],
    ids=repr,
)
def test_printed_theorems_letter_for_letter(population, dummies, omega):
    got = amplified_epsilon(population, 1.0, D, dummies=dummies, accounting="printed")
    assert got == pytest.approx(by_hand(omega), rel=1e-12)
    assert printed_omega(OtherReports(population, dummies), D, 1 / E) == pytest.approx(omega, rel=1e-12)


def test_printed_theorem_3_with_and_without_dummies():
    delta, log4 = 1e-2, math.log(4 / 1e-2)
    for k in (0, 700):
        m = 5000 + k
        omega = m / E - math.sqrt((m * (E - 1) + 4000) / (0.5 * delta * E**2))
        s = math.sqrt(omega / 2 * log4)
        want = math.log(1 + (E - 1) / (E + 1) * (2 * s + 1) / (omega / 2 - s))
        got = amplified_epsilon(MomentBounded(5000, 4000), 1.0, delta, dummies=k, accounting="printed")
        assert want < 1
        assert got == pytest.approx(want, rel=1e-12)


def test_simplified_form_letter_for_letter():
    m = (48842 * 0.2 + 300) / E
    want = math.log(1 + (E - 1) / (E + 1) * (8 * math.sqrt(L4 / m) + 8 / m))
    got = amplified_epsilon(Binomial(48841, 0.2), 1.0, D, dummies=300, accounting="simplified")
    assert got == pytest.approx(want, rel=1e-12)


def test_corrected_form_letter_for_letter():
    m = 48841 * 0.2 / E
    omega = m - math.sqrt(2 * m * L2)
    s = math.sqrt(omega / 2 * L2)
    r = (omega / 2 + s + 1) / (omega / 2 - s)
    want = math.log((r * E + 1) / (r + E))
    assert amplified_epsilon(Binomial(48841, 0.2), 1.0, D, accounting="corrected") == pytest.approx(
        want, rel=1e-12
    )


def test_corrected_bounds_use_the_stated_tails():
    rate = 1 / E
    proxy = 20000 + 5 - 1000 * math.sqrt(2 * L4)
    assert corrected_omega(OtherReports(SubGaussian(20000, 1000), 5), D, rate) == pytest.approx(
        proxy * rate - math.sqrt(2 * proxy * rate * L4)
    )
    tail = 20005 - 1000 * math.sqrt(L4)
    assert corrected_omega(OtherReports(SubGaussian(20000, 1000, "printed"), 5), D, rate) == pytest.approx(
        tail * rate - math.sqrt(2 * tail * rate * L4)
    )
    exponential = 20005 - math.log(8 / D) / 0.01
    assert corrected_omega(OtherReports(SubExponential(20000, 2, 0.01), 5), D, rate) == pytest.approx(
        exponential * rate - math.sqrt(2 * exponential * rate * L4)
    )
    variance = (20005 * (E - 1) + 400) / E**2
    cantelli = 20005 / E - math.sqrt(variance * (2 / D - 1))
    assert corrected_omega(OtherReports(MomentBounded(20000, 400), 5), D, rate) == pytest.approx(cantelli)
    law = Empirical((0.25, 0.5, 0.25), 1000)
    assert corrected_omega(OtherReports(law), D, rate) == pytest.approx(
        corrected_omega(OtherReports(MomentBounded(law.mean, law.variance)), D, rate)
    )
    # A constant below delta / 4 cannot lift the bound above the mean.
    assert corrected_omega(OtherReports(SubExponential(20000, 1e-9, 1e-4)), D, rate) <= 20000 / E


@pytest.mark.parametrize("population", [*EVERY, MomentBounded(2e6, 1e4)], ids=repr)
def test_adaptive_dummies_take_the_better_of_two_bounds(population):
    factor = 3 * L4 if isinstance(population, (Fixed, Binomial)) else 2 * L2
    for k in (1, 10**4, 10**7):
        alone = printed_omega(OtherReports(population), D, 0.3)
        filled = 0.3 * k - math.sqrt(factor * 0.3 * k)
        assert printed_omega(OtherReports(population, k, True), D, 0.3) == pytest.approx(max(alone, filled))
        alone = corrected_omega(OtherReports(population), D, 0.3)
        filled = 0.3 * k - math.sqrt(2 * L2 * 0.3 * k)
        assert corrected_omega(OtherReports(population, k, True), D, 0.3) == pytest.approx(max(alone, filled))


def test_theorem_2_is_better_than_theorem_4b_with_one_dummy():
    assert amplified_epsilon(Poisson(5000), 1.0, D, accounting="printed") < amplified_epsilon(
        Poisson(5000), 1.0, D, dummies=1, accounting="printed"
    )


def test_figure_2_needs_delta_1e_3():
    """At delta 1e-4 the printed clone bound is negative; 1e-3 gives the printed threshold of about 8700."""
    assert round(printed_omega(OtherReports(MomentBounded(5000, 0)), 1e-4, math.exp(-0.5))) == -1853
    assert amplified_epsilon(MomentBounded(5000, 0), 0.5, 1e-4, accounting="printed") == 0.5
    assert amplified_epsilon(MomentBounded(5000, 0), 0.5, 1e-3, accounting="printed") == pytest.approx(
        0.0566, abs=5e-5
    )
    assert amplified_epsilon(MomentBounded(5000, 8826), 0.5, 1e-3, accounting="printed") < 0.5
    assert amplified_epsilon(MomentBounded(5000, 8827), 0.5, 1e-3, accounting="printed") == 0.5


def test_figure_2_threshold_with_mixed_deltas():
    """5e-4 in the tail bound and log(4e4) inside s move the threshold to 8711.92."""

    def epsilon(variance: float) -> float:
        omega = printed_omega(OtherReports(MomentBounded(5000, variance)), 1e-3, math.exp(-0.5))
        s = math.sqrt(omega / 2 * math.log(4e4))
        return math.log1p(math.tanh(0.25) * (2 * s + 1) / (omega / 2 - s))

    assert epsilon(8711.915) < 0.5 < epsilon(8711.925)


def test_sub_gaussian_theorem_is_unsafe_under_the_usual_definition():
    """N - 1 = Normal(20000, 5400^2), clamped at 0: nobody else is there often enough to break the claim."""
    claimed = amplified_epsilon(SubGaussian(20000, 5400), 1.0, D, accounting="printed")
    assert claimed == pytest.approx(0.5123, abs=5e-5)
    alone = ndtr((0.5 - 20000) / 5400)
    lower = alone * clone_delta(Fixed(0), 1.0, claimed)
    # A block of 50 numbers of users is no worse than 50 times its largest.
    lower += sum(
        (ndtr((n + 50.5 - 20000) / 5400) - ndtr((n + 0.5 - 20000) / 5400))
        * clone_delta(Fixed(n + 50), 1.0, claimed)
        for n in range(0, 3000, 50)
    )
    assert lower == pytest.approx(3.0e-5, rel=0.02)
    assert lower > 2.9 * D
    corrected = amplified_epsilon(SubGaussian(20000, 5400), 1.0, D, accounting="corrected")
    assert corrected == 1.0


def random_settings(count: int):
    rng = np.random.default_rng(2023)
    for _ in range(count):
        size = 10 ** rng.uniform(1.5, 5.5)
        rate = 10 ** rng.uniform(-1.5, 0)
        population = Binomial(round(size), rate) if rng.random() < 0.5 else Poisson(size)
        yield population, 10 ** rng.uniform(-1.5, 0.8), 10 ** rng.uniform(-9, -2)


def test_printed_and_corrected_theorems_are_safe_on_random_settings():
    amplified, worst = 0, dict.fromkeys(("printed", "corrected", "simplified"), 0.0)
    for population, eps_local, delta in random_settings(400):
        for accounting in worst:
            eps = amplified_epsilon(population, eps_local, delta, accounting=accounting)
            if eps < eps_local:
                amplified += 1
                worst[accounting] = max(worst[accounting], clone_delta(population, eps_local, eps) / delta)
    assert amplified > 300
    # Safe, and the two full forms waste orders of magnitude of delta.
    assert 0 < worst["printed"] < 2e-4
    assert worst["printed"] < worst["corrected"] < 0.01
    assert 0 < worst["simplified"] < 0.1


@pytest.mark.parametrize("accounting", ACCOUNTINGS)
@pytest.mark.parametrize("population", EVERY, ids=repr)
def test_epsilon_is_monotone_and_at_most_local(population, accounting):
    if accounting in ("exact", "simplified") and isinstance(population, (SubGaussian, SubExponential)):
        with pytest.raises(Infeasible) as caught:
            amplified_epsilon(population, 1.0, D, accounting=accounting)
        assert type(population).__name__ in caught.value.reason
        return
    grid = np.geomspace(1e-4, 12, 25)
    eps = [amplified_epsilon(population, float(x), D, accounting=accounting) for x in grid]
    shown = [e for e in eps if e > 0]  # exactly 0 where delta alone covers the difference
    assert len(shown) >= 15
    assert np.all(np.diff(eps) >= 0)
    assert np.all(np.diff(shown) > 0)
    assert np.all(np.array(eps) <= grid)
    assert eps[5] < 0.2 * grid[5]
    more = [amplified_epsilon(population, 1.0, d, accounting=accounting) for d in (1e-9, 1e-6, 1e-3)]
    assert np.all(np.diff(more) < 0)
    dummies = [
        amplified_epsilon(population, 1.0, D, dummies=k, accounting=accounting)
        for k in (1, 10**3, 10**4, 10**5)
    ]
    assert np.all(np.diff(dummies) < 0)


@pytest.mark.parametrize("accounting", ["printed", "simplified", "corrected", "exact"])
@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("dummies", [0, 40, 3000])
@pytest.mark.parametrize("population", [Fixed(3000), Binomial(20000, 0.15), Poisson(3000.0)], ids=repr)
def test_budget_inverts_epsilon(population, dummies, adaptive, accounting):
    how = {"dummies": dummies, "adaptive": adaptive, "accounting": accounting}
    for eps in (1e-4, 0.03, 0.4):
        budget = local_budget(population, eps, D, **how)
        assert budget > eps
        assert amplified_epsilon(population, budget, D, **how) == pytest.approx(eps, rel=1e-9)
        assert amplified_epsilon(population, budget, D, **how) <= eps * (1 + 2e-11)


@pytest.mark.parametrize("accounting", ["printed", "corrected"])
@pytest.mark.parametrize(
    "population", [*EVERY[3:], MomentBounded(5e6, 1e5), Empirical((0.5, 0.5), 5 * 10**6)], ids=repr
)
def test_budget_inverts_epsilon_for_bounds(population, accounting):
    budget = local_budget(population, 0.2, D, dummies=7, accounting=accounting)
    assert budget > 0.2
    back = amplified_epsilon(population, budget, D, dummies=7, accounting=accounting)
    assert back == pytest.approx(0.2, rel=1e-9)


@pytest.mark.parametrize("accounting", ["printed", "simplified", "corrected"])
@pytest.mark.parametrize(
    "population", [Fixed(0), Binomial(10, 0.5), Binomial(10**6, 0.0), Poisson(0.0)], ids=repr
)
def test_without_amplification_the_answer_is_local(population, accounting):
    for eps in (1e-6, 0.3, 40.0, 900.0):
        assert local_budget(population, eps, D, accounting=accounting) == eps
        assert amplified_epsilon(population, eps, D, accounting=accounting) == eps


def test_tiny_bounds_fall_back_to_local():
    for population in (
        SubGaussian(10, 100),
        SubExponential(10, 1, 0.01),
        MomentBounded(10, 5),
        Empirical((1.0,), 3),
    ):
        for accounting in ("printed", "corrected"):
            assert amplified_epsilon(population, 1.0, D, accounting=accounting) == 1.0
            assert local_budget(population, 1.0, D, accounting=accounting) == 1.0


def test_extreme_arguments_stay_in_range():
    for accounting in ("printed", "simplified", "corrected", "exact"):
        for delta in (1e-300, 0.999):
            for eps in (1e-6, 1.0, 60.0):
                value = local_budget(Binomial(10**6, 0.5), eps, delta, accounting=accounting)
                assert eps <= value < eps + 20
        assert amplified_epsilon(Binomial(10**6, 0.5), 5000.0, D, accounting=accounting) <= 5000.0


@pytest.mark.parametrize("form", [printed_epsilon, simplified_epsilon, corrected_epsilon])
def test_randomized_response_rate_amplifies_more(form):
    clones, response = (
        form(OtherReports(Binomial(10**5, 0.5), reduction=r), D, 1.5)
        for r in ("clones", "randomized_response")
    )
    assert response < clones


def test_corrected_form_never_exceeds_the_local_budget():
    for n in (60, 70, 100, 1000):  # around the point where amplification starts
        for eps_local in (0.1, 1.0, 3.0):
            value = corrected_epsilon(OtherReports(Fixed(n)), 0.01, eps_local)
            assert value == math.inf or value <= eps_local


CALLS = {
    "eps": lambda **k: amplified_epsilon(**{"population": Poisson(9), "eps_local": 1.0, "delta": D, **k}),
    "budget": lambda **k: local_budget(**{"population": Poisson(9), "eps_central": 1.0, "delta": D, **k}),
    "delta": lambda **k: clone_delta(**{"population": Poisson(9), "eps_local": 1.0, "eps_central": 0.1, **k}),
    "checkin": lambda **k: checkin_epsilon(**{"slots": 9, "eps_local": 1.0, "delta": D, **k}),
    "checkin_budget": lambda **k: checkin_local_budget(**{"slots": 9, "eps_central": 1.0, "delta": D, **k}),
}


@pytest.mark.parametrize(
    ("call", "argument", "value", "message"),
    [
        ("eps", "eps_local", 0.0, "eps_local must be a positive finite number, got 0.0"),
        ("eps", "eps_local", math.nan, "eps_local"),
        ("eps", "delta", 0.0, r"delta must be in \(0, 1\), got 0.0"),
        ("eps", "delta", 1.0, "delta must be in"),
        ("eps", "dummies", -1, "dummies must be an integer in .* got -1"),
        ("eps", "dummies", 0.5, "dummies"),
        (
            "eps",
            "accounting",
            "best",
            "accounting must be one of printed, simplified, corrected, exact; got 'best'",
        ),
        ("eps", "reduction", "own", "reduction must be one of clones, randomized_response; got 'own'"),
        ("budget", "eps_central", -0.1, "eps_central must be a positive"),
        ("budget", "delta", math.nan, "delta"),
        ("budget", "dummies", "3", "dummies"),
        ("budget", "accounting", "", "accounting"),
        ("budget", "reduction", "", "reduction"),
        ("delta", "eps_local", -1.0, "eps_local"),
        ("delta", "eps_central", -1.0, "eps_central must be a finite number >= 0"),
        ("delta", "dummies", 1.5, "dummies"),
        ("delta", "reduction", "x", "reduction"),
        ("checkin", "slots", 0, "slots must be an integer"),
        ("checkin", "eps_local", 0.0, "eps_local"),
        ("checkin", "rate", 1.5, "rate must be in"),
        ("checkin", "accounting", "corrected", "accounting must be one of printed, exact"),
        ("checkin_budget", "slots", 2.5, "slots"),
        ("checkin_budget", "eps_central", 0.0, "eps_central"),
        ("checkin_budget", "delta", 2.0, "delta"),
    ],
)
def test_arguments_out_of_range_are_refused_by_name(call, argument, value, message):
    with pytest.raises(ValueError, match=message):
        CALLS[call](**{argument: value})


def test_exact_values_need_more_than_a_tail():
    for population in (SubGaussian(100, 1), SubExponential(100, 1, 1)):
        for call in ("eps", "budget"):
            with pytest.raises(Infeasible, match="corrected"):
                CALLS[call](population=population, accounting="exact")
        with pytest.raises(Infeasible):
            CALLS["delta"](population=population)


# -- reference values of the largest local budget: every digit given must be reproduced --

#: Columns: population (a rate: Binomial(48841, rate); above 1: Poisson mean), central eps at delta 1e-5, then
#: the local budget by printed theorem, corrected closed form, exact clones, exact clones at the rate of
#: randomized response, and exact over printed.
TABLE = """
  0.01 0.001 0.0027 0.0039 0.0127 0.0128 4.79
  0.01 0.005 0.0132 0.0193 0.0483 0.0489 3.66
  0.01  0.01 0.0262 0.0383 0.0868 0.0886 3.32
  0.01  0.02 0.0515 0.0749 0.1554 0.1611 3.02
  0.01  0.05 0.1231 0.1769 0.3273 0.3510 2.66
  0.01   0.1 0.2304 0.3260 0.5569 0.6192 2.42
  0.01   0.2 0.4127 0.5714 0.9126 1.0571 2.21
  0.01   0.5 0.8103 1.0845 1.6386 1.9751 2.02
  0.05 0.001 0.0080 0.0094 0.0283 0.0285 3.52
  0.05 0.005 0.0395 0.0461 0.1051 0.1078 2.66
  0.05  0.01 0.0773 0.0902 0.1853 0.1933 2.40
  0.05  0.02 0.1490 0.1729 0.3219 0.3448 2.16
  0.05  0.05 0.3387 0.3889 0.6415 0.7213 1.89
  0.05   0.1 0.5995 0.6808 1.0391 1.2161 1.73
  0.05   0.2 1.0073 1.1291 1.6228 1.9544 1.61
  0.05   0.5 1.8189 2.0010 2.7269 3.2731 1.50
   0.1 0.001 0.0120 0.0135 0.0397 0.0401 3.31
   0.1 0.005 0.0587 0.0657 0.1458 0.1508 2.49
   0.1  0.01 0.1140 0.1274 0.2538 0.2685 2.23
   0.1  0.02 0.2167 0.2410 0.4335 0.4732 2.00
   0.1  0.05 0.4788 0.5276 0.8406 0.9666 1.76
   0.1   0.1 0.8260 0.9018 1.3333 1.5891 1.61
   0.1   0.2 1.3527 1.4617 2.0397 2.4682 1.51
   0.1   0.5 2.3542 2.5094 3.3054 3.9123 1.40
   0.2 0.001 0.0176 0.0193 0.0558 0.0565 3.16
   0.2 0.005 0.0852 0.0928 0.2009 0.2102 2.36
   0.2  0.01 0.1639 0.1780 0.3446 0.3706 2.10
   0.2  0.02 0.3061 0.3311 0.5774 0.6437 1.89
   0.2  0.05 0.6560 0.7037 1.0885 1.2786 1.66
   0.2   0.1 1.1034 1.1747 1.6919 2.0406 1.53
   0.2   0.2 1.7630 1.8616 2.5294 3.0469 1.43
   0.2   0.5 2.9444 3.0805 3.9307 4.5764 1.33
   0.5 0.001 0.0287 0.0306 0.0868 0.0887 3.03
   0.5 0.005 0.1360 0.1446 0.3031 0.3235 2.23
   0.5  0.01 0.2567 0.2723 0.5079 0.5607 1.98
   0.5  0.02 0.4669 0.4932 0.8280 0.9509 1.77
   0.5  0.05 0.9589 1.0059 1.5058 1.8071 1.57
   0.5   0.1 1.5624 1.6296 2.2756 2.7504 1.46
   0.5   0.2 2.4113 2.5000 3.2773 3.8816 1.36
   0.5   0.5 3.7860 3.9071 4.8015 5.4744 1.27
  1000 0.001 0.0047 0.0058 0.0182 0.0183 3.89
  1000 0.005 0.0231 0.0288 0.0685 0.0696 2.96
  1000  0.01 0.0457 0.0567 0.1222 0.1257 2.67
  1000  0.02 0.0892 0.1101 0.2161 0.2269 2.42
  1000  0.05 0.2093 0.2552 0.4451 0.4867 2.13
  1000   0.1 0.3831 0.4602 0.7410 0.8432 1.93
  1000   0.2 0.6685 0.7869 1.1882 1.4051 1.78
  1000   0.5 1.2756 1.4483 2.0752 2.5119 1.63
  5000 0.001 0.0123 0.0137 0.0402 0.0406 3.27
  5000 0.005 0.0601 0.0665 0.1474 0.1525 2.45
  5000  0.01 0.1167 0.1289 0.2565 0.2714 2.20
  5000  0.02 0.2217 0.2436 0.4378 0.4782 1.98
  5000  0.05 0.4897 0.5329 0.8481 0.9760 1.73
  5000   0.1 0.8451 0.9102 1.3443 1.6030 1.59
  5000   0.2 1.3869 1.4741 2.0550 2.4868 1.48
  5000   0.5 2.4300 2.5278 3.3259 3.9344 1.37
 25000 0.001 0.0292 0.0310 0.0878 0.0897 3.01
 25000 0.005 0.1382 0.1463 0.3062 0.3270 2.22
 25000  0.01 0.2607 0.2752 0.5128 0.5666 1.97
 25000  0.02 0.4740 0.4981 0.8354 0.9602 1.76
 25000  0.05 0.9729 1.0148 1.5179 1.8224 1.56
 25000   0.1 1.5861 1.6428 2.2921 2.7699 1.45
 25000   0.2 2.4521 2.5179 3.2976 3.9036 1.34
 25000   0.5 3.8675 3.9291 4.8242 5.4975 1.25
125000 0.001 0.0659 0.0686 0.1873 0.1954 2.84
125000 0.005 0.2955 0.3066 0.6033 0.6750 2.04
125000  0.01 0.5329 0.5513 0.9639 1.1212 1.81
125000  0.02 0.9174 0.9457 1.4974 1.7965 1.63
125000  0.05 1.7513 1.7955 2.5494 3.0699 1.46
125000   0.1 2.6906 2.7443 3.6049 4.2329 1.34
125000   0.2 3.8434 3.8993 4.7924 5.4651 1.25
125000   0.5 5.4335 5.4844 6.4081 7.0972 1.18
"""

ROWS = [line.split() for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_local_budget_to_the_digits_given(row):
    size, eps = float(row[0]), float(row[1])
    population = Binomial(48841, size) if size < 1 else Poisson(size)
    got = [local_budget(population, eps, 1e-5, accounting=a) for a in ("printed", "corrected", "exact")]
    got.append(local_budget(population, eps, 1e-5, accounting="exact", reduction="randomized_response"))
    got.append(got[2] / got[0])
    for value, text in zip(got, row[2:], strict=True):
        digits = len(text.split(".")[1])
        assert abs(value - float(text)) <= 0.5 * 10.0**-digits, (value, text)


def test_the_table_is_complete():
    assert len(ROWS) == 9 * 8
    assert {len(row) for row in ROWS} == {7}


def test_a_number_is_no_population():
    with pytest.raises(ValueError, match=r"such as Fixed\(29999\) for 30,000 users, got 29999"):
        local_budget(29999, 1.0, 1e-8)
