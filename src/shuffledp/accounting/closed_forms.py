"""Closed-form amplification for a random population: printed, simplified and corrected.

All forms have two steps. First a number Omega of clones that is reached except with part of delta; then an
eps_central for exactly Omega clones. Source: Wang et al. 2023 (TPDS), Theorems 1 to 4; "erratum E.." refers
to the project's list of errata of that paper.

Guarantees are for user 1, who takes part for certain, and replacement neighbours.
"""

import math
from dataclasses import dataclass

from shuffledp.accounting.clones import clone_rate
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.standing import Standing
from shuffledp.populations import Binomial, Fixed, Poisson, Population, SubExponential, SubGaussian

#: What stands behind the simplified form.
SIMPLIFIED = Standing(
    "unproven",
    "the simplified form is used from 3 log(4/delta) expected clones on, and follows from its theorem from 14 on "
    "(RP-E4)",
)


@dataclass(frozen=True)
class Setting:
    """Everything but eps_local that a closed form depends on.

    Parameters
    ----------
    population : Population
        Number of other users, N - 1.
    delta : float
        In (0, 1).
    dummies : int
        At least 0.
    adaptive : bool
        Fill the others up to `dummies` instead of adding so many.
    reduction : {"clones", "randomized_response"}
        Gives the probability that a report is a clone.
    """

    population: Population
    delta: float
    dummies: int = 0
    adaptive: bool = False
    reduction: str = "clones"

    @property
    def log4(self) -> float:
        """``log(4 / delta)``."""
        return math.log(4) - math.log(self.delta)

    @property
    def log2(self) -> float:
        """``log(2 / delta)``."""
        return math.log(2) - math.log(self.delta)


def _below(mean: float, factor: float) -> float:
    """Return ``mean - sqrt(factor * mean)``: a multiplicative Chernoff bound."""
    return mean - math.sqrt(factor * mean) if mean > 0 else 0.0


def _variance_of_clones(mean: float, variance: float, rate: float) -> float:
    """Variance of Bin(X, rate); with rate 1/E this is ``(mean (E - 1) + variance) / E^2``."""
    return mean * rate * (1 - rate) + variance * rate**2 if rate > 0 else 0.0


def printed_omega(setting: Setting, rate: float) -> float:
    """Return the clone bound of Theorems 1 to 4 as printed.

    Parameters
    ----------
    setting : Setting
    rate : float
        Probability that a report is a clone (the paper's ``1 / e^eps_local``).

    Returns
    -------
    float
        Omega, possibly negative; the number of clones is below it with probability at most delta / 2.

    Notes
    -----
    :class:`Fixed` is Theorem 1 with rate 1, :class:`Empirical` and :class:`MomentBounded` are Theorems 3 and
    4e. Theorem 4d is read with the division that is missing in print (E11), Theorem 4c uses the scale as it
    is (E10). For adaptive dummies the number of clones dominates both that without dummies and that of
    `dummies` reports (derived; the paper's Appendix C).
    """
    if setting.adaptive and setting.dummies > 0:
        alone = printed_omega(Setting(setting.population, setting.delta), rate)
        binomial = isinstance(setting.population, (Fixed, Binomial))
        factor = 3 * setting.log4 if binomial else 2 * setting.log2
        return max(alone, _below(setting.dummies * rate, factor))
    population, k = setting.population, setting.dummies
    if isinstance(population, (Fixed, Binomial)):
        return _below((_potential_mean(population) + k) * rate, 3 * setting.log4)
    if isinstance(population, Poisson):
        mean = (population.mean + k) * rate
        # Theorem 4b has 4 lambda under the root, Theorem 2 has 2 lambda: at k = 0 the former is worse (E9).
        spread = ((4 if k > 0 else 2) * population.mean + 2 * k) * rate
        return mean - math.sqrt(spread * setting.log2)
    if isinstance(population, SubGaussian):
        others = k + population.mean - population.scale * math.sqrt(setting.log4)
        return _below(others * rate, 2 * setting.log2)
    if isinstance(population, SubExponential):
        return _below(_sub_exponential_others(population, setting) * rate, 2 * setting.log2)
    mean = population.mean + k
    spread = _variance_of_clones(mean, population.variance, rate)
    return mean * rate - math.sqrt(spread / (0.5 * setting.delta))


