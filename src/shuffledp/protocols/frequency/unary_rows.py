"""Unary encoding with whole rows as messages: the rates of the bits.

Every user sends a row of k bits: the bit of its value is set with probability p, every other bit with probability q,
and the row is one message. With the local budget ``eps_local = ln(p (1 - q) / (q (1 - p)))`` three forms are in use:

``best``
    p with the least error.
``symmetric``
    ``p = 1 - q = e^(eps_local / 2) / (1 + e^(eps_local / 2))``: SUE, or RAPPOR with one permanent response.
``optimized``
    p = 1/2: OUE, with the least error for a given local budget and many values, which is not optimal under shuffling.

Any row is at least ``(1 - p) / (1 - q)`` times as likely under every input as a row of zeros whose bits are flipped
with probability q. So with probability ``lambda = (1 - p) / (1 - q)`` a row is a row of zeros with flipped bits. The
blanket is in :mod:`shuffledp.accounting.general.matched_blanket`, with match rate q and independent matches. A local
hash with **d' = 1/q cells** and the same local budget has the same blanket and the same error. Rows need neither a
rounded d' nor a seed.

The local budget is the largest that a bound allows, rounded down by at most 1e-8 relative. One bound is by the blanket
of the rows, derived for this project and inverted up to 2e-3 relative above delta. The other bound is by the clones of
any local randomizer (Feldman, McMillan and Talwar 2023). The error of the best p is within about 1e-3 relative of the
least error for uniform data, which is the mean error over all values for any data.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all others.
Unary encoding: Wang, Blocki, Li and Jha 2017.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from scipy.special import expit

from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.general.matched_blanket import (
    blanketed_delta,
    block_length,
    matched_rate,
    mixed_matched_delta,
)
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import Window, binomial_window
from shuffledp.populations.base import Fixed
from shuffledp.protocols.frequency._pure_reports import pure_mse
from shuffledp.protocols.frequency._unary_bits import WholeRows
from shuffledp.protocols.messages import Cost
from shuffledp.protocols.request import Request
from shuffledp.tasks import Floats

RowForm = Literal["best", "symmetric", "optimized"]
RowBound = Literal["blanket", "clones"]

#: Local budget in nats from which reports hide nothing.
_MOST_BUDGET = 600.0
#: Tolerances of the log of a local budget: of the result, and during the search for p.
_XTOL, _SEARCHED = 1e-8, 3e-6
#: Rounding error of a budget that is computed from rates, per nat of the budget plus 1.
_ROUNDING = 2e-15
#: Blocks of numbers of rows per standard deviation.
_BLOCKS = 32
#: Number of users from which the search for p uses only the typical number of rows.
_MANY = 4096
#: Log odds of p among which the best p is searched for, and half the widths of the parabolas through its errors.
_LOG_ODDS = np.linspace(-5.0, 14.0, 191)
_WIDTHS = (0.7, 0.2, 0.05, 0.02)
#: Ratio of estimated errors up to which a second local minimum is refined.
_CLOSE = 1.3
#: Largest number of steps downhill from the minimum of an estimate, and of halvings of the logarithm of a rate.
_STEPS, _HALVINGS = 12, 60


@dataclass(frozen=True)
class RowRates:
    """Probabilities p > q that a row has bit 1 for the user's value, and for another value."""

    own_rate: float
    other_rate: float

    @property
    def eps_local(self) -> float:
        """Local budget ``ln(p (1 - q) / (q (1 - p)))`` in nats."""
        p, q = self.own_rate, self.other_rate
        return math.log(p / q) + math.log1p(-q) - math.log1p(-p)

    def mse(self, n: int, domain_size: int) -> float:
        """Return the squared error of a frequency, averaged over the values."""
        return pure_mse(n, domain_size, self.own_rate, self.other_rate)


def _symmetric(eps_local: float) -> RowRates:
    half = math.exp(-eps_local / 2)
    return RowRates(1 / (1 + half), half / (1 + half))


def _of_log_odds(eps_local: float, log_odds: float = 0.0) -> RowRates:
    """Return the rates for a local budget and these log odds of p, by default p = 1/2."""
    return RowRates(1 / (1 + math.exp(-log_odds)), 1 / (1 + math.exp(eps_local - log_odds)))


_SHAPES: dict[str, Callable[[float], RowRates]] = {"symmetric": _symmetric, "optimized": _of_log_odds}


