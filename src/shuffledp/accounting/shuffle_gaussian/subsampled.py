"""The shuffle Gaussian mechanism on a subset of the users: drawn without replacement, or by their own coins.

Theorem 2 of arXiv 2206.09569 is about m of n users, drawn afresh in each round without replacement; equation (11)
and Theorem 3 are about shuffled check-in, where each user takes part with probability `rate`. Every bound below
has the form ``log(1 + E) / (order - 1)``, and it is the excess E that is computed. Its forms for m reports at rate
g = m / n, with T_l the excess of the shuffled reports alone:

``printed``
    Equation (10), which holds for any mechanism (Wang, Balle and Kasiviswanathan 2019, Theorem 9). It has a floor
    that no noise removes: ``E >= 2 g^3 C(order, 3)``.
``convex``
    ``E = g T_l``: ``e^((l - 1) divergence)`` is jointly convex, and without the user who changed nothing is lost.
    Never above the divergence without subsampling. Where both hold, the smaller of ``printed`` and ``convex`` holds.
``pair``
    The exact value for the pair of Theorem 1: ``E = E[(1 + g (mean - 1))^l] - 1``, from central moments.

What to know before use, besides caveats (a) to (d) of :mod:`shuffledp.accounting.shuffle_gaussian.all_users`, which
apply:

(e) Equation (11) uses the rate `rate` whatever the number k of participants is, although given k they are a uniform
    k-subset, at rate k / n. As the mean of (k/n)^j exceeds rate^j, the printed sum is not an upper bound, if by
    little; ``conditional`` uses k / n.
(f) The subset must be drawn afresh in each round. Cutting a permutation of an epoch into batches is another
    mechanism.
(g) In the check-in bounds the number of participants of each round is public.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from shuffledp.accounting.general.rdp import (
    check_orders,
    check_sigma,
    epsilons_after,
    gaussian_rdp,
    rdp_from_log_excess,
)
from shuffledp.accounting.shuffle_gaussian.all_users import (
    checked_most_order,
    log_central_moments,
    log_moment_excess,
)
from shuffledp.numerics.checks import check_choice, check_count, check_unit
from shuffledp.numerics.logs import log_binomials, log_sum
from shuffledp.numerics.remember import remember
from shuffledp.numerics.tails import binomial_upper_tail, log_binomial_pmf

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SubsampledForm = Literal["printed", "convex", "pair"]
SUBSAMPLED_FORMS: tuple[str, ...] = get_args(SubsampledForm)
CheckinForm = Literal["printed", "conditional", "convex", "pair"]
CHECKIN_FORMS: tuple[str, ...] = get_args(CheckinForm)

_REMEMBERED = 64
#: The numbers of participants within so many standard deviations are summed one by one, if they are not too many.
_REACH = 12.0
_MOST_SINGLE = 4096
#: A block of numbers of participants is split until it contributes less than this part of the sum, at every order.
_NEGLIGIBLE = 1e-15
_SPLIT = 8
#: The curves evaluate no more orders than this unless told to.
_MOST_CURVE_ORDER = 512


def subsampled_shuffle_gaussian_rdp(
    orders: ArrayLike, n: int, m: int, sigma: float, *, form: SubsampledForm = "convex"
) -> NDArray[np.float64]:
    """Return a bound on the divergence of m shuffled Gaussian reports, of users drawn without replacement from n.

    Parameters
    ----------
    orders : (k,) array_like of int
        Each in [2, 4096].
    n, m : int
        Number of users, and of those drawn afresh in each round, ``1 <= m <= n``.
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.
    form : {"printed", "convex", "pair"}
        See the description of the module.

    Returns
    -------
    (k,) ndarray
        Nats, relative error below 1e-12, mostly 1e-14.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Theorem 2. Replacement neighbours. ``printed`` and ``convex`` hold for all neighbours if Theorem 1 does; ``pair``
    has the status of Theorem 1 itself. Caveats (a) to (d) and (f).
    """
    orders = check_orders(orders)
    n = check_count("n", n, 1)
    m = _check_subset(m, n)
    sigma = check_sigma(sigma)
    check_choice("form", form, SUBSAMPLED_FORMS)
    log_excess = log_subsampled_excess(orders, np.array([m]), np.array([m / n]), sigma, form)
    return rdp_from_log_excess(orders, log_excess[:, 0])


def subsampled_rdp(rdp: ArrayLike, rate: float) -> NDArray[np.float64]:
    """Return what sampling without replacement makes of the divergences of any mechanism: equation (10).

    Parameters
    ----------
    rdp : (k,) array_like
        Divergences of the mechanism on the sampled users at the orders 2, 3, .., k + 1; nats, >= 0.
    rate : float
        Fraction of the users that is drawn, in [0, 1].

    Returns
    -------
    (k,) ndarray
        Divergences at the same orders, nats.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Wang, Balle and Kasiviswanathan (2019), Theorem 9, for a divergence of infinite order at infinity.
    """
    values = np.asarray(rdp, np.float64)
    if values.ndim != 1 or values.size == 0 or not np.all(values >= 0):
        raise ValueError(f"rdp must be a non-empty list of numbers >= 0, got {rdp!r}.")
    rate = check_unit("rate", rate)
    if rate == 0:
        return np.zeros(values.size)
    orders = np.arange(2, values.size + 2)
    log_moments = np.concatenate(([0.0, 0.0], (orders - 1) * values))
    second = float(values[0])
    log_second = second + math.log(-math.expm1(-second)) if second > 0 else -math.inf
    log_excess = _printed_excess(
        orders, log_moments[:, None], np.array([log_second]), np.array([math.log(rate)])
    )
    return rdp_from_log_excess(orders, log_excess[:, 0])


def checkin_shuffle_gaussian_rdp(
    orders: ArrayLike, n: int, rate: float, sigma: float, *, form: CheckinForm = "convex"
) -> NDArray[np.float64]:
    """Return a bound on the divergence of shuffled check-in with Gaussian reports, by direct summation.

    Parameters
    ----------
    orders : (k,) array_like of int
        Each in [2, 4096].
    n : int
        Number of users, >= 1.
    rate : float
        Probability that a user takes part in the round, in (0, 1].
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.
    form : {"printed", "conditional", "convex", "pair"}
        ``printed``: equation (10) at rate `rate` for every number k of participants. ``conditional``: at rate
        ``k / n``. ``convex`` and ``pair``: see the description of the module, at rate ``k / n``.

    Returns
    -------
    (k,) ndarray
        Nats. Never too small but for rounding (1e-11 relative). Too large by less than 1e-11 relative while
        24 standard deviations of the number of participants are below 4096 users; beyond, numbers of participants
        are treated in blocks of 1/4096 of that range, and the excess is too large by up to ``order`` times the
        relative width of a block.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Equation (11), with the missing term of no participants, which adds its probability and no loss. Outside a
    window around the mean, the probability of a block of numbers counts with the excess at its smallest number and
    the rate at its largest; blocks are split until they do not matter. Replacement neighbours; caveats (a) to (g).
    """
    orders = check_orders(orders)
    n = check_count("n", n, 1)
    rate = _check_rate(rate)
    sigma = check_sigma(sigma)
    check_choice("form", form, CHECKIN_FORMS)
    return rdp_from_log_excess(orders, _log_checkin_excess(orders, n, rate, sigma, form))


def checkin_shuffle_gaussian_rdp_theorem3(
    orders: ArrayLike, n: int, rate: float, sigma: float, split: float
) -> NDArray[np.float64]:
    """Return the bound of Theorem 3 on the divergence of shuffled check-in with Gaussian reports.

    Parameters
    ----------
    orders : (k,) array_like of int
        Each in [2, 4096].
    n : int
        Number of users, >= 1.
    rate : float
        Probability that a user takes part in the round, in (0, 1].
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.
    split : float
        The paper's Delta, in [0, 1]: at most ``(1 - split) n rate`` participants count as one, all other numbers as
        the next integer. Every value gives a bound.

    Returns
    -------
    (k,) ndarray
        Nats, relative error below 1e-12, mostly 1e-14.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Equation (13). Its condition, that the moments fall with n, always holds: means of exchangeable variables are a
    reverse martingale. It bounds the printed sum; see caveat (e).
    """
    orders = check_orders(orders)
    n = check_count("n", n, 1)
    rate = _check_rate(rate)
    sigma = check_sigma(sigma)
    split = check_unit("split", split)
    sizes = np.array([1, _size_after(n, rate, split)])
    log_excess = log_subsampled_excess(orders, sizes, np.full(2, rate), sigma, "printed")
    total = _theorem3(log_excess[:, :1], log_excess[:, 1:], np.array([split]), n * rate)
    return rdp_from_log_excess(orders, total[:, 0])


def best_checkin_shuffle_gaussian_rdp_theorem3(
    orders: ArrayLike, n: int, rate: float, sigma: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bound of Theorem 3 with the best Delta for each order, and that Delta.

    Parameters
    ----------
    orders, n, rate, sigma
        As in :func:`checkin_shuffle_gaussian_rdp_theorem3`.

    Returns
    -------
    rdp : (k,) ndarray
        Nats. Every Delta gives a bound, so this is one; the best on two nested grids, the second with steps of about
        1e-4 or of one participant.
    splits : (k,) ndarray
        In [0, 1].

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    orders = check_orders(orders)
    n = check_count("n", n, 1)
    rate = _check_rate(rate)
    sigma = check_sigma(sigma)
    alone = log_subsampled_excess(orders, np.ones(1, np.int64), np.array([rate]), sigma, "printed")

    def evaluate(splits: NDArray[np.float64]) -> NDArray[np.float64]:
        sizes = np.array([_size_after(n, rate, float(s)) for s in splits])
        distinct, place = np.unique(sizes, return_inverse=True)
        excess = log_subsampled_excess(orders, distinct, np.full(distinct.size, rate), sigma, "printed")
        return _theorem3(alone, excess[:, place], splits, n * rate)

    splits = np.linspace(0, 1, 101)
    total = evaluate(splits)
    found = splits[np.argmin(total, axis=1)]
    fine = np.unique(np.clip(np.unique(found)[:, None] + np.linspace(-0.01, 0.01, 201), 0, 1))
    # With few participants many values of Delta mean the same number; then the largest Delta is the best.
    steps = 1 - np.arange(math.floor(n * rate) + 1) / (n * rate) if n * rate <= 400 else np.empty(0)
    splits = np.concatenate((splits, fine, np.clip(steps, 0, 1)))
    total = np.concatenate((total, evaluate(splits[total.shape[1] :])), axis=1)
    best = np.argmin(total, axis=1)
    return rdp_from_log_excess(orders, total[np.arange(orders.size), best]), splits[best]


def subsampled_shuffle_gaussian_epsilon(
    *,
    n: int,
    m: int,
    sigma: float,
    rounds: int,
    delta: float,
    form: SubsampledForm = "convex",
    most_order: int | None = None,
) -> float:
    """Return eps after `rounds` rounds of :func:`subsampled_shuffle_gaussian_rdp`.

    Parameters
    ----------
    n, m, sigma, form
        As there.
    rounds : int
        >= 1.
    delta : float
        In (0, 1).
    most_order : int, optional
        Largest order, in [2, 4096]; if not given, as many as make sense, at most 512, with a warning if the last is
        the best.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    last = _curve_order(most_order, m, sigma, delta)
    orders = np.arange(2, last + 1)
    rdp = _remembered_subsampled(n, m, sigma, form, last)
    return float(epsilons_after(orders, rdp, [rounds], delta, warn=most_order is None)[0])


