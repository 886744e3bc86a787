"""Subset selection in the shuffle model: the size of the subsets and the local budget.

Every user reports a subset of d of the k values: with probability ``p = d E / (d E + k - d)``, ``E = e^eps_local``, a
uniform subset with the user's value, otherwise a uniform subset without it. A report is uniform over all subsets with
probability ``lambda = k / (k + d (E - 1))``. A uniform subset contains a given value with probability ``r = d / k`` and
two given values with ``s = r (d - 1) / (k - 1)``, so that :mod:`shuffledp.accounting.general.matched_blanket` with this
overlap has the blanket. For d = 1 it is generalized randomized response. Derived for this project. The bound on delta
is at most 1e-6 relative too large, and the local budget is the largest under this bound, rounded down by at most 1e-8
relative. A downhill search finds the size of least error.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all others and
which of their reports are uniform.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.general.grr_blanket import blanket_local_budget, grr_blanket_delta
from shuffledp.accounting.general.matched_blanket import block_length, matched_rate, mixed_matched_delta
from shuffledp.accounting.general.matched_contour import MOST_BUDGET, contour_budget, contour_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import FromOne
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible, settled
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import Window, binomial_window
from shuffledp.protocols._coins import coin_blocks
from shuffledp.protocols._inputs import checked_inputs
from shuffledp.protocols.client.description import ODDS, Client, frequencies, noise_law, odds_below
from shuffledp.protocols.frequency._designs import Target
from shuffledp.protocols.frequency._pure_reports import PureReports, pure_mse
from shuffledp.protocols.frequency._value_counts import GeneralizedResponse, checked_values, held_integers
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Participants, Users

#: Local budget in nats from which reports hide nothing.
_MOST_BUDGET = 600.0
#: Tolerances of the log of a local budget: of the result, and during the search for d.
_XTOL, _SEARCHED = 1e-8, 1e-4
#: Blocks of numbers of uniform reports per standard deviation.
_BLOCKS = 3
#: Number of reports from which a contour is faster than a table, and a table of blocks would be too loose.
_MANY = 64
#: Number of subsets up to which all are listed.
_FEW_SUBSETS = 200


@dataclass(frozen=True)
class SubsetReport:
    """Random subset of d of k values as a report, with the local budget in nats."""

    domain_size: int
    size: int
    eps_local: float

    @property
    def own_rate(self) -> float:
        """Probability that the subset contains the user's value."""
        return self.size / (self.size + (self.domain_size - self.size) * math.exp(-self.eps_local))

    @property
    def other_rate(self) -> float:
        """Probability that the subset contains another given value."""
        return (self.size - self.own_rate) / (self.domain_size - 1)

    @property
    def match_rate(self) -> float:
        """Probability that a uniform subset contains a given value."""
        return self.size / self.domain_size

    @property
    def both_rate(self) -> float:
        """Probability that a uniform subset contains two given values."""
        return self.match_rate * (self.size - 1) / (self.domain_size - 1)

    def mse(self, n: int) -> float:
        """Return the squared error of a frequency, averaged over the values, which is the same for all data."""
        return pure_mse(n, self.domain_size, self.own_rate, self.other_rate)

    def error(self, n: int, target: Target) -> float:
        """Return `mse`, or the squared error of a frequent value, which a tenth of the users hold."""
        return self.mse(n) if target == "average" else pure_mse(n, 10, self.own_rate, self.other_rate)


@remember(1024)
def subset_delta(eps: float, n: int, report: SubsetReport) -> float:
    """Return a bound on delta of one of n shuffled subsets, averaged over the number of uniform reports."""
    if report.size == 1:
        return grr_blanket_delta(eps, n, report.domain_size, report.eps_local)
    if n >= _MANY and report.eps_local <= MOST_BUDGET:
        return contour_delta(eps, n - 1, report.match_rate, report.eps_local, report.both_rate)
    return settled(lambda tail: _delta(eps, n, report, tail))


