"""Privacy amplification by the variation-ratio reduction, as stated and in a form that is proven in general.

User 1's randomizer has likelihood ratios of at most p between any two inputs and total variation at most beta. The
likelihood ratio between user 1's message and any other user's message is at most q. Then every other message hides
user 1's message with probability ``r = beta p / ((p - 1) q)`` for each of user 1's two inputs. The reduction is the
pair of counts of :mod:`shuffledp.accounting.general.labeled_counts` with ``own = beta p / (p - 1)``,
``other = beta / (p - 1)`` and ``silent = 1 - own - other``.

By the theorem, the divergence of this pair is an upper bound for the shuffled messages. The bound holds if ``silent``
is 0, that is ``beta = (p - 1) / (p + 1)``. Otherwise user 1's randomizer has a residual component that depends on
neither input. The reduction neglects that the other users' residuals may differ, so that the shuffled messages may
reveal whether user 1's message came from the residual. With 5-ary randomized response at 1 nat and one other user, the
exact delta at 0.8 nats is 0.02968, and the pair's delta is 0.01092 (erratum SEG-6.2).

In the proven replacement of the theorem (``sound=True``), the adversary also learns whether user 1's message came from
the residual. If it did not, user 1's randomizer has the largest beta for its p, and every other message hides user 1's
message with the same r:

    delta <= beta (p + 1) / (p - 1) times the delta of the pair for p, (p - 1) / (p + 1) and the same r.

Conventions: eps in nats; replacement neighbors; `candidates` is the number of other messages. Source: arXiv 2407.19639,
Theorem 1, with ``candidates = n - 1``; Theorem 2 for a random number of messages, each sent with probability gamma:
there q is replaced by q / gamma.
"""

from __future__ import annotations

import math
from functools import partial

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.labeled_counts import Labels, binomial_blanket, pair_delta, settled_delta
from shuffledp.numerics.argument_ranges import Count, Delta, EpsAt, LocalEps, Positive
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below

_REMEMBERED = 4096
_XTOL = 1e-11
#: Below this the residual is rounding of a beta that is meant to be the largest one.
_ROUNDING = 1e-12
#: Largest eps that is searched; e^eps is close to the largest float.
_MOST_EPS = 700.0


def variation_ratio_delta(
    eps: EpsAt, p: LocalEps, beta: Positive, q: Positive, candidates: Count, *, sound: bool | None = None
) -> float:
    """Return delta of the variation-ratio reduction.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    p : float
        Largest likelihood ratio between two inputs of user 1, > 1; may be ``inf``.
    beta : float
        Total variation, in (0, (p - 1) / (p + 1)]; up to 1 for infinite p.
    q : float
        Largest likelihood ratio between user 1's message and another message, >= 1.
    candidates : int
        Number of other messages that may hide user 1's message, >= 0.
    sound : bool, optional
        False: the theorem as stated. True: the proven replacement, whose delta is never smaller. Without a residual
        component (beta at its largest) both are equal. With a residual component the theorem is not valid in general,
        and there is no default: pass False to reproduce published numbers, or if all users' residuals have the same
        law.

    Returns
    -------
    float
        In [0, beta], the same in both directions; rounded up by at most 1e-10 relative.

    Raises
    ------
    Infeasible
        If there is a residual component and `sound` is omitted, if ``2 r > 1``, which is impossible for a randomizer,
        or if the sum over the messages does not fit into memory.

    Notes
    -----
    Source: arXiv 2407.19639, Theorem 1, for ``sound=False``; the module's description derives the replacement.
    ``sound=True`` is an upper bound for every randomizer with these p, beta and q, as is ``sound=False`` without a
    residual component. With a residual component, the exact delta can be above it (erratum SEG-6.2).

    Examples
    --------
    >>> import math
    >>> from shuffledp.accounting import variation_ratio_delta
    >>> p = math.exp(1.0)
    >>> delta = variation_ratio_delta(0.05, p, (p - 1) / (p + 1), p, candidates=9999)
    >>> f"{delta:.4g}"
    '1.068e-07'
    """
    labels, rate, factor = _reduced(p, beta, q, sound)
    return factor * settled_delta(partial(binomial_blanket, candidates, rate), labels, eps)


