"""Closed-form amplification for a random population: printed, simplified and corrected.

All forms have two steps: a lower bound Omega on the number of clones, which fails with a part of delta, and an
eps_central for exactly Omega clones. Source: Wang et al. 2023 (TPDS), Theorems 1 to 4; "erratum E.." and "reading note
N.." refer to the project's lists for this paper.

Guarantees are for user 1, who always takes part, and replacement neighbors.
"""

import math

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.clones import OtherReports
from shuffledp.populations.base import Fixed
from shuffledp.populations.bounds import SubExponential, SubGaussian
from shuffledp.populations.laws import Binomial, Poisson


def _log(numerator: float, delta: float) -> float:
    return math.log(numerator) - math.log(delta)


def _below(mean: float, factor: float) -> float:
    """Return ``mean - sqrt(factor * mean)``, a multiplicative Chernoff bound."""
    return mean - math.sqrt(factor * mean) if mean > 0 else 0.0


def _variance_of_clones(mean: float, variance: float, rate: float) -> float:
    """Return the variance of Bin(X, rate); with rate 1/E this is ``(mean (E - 1) + variance) / E^2``."""
    return mean * rate * (1 - rate) + variance * rate**2 if rate > 0 else 0.0


def printed_omega(reports: OtherReports, delta: float, rate: float) -> float:
    """Return the lower bound Omega on the number of clones of Theorems 1 to 4 as printed. By the theorems, fewer clones
    have probability <= delta / 2.

    `rate` is the probability that a report is a clone (the paper's ``1 / e^eps_local``). :class:`Fixed` is Theorem 1
    with rate 1; :class:`Empirical` and :class:`MomentBounded` are Theorems 3 and 4e. Theorem 4d has the division that
    the text lacks (N11), Theorem 4c the scale as printed (N10). For adaptive dummies, the number of clones dominates
    the number without dummies and the number among `dummies` reports (derived; the paper's Appendix C).
    """
    if reports.adaptive and reports.dummies > 0:
        alone = printed_omega(OtherReports(reports.population), delta, rate)
        binomial = isinstance(reports.population, (Fixed, Binomial))
        factor = 3 * _log(4, delta) if binomial else 2 * _log(2, delta)
        return max(alone, _below(reports.dummies * rate, factor))
    population, k = reports.population, reports.dummies
    if isinstance(population, (Fixed, Binomial)):
        return _below((_potential_mean(population) + k) * rate, 3 * _log(4, delta))
    if isinstance(population, Poisson):
        mean = (population.mean + k) * rate
        # Theorem 4b has 4 lambda under the root, Theorem 2 has 2 lambda: at k = 0 the former is looser (N9).
        spread = ((4 if k > 0 else 2) * population.mean + 2 * k) * rate
        return mean - math.sqrt(spread * _log(2, delta))
    if isinstance(population, SubGaussian):
        others = k + population.mean - population.scale * math.sqrt(_log(4, delta))
        return _below(others * rate, 2 * _log(2, delta))
    if isinstance(population, SubExponential):
        return _below(_sub_exponential_others(population, k, delta) * rate, 2 * _log(2, delta))
    mean = population.mean + k
    spread = _variance_of_clones(mean, population.variance, rate)
    return mean * rate - math.sqrt(spread / (0.5 * delta))


