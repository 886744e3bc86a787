"""Deployment questions: the best reduction is used, the questions invert each other, and labels are honest."""

import json
import math

import pytest

from enumerated_reports import responses
from shuffledp.accountant import (
    amplification,
    budget,
    calibrate_randomizer,
    searches,
    shuffled_rounds,
    smallest_batch,
)
from shuffledp.accountant.reductions import (
    CLONES,
    Reduction,
    counted_on,
)
from shuffledp.accounting import (
    GRR,
    FiniteRandomizer,
    GaussianRandomizer,
    Infeasible,
    amplified_epsilon,
    blanket_randomizer_delta,
    clone_delta,
)
from shuffledp.guarantees import GUARANTEES
from shuffledp.populations import Binomial, Empirical, Fixed, MomentBounded, Poisson, SubGaussian

# -- amplification -----------------------------------------------------------------------------------------------------


def test_randomizer_object_is_accepted():
    answer = amplification(None, 10_000, 1e-6, randomizer=GRR(3.0, 10))
    assert f"{answer.eps:.6f}" == "0.189779"
    assert answer.eps_local == 3.0
    gaussian = amplification(None, 10_000, 1e-6, randomizer=GaussianRandomizer(2.0))
    assert (gaussian.guarantee, gaussian.reduction) == ("unproven", "blanket")
    assert "not proven" in gaussian.note
    assert json.loads(json.dumps(gaussian.as_dict()))["eps_local"] == "inf"


@pytest.mark.parametrize(
    "population",
    [
        Fixed(9_999),
        Binomial(29_999, 0.3),
        Poisson(9_000.0),
        Empirical((0.5, 0.5), 9_000),
        MomentBounded(9_000.0, 900.0),
        SubGaussian(9_000.0, 30.0),
    ],
)
def test_every_population_has_an_answer(population):
    answer = amplification(3.0, None, 1e-6, population=population, randomizer="grr", domain_size=10)
    assert 0 < answer.eps < 3.0
    assert answer.guarantee in GUARANTEES
    assert answer.users == 1 + population.mean
    law = not isinstance(population, (MomentBounded, SubGaussian))
    assert (answer.eps_lower is not None) == law
    assert answer.reduction == "blanket"
    json.dumps(answer.as_dict(), allow_nan=False)


class ClosedForm(Reduction):
    """Bound of one round that defines eps alone."""

    name = "closed_form"

    def epsilon(self, setting, eps_local, honest, hint):
        return eps_local * math.sqrt(math.log(1 / setting.delta) / (1 + honest.mean))


def test_a_closed_form_defines_epsilon_alone(monkeypatch):
    monkeypatch.setattr(shuffled_rounds, "compared", lambda setting: (ClosedForm(), CLONES))
    answer = amplification(1.0, 10_000, 1e-6)
    assert answer.reduction == "closed_form"
    assert answer.eps == pytest.approx(math.sqrt(math.log(1e6) / 10_000))
    assert budget(answer.eps, 10_000, 1e-6).eps_local == pytest.approx(1.0, rel=1e-5)
    assert smallest_batch(1.0, answer.eps * (1 + 1e-9), 1e-6).users == 10_000
    assert amplification(1.0, 10_000, 1e-6, rounds=2).reduction == "clones"


def test_without_amplification_the_local_budget_holds():
    answer = amplification(0.5, 1, 1e-300)
    assert answer.eps <= 0.5
    assert amplification(20.0, 1, 1e-15, rounds=3).eps <= 60.0


def test_colluding_users_are_no_cover():
    answer = amplification(4.0, 10_000, 1e-6, colluding=0.1)
    assert answer.population == "Fixed(others=8999)"
    assert answer.eps == amplified_epsilon(Fixed(8_999), 4.0, 1e-6)
    assert answer.users == 10_000
    poisson = amplification(4.0, None, 1e-6, population=Poisson(1000.0), colluding=0.25)
    assert poisson.population == "Poisson(mean=750.0)"
    with pytest.raises(Infeasible, match="colluding must be 0 for a"):
        amplification(4.0, None, 1e-6, population=MomentBounded(100.0, 5.0), colluding=0.1)


def test_an_infinite_composition_says_why():
    revealing = FiniteRandomizer([[0.9, 0.0, 0.1], [0.9, 0.1, 0.0]])
    with pytest.raises(Infeasible, match=r"show the report with a probability of 0\.1 in every round"):
        amplification(None, 1, 1e-3, rounds=2, randomizer=revealing)


