"""Parameters of the segmented protocol: reporting rates of the privacy levels, blanket messages and expected errors.

Users of level k (budget eps_k) send each of their s items with probability lambda_k. Every user adds m blanket messages
in expectation. The server counts messages and estimates ``(count - n m / d) / sum_k n_k lambda_k`` per item. For given
m, lambda_k is the largest probability that level k allows. More blanket messages allow a larger lambda_k but add noise,
so the best m is searched. Accountings:

``printed``
    The paper: ceil(m) slots per user, the pair of counts for one item, group composition to s items. Not a proven
    guarantee where lambda_k < 1 (see :mod:`shuffledp.accounting.segmented.items`).
``corrected``
    The same with a Poisson number of blanket messages, which is a guarantee.
``exact``
    Poisson blanket messages and the divergence of the whole set (:mod:`shuffledp.accounting.segmented.users`).

Conventions: eps in nats; replacement neighbors; n counts all users. Errors are sums over the d items of squared errors
of relative frequencies. Source: arXiv 2407.19639, Section 5.2; the exact errors are derived for this project.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, get_args

from shuffledp.accounting.segmented.item_calibration import blankets_for_full_reporting, reporting_rate
from shuffledp.accounting.segmented.items import (
    BlanketLaw,
    Slots,
    blanket_slots,
    item_delta,
)
from shuffledp.accounting.segmented.set_errors import (
    Truth,
    blanket_sse,
    checked_spread,
    segmented_error_bound,
    segmented_sse,
)
from shuffledp.accounting.segmented.users import user_level_blankets, user_level_reporting_rate
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    FromOne,
    FromTwo,
    NonNegative,
    check_fields,
    checked,
    one_of,
)

SegmentedAccounting = Literal["printed", "corrected", "exact"]
SEGMENTED_ACCOUNTINGS: tuple[str, ...] = get_args(SegmentedAccounting)


@dataclass(frozen=True)
class SegmentedPlan:
    """Parameters of the segmented protocol, which is balls-into-bins if it has one level with rate 1.

    Wang et al. 2024, arXiv 2407.19639, Algorithm 2.

    Parameters
    ----------
    level_sizes : tuple of int
        Numbers n_k of users of each level, >= 0, at least one user in total.
    eps : tuple of float
        Budgets of the levels, nats.
    delta : float
        Delta of every user.
    rates : tuple of float
        Probability lambda_k with which a user of level k sends each item.
    blankets : float
        Expected number of blanket messages per user m.
    domain_size, set_size : int
        Items d, and items per user s.
    accounting : {"printed", "corrected", "exact"}
        Accounting of the rates; see the module's description.
    blanket_law : {"binomial", "poisson"}
        Law of the number of blanket messages of a user: binomial, the number of used slots, or Poisson(m).
    flat : tuple of float, optional
        If m was searched: the range around m, within the searched interval, where the objective is at most 5 % above
        its smallest value.
    """

    level_sizes: tuple[int, ...]
    eps: tuple[float, ...]
    delta: Delta
    rates: tuple[float, ...]
    blankets: NonNegative
    domain_size: FromOne
    set_size: FromOne
    accounting: str
    blanket_law: BlanketLaw
    flat: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def n(self) -> int:
        """Number of all users."""
        return sum(self.level_sizes)

    @cached_property
    def reports(self) -> float:
        """Expected number of users who send a given one of their items, ``sum_k n_k lambda_k``."""
        return sum(n * rate for n, rate in zip(self.level_sizes, self.rates, strict=True))

    @property
    def slots(self) -> Slots:
        """Slots per user for binomial blanket messages."""
        return blanket_slots(self.blankets)

    @property
    def blankets_per_item(self) -> float:
        """Expected number of blanket messages per item, ``n m / d``, which the server subtracts."""
        return self.n * self.blankets / self.domain_size

    def blanket_sse(self) -> float:
        """Return the part of the expected error that blanket messages cause; exact."""
        cell_rate = 0.0 if self.blanket_law == "poisson" else self.slots.rate / self.domain_size
        return blanket_sse(self.n * self.blankets, cell_rate, self.reports)

    def error_bound(self) -> float:
        """Return the paper's bound on the expected error, ``(n m + s Lambda) / Lambda^2``, which holds for all data."""
        return segmented_error_bound(self.n * self.blankets, self.set_size, self.reports)

    @checked
    def expected_sse(self, spread: float | None = None, *, truth: Truth = "empirical") -> float:
        """Return the expected error if the levels are independent of the data.

        Parameters
        ----------
        spread : float, optional
            ``W = sum_j w_j (1 - w_j)`` of the true frequencies, in [0, s]. By default ``s (1 - s / d)``, the value for
            uniform frequencies, which is the largest.
        truth : {"empirical", "population"}
            Reference of the error. ``empirical``: the frequencies of these n users, whose levels are random.
            ``population``: the frequencies of the population from which the users are drawn.

        Returns
        -------
        float
            Sum over items of the expected squared error; exact.
        """
        spread = checked_spread(spread, self.domain_size, self.set_size)
        return segmented_sse(self.level_sizes, self.rates, self.set_size, self.blanket_sse(), spread, truth)


