r"""Histograms by correlated noise: a counter per value with noise that cancels, and noise that hides.

For every value j the counter's messages are +1 and -1: ``U+ = n_j + Z1 + Z3`` of the former, ``U- = Z2 + Z3`` of the
latter, in total over all users. Z1 and Z2 are geometric with ratio ``q = e^(-eps_1)``, Z3 is negative binomial with
shape r and ratio p, ``Pr[Z3 = z] = C(z + r - 1, z) (1 - p)^r p^z``. The estimate ``U+ - U-`` carries the noise Z1 - Z2,
a discrete Laplace variable; Z3 hides how it came about. A budget (eps, delta) gives each of the two counters that
change (eps/2, delta/2), of which ``eps_1 = (1 - g) eps / 2`` and ``eps_2 = min(1/2, g eps / 2)``; g is the *share* of
Z3. Two accountings:

``printed``
    The closed forms of Ghazi, Kumar, Manurangsi and Pagh (arXiv 2106.04247), with ``delta_2 = delta / (2 (e^eps_1 + 2
    e^(2 eps_1)))`` and ``Delta = ceil(ln(1/delta_2) / eps_1)``: *corrected* ``p = e^(-0.2 eps_2 / Delta)``,
    ``r = 3 (1 + ln(1/delta_2))``; *conference* ``p = e^(-0.1 eps_2 / Delta)``,
    ``r = 50 e^(eps_2 / Delta) ln(1/delta_2)``, which the authors declare erroneous.
``exact``
    The divergence itself, and the r and p with the fewest expected messages under it.

With D the law of Z3 and ``K(w) = D(w) + q^2 K(w - 1)``, the law of (U+, U-) is ``(1 - q)^2 q^|u - v| K(min(u, v))``,
and that of a counter with one more user is shifted in u. Hence, for ``eps >= eps_1``,

.. math:: \delta = (1 - q) \max\Bigl\{ \sum_w [K(w) - e^\epsilon q K(w - 1)]^+,
          \sum_w [q K(w - 1) - e^\epsilon K(w)]^+ \Bigr\}.

Conventions: eps in nats; replacement neighbours for the histogram, one user more or less for a counter; the adversary
is the analyzer, who knows the inputs of all others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shuffledp.accounting.clones import log_ratio
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.remember import remember
from shuffledp.numerics.checks import (
    check_choice,
    check_nonnegative,
    check_open_unit,
    check_positive,
)
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from shuffledp.accounting.profiles import Kind, View

CORRELATED_ACCOUNTINGS = ("printed", "exact")
CORRELATED_CONSTANTS = ("corrected", "conference")

_REMEMBERED = 4096
_XTOL = 1e-10
#: Relative accuracy of the ratio with the fewest messages; the number of messages is flat there.
_RATIO_TOL = 1e-3
#: Terms of the sum that fit into memory, and of the first attempt.
_MOST_TERMS = 2**25
_FIRST_TERMS = 1024
_FLOOR = 1e-320
_MOST_EPS = 700.0
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class CounterNoise:
    """The noise of one counter.

    Parameters
    ----------
    eps_geometric : float
        eps_1, nats, > 0: Z1 and Z2 have the ratio ``q = e^-eps_1``.
    shape : float
        r > 0 of Z3, any real number.
    decay : float
        ``-ln p`` of Z3, > 0.
    """

    eps_geometric: float
    shape: float
    decay: float

    @property
    def pairs(self) -> float:
        """Expected Z3, ``r p / (1 - p)``; each unit costs two messages."""
        return self.shape / math.expm1(self.decay)

    @property
    def singles(self) -> float:
        """Expected Z1 + Z2, ``2 q / (1 - q)``."""
        return 2 / math.expm1(self.eps_geometric)

    @property
    def messages(self) -> float:
        """Expected messages of one counter, the users' own ones not counted."""
        return self.singles + 2 * self.pairs

    @property
    def variance(self) -> float:
        """Variance of a count, ``2 q / (1 - q)^2``, that of the discrete Laplace distribution."""
        return 0.5 / math.sinh(self.eps_geometric / 2) ** 2