def test_rounds_with_bounded_number_of_users():
    """The bound's eps is at least the eps of any law that it allows, for several rounds, and it can be inverted."""
    known = SubGaussian(10_000.0, math.sqrt(5_000.0))  # Hoeffding's bound for the law
    law = amplification(1.0, None, 1e-6, population=Binomial(20_000, 0.5), rounds=4, crowd="fresh")
    bound = amplification(1.0, None, 1e-6, population=known, rounds=4, crowd="fresh")
    assert law.eps < bound.eps < 1.05 * law.eps
    assert "drawn anew" in law.note and "for every round" in bound.note and not bound.eps_lower
    others, left = counted_on(known, 1e-6, 4)
    failure = math.exp(-((10_000 - (others.others - 1)) ** 2) / (2 * 5_000))  # of fewer
    assert 0 < left < 1e-6 and left + 4 * failure <= 1e-6 * (1 + 1e-6)
    assert bound.eps == pytest.approx(amplification(1.0, others.others + 1, left, rounds=4).eps)
    back = budget(bound.eps, None, 1e-6, population=known, rounds=4, crowd="fresh")
    assert back.eps_local == pytest.approx(1.0, rel=1e-3)
    few = MomentBounded(100.0, 5.0)
    assert amplification(4.0, None, 1e-6, population=few, rounds=2, crowd="fresh").eps > 7.99


#: Mean of a Poisson number of other users, rounds, delta; eps for binary randomized response with budget 1 if the
#: number is drawn anew in every round, and if it is drawn once. Computed independently, by enumeration.
CROWDS = [
    (5.0, 10, 1e-3, 6.28969, 7.8601),
    (20.0, 30, 1e-6, 8.26718, 11.1979),
]


@pytest.mark.parametrize("mean, rounds, delta, fresh, shared", CROWDS)
def test_shared_crowd_needs_larger_eps(mean, rounds, delta, fresh, shared):
    """A crowd that is drawn once is not composed as if it were drawn anew in each round."""
    others = {"population": Poisson(mean), "randomizer": "binary", "rounds": rounds}
    anew, once = (amplification(1.0, None, delta, crowd=crowd, **others) for crowd in ("fresh", None))
    assert fresh * (1 - 1e-5) < anew.eps < fresh * 1.001
    assert shared * (1 - 1e-5) < once.eps < shared * 1.001
    assert (anew.crowd, once.crowd) == ("fresh", "shared")
    assert "drawn anew" in anew.note and "the same in all rounds" in once.note


def test_a_shared_crowd_is_inverted():
    options = {"rounds": 2, "randomizer": "binary"}
    back = budget(0.5, None, 1e-2, population=Poisson(1.0), **options)
    answer = amplification(back.eps_local, None, 1e-2, population=Poisson(1.0), **options)
    assert 0.49 < back.eps <= 0.5 and answer.eps == pytest.approx(back.eps, rel=2e-3)
    few = smallest_batch(1.0, 1.6, 1e-2, arrivals="poisson", **options)
    assert few.eps <= 1.6 and isinstance(few.users, int)
    fewer = amplification(1.0, None, 1e-2, population=Poisson(few.users - 3.0), **options)
    assert fewer.eps > 1.59


# -- budget and batch --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("randomizer", ["laplace", "binary", "rappor"])
def test_budget_and_amplification_are_inverse(randomizer):
    sizes = {"domain_size": 10} if randomizer == "rappor" else {}
    answer = budget(0.3, 5_000, 1e-6, randomizer=randomizer, **sizes)
    back = amplification(answer.eps_local, 5_000, 1e-6, randomizer=randomizer, **sizes)
    assert 0.3 * (1 - 1e-4) < back.eps <= 0.3 * (1 + 1e-9)
    assert answer.eps == pytest.approx(back.eps, rel=1e-6)  # two roundings of one number


def test_blanket_gives_smallest_batch():
    answer = smallest_batch(4.0, 0.5, 1e-6)
    better = smallest_batch(4.0, 0.5, 1e-6, randomizer="grr", domain_size=50)
    users = int(better.users)
    assert better.reduction == "blanket"
    assert users < answer.users
    assert blanket_randomizer_delta(GRR(4.0, 50), users, 0.5) <= 1e-6
    assert blanket_randomizer_delta(GRR(4.0, 50), users - 1, 0.5) > 1e-6 * (1 - 1e-4)
    assert better.eps <= 0.5 * (1 + 1e-6)


def test_batches_of_random_size():
    fixed = smallest_batch(4.0, 0.5, 1e-6)
    poisson = smallest_batch(4.0, 0.5, 1e-6, arrivals="poisson")
    binomial = smallest_batch(4.0, 0.5, 1e-6, arrivals="binomial", rate=0.1)
    assert fixed.users < binomial.users < poisson.users < 1.01 * fixed.users
    trials = round((binomial.users - 1) / 0.1)
    assert (
        clone_delta(Binomial(trials, 0.1), 4.0, 0.5)
        <= 1e-6
        < clone_delta(Binomial(trials - 1, 0.1), 4.0, 0.5)
    )


def test_one_user_suffices_below_target():
    assert smallest_batch(0.4, 0.5, 1e-6).users == 1