def checkin_shuffle_gaussian_epsilon(
    *,
    n: int,
    rate: float,
    sigma: float,
    rounds: int,
    delta: float,
    form: CheckinForm = "convex",
    most_order: int | None = None,
) -> float:
    """Return eps after `rounds` rounds of :func:`checkin_shuffle_gaussian_rdp`.

    Parameters
    ----------
    n, rate, sigma, form
        As there.
    rounds : int
        >= 1.
    delta : float
        In (0, 1).
    most_order : int, optional
        Largest order, in [2, 4096]; if not given, as many as make sense, at most 512, with a warning if the last is
        the best.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    last = _curve_order(most_order, max(1, round(n * rate)), sigma, delta)
    orders = np.arange(2, last + 1)
    rdp = _remembered_checkin(n, rate, sigma, form, last)
    return float(epsilons_after(orders, rdp, [rounds], delta, warn=most_order is None)[0])


def checkin_theorem3_epsilon(
    *,
    n: int,
    rate: float,
    sigma: float,
    rounds: int,
    delta: float,
    split: float | None = None,
    most_order: int | None = None,
) -> float:
    """Return eps after `rounds` rounds of Theorem 3, with one Delta or, if `split` is not given, the best per order.

    Parameters
    ----------
    n, rate, sigma, split
        As in :func:`checkin_shuffle_gaussian_rdp_theorem3`.
    rounds, delta, most_order
        As in :func:`checkin_shuffle_gaussian_epsilon`.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    last = _curve_order(most_order, max(1, round(n * rate)), sigma, delta)
    orders = np.arange(2, last + 1)
    rdp = _remembered_theorem3(n, rate, sigma, split, last)
    return float(epsilons_after(orders, rdp, [rounds], delta, warn=most_order is None)[0])