def _delta(eps: float, n: int, report: SubsetReport, tail: float, *, typical: bool = False) -> float:
    """Return delta averaged over the number of uniform reports, or, if `typical`, delta at the mean number."""
    match, rate = report.match_rate, matched_rate(report.match_rate, report.eps_local)
    if typical:
        reports, block = Window(round((n - 1) * rate), np.ones(1)), 1
    else:
        reports, block = binomial_window(n - 1, rate, tail), block_length(n - 1, rate, _BLOCKS)
    return mixed_matched_delta(
        reports, match, eps, report.eps_local, tail, block=block, both_rate=report.both_rate
    )


@remember(1024)
def subset_report(
    n: int, domain_size: int, eps: float, delta: float, *, size: int | None = None, target: Target = "average"
) -> SubsetReport:
    """Return the subsets whose n shuffled reports are (eps, delta)-private, of a given size or of the least error."""
    setting = (n, domain_size, eps, delta)
    chosen = size or _best_size(*setting, target)
    if chosen == 1:
        return SubsetReport(domain_size, 1, blanket_local_budget(*setting))
    if n >= _MANY:
        rough = _contour_budget(*setting, chosen, rough=True)
        return SubsetReport(domain_size, chosen, _contour_budget(*setting, chosen, rough=False, guess=rough))
    guess = _log_budget(*setting, chosen, math.log(eps) + 0.1, typical=True)
    return SubsetReport(domain_size, chosen, math.exp(_log_budget(*setting, chosen, guess, typical=False)))


def _contour_budget(
    n: int, domain_size: int, eps: float, delta: float, size: int, *, rough: bool, guess: float | None = None
) -> float:
    rates = SubsetReport(domain_size, size, 1.0)  # those of uniform subsets do not depend on the budget
    return contour_budget(n - 1, rates.match_rate, rates.both_rate, eps, delta, rough=rough, guess=guess)


def _best_size(n: int, domain_size: int, eps: float, delta: float, target: Target) -> int:
    """Return a size d of nearly the least error, by steps from 1 that double and then shrink."""
    guess = math.log(eps) + 0.1

    @cache
    def error(size: int) -> float:
        nonlocal guess
        if n >= _MANY:
            rough = _contour_budget(n, domain_size, eps, delta, size, rough=True, guess=math.exp(guess))
            guess = math.log(rough)
        else:
            guess = _log_budget(n, domain_size, eps, delta, size, guess, typical=True)
        return SubsetReport(domain_size, size, math.exp(guess)).error(n, target)

    best, step = 1, 1
    while best + step < domain_size and error(best + step) < error(best):
        best, step = best + step, 2 * step
    while step > 1:
        step //= 2
        nearby = [size for size in (best - step, best, best + step) if 1 <= size < domain_size]
        best = min(nearby, key=error)
    return best


def _log_budget(
    n: int, domain_size: int, eps: float, delta: float, size: int, guess: float, *, typical: bool
) -> float:
    """Return the log of the largest local budget, for all numbers of uniform reports or, if `typical`, for the mean."""
    tail = negligible(delta)

    def excess(log_budget: float) -> float:
        report = SubsetReport(domain_size, size, math.exp(log_budget))
        return log_ratio(_delta(eps, n, report, tail, typical=typical), delta)

    low, high = math.log(eps), math.log(max(_MOST_BUDGET, 2 * eps))
    return root_below(excess, guess, low, high, xtol=_SEARCHED if typical else _XTOL)