def corrected_omega(setting: Setting, rate: float) -> float:
    """Return the clone bound of one-sided textbook inequalities (errata E2, E3, E9, E10, E12).

    Parameters and result are those of :func:`printed_omega`. Chernoff for Binomial and Poisson, the stated
    tail for sub-Gaussian and sub-exponential with delta / 4 for each of two steps, Cantelli for the rest.
    """
    if setting.adaptive and setting.dummies > 0:
        alone = corrected_omega(Setting(setting.population, setting.delta), rate)
        return max(alone, _below(setting.dummies * rate, 2 * setting.log2))
    population, k = setting.population, setting.dummies
    if isinstance(population, (Fixed, Binomial, Poisson)):
        return _below((population.mean + k) * rate, 2 * setting.log2)
    if isinstance(population, SubGaussian):
        others = k + population.mean - math.sqrt(2 * population.variance * setting.log4)
        return _below(others * rate, 2 * setting.log4)
    if isinstance(population, SubExponential):
        # The tail is only stated below the mean, so a small constant `a` must not lift the bound above it.
        others = min(_sub_exponential_others(population, setting), population.mean + k)
        return _below(others * rate, 2 * setting.log4)
    mean = population.mean + k
    spread = _variance_of_clones(mean, population.variance, rate)
    return mean * rate - math.sqrt(spread * (2 / setting.delta - 1))


def _potential_mean(population: Fixed | Binomial) -> float:
    """Return n' a: the paper counts user 1 among the n' potential users (E2)."""
    if isinstance(population, Fixed):
        return float(population.others + 1)
    return (population.trials + 1) * population.rate


def _sub_exponential_others(population: SubExponential, setting: Setting) -> float:
    return setting.dummies + population.mean - (math.log(population.a) + setting.log4) / population.b


def _spread_ratio(omega: float, log_term: float) -> float:
    """Return ``(2 s + 1) / (omega / 2 - s)``, ``s = sqrt(omega / 2 * log_term)``; inf if no amplification."""
    if omega <= 2 * log_term:
        return math.inf
    s = math.sqrt(omega / 2 * log_term)
    return (2 * s + 1) / (omega / 2 - s)


def printed_epsilon(setting: Setting, eps_local: float) -> float:
    """Return eps_central of Theorems 1 to 4 (nats), inf where ``Omega <= 2 log(4 / delta)``."""
    omega = printed_omega(setting, clone_rate(eps_local, setting.reduction))
    return math.log1p(math.tanh(eps_local / 2) * _spread_ratio(omega, setting.log4))


def simplified_epsilon(setting: Setting, eps_local: float) -> float:
    """Return eps_central of the simplified Theorem 1 (nats), inf below its stated range.

    Notes
    -----
    Stated for ``n' a / E >= 3 log(4 / delta)``. It follows from the theorem only from 14 log(4 / delta) on
    (E4), though no violation is known in between. Printed for Binomial alone; the same expression in the
    expected number of clones is used for Poisson and with dummies.

    Raises
    ------
    Infeasible
        For other populations.
    """
    population, k = setting.population, setting.dummies
    if isinstance(population, (Fixed, Binomial)):
        mean = _potential_mean(population)
    elif isinstance(population, Poisson):
        mean = population.mean
    else:
        raise Infeasible(
            f"No simplified form exists for {type(population).__name__}; use printed or corrected."
        )
    total = max(mean, k) if setting.adaptive else mean + k
    clones = total * clone_rate(eps_local, setting.reduction)
    if clones < 3 * setting.log4:
        return math.inf
    return math.log1p(math.tanh(eps_local / 2) * (8 * math.sqrt(setting.log4 / clones) + 8 / clones))


def corrected_epsilon(setting: Setting, eps_local: float) -> float:
    """Return eps_central of the corrected closed form (nats), inf where there is no amplification.

    Notes
    -----
    One-sided tails with delta / 2 for the clones and for their split (E3, E5), and the report of user 1
    mapped exactly instead of through a subsampling lemma (E6): with r the likelihood ratio without it,
    ``eps = log((r E + 1) / (r + E))``.
    """
    omega = corrected_omega(setting, clone_rate(eps_local, setting.reduction))
    excess = _spread_ratio(omega, setting.log2)  # r - 1
    if math.isinf(excess):
        return math.inf
    decay = math.exp(-eps_local)  # (r E + 1) / (r + E) - 1 = (r - 1) (1 - 1/E) / (1 + r/E)
    return math.log1p(excess * -math.expm1(-eps_local) / (1 + (1 + excess) * decay))