def counter_delta(eps: float, noise: CounterNoise) -> float:
    """Return the exact delta of one counter, for one user more or less.

    Parameters
    ----------
    eps : float
        Nats, >= `noise.eps_geometric`.
    noise : CounterNoise

    Returns
    -------
    float
        In [0, 1], the worse of both directions; about 1e-10 relative too large at most, except below 1e-300, where
        floats end.

    Raises
    ------
    ValueError
        If eps is below ``eps_1``.
    Infeasible
        If the sum does not fit into memory.
    """
    eps = check_nonnegative("eps", eps)
    for name in ("eps_geometric", "shape", "decay"):
        check_positive(name, getattr(noise, name))
    if eps < noise.eps_geometric:
        raise ValueError(f"eps must be a number >= eps_geometric = {noise.eps_geometric!r}, got {eps!r}.")
    return _counter_delta(min(eps, _MOST_EPS), noise)


def _counter_delta(eps: float, noise: CounterNoise) -> float:
    from scipy.signal import lfilter  # slow to import, and seldom needed

    # D is log-concave for r >= 1, and so is K, a convolution of D and a geometric sequence. Then K(w) / K(w - 1) falls
    # from infinity to max(p, q^2): the first sum ends at the first term that is not positive, and the second is empty
    # as long as p >= q e^-eps. Otherwise everything up to a negligible rest is summed.
    early = noise.shape >= 1 and noise.decay <= noise.eps_geometric + eps
    terms = _FIRST_TERMS
    while True:
        log_scale, law = _pair_law(noise, terms)
        q = math.exp(-noise.eps_geometric)
        k = np.asarray(lfilter([1.0], [1.0, -q * q], law))
        before = np.concatenate(([0.0], k[:-1]))
        up = k - math.exp(eps - noise.eps_geometric) * before
        if early:
            if up[-1] <= 0:
                rest = -math.inf
                break
        else:
            rest = _log_rest(noise, terms, log_scale + math.log(law[-1]) if law[-1] > 0 else -math.inf)
            if rest <= max(-60.0, math.log(_FLOOR)) and terms > noise.pairs:
                break
        terms *= 2
        if terms > _MOST_TERMS:
            raise Infeasible("The noise is too wide for an exact sum.")
    down = q * before - math.exp(eps) * k
    largest = max(float(np.sum(np.maximum(up, 0.0))), float(np.sum(np.maximum(down, 0.0))))
    value = math.exp(log_scale + math.log(largest * (1 - q))) if largest > 0 else 0.0
    return min(value + math.exp(rest), 1.0)


def _pair_law(noise: CounterNoise, terms: int) -> tuple[float, NDArray[np.float64]]:
    """Return the log of a scale, and Pr[Z3 = 0..terms-1] over that scale."""
    z = np.arange(1, terms, dtype=np.float64)
    steps = np.log1p((noise.shape - 1) / z) - noise.decay  # log of Pr[z] / Pr[z - 1]
    log_law = np.concatenate(([0.0], np.cumsum(steps)))
    top = float(np.max(log_law))
    return top + noise.shape * math.log(-math.expm1(-noise.decay)), np.exp(log_law - top)


def _log_rest(noise: CounterNoise, terms: int, log_last: float) -> float:
    """Return a bound on the log of Pr[Z3 >= terms]: beyond the last term the ratios fall, or stay below p."""
    log_ratio_next = math.log1p(max(noise.shape - 1, 0.0) / terms) - noise.decay
    if log_ratio_next >= 0:
        return math.inf
    return log_last + log_ratio_next - math.log(-math.expm1(log_ratio_next))