def corrected_omega(reports: OtherReports, delta: float, rate: float) -> float:
    """Return the lower bound Omega on the number of clones by one-sided textbook inequalities (erratum E12; reading
    notes N2, N3, N9, N10). Fixed, binomial and Poisson populations use Chernoff's inequality. Sub-Gaussian and
    sub-exponential populations use their stated tail, with delta / 4 for each of two steps. All other populations use
    Cantelli's inequality.
    """
    if reports.adaptive and reports.dummies > 0:
        alone = corrected_omega(OtherReports(reports.population), delta, rate)
        return max(alone, _below(reports.dummies * rate, 2 * _log(2, delta)))
    population, k = reports.population, reports.dummies
    if isinstance(population, (Fixed, Binomial, Poisson)):
        return _below((population.mean + k) * rate, 2 * _log(2, delta))
    if isinstance(population, SubGaussian):
        others = k + population.mean - math.sqrt(2 * population.variance * _log(4, delta))
        return _below(others * rate, 2 * _log(4, delta))
    if isinstance(population, SubExponential):
        # The tail is only stated below the mean, so a small constant `a` must not lift the bound above it.
        others = min(_sub_exponential_others(population, k, delta), population.mean + k)
        return _below(others * rate, 2 * _log(4, delta))
    mean = population.mean + k
    spread = _variance_of_clones(mean, population.variance, rate)
    return mean * rate - math.sqrt(spread * (2 / delta - 1))


def _potential_mean(population: Fixed | Binomial) -> float:
    """Return n' a, the mean number of users. The n' potential users include user 1, as in the paper (N2)."""
    if isinstance(population, Fixed):
        return float(population.others + 1)
    return (population.trials + 1) * population.rate


def _sub_exponential_others(population: SubExponential, dummies: int, delta: float) -> float:
    return dummies + population.mean - (math.log(population.a) + _log(4, delta)) / population.b


def _spread_ratio(omega: float, log_term: float) -> float:
    """Return ``(2 s + 1) / (omega / 2 - s)``, ``s = sqrt(omega / 2 * log_term)``; inf without amplification."""
    if omega <= 2 * log_term:
        return math.inf
    s = math.sqrt(omega / 2 * log_term)
    return (2 * s + 1) / (omega / 2 - s)


def printed_epsilon(reports: OtherReports, delta: float, eps_local: float) -> float:
    """Return eps_central of Theorems 1 to 4 (nats), inf for ``Omega <= 2 log(4 / delta)``."""
    omega = printed_omega(reports, delta, reports.rate(eps_local))
    return math.log1p(math.tanh(eps_local / 2) * _spread_ratio(omega, _log(4, delta)))


def simplified_epsilon(reports: OtherReports, delta: float, eps_local: float) -> float:
    """Return eps_central of the simplified Theorem 1 (nats), inf below its stated range ``n' a / E >= 3 log(4 /
    delta)``. The theorem implies it from ``14 log(4 / delta)`` on only (E4); no violation is known in between. The
    paper prints it for binomial populations only. For Poisson populations and with dummies, the same expression is
    evaluated at the expected number of clones. Other populations raise `Infeasible`.
    """
    population, k = reports.population, reports.dummies
    if isinstance(population, (Fixed, Binomial)):
        mean = _potential_mean(population)
    elif isinstance(population, Poisson):
        mean = population.mean
    else:
        raise Infeasible(
            f"No simplified form exists for {type(population).__name__}; use printed or corrected."
        )
    total = max(mean, k) if reports.adaptive else mean + k
    clones = total * reports.rate(eps_local)
    if clones < 3 * _log(4, delta):
        return math.inf
    return math.log1p(math.tanh(eps_local / 2) * (8 * math.sqrt(_log(4, delta) / clones) + 8 / clones))


def corrected_epsilon(reports: OtherReports, delta: float, eps_local: float) -> float:
    """Return eps_central of the corrected closed form (nats), inf without amplification. It has one-sided tails with
    delta / 2 each for the clones and for their split (N3, N5). User 1's report is mapped exactly instead of by a
    subsampling lemma (N6): with r the likelihood ratio without this report, ``eps = log((r E + 1) / (r + E))``.
    """
    omega = corrected_omega(reports, delta, reports.rate(eps_local))
    excess = _spread_ratio(omega, _log(2, delta))  # r - 1
    if math.isinf(excess):
        return math.inf
    decay = math.exp(-eps_local)  # (r E + 1) / (r + E) - 1 = (r - 1) (1 - 1/E) / (1 + r/E)
    return math.log1p(excess * -math.expm1(-eps_local) / (1 + (1 + excess) * decay))