def level_rate(
    n: FromOne,
    blankets: NonNegative,
    domain_size: FromTwo,
    set_size: FromOne,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(SEGMENTED_ACCOUNTINGS)] = "exact",
) -> float:
    """Return the largest probability with which a user may send each item.

    Wang et al. 2024, arXiv 2407.19639, Section 5.2, equations 6 and 7; ``exact`` is derived for this project.

    Parameters
    ----------
    n, domain_size, set_size : int
        Number of all users >= 1, items d >= 2, and items per user s in [1, d].
    blankets : float
        Expected number of blanket messages per user m, >= 0.
    eps, delta : float
        Budget of the user: eps in nats, > 0; delta in (0, 1).
    accounting : {"printed", "corrected", "exact"}
        See the module's description.

    Returns
    -------
    float
        lambda_k, in (0, 1]; rounded down. ``printed`` is not a guarantee below 1.

    Raises
    ------
    Infeasible
        If a sum does not fit into memory.
    """
    if accounting == "exact":
        return user_level_reporting_rate(n, blankets, domain_size, set_size, eps, delta)
    check_items(domain_size, set_size)
    item = item_delta(eps, delta, set_size)
    law = blanket_law_of(accounting)
    return reporting_rate(n, blankets, domain_size, eps / set_size, item, blanket_law=law)


def full_reporting(
    n: FromOne,
    domain_size: FromTwo,
    set_size: FromOne,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(SEGMENTED_ACCOUNTINGS)] = "exact",
) -> float:
    """Return m_k, the smallest expected number of blanket messages per user that allows reporting probability 1.

    Wang et al. 2024, arXiv 2407.19639, Section 5.2; ``exact`` is derived for this project.

    Parameters
    ----------
    n, domain_size, set_size, eps, delta, accounting
        As in :func:`level_rate`.

    Returns
    -------
    float
        Rounded up; 0 if all users hold all items.

    Raises
    ------
    Infeasible
        If more than 1e9 messages per user would be needed, or a sum does not fit into memory.
    """
    if accounting == "exact":
        return user_level_blankets(n, domain_size, set_size, eps, delta)
    check_items(domain_size, set_size)
    law = blanket_law_of(accounting)
    return blankets_for_full_reporting(n, domain_size, set_size, eps, delta, blanket_law=law)


def blanket_law_of(accounting: str) -> BlanketLaw:
    """Return the law of the number of blanket messages of an accounting: Poisson for the accountings with a guarantee.

    The binomial law of ``printed`` is from arXiv 2407.19639, Algorithm 2.
    """
    return "binomial" if accounting == "printed" else "poisson"


def check_items(domain_size: int, set_size: int) -> None:
    """Raise ValueError if a set is larger than the domain."""
    if set_size > domain_size:
        raise ValueError(f"set_size must be at most domain_size = {domain_size}, got {set_size}.")
