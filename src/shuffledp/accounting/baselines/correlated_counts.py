r"""Histograms with correlated noise: a counter per value, with noise that cancels and noise that remains.

The messages for a value j are +1 and -1. All users together send ``U+ = n_j + Z1 + Z3`` messages +1 and
``U- = Z2 + Z3`` messages -1. Z1 and Z2 are geometric with ratio ``q = e^(-eps_1)``, Z3 is negative binomial with shape
r and ratio p, ``Pr[Z3 = z] = C(z + r - 1, z) (1 - p)^r p^z``. The estimate ``U+ - U-`` has the noise Z1 - Z2, a
discrete Laplace variable; Z3 cancels and hides the summands. Each of the two counters that change has half of the
budget, (eps/2, delta/2), with ``eps_1 = (1 - g) eps / 2`` and ``eps_2 = min(1/2, g eps / 2)``; g is the *share* of Z3.
Two accountings:

``printed``
    The closed forms of Ghazi, Kumar, Manurangsi and Pagh (arXiv 2106.04247), with
    ``delta_2 = delta / (2 (e^eps_1 + 2 e^(2 eps_1)))`` and ``Delta = ceil(ln(1/delta_2) / eps_1)``: *corrected*
    ``p = e^(-0.2 eps_2 / Delta)``, ``r = 3 (1 + ln(1/delta_2))``; *conference* ``p = e^(-0.1 eps_2 / Delta)``,
    ``r = 50 e^(eps_2 / Delta) ln(1/delta_2)``, which the authors declare erroneous.
``exact``
    The divergence itself, with the r and p of the fewest expected messages.

With D the law of Z3 and ``K(w) = D(w) + q^2 K(w - 1)``, the law of (U+, U-) is ``(1 - q)^2 q^|u - v| K(min(u, v))``,
and the law of a counter with one more user is shifted in u. Hence, for ``eps >= eps_1``,

.. math:: \delta = (1 - q) \max\Bigl\{ \sum_w [K(w) - e^\epsilon q K(w - 1)]^+,
          \sum_w [q K(w - 1) - e^\epsilon K(w)]^+ \Bigr\}.

The second sum is empty, as ``K(w) >= q^2 K(w - 1)`` and ``e^eps q >= 1``. The first sum ends at the first w whose term
is not positive. For r >= 1, D is log-concave, and so is K, a convolution of D and a geometric sequence. For r < 1,
``d = D(w) / D(w - 1)`` is below 1. Once the ratio ``K(w) / K(w - 1) = q^2 + d (1 - q^2 K(w - 2) / K(w - 1))`` is at
most ``e^eps q >= 1``, it remains so. Without Z3, delta is ``1 - q``, so that no pairs are needed for a larger delta.

Conventions: eps in nats; replacement neighbors for the histogram, one user more or less for a counter; the adversary is
the analyzer, who knows the inputs of all other users.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.count_pairs import MovingCount
from shuffledp.guarantees import Standing
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    EpsAt,
    OpenUnit,
    check_fields,
    check_nonnegative,
    check_positive,
    one_of,
)
from shuffledp.numerics.logs import log1mexp
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, raised
from shuffledp.numerics.roots import golden_section, root_below

CORRELATED_ACCOUNTINGS = ("printed", "exact")
CORRELATED_CONSTANTS = ("corrected", "conference")

_XTOL = 1e-10
#: Most outcomes of a counter whose laws are stored.
_MOST_CELLS = 4_000_000
#: Relative accuracy of the ratio with the fewest messages; the number of messages is flat there.
_RATIO_TOL = 1e-3
#: Terms of a sum that fits into memory, of the longest sum in a calibration, and of the first attempt.
_MOST_TERMS = 2**25
_MOST_CALIBRATED = 2**21
_FIRST_TERMS = 1024
#: Terms that are turned into numbers of Python at once.
_BLOCK = 2**16
#: Largest power of e that is formed.
_MOST_EXPONENT = 700.0
#: The smallest p that is tried, 1/2000, as ``-ln p``. Z3 with shape r and a smaller p hides no better than with this
#: one and the shape ``r p 2000``: both are compound Poisson, a jump of size j comes at the rate ``r p^j / j``, and
#: this one has all jumps of the other and more. It costs at most 1/1999 more pairs.
_MOST_DECAY = math.log(2000)

#: Guarantee under the constants of the conference version.
WITHDRAWN_CONSTANTS = Standing("unproven", "the authors of the constants declare their proof erroneous")


@dataclass(frozen=True)
class CounterNoise:
    """Noise of one counter.

    Source: Ghazi, Kumar, Manurangsi and Pagh, arXiv 2106.04247. `messages` and `variance` are exact.

    Parameters
    ----------
    eps_geometric : float
        eps_1, nats, > 0: Z1 and Z2 have the ratio ``q = e^-eps_1``.
    shape : float
        Shape r of Z3, >= 0, not necessarily an integer. For r = 0 there is no Z3, and `decay` has no effect.
    decay : float
        ``-ln p`` of Z3, > 0.
    """

    eps_geometric: float
    shape: float
    decay: float

    def __post_init__(self) -> None:
        check_fields(self)
        check_positive("eps_geometric", self.eps_geometric)
        check_nonnegative("shape", self.shape)
        check_positive("decay", self.decay)

    @property
    def pairs(self) -> float:
        """Expected value of Z3, ``r p / (1 - p)``. Each unit of Z3 adds two messages."""
        return self.shape * _odds(self.decay)

    @property
    def singles(self) -> float:
        """Expected value of Z1 + Z2, ``2 q / (1 - q)``."""
        return 2 * _odds(self.eps_geometric)

    @property
    def messages(self) -> float:
        """Expected messages of one counter's noise, without the users' messages."""
        return self.singles + 2 * self.pairs

    @property
    def variance(self) -> float:
        """Variance of a count, ``2 q / (1 - q)^2``, by the discrete Laplace distribution."""
        return 2 * _odds(self.eps_geometric) / -math.expm1(-self.eps_geometric)


def _odds(decay: float) -> float:
    """Return ``p / (1 - p)`` for ``p = e^-decay``, 0 if p underflows."""
    return math.exp(-decay) / -math.expm1(-decay)


def both_counters_delta(eps: float, noise: CounterNoise) -> float:
    """Return delta of the two counters that change: twice delta of one counter at eps / 2, and 1 for eps below
    ``2 eps_1``. Dwork and Roth 2014, Theorem 3.16; derived for this project.
    """
    if eps < 2 * noise.eps_geometric:
        return 1.0
    return min(2 * counter_delta(eps / 2, noise), 1.0)


def counter_delta(eps: EpsAt, noise: CounterNoise) -> float:
    """Return the exact delta of one counter, for one user more or less.

    Derived for this project in the module's description.

    Parameters
    ----------
    eps : float
        Nats, >= `noise.eps_geometric`.
    noise : CounterNoise

    Returns
    -------
    float
        In [0, 1], for the worse direction; exact up to rounding, about 1e-10 relative, except below 1e-300.

    Raises
    ------
    Infeasible
        If the sum does not fit into memory.
    """
    if eps < noise.eps_geometric:
        raise ValueError(f"eps must be a number >= eps_geometric = {noise.eps_geometric!r}, got {eps!r}.")
    return _counter_delta(eps, noise, _MOST_TERMS)


def _counter_delta(eps: float, noise: CounterNoise, most_terms: int) -> float:
    """Return delta by the sum of the module's description, up to its first term that is not positive."""
    stop = -math.expm1(-noise.eps_geometric)  # 1 - q
    if noise.shape == 0:
        return stop
    beyond = min(eps - noise.eps_geometric, _MOST_EXPONENT)
    # Z3 itself grows by less than e^beyond from here on; K follows soon.
    turn = max(noise.shape - 1, 0.0) / math.expm1(min(noise.decay + beyond, _MOST_EXPONENT))
    terms: float = max(_FIRST_TERMS, 1.05 * turn)
    while terms <= most_terms:
        log_scale, law = pair_law(noise, int(terms))
        k = with_geometric(law, math.exp(-2 * noise.eps_geometric))
        up = k.copy()
        up[1:] -= math.exp(beyond) * k[:-1]
        if up[-1] <= 0:
            total = float(np.sum(np.maximum(up, 0.0)))
            return raised(math.exp(log_scale + math.log(total) + math.log(stop))) if total > 0 else 0.0
        terms *= 1.5
    raise Infeasible(f"The noise is too wide: its privacy is a sum of more than {most_terms} terms.")


