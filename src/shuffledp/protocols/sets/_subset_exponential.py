"""Subset exponential mechanism (PrivSet, Wang et al. 2018): rates, error and dominating pair.

A user sends a random subset of k items, which is ``e^eps`` times more likely if it shares an item with the user's set.
Conventions: eps in nats; replacement neighbors; errors are sums over the d items of squared errors of relative
frequencies, ``spread = sum_j w_j (1 - w_j)`` for true frequencies w.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from shuffledp.accounting.general.labeled_counts import Labels, binomial_blanket, settled_delta
from shuffledp.accounting.general.profiles import View, at_each
from shuffledp.accounting.segmented.set_errors import Truth, checked_spread
from shuffledp.numerics.argument_ranges import (
    EpsArray,
    FromOne,
    NonNegative,
    check_count,
    check_fields,
    checked,
)
from shuffledp.tasks import Floats

if TYPE_CHECKING:
    from shuffledp.accounting.general.profiles import Kind


@dataclass(frozen=True)
class SubsetExponential:
    """Subset exponential mechanism: a random subset of items, more likely one that meets the user's set.

    Parameters
    ----------
    domain_size, set_size : int
        Number of items d, and of items per user s, ``1 <= s < d``.
    subset_size : int
        Number of items per message k, in [1, d - s].
    eps_local : float
        Local budget, nats.

    Notes
    -----
    Wang et al. 2018 (PrivSet). All properties are exact.
    """

    domain_size: FromOne
    set_size: FromOne
    subset_size: FromOne
    eps_local: NonNegative

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def miss(self) -> float:
        """Share of the subsets that have no item in common with a given set."""
        return math.exp(_log_miss(self.domain_size, self.subset_size, range(self.set_size)))

    @property
    def _total(self) -> float:
        """Sum of all weights, in units of ``e^eps_local`` times the number of subsets."""
        miss = _log_miss(self.domain_size, self.subset_size, range(self.set_size))
        return -math.expm1(miss) + math.exp(miss - self.eps_local)

    @property
    def own_rate(self) -> float:
        """Probability that the message contains a given item that the user holds."""
        return self.subset_size / self.domain_size / self._total

    @property
    def other_rate(self) -> float:
        """Probability that the message contains a given item that the user does not hold."""
        d, k = self.domain_size, self.subset_size
        without = _log_miss(d - 1, k - 1, range(self.set_size))  # given that it holds the item
        return k / d * (-math.expm1(without) + math.exp(without - self.eps_local)) / self._total

    @property
    def distance(self) -> float:
        """Largest total variation distance between the messages of two sets, beta in the variation-ratio reduction."""
        d, s, k = self.domain_size, self.set_size, self.subset_size
        only_one = -math.expm1(
            _log_miss(d, k, range(s, min(2 * s, d)))
        )  # meets the other set, given this is missed
        return -math.expm1(-self.eps_local) * only_one * self.miss / self._total

    @checked
    def expected_sse(self, n: FromOne, spread: float | None = None, *, truth: Truth = "empirical") -> float:
        """Return the exact expected error for n users; parameters are as in :meth:`SegmentedPlan.expected_sse`.

        The error against the frequencies of the n users does not depend on `spread`.
        """
        spread = checked_spread(spread, self.domain_size, self.set_size)
        population = spread if truth == "population" else 0.0
        others = self.domain_size - self.set_size
        return (inclusion_sse(self.own_rate, self.other_rate, self.set_size, others) + population) / n


def _log_miss(domain_size: int, subset_size: int, items: range) -> float:
    """Return the log of ``prod (d - k - i) / (d - i)``, the probability that a uniform subset misses some items.

    The product is over i in `items`. The probability is conditional on missing the items before these.
    """
    if subset_size > domain_size - items.stop:
        return -math.inf
    return math.fsum(math.log1p(-subset_size / (domain_size - i)) for i in items)


def inclusion_sse(own_rate: float, other_rate: float, holders: int, others: int) -> float:
    """Return the variance of the unbiased estimate from one report, summed over all items.

    ``(h p (1 - p) + o q (1 - q)) / (p - q)^2`` for a report that contains an item of the user at rate p and another
    item at rate q; infinite for equal rates. Wang et al. 2018 (PrivSet), rederived.
    """
    coins = holders * own_rate * (1 - own_rate) + others * other_rate * (1 - other_rate)
    return coins / (own_rate - other_rate) ** 2 if own_rate != other_rate else math.inf


def checked_sets(domain_size: int, set_size: int) -> tuple[int, int]:
    """Return both numbers as integers. Raise ValueError unless ``set_size < domain_size``."""
    domain_size, set_size = check_count("domain_size", domain_size, 2), check_count("set_size", set_size, 1)
    if set_size >= domain_size:
        raise ValueError(f"set_size must be below domain_size = {domain_size}, got {set_size}.")
    return domain_size, set_size


def reduced_pair(mechanism: SubsetExponential, sound: bool) -> tuple[Labels, float, float]:
    """Return the variation-ratio pair: its labels, the rate of other messages with each label, and a factor on delta.

    ``p = q = e^eps_local``. The delta of the pair times the factor is an upper bound if `sound`, otherwise an estimate
    (factor 1). The sound pair is for reports of user 1 without residual component. Wang et al. 2024, arXiv 2407.19639,
    Theorem 1; the sound form is derived for this project, see :mod:`shuffledp.accounting.general.variation_ratio`.
    """
    decay, beta = math.exp(-mechanism.eps_local), mechanism.distance
    larger, most = -1 / math.expm1(-mechanism.eps_local), math.tanh(mechanism.eps_local / 2)
    own_mass = beta * larger
    if sound:
        return Labels(1 / (1 + decay), decay / (1 + decay), 0.0), own_mass * decay, beta / most
    return Labels(own_mass, own_mass * decay, max(1 - beta / most, 0.0)), own_mass * decay, 1.0


@dataclass(frozen=True)
class SubsetExponentialProfile:
    """Privacy profile of the shuffled messages of the subset exponential mechanism.

    Parameters
    ----------
    mechanism : SubsetExponential
    n : int
        Number of users, >= 1. One user is the local mechanism.
    sound : bool
        See :func:`shuffledp.protocols.calibrations.shuffled_subset_exponential`.

    Notes
    -----
    Wang et al. 2018 (PrivSet); Wang et al. 2024, arXiv 2407.19639, Theorem 1. An upper bound if `sound`, else an
    estimate.
    """

    mechanism: SubsetExponential
    n: FromOne
    sound: bool
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "Wang et al. 2018 (PrivSet); Wang et al. 2024 (arXiv 2407.19639), Theorem 1"

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def kind(self) -> Kind:
        """Kind of the bound: ``upper`` if sound or for one user, otherwise ``approximate``."""
        return "upper" if self.sound or self.n == 1 else "approximate"

    @checked
    def delta(self, eps: EpsArray) -> Floats:
        """Return delta for each eps (nats, >= 0), shape of `eps`. Both directions have the same delta."""
        labels, rate, factor = reduced_pair(self.mechanism, self.sound)
        blanket_at = partial(binomial_blanket, self.n - 1, rate)
        return at_each(lambda e: factor * settled_delta(blanket_at, labels, e), eps)