def subsampled_gaussian_epsilon(
    *, rate: float, sigma: float, rounds: int, delta: float, most_order: int | None = None
) -> float:
    """Return eps of Gaussian reports under Theorem 2 without any shuffling, ``order / (2 sigma^2)`` for each report.

    Parameters
    ----------
    rate : float
        Fraction of the users in each round, in (0, 1].
    sigma : float
        Per unit of replacement distance, > 0.
    rounds, delta, most_order
        As in :func:`subsampled_shuffle_gaussian_epsilon`.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    last = _curve_order(most_order, 1, sigma, delta)
    orders = np.arange(2, last + 1)
    rdp = subsampled_rdp(gaussian_rdp(orders, sigma), _check_rate(rate))
    return float(epsilons_after(orders, rdp, [rounds], delta, warn=most_order is None)[0])


def log_subsampled_excess(
    orders: NDArray[np.int64],
    sizes: NDArray[np.int64],
    rates: NDArray[np.float64],
    sigma: float,
    form: str,
) -> NDArray[np.float64]:
    """Return the log of the excess E for each order and each pair of a size and a rate, shape (k, m).

    The size is the number of reports, the rate the probability that a given user is among them; they need not
    belong to the same number of users. `form` is one of :data:`SUBSAMPLED_FORMS`.
    """
    last = int(orders.max())
    log_rates = np.log(rates)
    if form == "pair":
        terms = log_central_moments(sizes, sigma, last) + np.outer(np.arange(last + 1), log_rates)
        return _binomial_sums(orders, terms)
    excess = log_moment_excess(sizes, sigma, last)
    if form == "convex":
        return excess[orders] + log_rates
    return _printed_excess(orders, np.logaddexp(0.0, excess), excess[2], log_rates)


def _printed_excess(
    orders: NDArray[np.int64],
    log_moments: NDArray[np.float64],
    log_second: NDArray[np.float64],
    log_rates: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return log E of equation (10), from the logs of the moments 0 .. `last` and of the second minus 1."""
    terms = log_moments + math.log(2) + np.outer(np.arange(log_moments.shape[0]), log_rates)
    terms[2] = np.minimum(math.log(4) + log_second, math.log(2) + log_moments[2]) + 2 * log_rates
    return _binomial_sums(orders, terms)


