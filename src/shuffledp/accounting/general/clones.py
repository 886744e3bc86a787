r"""Exact evaluation of the clones reduction.

Feldman, McMillan and Talwar (2021) reduce the shuffled output of N users with an eps_local-LDP randomizer to two
counts. With C clones among the other reports, ``E = e^eps_local``, ``A ~ Bin(C, 1/2)`` and ``B ~ Bern(E / (E + 1))``,
the pair ``P = (A + B, C - A + 1 - B)``, ``Q = (A + 1 - B, C - A + B)`` dominates the two outputs: every (eps, delta)
that holds for P and Q holds for the shuffled reports, for user 1 and replacement neighbors. The converse does not hold:
the values are exact for the pair and upper bounds for a randomizer.

Given C = c, the likelihood ratio of P and Q is increasing in the first count, hence ([wang2023]_, Lemma 2; the formula
is derived for this project)

.. math:: D(c) = a \Pr[\mathrm{Bin}(c, 1/2) \ge x_0 - 1] - b \Pr[\mathrm{Bin}(c, 1/2) \ge x_0],
          \quad \delta = \sum_c \Pr[C = c] \, D(c)

with ``a = (E - e^eps) / (E + 1)``, ``b = (E e^eps - 1) / (E + 1)``, ``x_0 = floor(theta (c + 1)) + 1`` and
``theta = 1/2 + tanh(eps / 2) / (2 tanh(eps_local / 2))``. Exchanging the two counts exchanges P and Q, so that both
directions have the same delta.

.. [wang2023] Wang et al., "Shuffle Differential Private Data Aggregation for Random Population", TPDS 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.general.profiles import Exported, Kind, View, at_each
from shuffledp.numerics.argument_ranges import (
    Count,
    EpsArray,
    EpsAt,
    check_fields,
    checked,
    format_value,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import LAST_DIGITS, log_ratio, negligible, raised
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.tails import binomial_upper_tail, log_half_pmf
from shuffledp.numerics.windows import Window, binomial_window, convolve, thin
from shuffledp.populations.base import Fixed, Law, Population
from shuffledp.populations.laws import Binomial, Poisson

if TYPE_CHECKING:
    pass

Reduction = Literal["clones", "randomized_response"]
REDUCTIONS: tuple[str, ...] = get_args(Reduction)

#: Relative tolerance of roots, in eps.
_XTOL = 1e-11
#: Number of ratios that are summed from a known probability.
_BLOCK = 4096


def clone_rate(eps_local: EpsAt, reduction: Annotated[str, one_of(REDUCTIONS)] = "clones") -> float:
    """Return the probability that another user's report is a clone.

    Source: Feldman, McMillan and Talwar (2021), the reduction to clones. The rate of binary randomized response is
    exact. For any other randomizer, ``e^-eps_local`` is a lower bound on the probability that a report hides user 1. A
    delta computed from this bound is an upper bound.

    Parameters
    ----------
    eps_local : float
        Local budget in nats, at least 0.
    reduction : {"clones", "randomized_response"}
        ``clones``: ``e^-eps_local``, for any randomizer. ``randomized_response``: ``2 / (e^eps_local + 1)``, the
        probability of a uniform output of binary randomized response, for this randomizer only.

    Returns
    -------
    float
        In (0, 1].
    """
    decay = math.exp(-eps_local)
    return decay if reduction == "clones" else 2 * decay / (1 + decay)


def unamplified_delta(eps_local: float, eps_central: float) -> float:
    """Return ``(E - e^eps_central) / (E + 1)``, rounded up: delta of one report of binary randomized response. Requires
    ``0 <= eps_central <= eps_local`` (nats). Other users never increase delta.
    """
    return min(-math.expm1(eps_central - eps_local) / (1 + math.exp(-eps_local)) * LAST_DIGITS, 1.0)


def unamplified_budget(eps_central: float, delta: float) -> float:
    """Return the largest eps_local (nats) for which a single report is (eps_central, delta)-DP, rounded down."""
    alone = eps_central + math.log1p(delta * math.exp(-eps_central)) - math.log1p(-delta)
    step = math.ulp(alone)
    while alone > eps_central and unamplified_delta(alone, eps_central) > delta:
        alone, step = max(alone - step, eps_central), 2 * step
    return alone


def clone_divergences(start: int, stop: int, eps_local: float, eps_central: float) -> NDArray[np.float64]:
    """Return D(c), the hockey-stick divergence of P and Q given c clones, for c = start, .., stop - 1. Requires
    ``0 <= eps_central < eps_local`` (nats). D(c) does not increase with c; its relative error is about 1e-12 for all
    but negligible values.
    """
    slope = math.tanh(eps_central / 2) / math.tanh(eps_local / 2)
    c = np.arange(start, stop, dtype=np.float64)
    # j = x_0 - 1. Rounding may put theta (c + 1) on the wrong side of an integer; that is where the two
    # choices of x_0 give the same D, so it does no harm.
    j = np.minimum(np.floor((0.5 + 0.5 * slope) * (c + 1)), c)
    up = np.clip(np.diff(j), 0, 1)
    j = j[0] + np.concatenate(([0.0], np.cumsum(up)))
    # Pr[Bin(c, 1/2) = j(c)] along the path, from ratios.
    log_ratios = np.log(0.5 * (c[:-1] + 1) / np.where(up > 0, j[1:], c[:-1] + 1 - j[:-1]))
    log_point = np.concatenate(([0.0], np.cumsum(log_ratios)))
    point = np.exp(_anchored(log_point, j, c))
    # Pr[Bin(c, 1/2) > j(c)].
    if c.size > 256 and eps_central < 2:
        # Recurrence from the far end, where the tail is smallest, so that sums grow and keep their digits. An
        # incomplete beta function per c costs ten times more.
        last = float(point[-1]) * _tail_over_point(int(j[-1]), int(c[-1]))
        steps = up * point[1:] - 0.5 * point[:-1]
        tail = np.concatenate((np.cumsum(steps[::-1])[::-1], [0.0])) + last
    else:
        tail = binomial_upper_tail(j + 1, c, 0.5)
    a = unamplified_delta(eps_local, eps_central)
    # a S(j) - b S(j + 1) = a Pr[= j] - (b - a) Pr[> j], and b - a = e^eps - 1.
    with np.errstate(over="ignore"):
        loss = np.where(tail > 0, tail * np.expm1(min(eps_central, 709.0)), 0.0)
    return np.asarray(np.clip(a * point - loss, 0.0, a), np.float64)


def _tail_over_point(j: int, c: int) -> float:
    """Return ``Pr[Bin(c, 1/2) > j] / Pr[Bin(c, 1/2) = j]`` for j >= c / 2. Incomplete beta
    functions would lose digits.
    """
    total, last, start = 0.0, 1.0, j
    while start < c and last > 1e-18 * total:
        k = np.arange(start, min(start + _BLOCK, c), dtype=np.float64)
        terms = last * np.cumprod((c - k) / (k + 1))
        total, last, start = total + float(np.sum(terms)), float(terms[-1]), start + _BLOCK
    return total


def _anchored(
    log_point: NDArray[np.float64], j: NDArray[np.float64], c: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return logs of probabilities that were summed from log ratios. A shift of every block makes the log in its middle
    exact.
    """
    starts = np.arange(0, c.size, _BLOCK)
    middles = (starts + np.minimum(starts + _BLOCK, c.size)) // 2
    shifts = log_half_pmf(j[middles], c[middles]) - log_point[middles]
    return log_point + np.repeat(shifts, _BLOCK)[: c.size]