def with_geometric(law: NDArray[np.float64], ratio: float) -> NDArray[np.float64]:
    """Return ``k[j] = law[j] + ratio k[j - 1]``, without the slow import of SciPy's filter."""
    sums, last = np.empty_like(law), 0.0
    for begin in range(0, law.size, _BLOCK):
        part = law[begin : begin + _BLOCK].tolist()
        part[0] += ratio * last
        part = list(accumulate(part, lambda before, mass: mass + ratio * before))
        sums[begin : begin + _BLOCK], last = part, part[-1]
    return sums


def pair_law(noise: CounterNoise, terms: int) -> tuple[float, NDArray[np.float64]]:
    """Return the log of a scale, and ``Pr[Z3 = 0..terms-1]`` divided by this scale, for a shape > 0."""
    z = np.arange(2, terms, dtype=np.float64)
    steps = np.log1p((noise.shape - 1) / z) - noise.decay  # log of Pr[z] / Pr[z - 1]
    log_law = np.cumsum(np.concatenate(([0.0, math.log(noise.shape) - noise.decay], steps)))
    top = float(np.max(log_law))
    return top + noise.shape * float(log1mexp(noise.decay)), np.exp(log_law - top)


def shared_counter(singles: NDArray[np.float64], pairs: NDArray[np.float64], omitted: float) -> MovingCount:
    """Return the laws of a counter (U+, U-) with and without the user's value. Z1 and Z2 have one law and Z3 another;
    both laws are arbitrary.

    `singles` (Z1, Z2) and `pairs` (Z3) are probabilities of 0, 1, ..; they omit the mass `omitted` of Z1, Z2 and Z3
    together. The law of (U+, U-) depends on ``abs(U+ - U-)`` and on ``min(U+, U-)``.
    """
    last, rest = singles.size - 1, singles.size + pairs.size
    if 2 * (last + 1) * rest > _MOST_CELLS:
        raise Infeasible(f"The noise is too wide: a counter has more than {_MOST_CELLS} outcomes.")
    law = np.zeros((last + 3, rest))  # by the difference; none is larger
    for apart in range(last + 1):
        both = np.convolve(pairs, singles[: last + 1 - apart] * singles[apart:])
        law[apart, : both.size] = both
    excess_law = law[: last + 2]  # U+ - U- = 0, 1, ..
    deficit_law = law[1 : last + 2]  # U- - U+ = 1, 2, ..
    present_equal = np.concatenate(([0.0], law[1, :-1]))
    present_less = np.pad(law[2 : last + 3, :-1], ((0, 0), (1, 0)))
    absent = np.concatenate((excess_law.ravel(), deficit_law.ravel()))
    present = np.concatenate((present_equal, law[: last + 1].ravel(), present_less.ravel()))
    return MovingCount(present, absent, omitted)