def _binomial_sums(orders: NDArray[np.int64], terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``log sum_{j=2}^{l} C(l, j) e^{terms_j}`` for each order l, shape (k, m)."""
    result = np.empty((orders.size, terms.shape[1]))
    chunk = 256  # the working array stays in the cache
    for i, order in enumerate(orders):
        choices = log_binomials(int(order))[2:, None]
        for start in range(0, terms.shape[1], chunk):
            part = slice(start, start + chunk)
            with np.errstate(invalid="ignore"):  # all terms may be 0, and their sum too
                result[i, part] = log_sum(choices + terms[2 : order + 1, part])
    return np.where(np.isnan(result), -math.inf, result)


def _log_checkin_excess(
    orders: NDArray[np.int64], n: int, rate: float, sigma: float, form: str
) -> NDArray[np.float64]:
    """Return the log of the mean excess over the number of participants, shape (k,)."""
    if rate == 1:
        one = np.array([1.0])
        return log_subsampled_excess(orders, np.array([n]), one, sigma, _form_of_sum(form))[:, 0]
    first, last = _first_blocks(n, rate)
    kept: list[NDArray[np.float64]] = []
    while first.size:
        rates = np.full(first.size, rate) if form == "printed" else last / n
        mass = _log_masses(n, rate, first, last)
        parts = mass + log_subsampled_excess(orders, first, rates, sigma, _form_of_sum(form))
        kept.append(parts)
        total = log_sum(np.concatenate(kept, axis=1).T)
        share = np.max(parts - total[:, None], axis=0)
        split = (last > first) & (share > math.log(_NEGLIGIBLE)) & _outside(n, rate, first, last)
        kept[-1] = parts[:, ~split]
        first, last = _split_blocks(first[split], last[split])
    return log_sum(np.concatenate(kept, axis=1).T)


def _form_of_sum(form: str) -> str:
    return "printed" if form == "conditional" else form


def _window(n: int, rate: float) -> tuple[int, int, int]:
    """Return the ends of the window around the mean that is summed finely, and the length of its steps."""
    mean, reach = n * rate, _REACH * math.sqrt(n * rate * (1 - rate)) + 1
    low, high = max(1, math.floor(mean - reach)), min(n, math.ceil(mean + reach))
    return low, high, -(-(high - low + 1) // _MOST_SINGLE)


def _first_blocks(n: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and last numbers of blocks that cover 1 .. n: a fine window, and all below and above it."""
    low, high, step = _window(n, rate)
    first = np.arange(low, high + 1, step, dtype=np.int64)
    last = np.minimum(first + step - 1, high)
    if low > 1:
        first, last = np.append(first, 1), np.append(last, low - 1)
    if high < n:
        first, last = np.append(first, high + 1), np.append(last, n)
    return first, last


def _outside(n: int, rate: float, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether blocks lie outside the window, where they are split as long as they matter."""
    low, high, _ = _window(n, rate)
    return (last < low) | (first > high)


def _split_blocks(
    first: NDArray[np.int64], last: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split each block into up to eight of about the same length."""
    starts: list[int] = []
    ends: list[int] = []
    for a, b in zip(first.tolist(), last.tolist(), strict=True):
        step = -(-(b - a + 1) // _SPLIT)
        starts += range(a, b + 1, step)
        ends += [min(c + step - 1, b) for c in range(a, b + 1, step)]
    return np.array(starts, np.int64), np.array(ends, np.int64)


def _log_masses(
    n: int, rate: float, first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the logs of the probabilities of blocks of numbers of participants, or upper bounds where they are long.

    Blocks inside the window are short, so that a difference of tails on their side of the mean is accurate.
    """
    low, high, step = _window(n, rate)
    result = np.empty(first.size)
    for i, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if a == b or b < low or a > high:
            result[i] = _log_mass(n, rate, a, b)
    inside = (first < last) & (first >= low) & (last <= high)
    if step > 1 and np.any(inside):
        a, b = first[inside].astype(np.float64), last[inside].astype(np.float64)
        above = binomial_upper_tail(a, n, rate) - binomial_upper_tail(b + 1, n, rate)
        below = binomial_upper_tail(n - b, n, 1 - rate) - binomial_upper_tail(n - a + 1, n, 1 - rate)
        result[inside] = np.log(np.where(a > n * rate, above, below))
    return result


def _log_mass(n: int, rate: float, first: int, last: int) -> float:
    """Return the log of an upper bound on the probability of first .. last participants; exact for one number.

    Away from the mean successive probabilities fall at least geometrically; a block that holds the mode has at most
    as many times the largest probability as it has numbers.
    """
    count = last - first + 1
    mode = math.floor((n + 1) * rate)
    nearest = min(max(mode, first), last)
    log_pmf = log_binomial_pmf(nearest, n, rate)
    if count == 1 or nearest == mode:
        return log_pmf + math.log(count)
    if nearest == last:  # below the mode
        ratio = nearest * (1 - rate) / ((n - nearest + 1) * rate)
    else:
        ratio = (n - nearest) * rate / ((nearest + 1) * (1 - rate))
    geometric = -math.log1p(-ratio) if ratio < 1 else math.inf
    return log_pmf + min(math.log(count), geometric)


def _theorem3(
    alone: NDArray[np.float64], rest: NDArray[np.float64], splits: NDArray[np.float64], mean: float
) -> NDArray[np.float64]:
    """Return the log of the right side of equation (13) minus 1."""
    return np.asarray(np.logaddexp(np.logaddexp(0.0, alone) - splits**2 * mean / 2, rest))


def _size_after(n: int, rate: float, split: float) -> int:
    """Return the number of participants that all larger numbers count as; at most n, as more do not exist."""
    return min(n, math.floor((1 - split) * n * rate) + 1)


def _curve_order(most_order: int | None, n: int, sigma: float, delta: float) -> int:
    last = checked_most_order(most_order, n, sigma, delta)
    return last if most_order is not None else min(last, _MOST_CURVE_ORDER)


def _check_subset(m: int, n: int) -> int:
    m = check_count("m", m, 1)
    if m > n:
        raise ValueError(f"m must be in [1, n] with n = {n}, got {m}.")
    return m


def _check_rate(rate: float) -> float:
    rate = check_unit("rate", rate)
    if rate == 0:
        raise ValueError("rate must be in (0, 1], got 0.")
    return rate


@remember(_REMEMBERED)
def _remembered_subsampled(
    n: int, m: int, sigma: float, form: SubsampledForm, last: int
) -> NDArray[np.float64]:
    return subsampled_shuffle_gaussian_rdp(np.arange(2, last + 1), n, m, sigma, form=form)


@remember(_REMEMBERED)
def _remembered_checkin(
    n: int, rate: float, sigma: float, form: CheckinForm, last: int
) -> NDArray[np.float64]:
    return checkin_shuffle_gaussian_rdp(np.arange(2, last + 1), n, rate, sigma, form=form)


@remember(_REMEMBERED)
def _remembered_theorem3(
    n: int, rate: float, sigma: float, split: float | None, last: int
) -> NDArray[np.float64]:
    orders = np.arange(2, last + 1)
    if split is None:
        return best_checkin_shuffle_gaussian_rdp_theorem3(orders, n, rate, sigma)[0]
    return checkin_shuffle_gaussian_rdp_theorem3(orders, n, rate, sigma, split)