@dataclass(frozen=True)
class OtherReports:
    """Reports that are shuffled with user 1's report.

    Parameters
    ----------
    population : Population
        Number of other users, N - 1.
    dummies : int
        Dummy reports k, at least 0: eps_local-LDP reports of public inputs.
    adaptive : bool
        If True, ``max(k - (N - 1), 0)`` dummies bring the other users up to k reports. If False, k dummies are added.
    reduction : {"clones", "randomized_response"}
        Reduction that determines the probability of a clone, see :func:`clone_rate`.
    """

    population: Population
    dummies: Count = 0
    adaptive: bool = False
    reduction: Annotated[str, one_of(REDUCTIONS)] = "clones"

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def expected(self) -> float:
        """Expected number of other reports; for adaptive dummies, the larger of the mean population and k."""
        mean = self.population.mean
        return max(mean, self.dummies) if self.adaptive else mean + self.dummies

    @checked
    def after(self, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of reports for each number of other users, shape of `others`."""
        numbers = np.asarray(others)
        if np.any(numbers < 0):
            raise ValueError(f"others must be at least 0, got {format_value(others)}.")
        return np.asarray(np.maximum(numbers, self.dummies) if self.adaptive else numbers + self.dummies)

    @checked
    def rate(self, eps_local: EpsAt) -> float:
        """Return the probability that a report is a clone."""
        return clone_rate(eps_local, self.reduction)

    @checked
    def clones(self, rate: float, tail: float) -> Window:
        """Return the law of the number of clones for a population that is a law.

        Parameters
        ----------
        rate : float
            Probability that a report is a clone, in [0, 1].
        tail : float
            Largest omitted mass on either side, for the users and for the dummies.
        """
        law, dummies = _law(self.population), self.dummies
        if dummies == 0:
            return _thinned_window(law, rate, tail)
        if not self.adaptive:
            if isinstance(law, Fixed):
                return binomial_window(law.others + dummies, rate, tail)
            return convolve(_thinned_window(law, rate, tail), binomial_window(dummies, rate, tail))
        others = _window_of_others(law, tail)
        if dummies <= others.start:  # dummies are hardly ever added; leaving them out is on the safe side
            return _thinned_window(law, rate, tail)
        filled = max(0, min(dummies - others.start + 1, others.pmf.size))
        pmf = np.concatenate(([float(np.sum(others.pmf[:filled]))], others.pmf[filled:]))
        return thin(Window(dummies, pmf, others.omitted), rate, tail)


def _law(population: Population) -> Law:
    if not isinstance(population, Law):
        raise TypeError(f"The number of clones of {type(population).__name__} has no law.")
    return population


@remember(16)
def _window_of_others(law: Law, tail: float) -> Window:
    """Return the law of the number of other users as a cached window, which callers must not modify."""
    return law.window(tail)


def _thinned_window(law: Law, rate: float, tail: float) -> Window:
    closed = isinstance(law, (Fixed, Binomial, Poisson))
    return law.thinned(rate).window(tail) if closed else thin(law.window(tail), rate, tail)


def smallest_delta(reports: OtherReports, eps_local: float, eps_central: float) -> float:
    """Return a lower bound on delta, used to choose an omitted mass that is negligible beside delta. D falls with c, so
    that ``delta >= Pr[C <= c] D(c)``. Two steps by Chebyshev's inequality give a number of others and then a number of
    clones c; each fails with probability at most 1/4, hence ``Pr[C <= c] >= 1/2``.
    """
    law, rate = _law(reports.population), reports.rate(eps_local)
    others = law.mean + reports.dummies + 2 * math.sqrt(law.variance)
    mean = others * rate
    clones = math.ceil(mean + 2 * math.sqrt(mean * (1 - rate)))
    return 0.5 * float(clone_divergences(clones, clones + 1, eps_local, eps_central)[0])


def _mixed(window: Window, eps_local: float, eps_central: float) -> float:
    """Return an upper bound on delta for a law of the number of clones; omitted mass and rounding only increase it."""
    divergences = clone_divergences(window.start, window.stop, eps_local, eps_central)
    worst = unamplified_delta(eps_local, eps_central)  # no clones at all
    return raised(float(window.pmf @ divergences) + window.omitted * worst, worst)


def exact_delta(reports: OtherReports, eps_local: float, eps_central: float) -> float:
    """Return the exact delta of the clones reduction, for a population that is a law. The result is within about 1e-10
    relative of the formula, never below it; 0 for ``eps_central >= eps_local`` and below 1e-300.
    """
    if eps_central >= eps_local:
        return 0.0
    tail = negligible(smallest_delta(reports, eps_local, eps_central))
    return _mixed(reports.clones(reports.rate(eps_local), tail), eps_local, eps_central)


def exact_epsilon(reports: OtherReports, eps_local: float, delta: float) -> float:
    """Return the smallest eps_central (nats) with exact delta at most `delta`. Rounded up by at most 1e-11 relative (or
    to 1e-12 eps_local, if below).
    """
    rate = reports.rate(eps_local)
    window = reports.clones(rate, negligible(delta))
    least = 1e-12 * eps_local
    exceeds_target = smallest_delta(reports, eps_local, least) > delta  # cheap, and usually true
    if not exceeds_target and _mixed(window, eps_local, 0.0) <= delta:
        return 0.0

    def excess(minus_log_eps: float) -> float:  # increasing, as delta falls with eps
        return log_ratio(_mixed(window, eps_local, min(math.exp(-minus_log_eps), eps_local)), delta)

    mu = _gaussian_mu(reports.expected * rate, eps_local)
    log_delta = math.log(delta)
    low, high = math.log(least), math.log(eps_local)
    if not exceeds_target and excess(-low) <= 0:
        return least

    def limit(minus_log_eps: float) -> float:
        return log_gaussian_delta(mu, math.exp(-minus_log_eps)) - log_delta

    guess = root_below(limit, -0.5 * (low + high), -high, -low, xtol=1e-6)
    slope = (limit(guess + 1e-4) - limit(guess - 1e-4)) / 2e-4
    root = root_below(excess, guess, -high, -low, xtol=_XTOL, slope=slope)
    return min(math.exp(-root), eps_local)


def exact_excess(reports: OtherReports, eps_local: float, eps_central: float, delta: float) -> float:
    """Return the natural log of (exact delta / `delta`), -inf for 0. Omitted mass that is negligible beside `delta` is
    added to the exact delta, so that results far below 0 are inaccurate.
    """
    window = reports.clones(reports.rate(eps_local), negligible(delta))
    return log_ratio(_mixed(window, eps_local, eps_central), delta)


def exact_local_budget(
    reports: OtherReports, eps_central: float, delta: float, *, guess: float | None = None
) -> float:
    """Return the largest eps_local (nats, >= eps_central) with exact delta at most `delta`; `guess` is a value close to
    it. Rounded down by at most 1e-11 relative.
    """
    alone = unamplified_budget(eps_central, delta)

    def excess(log_eps_local: float) -> float:
        return exact_excess(reports, math.exp(log_eps_local), eps_central, delta)

    def limit(log_eps_local: float) -> float:
        eps_local = math.exp(log_eps_local)
        mu = _gaussian_mu(reports.expected * reports.rate(eps_local), eps_local)
        return log_gaussian_delta(mu, eps_central) - math.log(delta)

    most = reports.expected
    if most == 0:
        return alone
    low = math.log(alone)
    high = math.log(alone + math.log1p(most) + 3)  # by then there are no clones left to expect
    start = math.log(guess) if guess is not None else root_below(limit, low, low, high, xtol=1e-6)
    slope = (limit(start + 1e-4) - limit(start - 1e-4)) / 2e-4 if start > low else None
    root = root_below(excess, start, low, math.inf, xtol=_XTOL, slope=slope)
    return math.exp(root) if root > low else alone


def _gaussian_mu(clones: float, eps_local: float) -> float:
    """Return the approximate distance of P and Q, in standard deviations, for many clones."""
    return 2 * math.tanh(eps_local / 2) / math.sqrt(clones + 1)


@dataclass(frozen=True)
class ClonesProfile(Exported):
    """Privacy profile of the clones reduction, an upper bound for every eps_local-LDP randomizer.

    Parameters
    ----------
    reports : OtherReports
        The other reports; their population is a law.
    eps_local : float
        Nats, > 0.
    """

    reports: OtherReports
    eps_local: float
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "Feldman, McMillan and Talwar 2021; Wang et al. 2023, Lemma 2"

    def __post_init__(self) -> None:
        check_fields(self)

    @checked
    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return delta for each eps (nats, >= 0), shape of `eps`; both directions have the same delta."""
        return at_each(lambda e: exact_delta(self.reports, self.eps_local, e), eps)