@pytest.mark.parametrize("eps_local", [1e-300, 1e-20, 100.0])
@pytest.mark.parametrize("delta", [1e-300, 1 - 1e-15])
def test_extremes_have_an_answer(eps_local, delta):
    for randomizer, sizes in (("any", {}), ("grr", {"domain_size": 2**40}), ("laplace", {})):
        answer = amplification(eps_local, 1000, delta, randomizer=randomizer, **sizes)
        assert 0 <= answer.eps_lower <= answer.eps <= eps_local


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda: amplification(4.0, 1000), "delta is missing"),
        (
            lambda: amplification(4.0, 1000, 1e-6, population=Fixed(3)),
            "Give either users or population",
        ),
        (lambda: amplification(4.0, None, 1e-6), "Give either users or population"),
        (
            lambda: amplification(4.0, None, 1e-6, population=3),
            "population must be the number of other users as a Population, such as Fixed",
        ),
        (lambda: amplification(None, 1000, 1e-6), "eps_local is missing"),
        (lambda: amplification(101.0, 1000, 1e-6), "eps_local must be at most 100"),
        (lambda: amplification(4.0, 1000, 1e-6, randomizer=GRR(1.0, 3)), "eps_local must be left out"),
        (
            lambda: amplification(None, 9, 1e-6, randomizer=GRR(1.0, 3), domain_size=3),
            "domain_size and subset_size must be left out",
        ),
        (lambda: budget(1.0, 1000), "delta is missing"),
        (
            lambda: budget(1.0, 1000, 1e-6, randomizer=GRR(1.0, 3)),
            "randomizer must be a name or a function, got GRR",
        ),
        (lambda: smallest_batch(4.0, None, 1e-6), "eps and delta must both be given"),
        (
            lambda: smallest_batch(4.0, 0.5, 1e-6, rate=0.5),
            "rate must be given if and only if arrivals is 'binomial'",
        ),
        (lambda: smallest_batch(4.0, 0.5, 1e-6, arrivals="binomial"), "rate must be given if and only if"),
        (lambda: smallest_batch(100.0, 1e-6, 1e-6), "More than 2\\^53 users would be needed"),
        (
            lambda: amplification(1.0, 100, 1e-6, rounds=3, crowd="shared"),
            "crowd must be left out without population",
        ),
        (
            lambda: smallest_batch(1.0, 1.0, 1e-6, rounds=3, crowd="fresh"),
            "crowd must be left out without population",
        ),
        (
            lambda: amplification(1.0, None, 1e-6, population=Poisson(9.0), crowd="fixed"),
            "crowd must be shared or fresh for a random number",
        ),
        (
            lambda: amplification(1.0, None, 1e-6, population=Poisson(9.0), crowd="same"),
            "crowd must be one of fixed, shared, fresh; got 'same'",
        ),
        (
            lambda: calibrate_randomizer(lambda eps_local: kept_bit(2 * eps_local), Fixed(999), 0.5, 1e-6),
            r"make\(.*\) must have at most this local budget, got ",
        ),
    ],
)
def test_mistakes_are_named(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


def test_budget_of_one_user_is_target():
    answer = budget(1.0, 1, 1e-6)
    assert 1.0 <= answer.eps_local < 1.0 + 1e-5
    assert answer.eps <= 1.0


@pytest.mark.parametrize(
    "eps, users, delta, sizes",
    [
        (4.0, 100, 1e-6, {"randomizer": "binary"}),  # hardly anybody hides a report: the budget is eps
        (4.0, 100, 1e-15, {"randomizer": "grr", "domain_size": 10**6}),  # nearly a lattice
        (4.0, 10**9, 1e-6, {"randomizer": "grr", "domain_size": 10}),  # delta hardly changes with eps
    ],
)
def test_budgets_are_close_to_delta_limit(eps, users, delta, sizes):
    answer = budget(eps, users, delta, **sizes)
    assert answer.eps <= eps <= answer.eps_local
    if answer.eps_local > eps:
        assert amplification(answer.eps_local, users, delta, **sizes).eps <= eps
    assert amplification(1.0005 * answer.eps_local, users, delta, **sizes).eps > eps


@pytest.mark.parametrize("tolerance", [0.0, 1e-7, 1e-6, 1e-2])
@pytest.mark.parametrize(
    "excess, root, most",
    [
        (lambda n: 5 * math.log(5e7 / n), 5e7, 9),
        (lambda n: 2 - n / 4e7 - (n / 4e7) ** 2, 4e7, 14),
        (lambda n: 30 - 4 * n**0.2, 7.5**5, 8),
        (lambda n: 34 - n / 1.7e6 if n < 5.8e7 else -33.0, 5.78e7, 13),  # flat behind the root
        (lambda n: 1.0 if n < 10**6 else -math.inf, 1e6, 23),  # nothing but the sign: halving
    ],
)
def test_falling_function_is_bracketed_fast(excess, root, most, tolerance):
    tried = []

    def counted(number):
        tried.append(number)
        return excess(number)

    low, high, at = searches._bracket(counted, round(root / 3), round(3 * root), tolerance)
    assert excess(high) <= 0 < excess(low)
    assert root * (1 - 1e-9) <= high <= max(root * (1 + 1.1 * tolerance), root + 1)
    assert low <= at <= high
    assert len(tried) <= most


# -- a randomizer of one's own -------------------------------------------------------------------------------------


def kept_bit(eps_local):
    return FiniteRandomizer(responses(2, eps_local))


def test_lone_user_has_central_budget():
    assert calibrate_randomizer(kept_bit, Fixed(0), 0.5, 1e-6).eps_local == pytest.approx(0.5, rel=1e-5)
