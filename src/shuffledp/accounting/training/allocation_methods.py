"""Random allocation: published bounds, the exact delta, and users who take part in several steps.

The methods, each for one direction, "remove" or "add" (Feldman and Shenfeld, arXiv 2502.08202):

``pair``
    :func:`shuffledp.accounting.training.random_allocation.allocation_delta`: exact up to rounding.
``decomposition``
    With ``delta_P`` the delta of t steps that are sampled with probability 1/t, and ``lambda = 1 - (1 - 1/t)^t``:
    ``delta_remove(eps) <= delta_P(ln(1 + lambda (e^eps - 1))) / lambda``, and
    ``delta_add(eps) <= delta_P(-ln(1 - lambda (1 - e^-eps))) / lambda'`` with
    ``lambda' = lambda / (lambda + e^eps (1 - lambda))``.
``poisson``
    For steps that are (eps_step, delta_step)-private. With ``gamma = cosh(eps_step) sqrt(2 (1/t) ln(1/delta'))``,
    ``eta = 1 / (t (1 - gamma))`` and ``delta_P(t, eta; eps)`` the delta of t steps that are sampled with probability
    eta: ``delta(eps) <= delta_P(t, eta; eps) + t delta_step + delta'``. It requires ``gamma < 1 - 1/t``. The share of
    ``t delta_step`` in delta is 0.99 (0 for pure steps), the share of delta' 0.005.
``renyi``
    For Gaussian steps. Direction "remove": the Renyi divergence of integer orders, which equals the divergence of t
    shuffled Gaussian reports. Direction "add": ``eps_Gauss(sigma sqrt(t); delta) + (1 - 1/t) / (2 sigma^2)``.

Sampled pure steps, which randomized response dominates, are composed exactly; sampled Gaussian steps are composed by
the loss distributions of dp_accounting.

The bound for a user who takes part in k_s of t steps is the composition of k_s independent users of ``floor(t / k_s)``
steps each.

Conventions: eps in nats; one user is added or removed. All results are upper bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.exports import loss_distribution, profile_end
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.general.privacy_profile import Kind, View
from shuffledp.accounting.general.profiles import Exported, at_each, hockey_stick
from shuffledp.accounting.general.rdp import best_epsilon
from shuffledp.accounting.shuffle_gaussian.all_users import shuffle_gaussian_rdp
from shuffledp.accounting.training.random_allocation import (
    MOST_EPS,
    Direction,
    Sigma,
    Step,
    Way,
    allocation_delta,
    allocation_deltas_within,
    allocation_end,
    allocation_epsilon,
    checked_step,
    directions,
    shares_ratios,
)
from shuffledp.numerics.argument_ranges import Delta, Eps, EpsArray, FromOne, check_fields, checked
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from collections.abc import Callable

    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution


AllocationMethod = Literal["pair", "decomposition", "poisson", "renyi"]
ALLOCATION_METHODS: tuple[AllocationMethod, ...] = get_args(AllocationMethod)

#: Parts of delta for the mechanism and for the number of steps that sampling misses.
_FOR_STEPS, _FOR_COUNT = 0.99, 0.005
_XTOL = 1e-7
_LEAST, _SCANNED = 1e-9, 80
#: Losses of one user up to the end of its profile, where several steps are composed; and up to a bound on the end.
_LOSSES, _MORE_LOSSES = 128, 160
#: Deltas below this multiple of the negligible value are chords, each of which spans the second number of losses.
_SMALL, _APART = 1e3, 4
_ORDERS = 256


def allocation_bounds(
    delta: Delta,
    steps: FromOne,
    *,
    eps_local: Eps | None = None,
    sigma: Sigma | None = None,
    direction: Direction = "both",
) -> dict[str, float]:
    """Return the central eps of random allocation by every method that has a bound.

    Source: Feldman and Shenfeld (arXiv 2502.08202); the module's description has the methods. Neighbors: one user added
    or removed.

    Parameters
    ----------
    delta : float
        In (0, 1).
    steps, eps_local, sigma, direction
        As in :func:`shuffledp.accounting.allocation_epsilon`.

    Returns
    -------
    dict of str to float
        Upper bound on eps, nats, by name of the method. For ``combined``, every direction has the least eps of all
        methods, and the larger of these two eps is returned. Methods without a bound are omitted.

    Examples
    --------
    >>> from shuffledp.accounting import allocation_bounds
    >>> found = allocation_bounds(1e-6, 1000, eps_local=1.0)
    >>> {method: round(eps, 3) for method, eps in found.items()}
    {'pair': 0.127, 'decomposition': 0.201, 'poisson': 0.182, 'combined': 0.127}
    """
    step = checked_step(eps_local, sigma)
    bounds_of_way = {
        way: {method: _epsilon(method, step, steps, delta, way) for method in ALLOCATION_METHODS}
        for way in directions(direction)
    }
    bounds: dict[str, float] = {
        method: max(by[method] for by in bounds_of_way.values()) for method in ALLOCATION_METHODS
    }
    bounds["combined"] = max(min(by.values()) for by in bounds_of_way.values())
    return {method: eps for method, eps in bounds.items() if math.isfinite(eps)}


def allocation_method_epsilon(
    method: AllocationMethod,
    delta: Delta,
    steps: FromOne,
    *,
    eps_local: Eps | None = None,
    sigma: Sigma | None = None,
    direction: Direction = "both",
) -> float:
    """Return the central eps of random allocation by one method.

    Source: Feldman and Shenfeld (arXiv 2502.08202). Neighbors: one user added or removed.

    Parameters
    ----------
    method : {"pair", "decomposition", "poisson", "renyi"}
        See the module's description.
    delta, steps, eps_local, sigma, direction
        As in :func:`allocation_bounds`.

    Returns
    -------
    float
        Nats, an upper bound.

    Raises
    ------
    Infeasible
        If the method has no bound for these arguments.
    """
    step = checked_step(eps_local, sigma)
    eps = max(_epsilon(method, step, steps, delta, way) for way in directions(direction))
    if math.isinf(eps):
        raise Infeasible(f"The method {method} has no bound for {steps} steps at delta = {delta:g}.")
    return eps


@dataclass(frozen=True)
class AllocationProfile(Exported):
    """Privacy profile of a user who takes part in some of t steps, chosen uniformly.

    Source: Feldman and Shenfeld (arXiv 2502.08202). An upper bound for one user added or removed.

    Parameters
    ----------
    steps : int
        t, >= 1.
    eps_local, sigma : float, optional
        As in :func:`shuffledp.accounting.allocation_delta`.
    participations : int
        Number k_s of steps in which the user takes part, in [1, t]. If k_s is above 1, the profile is the composition
        of k_s users with ``floor(t / k_s)`` steps each.
    """

    steps: FromOne
    eps_local: Eps | None = None
    sigma: Sigma | None = None
    participations: FromOne = 1
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "add_remove"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "Feldman and Shenfeld, arXiv 2502.08202; evaluation derived"

    def __post_init__(self) -> None:
        check_fields(self)
        checked_step(self.eps_local, self.sigma)
        if self.participations > self.steps:
            raise ValueError(f"participations must be in [1, {self.steps}], got {self.participations!r}.")

    @checked
    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return delta for each eps (nats, >= 0), shape of `eps`."""
        if self.participations == 1:
            return at_each(self._single, eps)
        losses = _losses(self, 1e-15)
        return at_each(lambda e: float(losses.get_delta_for_epsilon(e)), eps)

    @checked
    def epsilon(self, delta: Delta) -> float:
        """Return the smallest proven eps (nats) for a delta, rounded up."""
        if self.participations == 1:
            return allocation_epsilon(delta, self.steps, eps_local=self.eps_local, sigma=self.sigma)
        eps = float(_losses(self, 1e-4 * delta).get_epsilon_for_delta(delta))
        pure = math.inf if self.eps_local is None else self.participations * self.eps_local
        return min(eps, pure)

    def _single(self, eps: float) -> float:
        return allocation_delta(eps, self.steps, eps_local=self.eps_local, sigma=self.sigma)


