"""Correlated noise: a counter per value with noise messages +1 and -1 that mostly cancel.

`shuffledp.accounting.baselines.correlated_counts` has the law of the noise, the ``printed`` accounting, and the
accounting of each of the two counters that change at (eps/2, delta/2). This module has the divergence of both counters
together at (eps, delta). With ``q = e^-eps_1``, D the law of Z3 and ``K(w) = D(w) + q^2 K(w - 1)``, the messages (u, v)
of one counter, u times +1 and v times -1, depend on a user's value only through these outcomes, with probabilities
without (f_0) and with (f_1) the user:

- ``u > v``: ``f_0 = q / (1 + q)``, ``f_1 = f_0 / q``;
- ``u <= v`` and ``u = w``: ``f_0 = (1 - q) K(w)``, ``f_1 = (1 - q) q K(w - 1)``.

This is a count with two laws, and `shuffledp.accounting.general.count_pairs` has the divergence of two such counts.
Without Z3 it is ``1 - q``, so that a larger delta needs no pairs. Derived for this project.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all others.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Self

import numpy as np

from shuffledp.accounting.baselines.correlated_counts import (
    CORRELATED_CONSTANTS,
    WITHDRAWN_CONSTANTS,
    CounterNoise,
    both_counters_delta,
    correlated_noise,
    pair_law,
    with_geometric,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.count_pairs import MovingCount, pair_delta, settled_count_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import EXACT, UPPER, Standing, under
from shuffledp.numerics.argument_ranges import Delta, Eps, OpenUnit, one_of
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below, walk_to_minimum
from shuffledp.protocols._noise_shares import NegativeBinomialShare
from shuffledp.protocols.frequency._counters import NoisyCounters
from shuffledp.protocols.request import Request

_XTOL = 1e-10
#: Largest number of outcomes of one counter in a calibration.
_MOST_TERMS = 2**20
#: Largest eps at which powers of e do not overflow; a smaller eps is on the safe side.
_MOST_EPS = 300.0
#: Steps of the search for the log of the shape, the least gain for a further step, and the range.
_STEP, _GAIN, _SHAPES = 0.5, 1e-3, (-5.0, 9.0)


def counter_pair(noise: CounterNoise, tail: float) -> MovingCount:
    """Return the laws of a counter with and without the user's value; each omits a mass of at most `tail`."""
    ratio = math.exp(-noise.eps_geometric)
    stop = -math.expm1(-noise.eps_geometric)
    square = ratio * ratio
    spread = math.sqrt(noise.pairs / max(-math.expm1(-noise.decay), 1e-300))
    reach = -math.log(tail)
    terms = 64 + noise.pairs + math.sqrt(2 * reach) * spread
    terms += reach / min(noise.decay, 2 * noise.eps_geometric)
    while terms <= _MOST_TERMS:
        if noise.shape == 0:
            law = np.concatenate(([1.0], np.zeros(int(terms) - 1)))
        else:
            log_scale, law = pair_law(noise, int(terms))
            law = math.exp(log_scale) * law
        k = with_geometric(law, square)
        w = np.arange(1, law.size)
        # Beyond w the law of Z3 falls at least as fast as a geometric one.
        steps = np.maximum(math.exp(-noise.decay) * (w + max(noise.shape, 1.0)) / (w + 1), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):  # steps of 1, after which nothing is known
            beyond = np.where(steps < 1, law[1:] * steps / (1 - np.minimum(steps, 1.0)), math.inf)
        left_out = stop * ((beyond + square * k[1:]) / -math.expm1(-2 * noise.eps_geometric) + k[1:])
        enough = np.flatnonzero(left_out <= tail)
        if enough.size:
            size = int(enough[0]) + 2
            absent = np.concatenate(([ratio / (1 + ratio)], stop * k[:size]))
            present = np.concatenate(([1 / (1 + ratio), 0.0], stop * ratio * k[: size - 1]))
            return MovingCount(present, absent, float(left_out[enough[0]]))
        terms *= 1.5
    raise Infeasible(f"The noise is too wide: a counter has more than {_MOST_TERMS} outcomes.")


def correlated_pair_noise(eps: Eps, delta: Delta, *, share: OpenUnit = 0.1) -> CounterNoise:
    """Return the noise of every counter for an (eps, delta)-private histogram, from both changed counters together.

    Parameters
    ----------
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    share : float
        g, in (0, 1), the part of eps for Z3.

    Returns
    -------
    CounterNoise
        Noise with the error of :func:`~shuffledp.accounting.correlated_noise` and about half of its messages: the
        smallest sufficient p, rounded up by at most 1e-10 relative in ``-ln p``, for a shape r whose expected messages
        are within about 1 % of the fewest. ``r = 0`` if ``delta >= 1 - e^-eps_1``, where no pairs are needed.

    Raises
    ------
    Infeasible
        If the noise is too wide to compute its privacy, for a small part of a small eps.

    Notes
    -----
    Derived for this project, see the module's description; the protocol is from arXiv 2106.04247.

    Examples
    --------
    Expected messages per counter, for each counter with half of the budget, and for both counters together:

    >>> from shuffledp.accounting import correlated_noise
    >>> from shuffledp.protocols.calibrations import correlated_pair_noise
    >>> print(round(correlated_noise(1.0, 1e-6).messages), round(correlated_pair_noise(1.0, 1e-6).messages))
    1189 554
    """
    return _best_noise(min(eps, _MOST_EPS), delta, share)