def correlated_noise(
    eps: float,
    delta: float,
    *,
    accounting: str,
    share: float = 0.1,
    constants: str = "corrected",
) -> CounterNoise:
    """Return the noise of every counter for an (eps, delta)-private histogram.

    Parameters
    ----------
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        See the module's description.
    share : float
        g, in (0, 1), the part of eps that pays for Z3.
    constants : {"corrected", "conference"}
        Of the printed accounting.

    Returns
    -------
    CounterNoise
        Exact: for the best p, within 1e-3 relative, the smallest sufficient r.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    eps = check_positive("eps", eps)
    delta = check_open_unit("delta", delta)
    check_choice("accounting", accounting, CORRELATED_ACCOUNTINGS)
    share = check_open_unit("share", share)
    check_choice("constants", constants, CORRELATED_CONSTANTS)
    if accounting == "exact":
        return _exact_noise(eps, delta, share)
    eps_one, eps_two = (1 - share) * eps / 2, min(0.5, share * eps / 2)
    log_inverse = math.log(2 / delta) + eps_one + math.log1p(2 * math.exp(eps_one))
    steps = math.ceil(log_inverse / eps_one)
    if constants == "corrected":
        return CounterNoise(eps_one, 3 * (1 + log_inverse), 0.2 * eps_two / steps)
    return CounterNoise(eps_one, 50 * math.exp(eps_two / steps) * log_inverse, 0.1 * eps_two / steps)


@remember(_REMEMBERED)
def _exact_noise(eps: float, delta: float, share: float) -> CounterNoise:
    """Golden section over log(-ln p), the smallest r for each."""
    eps_one = (1 - share) * eps / 2
    found: dict[float, CounterNoise] = {}
    shape = math.log(2 / delta)

    def pairs(log_decay: float) -> float:
        nonlocal shape
        if log_decay not in found:
            shape = _smallest_shape(eps / 2, delta / 2, eps_one, math.exp(log_decay), shape)
            found[log_decay] = CounterNoise(eps_one, shape, math.exp(log_decay))
        return found[log_decay].pairs

    # The number of pairs falls, then grows in p: bracket its minimum, then shrink the bracket.
    middle = math.log(share * eps / 4)
    width = 0.5
    while pairs(middle - width) < pairs(middle):
        middle -= width
    while pairs(middle + width) < pairs(middle):
        middle += width
    low, high = middle - width, middle + width
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    while high - low > _RATIO_TOL:
        if pairs(left) <= pairs(right):
            high, right = right, left
            left = high - _GOLDEN * (high - low)
        else:
            low, left = left, right
            right = low + _GOLDEN * (high - low)
    return min(found.values(), key=lambda noise: noise.pairs)


def _smallest_shape(eps: float, delta: float, eps_one: float, decay: float, guess: float) -> float:
    """Return the smallest sufficient r; delta falls with r, as adding pairs is post-processing."""

    def excess(minus_log_shape: float) -> float:
        noise = CounterNoise(eps_one, math.exp(-minus_log_shape), decay)
        return log_ratio(_counter_delta(eps, noise), delta)

    return math.exp(-root_below(excess, -math.log(guess), -math.inf, math.inf, xtol=_XTOL))


@dataclass(frozen=True)
class CountersProfile:
    """Privacy profile of a histogram: both counters that change lose what one loses at eps/2.

    Parameters
    ----------
    noise : CounterNoise
        Of every counter.
    """

    noise: CounterNoise
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "exact counter with correlated noise, twice"

    def delta(self, eps: ArrayLike) -> NDArray[np.float64]:
        """Return delta for each eps (nats, >= 0), shape of `eps`; 1 below ``2 eps_1``, where it is not computed."""
        eps_ = np.asarray(eps, np.float64)
        flat = [self._at(float(e)) for e in eps_.ravel()]
        return np.array(flat).reshape(eps_.shape)

    def _at(self, eps: float) -> float:
        if eps < 2 * self.noise.eps_geometric:
            return 1.0
        return min(2 * counter_delta(eps / 2, self.noise), 1.0)
