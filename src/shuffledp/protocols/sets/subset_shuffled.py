"""Subset exponential mechanism with shuffled messages."""

import math
from dataclasses import dataclass
from typing import Any, Self

from shuffledp.accounting.general.labeled_counts import binomial_blanket, pair_delta
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import FORGOTTEN_RESIDUAL, UPPER, Standing, under
from shuffledp.numerics.argument_ranges import Delta, Eps, FromOne
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below
from shuffledp.populations.base import Population
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.request import Request
from shuffledp.protocols.sets._set_protocol import sets_task
from shuffledp.protocols.sets._subset import SubsetReports, selectable
from shuffledp.protocols.sets._subset_exponential import (
    SubsetExponential,
    SubsetExponentialProfile,
    checked_sets,
    reduced_pair,
)
from shuffledp.tasks import Budget, Task

_XTOL = 1e-10
#: Largest local budget in the search.
_MOST_LOCAL = 50.0
#: Relative rounding error of an expected error, with a large margin.
_ROUNDING = 1e-6


def shuffled_subset_exponential(
    n: FromOne, domain_size: int, set_size: int, eps: Eps, delta: Delta, *, sound: bool
) -> SubsetExponential:
    """Return the subset exponential mechanism whose n shuffled messages are (eps, delta)-private.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    domain_size, set_size : int
        Number of items d >= 2, and of items per user s in [1, d - 1].
    eps : float
        Nats, > 0. One message reports the whole set, so that there is no composition.
    delta : float
        In (0, 1).
    sound : bool
        False: the variation-ratio theorem as the paper uses it, which is not valid in general here. True: its sound
        replacement, see :mod:`shuffledp.accounting.general.variation_ratio`.

    Returns
    -------
    SubsetExponential
        Mechanism with the largest local budget (rounded down by 1e-10 relative, at most 50) for the number of items per
        message with the smallest expected error. It meets the budget if `sound`.

    Notes
    -----
    Wang et al. 2024, arXiv 2407.19639, Theorem 1 and Section 6; the sound form is derived for this project.
    """
    domain_size, set_size = checked_sets(domain_size, set_size)
    return _shuffled(n, domain_size, set_size, eps, delta, bool(sound))


@remember(1024)
def _shuffled(
    n: int, domain_size: int, set_size: int, eps: float, delta: float, sound: bool
) -> SubsetExponential:
    best: SubsetExponential | None = None
    guess = eps
    for k in range(1, domain_size - set_size + 1):
        # A smaller budget is this one mixed with uniform subsets: the error is not less than that of the largest one.
        least = SubsetExponential(domain_size, set_size, k, max(_MOST_LOCAL, 2 * eps)).expected_sse(n)
        if best is not None and least * (1 - _ROUNDING) > best.expected_sse(n):
            continue
        guess = _largest_local(n, domain_size, set_size, k, eps, delta, sound, guess)
        candidate = SubsetExponential(domain_size, set_size, k, guess)
        if best is None or candidate.expected_sse(n) < best.expected_sse(n):
            best = candidate
    assert best is not None
    return best


def _largest_local(
    n: int, domain_size: int, set_size: int, k: int, eps: float, delta: float, sound: bool, guess: float
) -> float:
    def excess(log_local: float) -> float:
        mechanism = SubsetExponential(domain_size, set_size, k, math.exp(log_local))
        labels, rate, factor = reduced_pair(mechanism, sound)
        return log_ratio(factor * pair_delta(binomial_blanket(n - 1, rate, tail), labels, eps), delta)

    tail = negligible(delta)

    # A local budget of eps needs no amplification.
    low, high = math.log(eps), math.log(max(_MOST_LOCAL, 2 * eps))
    if excess(high) <= 0:
        return math.exp(high)
    return math.exp(root_below(excess, max(math.log(guess), low + 0.1), low, high, xtol=_XTOL))


def has_residual(mechanism: SubsetExponential) -> bool:
    """Return whether a message has a component that depends on neither of two inputs; rounding is ignored."""
    return reduced_pair(mechanism, sound=False)[0].silent > 1e-12


@dataclass(frozen=True)
class SubsetShuffled(SubsetReports, PlannedUsers):
    """Subset of items as a message, shuffled; ``sound`` if the bound is proven. Privacy levels are ignored."""

    n_users: int
    sound: bool

    name = "subset_shuffled"
    label = "Subexp, shuffled"
    source = "Wang et al. 2018 (PrivSet); Wang et al. 2024 (arXiv 2407.19639), Theorem 1"
    trust = "shuffler"
    relies_on = "others' reports"
    reduction = "variation ratio"
    mixed_under = ("corrected",)
    guarantees = under(printed=FORGOTTEN_RESIDUAL, corrected=UPPER)

    @classmethod
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "corrected",
        **options: Any,
    ) -> Self:
        """Find parameters that meet the budget, by default under the sound accounting ``corrected``."""
        return super().calibrate(budget, population, task, accounting=accounting, **options)

    @classmethod
    def fit(cls, request: Request) -> Self:
        """Find the best number of items per message, and the largest local budget for this number.

        ``printed`` is Theorem 1 as the paper uses it, which is not valid in general (SEG-6.2); ``corrected`` is its
        sound replacement.
        """
        sets = sets_task(request.task)
        sound = request.accounting == "corrected"
        shape = selectable(sets)
        mechanism = shuffled_subset_exponential(request.n, *shape, request.eps, request.delta, sound=sound)
        return cls(*shape, sets.padding_items, mechanism, request.n, sound)

    @property
    def standing(self) -> Standing:
        """Label of the guarantee; the printed theorem is proven without a residual component, or for one user."""
        proven = self.sound or self.n_users == 1 or not has_residual(self.mechanism)
        return UPPER if proven else FORGOTTEN_RESIDUAL

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return the profile of the sound accounting; None for the printed theorem, which is not a proven bound."""
        profile = SubsetExponentialProfile(self.mechanism, users, self.sound)
        return profile if profile.kind == "upper" else None
