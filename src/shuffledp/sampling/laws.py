"""Exact samplers of integer laws, by rejection with coins of rational or exponential probability.

No number is rounded and no series is truncated, so that the laws are exact if the bits are uniform. The sampler of
clusters, whose rates are irrational, describes its replacement for them.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt
from numbers import Rational

from shuffledp.sampling.bits import SYSTEM_BITS, Source
from shuffledp.sampling.coins import bernoulli, positive_rational, uniform_below
from shuffledp.sampling.rationals import Exponential, Probability, rational


def geometric(ratio: Probability, source: Source = SYSTEM_BITS) -> int:
    """Draw 0, 1, 2, .. with probabilities ``(1 - ratio) ratio^j``: heads before the first tails.

    Parameters
    ----------
    ratio : rational or Exponential
        In [0, 1) or ``exp(-x)`` with x > 0.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law. At most ``2 / (1 - ratio)`` bits are expected for a rational ratio; for ``exp(-s/t)`` at most
        ``3.2 L + 15``, L being the bits of t.

    Raises
    ------
    ValueError
        If the ratio is not rational, or outside of its range.

    Notes
    -----
    For ``exp(-s/t)``: U uniform below t is accepted with probability ``exp(-U/t)``, V counts coins ``exp(-1)``, and the
    result is ``(U + t V) / s`` rounded down (Canonne, Kamath and Steinke 2020, Algorithm 2).
    """
    checked = _ratio("geometric: ratio", ratio)
    if not isinstance(checked, Exponential):
        return _heads_in_a_row(checked, source)
    speed, length = checked.rate.numerator, checked.rate.denominator
    while True:
        part = uniform_below(length, source)
        if bernoulli(Exponential(Fraction(part, length)), source):
            break
    return (part + length * _heads_in_a_row(Exponential(1), source)) // speed


def discrete_laplace(scale: Rational | int, source: Source = SYSTEM_BITS) -> int:
    """Draw integers with probabilities proportional to ``exp(-|y| / scale)``.

    Parameters
    ----------
    scale : rational
        > 0; ``Delta / eps`` for a sum of sensitivity Delta under eps, both as fractions.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law. At most ``7 L + 32`` bits are expected, L being the bits of the scale's numerator.

    Raises
    ------
    ValueError
        If the scale is not rational or not positive.

    Notes
    -----
    A sign and a :func:`geometric` number, drawn again if they are "minus zero" (Canonne, Kamath and Steinke 2020,
    Algorithm 2).
    """
    ratio = Exponential(1 / positive_rational("discrete_laplace: scale", scale))
    while True:
        size, negative = geometric(ratio, source), bernoulli(Fraction(1, 2), source)
        if size or not negative:
            return -size if negative else size


def discrete_gaussian(sigma_squared: Rational | int, source: Source = SYSTEM_BITS) -> int:
    """Draw integers with probabilities proportional to ``exp(-y^2 / (2 sigma^2))``.

    Parameters
    ----------
    sigma_squared : rational
        sigma^2 > 0, an upper bound on the variance, which it equals up to a negligible part from sigma = 2 on.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law. Fewer than 3 proposals are expected, each with at most ``7 L + 43`` bits, L being the bits of
        ``floor(sigma) + 1``.

    Raises
    ------
    ValueError
        If sigma^2 is not rational or not positive.

    Notes
    -----
    A :func:`discrete_laplace` number Y of scale ``t = floor(sigma) + 1`` is accepted with probability
    ``exp(-(|Y| - sigma^2 / t)^2 / (2 sigma^2))`` (Canonne, Kamath and Steinke 2020, Algorithm 3).
    """
    square = positive_rational("discrete_gaussian: sigma_squared", sigma_squared)
    scale = isqrt(int(square)) + 1
    while True:
        proposed = discrete_laplace(scale, source)
        if bernoulli(Exponential((abs(proposed) - square / scale) ** 2 / (2 * square)), source):
            return proposed


def poisson(mean: Rational | int, source: Source = SYSTEM_BITS) -> int:
    """Draw 0, 1, 2, .. with probabilities ``exp(-mean) mean^j / j!``.

    Parameters
    ----------
    mean : rational
        >= 0. Time grows with it.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law. At most 8 bits are expected for each half of the mean, rounded up.

    Raises
    ------
    ValueError
        If the mean is not rational or negative.

    Notes
    -----
    Derived here. Numbers with means of at most 1/2 are added up. For such a mean m: j, proposed with probability
    ``2^-(j+1)``, is accepted if the coins ``2 m / 1, .., 2 m / j`` all show heads. Both happen with probability
    ``m^j / (2 j!)``, so that at least half of all proposals are accepted.
    """
    doubled = 2 * rational("poisson: mean", mean, least=0)
    parts = ceil(doubled)
    part = doubled / parts if parts > 1 else doubled
    return sum(_short_poisson(part, source) for _ in range(parts))


def logarithmic(ratio: Probability, source: Source = SYSTEM_BITS) -> int:
    """Draw 1, 2, 3, .. with probabilities proportional to ``ratio^j / j``: the size of a cluster.

    Parameters
    ----------
    ratio : rational or Exponential
        In [0, 1) or ``exp(-x)`` with x > 0.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law. ``ratio / ((1 - ratio) ln(1 / (1 - ratio)))`` :func:`geometric` numbers are expected, and a few bits
        more each.

    Raises
    ------
    ValueError
        If the ratio is not rational, or outside of its range.

    Notes
    -----
    Derived here. A geometric number and one, J, is accepted with probability ``1 / J``; the logarithm that normalizes
    the law is not needed.
    """
    checked = _ratio("logarithmic: ratio", ratio)
    while True:
        size = 1 + geometric(checked, source)
        if uniform_below(size, source) == 0:
            return size


def negative_binomial(shape: Rational | int, ratio: Probability, source: Source = SYSTEM_BITS) -> int:
    """Draw 0, 1, 2, .. with probabilities ``C(j + shape - 1, j) ratio^j (1 - ratio)^shape`` (Polya).

    Numbers of shape r / n of n users add up to one of shape r.

    Parameters
    ----------
    shape : rational
        >= 0, any fraction; time grows with it.
    ratio : rational or Exponential
        In [0, 1) or ``exp(-x)`` with x > 0.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law. The whole units of the shape take a :func:`geometric` number each. What remains, f, is expected to
        take ``(1 - ratio)^(f - 1)`` attempts, which end at the first coin that shows tails.

    Raises
    ------
    ValueError
        If shape or ratio are not rational, or outside of their ranges.

    Notes
    -----
    Derived here. For f < 1 the binomial coefficient is the product of ``(i - 1 + f) / i`` for i = 1, .., j, each a
    probability: a geometric number j is accepted if j such coins show heads. Coins of the geometric number and coins of
    the acceptance are tossed alternately, so that most attempts end early.
    """
    whole, rest = divmod(rational("negative_binomial: shape", shape, least=0), 1)
    checked = _ratio("negative_binomial: ratio", ratio)
    total = sum(geometric(checked, source) for _ in range(whole))
    return total + (_negative_binomial_part(rest, checked, source) if rest else 0)


def negative_binomial_clusters(
    shape: Rational | int, ratio: Probability, source: Source = SYSTEM_BITS
) -> tuple[int, ...]:
    """Draw a Poisson number of clusters with logarithmic sizes, which add up to a negative binomial number.

    Parameters
    ----------
    shape, ratio : rational, rational or Exponential
        As for :func:`negative_binomial`.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    tuple of int
        Sizes, >= 1 each, in no particular order; empty for none. The numbers of clusters of size j are independent
        Poisson numbers with means ``shape ratio^j / j``, exactly. In addition to the bits of :func:`negative_binomial`,
        at most ``2 + 2 L`` bits are expected for each unit of the sum, L being the bits of the sum.

    Raises
    ------
    ValueError
        If shape or ratio are not rational, or outside of their ranges.

    Notes
    -----
    The mean number of clusters, ``-shape ln(1 - ratio)``, is irrational, and is not used. Their sum is drawn first.
    Given the sum, independent Poisson numbers with these means follow Ewens' sampling formula with parameter `shape`,
    which the Chinese restaurant process draws with rational coins (Pitman, Combinatorial Stochastic Processes, 2006):
    the i-th unit begins a cluster with probability ``shape / (shape + i - 1)``, else it joins the cluster of a uniform
    earlier unit.
    """
    weight = rational("negative_binomial_clusters: shape", shape, least=0)
    sizes: list[int] = []
    cluster_of: list[int] = []  # by unit
    for earlier in range(negative_binomial(weight, ratio, source)):
        if bernoulli(weight / (weight + earlier), source):
            cluster_of.append(len(sizes))
            sizes.append(1)
        else:
            joined = cluster_of[uniform_below(earlier, source)]
            cluster_of.append(joined)
            sizes[joined] += 1
    return tuple(sizes)


def _ratio(name: str, value: Probability) -> Fraction | Exponential:
    """Return the ratio if it is below 1, so that draws are finite; else raise ValueError."""
    if not isinstance(value, Exponential):
        return rational(name, value, least=0, below=1)
    if value.rate == 0:
        raise ValueError(f"{name} must be below 1, got {value!r}.")
    return value


def _heads_in_a_row(heads: Fraction | Exponential, source: Source) -> int:
    count = 0
    while bernoulli(heads, source):
        count += 1
    return count


def _short_poisson(doubled: Fraction, source: Source) -> int:
    """Draw a Poisson number, from twice its mean, which is at most 1."""
    while True:
        proposed = _heads_in_a_row(Fraction(1, 2), source)
        if all(bernoulli(doubled / i if i > 1 else doubled, source) for i in range(1, proposed + 1)):
            return proposed


def _negative_binomial_part(shape: Fraction, ratio: Fraction | Exponential, source: Source) -> int:
    """Draw a negative binomial number with a shape below 1."""
    drawn = 0
    while bernoulli(ratio, source):
        drawn += 1
        if not bernoulli((drawn - 1 + shape) / drawn, source):
            drawn = 0
    return drawn