@remember(1024)
def row_rates(
    n: int, domain_size: int, eps: float, delta: float, *, form: RowForm = "best", bound: RowBound = "blanket"
) -> RowRates:
    """Return the rates of bits for which n shuffled rows are (eps, delta)-private."""
    if bound == "clones":
        budget = local_budget(Fixed(n - 1), eps, delta, accounting="exact")
        if form != "best":
            return _within(_SHAPES[form](budget), budget)
        q = 1 / (1 + np.exp(budget - _LOG_ODDS))
        return _within(_least(lambda x: _of_log_odds(budget, x), q, n, domain_size), budget)
    search = _RateSearch(n, eps, delta)
    if form != "best":
        return search.rates(_SHAPES[form])
    best = _least(search.roughly, _limiting_rates(n, eps, delta), n, domain_size)
    log_odds = math.log(best.own_rate) - math.log1p(-best.own_rate)
    searched = search.rates(lambda budget: _of_log_odds(budget, log_odds))
    if n >= _MANY:
        return searched
    # Among few users the error has more dips than the limit of many shows.
    others = (_RateSearch(n, eps, delta).rates(shape) for shape in _SHAPES.values())
    return min((searched, *others), key=lambda rates: rates.mse(n, domain_size))


def _within(rates: RowRates, budget: float) -> RowRates:
    """Return the rates after a change of q by rounding that keeps the local budget at most `budget`, in nats."""
    excess = rates.eps_local - budget + _ROUNDING * (1 + budget)
    if excess <= 0:
        return rates
    return RowRates(rates.own_rate, min(rates.other_rate * math.exp(excess), rates.own_rate))


class _RateSearch:
    """Search for the largest local budget, on which the rates depend; it starts from the previous result."""

    def __init__(self, n: int, eps: float, delta: float) -> None:
        self.n, self.eps, self.delta = n, eps, delta
        self.tail = negligible(delta)
        # Uniform rows with a given bit that are needed, in the limit of many and by experience.
        self.matches = 2 * (math.sqrt(2 * math.log(1 / delta)) / eps) ** 2 + 1 / delta**0.1
        self.low, self.high = math.log(eps), math.log(max(_MOST_BUDGET, 2 * eps))
        self.slope: float | None = None

    def rates(self, shape: Callable[[float], RowRates]) -> RowRates:
        """Return the rates of the largest local budget, which is at least eps."""
        guess = self._root(shape, self._typical, self._guess(shape), _SEARCHED)
        budget = math.exp(self._root(shape, self._all_numbers, guess, _XTOL))
        return _within(shape(budget), budget)

    def roughly(self, log_odds: float) -> RowRates:
        """Return rates with these log odds of p and about the largest budget."""

        def shape(budget: float) -> RowRates:
            return _of_log_odds(budget, log_odds)

        law = self._typical if self.n >= _MANY else self._all_numbers
        rates = shape(math.exp(self._root(shape, law, self._guess(shape), _SEARCHED)))
        self.matches = max(self._matches(rates), 1e-3)
        return rates

    def _root(
        self,
        shape: Callable[[float], RowRates],
        law: Callable[[float], tuple[Window, int]],
        guess: float,
        xtol: float,
    ) -> float:
        """Return the log of the largest budget, given the law of the number of uniform rows."""
        points: list[tuple[float, float]] = []

        def excess(log_budget: float) -> float:
            eps_local = math.exp(log_budget)
            q = shape(eps_local).other_rate
            rows, block = law(matched_rate(q, eps_local))
            value = mixed_matched_delta(rows, q, self.eps, eps_local, self.tail, block=block)
            points.append((log_budget, log_ratio(value, self.delta)))
            return points[-1][1]

        root = root_below(excess, guess, self.low, self.high, xtol=xtol, slope=self.slope)
        finite = [point for point in points if math.isfinite(point[1])]
        apart = [point for point in finite if abs(point[0] - finite[-1][0]) > 1e-4]
        if apart:  # the closest one that is not too close shows how steep it is here
            near = min(apart, key=lambda point: abs(point[0] - finite[-1][0]))
            slope = (near[1] - finite[-1][1]) / (near[0] - finite[-1][0])
            self.slope = slope if slope > 0 else None
        return root

    def _guess(self, shape: Callable[[float], RowRates]) -> float:
        """Return the log of the budget that gives as many matches as the previous search."""

        def surplus(log_budget: float) -> float:
            matches = max(self._matches(shape(math.exp(log_budget))), 1e-300)
            return math.log(self.matches) - math.log(matches)

        return root_below(surplus, self.low + 0.1, self.low, self.high, xtol=1e-5)

    def _matches(self, rates: RowRates) -> float:
        """Return the expected number of other users' uniform rows in which a given bit is set."""
        rate = (1 - rates.own_rate) / (1 - rates.other_rate)
        return (self.n - 1) * rate * rates.other_rate

    def _typical(self, rate: float) -> tuple[Window, int]:
        """Return the mean number of uniform rows as a point mass, with blocks of length 1."""
        return Window(round((self.n - 1) * rate), np.ones(1)), 1

    def _all_numbers(self, rate: float) -> tuple[Window, int]:
        """Return the law of the number of uniform rows, and the length of its blocks."""
        return binomial_window(self.n - 1, rate, self.tail), block_length(self.n - 1, rate, _BLOCKS)