@dataclass(frozen=True)
class _Rough:
    """Privacy profile of one participation, for composition; accurate for deltas above `target`."""

    steps: int
    step: Step
    target: float
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "add_remove"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = AllocationProfile.source

    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return delta for each eps, shape of `eps`."""
        eps_ = np.asarray(eps, np.float64)
        return allocation_deltas_within(eps_.ravel(), self.steps, self.step, self.target).reshape(eps_.shape)


@remember(16)
def _losses(profile: AllocationProfile, negligible: float) -> Any:
    count = profile.participations
    steps, part = profile.steps // count, negligible / count
    step = checked_step(profile.eps_local, profile.sigma)
    if shares_ratios(steps, step, part):
        width = allocation_end(steps, step[1], part) / _MORE_LOSSES
        points = _MORE_LOSSES + 1
    else:
        gaussian = step[0] == "gaussian" and steps > 1
        end = (
            allocation_end(steps, step[1], part) if gaussian else profile_end(_Rough(steps, step, part), part)
        )
        width, points = end / _LOSSES, _LOSSES + 2
        if gaussian:
            return loss_distribution(width, _thinned(width, points, steps, step, part)).self_compose(count)
    eps = np.asarray(width * np.arange(points), np.float64)
    return loss_distribution(width, allocation_deltas_within(eps, steps, step, part)).self_compose(count)


def _thinned(width: float, points: int, steps: int, step: Step, negligible: float) -> NDArray[np.float64]:
    """Return delta at the multiples of `width`. Negligible deltas are upper bounds: chords in e^eps between distant
    points.
    """
    eps = np.asarray(width * np.arange(points), np.float64)
    near = math.ceil(allocation_end(steps, step[1], _SMALL * negligible) / width)
    places = np.unique(np.append(np.arange(min(near, points)), np.arange(near, points + _APART - 1, _APART)))
    places = np.minimum(places, points - 1)
    deltas = allocation_deltas_within(eps[places], steps, step, negligible)
    return np.asarray(np.interp(np.expm1(eps), np.expm1(eps[places]), deltas), np.float64)


def allocation_noise(eps: Eps, delta: float, steps: int, *, participations: int = 1) -> float:
    """Return the least noise of Gaussian steps for which random allocation is (eps, delta)-private.

    Source: Feldman and Shenfeld (arXiv 2502.08202); the inverse of :meth:`AllocationProfile.epsilon`. Neighbors: one
    user added or removed.

    Parameters
    ----------
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    steps, participations : int
        As in :class:`AllocationProfile`.

    Returns
    -------
    float
        Standard deviation per unit of sensitivity, in [0.1, 1e6], an upper bound, rounded up by at most 1e-4 relative.

    Raises
    ------
    Infeasible
        If the noise would have to be above 1e6.
    """

    def excess(minus_log_sigma: float) -> float:
        sigma = min(max(math.exp(-minus_log_sigma), 0.1), 1e6)
        try:
            allocated_eps = AllocationProfile(steps, sigma=sigma, participations=participations).epsilon(
                delta
            )
        except Infeasible:  # at no eps that is searched
            return math.inf
        return log_ratio(allocated_eps, eps)

    low, high = -math.log(1e6), -math.log(0.1)
    if excess(high) <= 0:
        return 0.1
    if excess(low) > 0:
        raise Infeasible(f"A standard deviation above 1e6 would be needed for eps = {eps:g}.")
    guess = math.log(eps * math.sqrt(steps / participations) / (5 * participations))
    return math.exp(-root_below(excess, min(max(guess, -3.0), 1.0), low, high, xtol=1e-4))


# -- one method, one direction
# -----------------------------------------------------------------------------------------


def _epsilon(method: AllocationMethod, step: Step, steps: int, delta: float, way: Way) -> float:
    """Return eps by one method in one direction, ``inf`` if the method has no bound."""
    kind, size = step
    if method == "pair":
        eps_local, sigma = (size, None) if kind == "pure" else (None, size)
        return allocation_epsilon(delta, steps, eps_local=eps_local, sigma=sigma, direction=way)
    if method == "renyi":
        return math.inf if kind == "pure" else _renyi(size, steps, delta, way)
    bounds: dict[str, Callable[[], Callable[[float], float] | None]] = {
        "decomposition": lambda: _decomposition(step, steps, way),
        "poisson": lambda: _poisson(step, steps, delta),
    }
    delta_of = bounds[method]()
    if delta_of is None:
        return math.inf
    most = size if kind == "pure" else MOST_EPS
    return _least_eps(delta_of, delta, most, pure=kind == "pure")


def _least_eps(delta_of: Callable[[float], float], delta: float, most: float, *, pure: bool) -> float:
    """Return the least eps at which a bound on delta meets its target. Some bounds exceed the target again at larger
    eps.
    """

    def excess(minus_log_eps: float) -> float:
        return log_ratio(delta_of(math.exp(-minus_log_eps)), delta)

    grid = np.linspace(math.log(_LEAST), math.log(most), _SCANNED)
    enough = next((i for i, log_eps in enumerate(grid) if excess(-float(log_eps)) <= 0), None)
    if enough is None:
        return most if pure else math.inf  # a step alone is private with its own budget
    if enough == 0:
        return _LEAST
    low, high = -float(grid[enough]), -float(grid[enough - 1])
    return math.exp(-root_below(excess, 0.5 * (low + high), low, high, xtol=_XTOL))


def _renyi(sigma: float, steps: int, delta: float, way: Way) -> float:
    if way == "add":
        alone = _least_eps(
            lambda eps: math.exp(log_gaussian_delta(1 / (sigma * math.sqrt(steps)), eps)),
            delta,
            MOST_EPS,
            pure=False,
        )
        return alone + (1 - 1 / steps) / (2 * sigma**2)
    orders = np.arange(2, _ORDERS + 1)
    return best_epsilon(orders, shuffle_gaussian_rdp(orders, steps, sigma), delta)[0]


def _decomposition(step: Step, steps: int, way: Way) -> Callable[[float], float]:
    part = -math.expm1(steps * math.log1p(-1 / steps)) if steps > 1 else 1.0
    sampled = _sampled(step, steps, 1 / steps)

    def remove(eps: float) -> float:
        return sampled("remove", math.log1p(part * math.expm1(eps))) / part

    def add(eps: float) -> float:
        share = part / (part + math.exp(eps) * (1 - part))
        return sampled("add", -math.log1p(part * math.expm1(-eps))) / share

    return remove if way == "remove" else add


def _poisson(step: Step, steps: int, delta: float) -> Callable[[float], float] | None:
    kind, size = step
    for_steps = 0.0 if kind == "pure" else _FOR_STEPS * delta
    eps_step = size
    if kind == "gaussian":
        lost = for_steps / steps
        eps_step = _least_eps(
            lambda eps: math.exp(log_gaussian_delta(1 / size, eps)), lost, MOST_EPS, pure=False
        )
    if eps_step > 100:
        return None
    gamma = math.cosh(eps_step) * math.sqrt(2 / steps * -math.log(_FOR_COUNT * delta))
    if gamma >= 1 - 1 / steps:
        return None
    sampled = _sampled(step, steps, 1 / (steps * (1 - gamma)))
    return lambda eps: max(sampled("remove", eps), sampled("add", eps)) + for_steps + _FOR_COUNT * delta


@remember(32)
def _sampled(step: Step, steps: int, rate: float) -> Callable[[Way, float], float]:
    """Return delta, as a function of direction and eps, of steps that sample every user with probability `rate`."""
    kind, size = step
    if kind == "pure":
        absent = 1 / (1 + math.exp(size))
        mixed = absent + rate * math.tanh(size / 2)
        log_mixed, log_absent = _log_binomial(steps, mixed), _log_binomial(steps, absent)

        def of_counts(way: Way, eps: float) -> float:
            first, second = (log_mixed, log_absent) if way == "remove" else (log_absent, log_mixed)
            return min(float(hockey_stick(first, second, eps)), 1.0)

        return of_counts
    losses = {way: _sampled_losses(size, rate, way).self_compose(steps) for way in ("remove", "add")}
    return lambda way, eps: min(float(losses[way].get_delta_for_epsilon(eps)), 1.0)


def _sampled_losses(sigma: float, rate: float, way: Way) -> PrivacyLossDistribution:
    """Return the losses of a step of Gaussian noise on a sample, in one direction."""
    from dp_accounting.pld import pld_pmf, privacy_loss_mechanism  # takes seconds, needed for this alone
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution as Losses

    direction = privacy_loss_mechanism.AdjacencyType[way.upper()]
    loss = privacy_loss_mechanism.GaussianPrivacyLoss(sigma, sampling_prob=rate, adjacency_type=direction)
    ends, step = loss.connect_dots_bounds(), _interval(sigma)
    lower, upper = math.floor(ends.epsilon_lower / step), math.ceil(ends.epsilon_upper / step)
    deltas = loss.get_delta_for_epsilon(np.arange(lower, upper + 1) * step)
    return Losses(pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(step, lower, upper, deltas))


def _interval(sigma: float) -> float:
    return 1e-4 if sigma >= 0.5 else 1e-3


def _log_binomial(trials: int, rate: float) -> NDArray[np.float64]:
    j = np.arange(trials + 1)
    log_choose = gammaln(trials + 1) - gammaln(j + 1) - gammaln(trials - j + 1)
    return np.asarray(log_choose + j * math.log(rate) + (trials - j) * math.log1p(-rate), np.float64)