def variation_ratio_epsilon(
    delta: Delta, p: LocalEps, beta: Positive, q: Positive, candidates: Count, *, sound: bool | None = None
) -> float:
    """Return the smallest eps at which :func:`variation_ratio_delta` is at most delta.

    Source as in :func:`variation_ratio_delta`. An upper bound if that delta is an upper bound.

    Parameters
    ----------
    delta : float
        In (0, 1).
    p, beta, q, candidates, sound
        As in :func:`variation_ratio_delta`.

    Returns
    -------
    float
        Nats, in [0, ln p]; rounded up by at most 1e-11 relative (or to 1e-12, if below).

    Raises
    ------
    Infeasible
        As in :func:`variation_ratio_delta`, and for infinite p if no finite eps has this delta.
    """
    labels, rate, factor = _reduced(p, beta, q, sound)
    return _epsilon(delta / factor, labels, rate, candidates)


@remember(_REMEMBERED)
def _epsilon(delta: float, labels: Labels, rate: float, candidates: int) -> float:
    blanket = binomial_blanket(candidates, rate, negligible(delta))
    if pair_delta(blanket, labels, 0.0) <= delta:
        return 0.0

    def excess(minus_log_eps: float) -> float:  # increasing, as delta falls with eps
        return log_ratio(pair_delta(blanket, labels, math.exp(-minus_log_eps)), delta)

    most = math.log(labels.own / labels.other) if labels.other > 0 else _MOST_EPS
    if labels.other == 0 and pair_delta(blanket, labels, most) > delta:
        raise Infeasible(
            f"With {candidates} candidates, delta exceeds {delta!r} at every finite eps: too often none of them "
            "equals the other message."
        )
    low, high = math.log(1e-12), math.log(most)
    if most <= 1e-12 or excess(-low) <= 0:
        return 1e-12
    return min(math.exp(-root_below(excess, -math.log(min(0.5, most)), -high, -low, xtol=_XTOL)), most)


def _reduced(p: float, beta: float, q: float, sound: bool | None) -> tuple[Labels, float, float]:
    """Return the labels of the pair, r, and the factor of the pair's delta."""
    if p <= 1:
        raise ValueError(f"p must be above 1, got {p!r}.")
    # p / (p - 1), 1 / (p - 1) and (p - 1) / (p + 1), also for infinite p
    larger, smaller, most = (
        (1.0, 0.0, 1.0) if p == math.inf else (p / (p - 1), 1 / (p - 1), (p - 1) / (p + 1))
    )
    if beta > most * (1 + _ROUNDING):
        raise ValueError(f"beta must be in (0, (p - 1) / (p + 1)] = (0, {most:.6g}], got {beta!r}.")
    if q < 1:
        raise ValueError(f"q must be at least 1, got {q!r}.")
    rate = beta * larger / q
    if 2 * rate > 1 + _ROUNDING:
        raise Infeasible(
            f"Another message cannot hide two inputs with probability {rate:.6g} each; q is too small."
        )
    rate = min(rate, 0.5)
    whole = Labels(most * larger, most * smaller, 0.0)
    silent = 1 - beta / most
    if silent <= _ROUNDING:
        return whole, rate, 1.0
    if sound is None:
        raise Infeasible(
            f"The variation-ratio theorem is not valid in general where the randomizer has a residual component (here "
            f"of probability {silent:.4g}). Choose sound=True for a proven bound or sound=False for the theorem."
        )
    if sound:
        return whole, rate, beta / most
    return Labels(beta * larger, beta * smaller, silent), rate, 1.0
