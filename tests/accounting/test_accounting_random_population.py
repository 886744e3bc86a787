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


def test_checkin_formula_and_its_inverse():
    m, eps_local, p0 = 2442, 0.4, 0.3
    e = math.exp(eps_local)
    want = p0 * (e - 1) * math.sqrt(2 * e * math.log(1 / D) / m) + p0**2 * e * (e - 1) ** 2 / (2 * m)
    assert checkin_epsilon(m, eps_local, D, rate=p0, accounting="printed") == pytest.approx(want, rel=1e-12)
    for rate in (0.01, 1.0):
        for eps in (1e-4, 0.02, 0.7, 30.0):
            budget = checkin_local_budget(m, eps, D, rate=rate, accounting="printed")
            assert checkin_epsilon(m, budget, D, rate=rate, accounting="printed") == pytest.approx(
                eps, rel=1e-9
            )


def test_checkin_extremes():
    assert checkin_epsilon(10, 1e4, D, accounting="printed") == 1e4
    assert checkin_epsilon(10, 1e4, D, rate=0.0, accounting="printed") == 0.0
    assert checkin_local_budget(10, 1.0, D, rate=0.0, accounting="printed") == math.inf
    assert checkin_epsilon(1, 1.0, D, accounting="printed") == 1.0
    assert checkin_local_budget(1, 1.0, D, accounting="printed") == 1.0


def test_exact_checkin_is_the_shuffle_of_the_slots():
    assert checkin_epsilon(2442, 0.4, D, accounting="exact") == amplified_epsilon(
        Fixed(2441), 0.4, D, accounting="exact"
    )
    assert checkin_local_budget(2442, 0.04, D, accounting="exact") == local_budget(
        Fixed(2441), 0.04, D, accounting="exact"
    )
    for call in (checkin_epsilon, checkin_local_budget):
        with pytest.raises(ValueError, match="rate must be 1"):
            call(2442, 0.4, D, rate=0.5, accounting="exact")


def test_two_threat_models_of_checkin_differ_by_two_orders_of_magnitude():
    assert checkin_local_budget(488, 0.001, D, rate=0.01, accounting="printed") == pytest.approx(
        0.330, abs=5e-4
    )
    assert local_budget(Binomial(48841, 0.01), 0.001, D, accounting="printed") == pytest.approx(
        0.0027, abs=5e-5
    )


@pytest.mark.parametrize(("rate", "crossing"), [(0.05, 0.074), (0.1, 0.035), (0.2, 0.018), (0.5, 0.008)])
def test_checkin_amplifies_more_than_theorem_1_only_for_small_eps(rate, crossing):
    slots = math.floor(48841 * rate)

    def gain(eps: float) -> float:
        return checkin_local_budget(slots, eps, D, accounting="printed") - local_budget(
            Binomial(48841, rate), eps, D, accounting="printed"
        )

    assert gain(crossing - 0.0005) > 0 > gain(crossing + 0.0005)


def test_checkin_amplifies_more_on_the_whole_range_at_one_percent():
    for eps in (0.001, 0.01, 0.1, 0.5):
        assert checkin_local_budget(488, eps, D, accounting="printed") > local_budget(
            Binomial(48841, 0.01), eps, D, accounting="printed"
        )
