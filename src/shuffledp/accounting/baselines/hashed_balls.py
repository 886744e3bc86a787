r"""Hashed balls into bins (Luo, Wang and Yi 2022): public hash functions, and dummies in random bins.

Let b be the number of bins and q a prime above b and the number of values k. A user draws a hash function
``h(x) = ((u x + v) mod q) mod b``, u in ``1..q-1`` and v in ``0..q-1``, and sends ``(u, v, h(x))``; dummies are uniform
triples (u, v, w). A message counts for all x with ``h(x) = w``. Two different values collide with probability

.. math:: p_c = \lfloor q/b \rfloor \, (q \bmod b + q - b) \, / \, (q (q - 1)).

The user's message is uniform among those that count for its value, and a uniform message counts for a value with
probability 1/b, for two of them with ``p_c / b``: :mod:`shuffledp.accounting.general.matched_blanket` with
``eps_local = inf`` is its exact privacy among M dummies. The messages of all other users are known to the adversary.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.dump.dummies import smallest_count
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.matched_blanket import matched_delta, mixed_matched_delta
from shuffledp.accounting.general.matched_contour import contour_delta
from shuffledp.numerics.argument_ranges import (
    MOST,
    check_choice,
    check_count,
    check_open_unit,
    check_positive,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import Window

if TYPE_CHECKING:
    pass

BIN_RULES = ("logarithmic", "cubed", "economical")
"""Rules for the number of bins, see :func:`bin_count`."""

#: Values and bins up to which products of residues fit into 64 bits.
MOST_BINS = 2**31

#: Cells of the table over matches of both values and of one that are summed; their number over the product of both
#: standard deviations.
_MOST_CELLS, _WINDOWS = 3e5, 550
#: What delta may be too large by where a contour replaces the table, relative; the number of dummies less.
_GAP = 1e-5
_REMEMBERED = 1024


@dataclass(frozen=True)
class HashFamily:
    """Public parameters of the hash functions.

    Parameters
    ----------
    domain_size : int
        Values k are 0..k-1, 2 <= k <= 2^31.
    bins : int
        b, in 2..2^31.

    Notes
    -----
    Luo, Wang and Yi 2022. Collisions are exact.
    """

    domain_size: int
    bins: int

    def __post_init__(self) -> None:
        for name in ("domain_size", "bins"):
            number = check_count(name, getattr(self, name), 2)
            if number > MOST_BINS:
                raise ValueError(f"{name} must be at most 2^31, got {number}.")
            object.__setattr__(self, name, number)

    @property
    def prime(self) -> int:
        """The smallest prime q above k and b."""
        return prime_above(max(self.domain_size, self.bins))

    @property
    def collision_rate(self) -> float:
        """p_c, the probability that two different values fall into the same bin."""
        q, b = self.prime, self.bins
        return (q // b) * (q % b + q - b) / (q * (q - 1))


@remember(_REMEMBERED)
def prime_above(number: int) -> int:
    """Return the smallest prime that is larger than a number, >= 1; up to 2^32 or so.

    Parameters
    ----------
    number : int

    Notes
    -----
    Trial division by all odd numbers up to the root, at once for a candidate.
    """
    candidate = max(number + 1, 2)
    while True:
        divisors = np.arange(3, math.isqrt(candidate) + 1, 2)
        if candidate == 2 or (candidate % 2 and not np.any(candidate % divisors == 0)):
            return candidate
        candidate += 1


def bin_count(rule: str, n: int, domain_size: int, eps: float, delta: float) -> int:
    """Return the number of bins b of a rule, at least 2.

    Parameters
    ----------
    rule : {"logarithmic", "cubed", "economical"}
        ``n / ln n`` and ``n / ln^3 n``, the integer parts, are those of the original, for O(1) and for 1 + o(1)
        messages per user. ``economical``: the product of messages per user and error is nearly least, at about two
        messages of which the collisions cost as much as the dummies; never more bins than values.
    n : int
        Number of users, >= 1.
    domain_size : int
        Number of values k, >= 2.
    eps, delta : float
        The budget; matters for ``economical``.

    Notes
    -----
    Luo, Wang and Yi 2022 (c = 1 and c = 3). With c* dummies per bin, the error is proportional to ``c* + n / b`` and
    the messages are ``1 + c* b / n``, so that ``b = n / c*`` is best.
    """
    n = check_count("n", n, 1)
    check_choice("rule", rule, BIN_RULES)
    logarithm = max(math.log(n), 1e-9)
    most = max(2, math.floor(n / logarithm)) if n > 1 else 2
    if rule == "logarithmic":
        return most
    if rule == "cubed":
        return max(2, min(math.floor(n / logarithm**3), most))
    per_bin = dummies_in_bins(HashFamily(domain_size, most), eps, delta) / most
    return max(2, min(domain_size, round(n / per_bin), most))


def dummies_in_bins(family: HashFamily, eps: float, delta: float) -> int:
    """Return the smallest total number of dummies among which a message is (eps, delta)-private.

    Parameters
    ----------
    family : HashFamily
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).

    Returns
    -------
    int
        At least 1; exact for one user's message among dummies, or rounded up by at most 1e-5 relative where there are
        too many for a table.

    Raises
    ------
    Infeasible
        If more than 2^53 would be needed.

    Notes
    -----
    Derived for this project, see the module's description. The released code of Luo, Wang and Yi searches for a number
    that its criterion does not always make sufficient. Replacement neighbors.
    """
    eps = check_positive("eps", eps)
    delta = check_open_unit("delta", delta)
    return _dummies_in_bins(family, eps, delta)


def _is_long(family: HashFamily, dummies: int) -> bool:
    """Whether a table over matches of both values and of one is too large to be summed for every candidate."""
    both = family.collision_rate / family.bins
    return _WINDOWS * dummies * math.sqrt(2 * both / family.bins) > _MOST_CELLS


@remember(_REMEMBERED)
def _dummies_in_bins(family: HashFamily, eps: float, delta: float) -> int:
    tail, rate, both = negligible(delta), 1 / family.bins, family.collision_rate / family.bins

    def excess(dummies: int) -> float:
        messages = Window(dummies, np.ones(1))
        value = mixed_matched_delta(messages, rate, eps, math.inf, tail, both_rate=both)
        return log_ratio(value, delta)

    # Two differences of normal variables: a first guess of the dummies per bin.
    per_bin = 2 * (math.sqrt(2 * math.log(1 / delta)) / eps) ** 2 + 1 / delta**0.1
    guess = family.bins * per_bin
    if not _is_long(family, math.ceil(4 * guess)):
        return smallest_count(excess, guess, math.log(delta) / guess)

    def above(minus_log_dummies: float) -> float:
        dummies = math.ceil(math.exp(-minus_log_dummies))
        value = contour_delta(eps, dummies, rate, math.inf, both, gap=_GAP, floor=1e-9 * delta)
        return log_ratio(value, delta)

    root = root_below(above, -math.log(guess), -math.log(MOST), 0.0, xtol=1e-9, ytol=_GAP)
    found = math.ceil(math.exp(-root))
    if found >= MOST:
        raise Infeasible("More than 2^53 dummies would be needed.")
    return found if _is_long(family, found) else smallest_count(excess, found, math.log(delta) / found)


@remember(_REMEMBERED)
def hashed_balls_delta(eps: float, family: HashFamily, dummies: int) -> float:
    """Return delta of one hashed message among `dummies` uniform ones; an upper bound, derived for this project."""
    rate, both = 1 / family.bins, family.collision_rate / family.bins
    if _is_long(family, dummies):
        return contour_delta(eps, dummies, rate, math.inf, both)
    return matched_delta(eps, dummies, rate, both_rate=both)