def correlated_noise(
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(CORRELATED_ACCOUNTINGS)] = "exact",
    share: OpenUnit = 0.1,
    constants: Annotated[str, one_of(CORRELATED_CONSTANTS)] = "corrected",
) -> CounterNoise:
    """Return the noise of every counter for an (eps, delta)-private histogram.

    Source: Ghazi, Kumar, Manurangsi and Pagh, arXiv 2106.04247, Theorem 13 for Z3; ``exact``: this project.

    Parameters
    ----------
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        See the module's description.
    share : float
        g, in (0, 1), share of eps for Z3.
    constants : {"corrected", "conference"}
        Constants of the printed accounting.

    Returns
    -------
    CounterNoise
        ``printed``: with the ``corrected`` constants, an upper bound on the least noise. ``exact``: the smallest r that
        meets the budget, rounded up by at most 1e-10 relative, for a p within 1e-3 relative of the best; ``r = 0`` if
        ``delta / 2 >= 1 - e^-eps_1``.

    Raises
    ------
    Infeasible
        Exact: if eps or its share for Z3 is so small that the sum is too long.

    Examples
    --------
    Expected messages per counter, by the closed forms and by the exact accounting:

    >>> from shuffledp.accounting import correlated_noise
    >>> for accounting in ("printed", "exact"):
    ...     print(round(correlated_noise(1.0, 1e-6, accounting=accounting).messages))
    385755
    1189
    """
    if accounting == "exact":
        return _exact_noise(eps, delta, share)
    eps_one, eps_two = (1 - share) * eps / 2, min(0.5, share * eps / 2)
    log_inverse = math.log(2 / delta) + 2 * eps_one + math.log(2 + math.exp(-eps_one))
    steps = math.ceil(log_inverse / eps_one)
    if constants == "corrected":
        return CounterNoise(eps_one, 3 * (1 + log_inverse), 0.2 * eps_two / steps)
    return CounterNoise(eps_one, 50 * math.exp(eps_two / steps) * log_inverse, 0.1 * eps_two / steps)