@dataclass(frozen=True)
class SubsetSelection(PureReports):
    """Subset of d values as a message, one per user.

    The shuffler permutes. Users rely on all other users' reports, which are uniform with some probability.
    """

    report: SubsetReport

    name = "subset_selection"
    task_kind = "frequency"
    label = "subset selection"
    source = "Ye and Barg 2018; Wang et al. 2016"
    trust = "shuffler"
    relies_on = "others' reports"
    guarantees = under(exact=UPPER)
    reduction = "blanket"
    few_numbers = True

    @classmethod
    def fit(cls, request: Request, *, size: FromOne | None = None, target: Target = "average") -> Self:
        """Find the largest local budget under the exact blanket, for a given ``size`` d or the size of least error.

        ``target`` is the error: ``average`` over the values, or of a ``frequent`` value, which a tenth of the users
        hold.
        """
        k = request.k
        if size is not None and size >= k:
            raise ValueError(f"size must be an integer in [1, {k - 1}], got {size!r}.")
        report = subset_report(request.n, k, request.eps, request.delta, size=size, target=target)
        return cls(request.n, k, report)

    @property
    def two_rates(self) -> tuple[float, float, float]:
        """Rates at which a subset contains the user's value and another value, and their difference."""
        p, q = self.report.own_rate, self.report.other_rate
        return p, q, p - q

    def cost(self) -> Cost:
        """Return the cost of one message, which is the index of a subset."""
        subsets = math.comb(self.domain_size, self.report.size)
        return Cost(1.0, message_bits(subsets), most_messages=1.0)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw each user's subset, in increasing order, (n, d)."""
        values, size = checked_values(users.values, self.domain_size), self.report.size
        holds = rng.random(len(values)) < self.report.own_rate
        subsets = np.empty((len(values), size), np.int64)
        for block, keys in coin_blocks(len(values), self.domain_size, rng):
            keys[np.arange(len(keys)), values[block]] = np.where(holds[block], -1.0, 2.0)
            subsets[block] = np.argpartition(keys, size - 1, axis=1)[:, :size]
        return Messages(np.sort(subsets, axis=1))

    def aggregate(self, messages: Messages) -> Array:
        """Return the number of subsets that contain each value, (k,)."""
        return np.bincount(np.asarray(messages.payload, np.int64).ravel(), minlength=self.domain_size)

    @property
    def joint_law(self) -> bool:
        """True for subsets of one value, or for few different subsets."""
        return self.report.size == 1 or math.comb(self.domain_size, self.report.size) <= _FEW_SUBSETS

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the number of subsets that contain each value, (R, k), at a cost independent of n.

        For subsets of one value, and for few different subsets, the joint law is exact. Otherwise each count has its
        exact law, and counts are drawn independently. No error of a single value changes, but the counts need not sum
        to n d.
        """
        true_counts = held_integers(participants, self.domain_size)
        if self.report.size == 1:
            return GeneralizedResponse(self.report.eps_local, self.domain_size).sample_counts(
                true_counts, rng
            )
        if not self.joint_law:
            return super().sample_aggregate(participants, rng)
        subsets = list(itertools.combinations(range(self.domain_size), self.report.size))
        holds = np.array([[v in subset for v in range(self.domain_size)] for subset in subsets])
        weights = np.where(holds, 1.0, math.exp(-self.report.eps_local)).T  # (values, subsets)
        counts = np.zeros(true_counts.shape, np.int64)
        for value, law in enumerate(weights / weights.sum(axis=1, keepdims=True)):
            counts += rng.multinomial(true_counts[:, value], law) @ holds
        return counts

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of one subset among the uniform subsets of other users."""
        return Profile(
            lambda eps: subset_delta(eps, users, self.report),
            "privacy blanket of Balle et al. 2019, evaluated exactly for subset selection",
        )

    def parameters(self) -> dict[str, float]:
        """Return the size of the subsets and the local budget."""
        return {"subset_size": float(self.report.size), "eps_local": self.report.eps_local}

    def client(self) -> Client:
        """Return the client, which draws a subset; the odds of the user's value follow from the local budget."""
        k, size = self.domain_size, self.report.size
        part = {"part": "subset", "values": k, "size": size, **odds_below(self.report.eps_local)}
        own_rate, other_rate, _ = self.two_rates
        analyzer = frequencies(k, "of_values", own_rate, other_rate, noise_law([]))
        return Client(self.n_users, k, [("value", k)] * size, [part], analyzer, ODDS)
