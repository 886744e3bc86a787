"""Exact accounting: deltas, budgets and searches, each with empty caches, and the textbook sum over clones."""

import math

import numpy as np
from scipy.special import betainc, gammaln

from benchmarks.ratios import times_as_fast
from shuffledp import accounting as a
from shuffledp.accounting.baselines.fragmented_rappor import rappor_flip_probability
from shuffledp.accounting.segmented.plan_search import segmented_plan
from shuffledp.accounting.segmented.users import user_level_delta
from shuffledp.accounting.summation.closed_designs import best_modular_design
from shuffledp.accounting.summation.design_search import family_design
from shuffledp.accounting.summation.joint_noise import correlated_noise_delta
from shuffledp.numerics.memoize import forget_all
from shuffledp.populations import Binomial, Fixed, MomentBounded, Poisson

CALLS = {
    "budget": lambda: a.local_budget(Binomial(10**6 - 1, 0.2), 0.1, 1e-8, accounting="exact"),
    "budget, printed": lambda: a.local_budget(Binomial(48841, 0.05), 0.1, 1e-5, accounting="printed"),
    "eps": lambda: a.amplified_epsilon(Fixed(10**8 - 1), 4.0, 1e-9, accounting="exact"),
    "best number of dummies": lambda: a.optimal_dummies(Poisson(125000), 0.05, 1e-5, accounting="exact"),
    "worst population": lambda: a.amplified_epsilon(MomentBounded(5000, 8700), 0.5, 1e-4, accounting="exact"),
    "dummy count near 10^8": lambda: a.dummy_count(3, 4.3e-4, 1e-6, accounting="exact"),
    "Polya noise": lambda: a.best_polya_shape(Poisson(125000), 0.1, 1e-5),
    "delta of a user": lambda: user_level_delta(0.5, 0.5, 5000, 1.0, 17, 4),
    "plan for sets": lambda: segmented_plan(
        (1250, 2500, 1250), (0.5, 1.0, 2.0), 2e-6, 17, 4, spread=4 * (1 - 4 / 17), accounting="exact"
    ),
    "all Renyi orders": lambda: a.shuffle_gaussian_rdp(np.arange(2, 1001), 60_000, 9.48),
    "check-in, pairs": lambda: a.checkin_shuffle_gaussian_rdp(
        np.arange(2, 129), 60_000, 0.1, 5.0, form="pair"
    ),
    "best modular design": lambda: best_modular_design(5, 1.0, 1e-6, 0.9),
    "flip probability": lambda: rappor_flip_probability(10**7, 1.0, 1e-6),
}


class Calls:
    """Single calls with empty caches."""

    params = tuple(CALLS)
    param_names = ("call",)
    number = 1

    def setup(self, call: str) -> None:
        forget_all()

    def time_call(self, call: str) -> None:
        CALLS[call]()


class CorrelatedNoise:
    """Exact delta of all ordered pairs of inputs, as an estimate and as an upper bound."""

    params = ((5, 20), ("estimate", "upper"))
    param_names = ("levels", "bound")
    number, repeat = 1, 3

    def setup(self, levels: int, bound: str) -> None:
        self.design = family_design(levels, 1.0, 1e-6, 0.9, atoms="halving")

    def time_delta(self, levels: int, bound: str) -> None:
        correlated_noise_delta(self.design, 1.0, bound=bound)


def plain_delta(trials: int, rate: float, eps_local: float, eps: float) -> float:
    """Return delta by the textbook sum: mean +- 13 sd +- 40, two incomplete beta functions per term."""
    p = rate * math.exp(-eps_local)
    mean, spread = trials * p, math.sqrt(trials * p * (1 - p))
    c = np.arange(max(0, int(mean - 13 * spread - 40)), min(trials, math.ceil(mean + 13 * spread + 40)) + 1)
    log_pmf = gammaln(trials + 1) - gammaln(c + 1) - gammaln(trials - c + 1)
    pmf = np.exp(log_pmf + c * math.log(p) + (trials - c) * math.log1p(-p))
    e, y = math.exp(eps_local), math.exp(eps)
    x0 = np.floor((y * e - 1) / ((e - 1) * (y + 1)) * (c + 1)) + 1

    def tail(j: np.ndarray) -> np.ndarray:
        inside = (j > 0) & (j <= c)
        value = betainc(np.where(inside, j, 1.0), np.where(inside, c - j + 1, 1.0), 0.5)
        return np.where(inside, value, np.where(j <= 0, 1.0, 0.0))

    return float(pmf @ ((e - y) / (e + 1) * tail(x0 - 1) - (e * y - 1) / (e + 1) * tail(x0)))


def plain_budget(trials: int, rate: float, eps: float, delta: float) -> float:
    """Return the budget by bisection to the library's relative tolerance, 1e-11."""
    low, high = eps, eps + math.log(trials * rate) + 1
    while high - low > 1e-11 * low:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if plain_delta(trials, rate, middle, eps) <= delta else (low, middle)
    return low


class Textbook:
    """Local budgets of the library and of the textbook sum."""

    params = (((0.01, 0.01), (0.2, 0.1), (1.0, 0.01)),)
    param_names = ("rate, eps",)
    unit = "times as fast"

    def track_budget(self, setting: tuple[float, float]) -> float:
        rate, eps = setting
        law, trials = Binomial(10**6 - 1, rate), 10**6 - 1
        plain = plain_budget(trials, rate, eps, 1e-8)
        assert abs(a.local_budget(law, eps, 1e-8, accounting="exact") / plain - 1) < 1e-9
        return times_as_fast(
            lambda: a.local_budget(law, eps, 1e-8, accounting="exact"),
            lambda: plain_budget(trials, rate, eps, 1e-8),
        )