@remember(4096)
def _exact_noise(eps: float, delta: float, share: float) -> CounterNoise:
    """Return the noise with the fewest messages, by golden section over log(-ln p) with the smallest r for each p."""
    eps_one = (1 - share) * eps / 2
    if delta / 2 >= -math.expm1(-eps_one):
        return CounterNoise(eps_one, 0.0, _MOST_DECAY)
    noises: dict[float, CounterNoise | None] = {}
    guess = math.log(2 / delta)

    def pairs(log_decay: float) -> float:
        nonlocal guess
        if log_decay not in noises:
            noises[log_decay] = _smallest_noise(eps / 2, delta / 2, eps_one, math.exp(log_decay), guess)
        noise = noises[log_decay]
        guess = noise.shape if noise else guess
        return noise.pairs if noise else math.inf

    # The number of pairs falls, then grows in p: bracket its minimum, then shrink the bracket.
    width, last = 0.5, math.log(_MOST_DECAY)
    middle = min(math.log(share) + math.log(eps / 4), last)
    while pairs(middle) == math.inf and middle < last:
        middle = min(middle + width, last)
    while pairs(middle - width) < pairs(middle):
        middle -= width
    while middle < last and pairs(min(middle + width, last)) < pairs(middle):
        middle = min(middle + width, last)
    low, high = middle - width, min(middle + width, last)
    golden_section(pairs, low, high, _RATIO_TOL)
    sufficient = [noise for noise in noises.values() if noise]
    if not sufficient:
        raise Infeasible(
            f"The noise is too wide: with {share!r} of eps = {eps!r} for the pairs, its privacy at delta = {delta!r} "
            f"is a sum of more than {_MOST_CALIBRATED} terms."
        )
    return min(sufficient, key=lambda noise: noise.pairs)


def _smallest_noise(
    eps: float, delta: float, eps_one: float, decay: float, guess: float
) -> CounterNoise | None:
    """Return the noise with the smallest r that meets the budget, or None if this noise is too wide. Delta falls as r
    grows, because adding pairs is post-processing. For r = 0, delta is ``1 - e^-eps_1``, which is above `delta` here.
    """

    def noise(minus_log_shape: float) -> CounterNoise:
        return CounterNoise(eps_one, math.exp(min(-minus_log_shape, _MOST_EXPONENT)), decay)

    def excess(minus_log_shape: float) -> float:
        return log_ratio(_counter_delta(eps, noise(minus_log_shape), _MOST_CALIBRATED), delta)

    # The first term alone is (1 - q) (1 - p)^r, which bounds r from below.
    steps = log_ratio(-math.expm1(-eps_one), delta)
    least = steps / -float(log1mexp(decay))
    most = -math.log(least) + 2 * _XTOL if least > 0 else math.inf
    try:
        return noise(
            root_below(excess, min(-math.log(guess), most - 0.1), -math.inf, most, xtol=_XTOL, slope=steps)
        )
    except Infeasible:
        return None