def _limiting_rates(n: int, eps: float, delta: float) -> Floats:
    """Return an estimate of q at `_LOG_ODDS`, (m,), from the normal limit of many matches."""
    log_delta = math.log(delta)
    log_distance = root_below(
        lambda x: log_gaussian_delta(math.exp(x), eps) - log_delta, math.log(eps), -30.0, 30.0, xtol=1e-4
    )
    p = 1 / (1 + np.exp(-_LOG_ODDS))
    low, high = np.full(p.shape, -600.0), np.log(p)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        q = np.exp(middle)
        rate = (1 - p) / (1 - q)
        log_square = np.log(2 * (1 - rate) ** 2 * (1 - q) / ((n - 1) * rate + 1)) - middle
        far = log_square > 2 * log_distance
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    # A local budget of eps suffices among however few.
    return np.asarray(np.minimum(np.exp(low), expit(_LOG_ODDS - eps)), np.float64)


def _least(rates_at: Callable[[float], RowRates], estimated: Floats, n: int, domain_size: int) -> RowRates:
    """Return rates of nearly the least error: descent from the local minima of an estimate, then parabolas.

    The error has two local minima, for few and for many values. `estimated` has q at `_LOG_ODDS`.
    """
    results: dict[float, tuple[RowRates, float]] = {}

    def error(log_odds: float) -> float:
        if log_odds not in results:
            rates = rates_at(log_odds)
            results[log_odds] = rates, rates.mse(n, domain_size)
        return results[log_odds][1]

    p, q = 1 / (1 + np.exp(-_LOG_ODDS)), estimated
    with np.errstate(divide="ignore"):
        estimates = (p * (1 - p) / domain_size + (1 - 1 / domain_size) * q * (1 - q)) / (p - q) ** 2
    inside = estimates[1:-1]
    dips = np.flatnonzero((inside <= estimates[:-2]) & (inside < estimates[2:])) + 1
    close = dips[estimates[dips] <= _CLOSE * np.min(estimates)]
    for i in close if close.size else [int(np.argmin(estimates))]:  # the least may stand at either end
        middle = float(_LOG_ODDS[i])
        for width in _WIDTHS:
            for _ in range(_STEPS):
                beside = min((middle - width, middle + width), key=error)
                if error(beside) >= error(middle):
                    break
                middle = beside
            left_error, middle_error, right_error = (error(middle + step) for step in (-width, 0.0, width))
            bend = left_error - 2 * middle_error + right_error
            step = (left_error - right_error) / (2 * bend) if bend > 0 else 0.0
            vertex = middle + width * min(max(step, -1.0), 1.0)  # no further than what was seen
            middle = min((middle, vertex), key=error)
    return min(results.values(), key=lambda result: result[1])[0]


@dataclass(frozen=True)
class UnaryRows(WholeRows):
    """Row of bits, one bit per value, as a message, one per user.

    The shuffler permutes rows. Users rely on all other users, whose rows do not depend on their values with some
    probability.
    """

    name = "unary_rows"
    task_kind = "frequency"
    label = "unary rows"
    source = "Wang, Blocki, Li and Jha 2017 (SUE, OUE); Erlingsson, Pihur and Korolova 2014"
    trust = "shuffler"
    relies_on = "others' reports"
    guarantees = under(exact=UPPER)
    reduction = "blanket"
    reported = ("own_rate", "other_rate", "rates.eps_local")

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        form: RowForm = "best",
        bound: RowBound = "blanket",
    ) -> Self:
        """Find the rates of the bits, see :func:`row_rates`.

        ``form`` is ``best`` (least error), ``symmetric`` (SUE) or ``optimized`` (OUE). ``bound`` is the ``blanket`` of
        the rows or, for comparison, the ``clones`` reduction.
        """
        rates = row_rates(request.n, request.k, request.eps, request.delta, form=form, bound=bound)
        return cls(request.n, request.k, rates.own_rate, rates.other_rate)

    @property
    def rates(self) -> RowRates:
        """Rates of the bits."""
        return RowRates(self.own_rate, self.other_rate)

    def cost(self) -> Cost:
        """Return the cost of one row with one bit per value."""
        return Cost(1.0, float(self.domain_size), most_messages=1.0)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of one row among the other users' uniform rows."""
        return Profile(
            lambda eps: blanketed_delta(eps, users - 1, self.other_rate, self.rates.eps_local),
            "privacy blanket of Balle et al. 2019, evaluated exactly for rows of bits",
        )