@remember(1024)
def _best_noise(eps: float, delta: float, share: float) -> CounterNoise:
    """Return the noise with the fewest pairs: steps in the log of the shape, then a parabola near the minimum."""
    eps_one = (1 - share) * eps / 2
    if delta >= -math.expm1(-eps_one):
        return CounterNoise(eps_one, 0.0, 1.0)
    noises: dict[float, CounterNoise | None] = {}
    decay = share * eps / 2

    def pairs(log_shape: float) -> float:
        nonlocal decay
        if log_shape not in noises:
            noises[log_shape] = _least_noise(eps, delta, eps_one, math.exp(log_shape), decay)
        noise = noises[log_shape]
        decay = noise.decay if noise else decay
        return noise.pairs if noise else math.inf

    low, high = _SHAPES
    middle = min(max(math.log(1.3 * math.log(2 / delta)), low), high)
    while pairs(middle) == math.inf and middle < high:
        middle += _STEP
    walk_to_minimum(pairs, middle, low, high, step=_STEP, gain=_GAIN)
    sufficient = [noise for noise in noises.values() if noise]
    if not sufficient:
        raise Infeasible(
            f"The noise is too wide: with {share!r} of eps = {eps!r} for the pairs, a counter has more than "
            f"{_MOST_TERMS} outcomes at delta = {delta!r}."
        )
    return min(sufficient, key=lambda noise: noise.pairs)


def _least_noise(eps: float, delta: float, eps_one: float, shape: float, guess: float) -> CounterNoise | None:
    """Return the noise with the smallest sufficient p, or None if it is too wide.

    Delta falls as p grows: Z3 is compound Poisson with jumps of size j at the rates ``r p^j / j``, which grow with p.
    """
    tail = negligible(delta)

    def excess(log_decay: float) -> float:
        count = counter_pair(CounterNoise(eps_one, shape, math.exp(log_decay)), tail)
        return log_ratio(pair_delta(count, count, eps), delta)

    low = math.log(guess)
    try:
        while excess(low) > 0:
            low -= math.log(2)
        root = root_below(excess, low + 0.1, low, math.inf, xtol=_XTOL)
    except Infeasible:
        return None
    return CounterNoise(eps_one, shape, math.exp(root))


@dataclass(frozen=True)
class CorrelatedNoise(NoisyCounters):
    """Histogram of counters with correlated noise; a message is a value and a sign.

    ``eps_geometric`` is eps_1 of the noise that remains, in nats; ``shape`` r and ``decay``, ``-ln p``, are of the
    noise that cancels. ``together`` is True if one accounting covers both counters that change.
    """

    eps_geometric: float
    shape: float
    decay: float
    constants: str = "corrected"
    together: bool = True

    name = "correlated_noise"
    task_kind = "frequency"
    label = "correlated noise"
    source = "Ghazi, Kumar, Manurangsi and Pagh, arXiv 2106.04247; as a baseline in arXiv 2009.13738"
    guarantees = under(printed=UPPER, exact=EXACT)
    reported = ("n_users", "domain_size", "eps_geometric", "shape", "decay")

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        share: OpenUnit = 0.1,
        constants: Annotated[str, one_of(CORRELATED_CONSTANTS)] = "corrected",
        together: bool = True,
    ) -> Self:
        """Find the noise of every counter, see :func:`correlated_pair_noise` for ``share``.

        ``constants`` belong to the printed accounting. ``together=False`` gives each counter (eps/2, delta/2), as
        printed, which takes about twice as many messages for the same error. Raises `Infeasible` if the noise is too
        wide.
        """
        eps, delta, accounting = request.eps, request.delta, request.accounting
        both = accounting == "exact" and bool(together)
        noise = (
            correlated_pair_noise(eps, delta, share=share)
            if both
            else correlated_noise(eps, delta, accounting=accounting, share=share, constants=constants)
        )
        used = constants if accounting == "printed" else "corrected"
        return cls(request.n, request.k, noise.eps_geometric, noise.shape, noise.decay, used, both)

    @property
    def standing(self) -> Standing:
        """Label of the guarantee: ``upper`` for one counter at a time, ``unproven`` for withdrawn constants."""
        if self.constants == "conference":
            return WITHDRAWN_CONSTANTS
        return super().standing if self.together else UPPER

    @property
    def noise(self) -> CounterNoise:
        """Noise of one counter."""
        return CounterNoise(self.eps_geometric, self.shape, self.decay)

    @property
    def remaining_eps(self) -> float:
        """Parameter eps_1 in nats."""
        return self.eps_geometric

    @property
    def pairs(self) -> NegativeBinomialShare:
        """Law of the number Z3 of pairs."""
        return NegativeBinomialShare(self.shape, -math.expm1(-self.decay))

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return the profile of the two counters that change; None if fewer users than planned send noise."""
        if users < self.n_users:
            return None
        if not self.together:
            return Profile(
                lambda eps: both_counters_delta(eps, self.noise), "exact counter with correlated noise, twice"
            )
        return Profile(
            partial(settled_count_delta, partial(counter_pair, self.noise)),
            "the two counters that change, each with correlated noise",
            "exact",
        )
