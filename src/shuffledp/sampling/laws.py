"""Exact samplers of integer laws, by rejection with coins of rational or exponential probability.

The samplers do not round numbers or truncate series, so that the laws are exact if the bits are uniform.
:func:`negative_binomial_clusters` describes how it avoids irrational rates.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt
from numbers import Rational

from shuffledp.sampling.bits import SYSTEM_BITS, Source
from shuffledp.sampling.coins import bernoulli, positive_rational, uniform_below
from shuffledp.sampling.rationals import Exponential, Probability, rational


def geometric(ratio: Probability, source: Source = SYSTEM_BITS) -> int:
    """Draw 0, 1, 2, .. with probabilities ``(1 - ratio) ratio^j``, the number of heads before the first tails.

    For ``exp(-s/t)``, U is uniform below t, accepted with probability ``exp(-U/t)``, and V is the number of heads of
    coins ``exp(-1)`` before the first tails. The result is ``(U + t V) / s``, rounded down (Canonne, Kamath and Steinke
    2020, Algorithm 2).

    Parameters
    ----------
    ratio : rational or Exponential
        In [0, 1) or ``exp(-x)`` with x > 0.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law. The expected number of bits is at most ``2 / (1 - ratio)`` for a rational ratio, and at most
        ``3.2 L + 15`` for ``exp(-s/t)``, with L the bits of t.
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
        Positive; ``Delta / eps``, both as fractions, for an eps-DP sum of sensitivity Delta.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law: a sign and a :func:`geometric` number, drawn again for a negative zero (Canonne, Kamath and Steinke
        2020, Algorithm 2). The expected number of bits is at most ``7 L + 32``, L the bits of the numerator.
    """
    ratio = Exponential(1 / positive_rational("discrete_laplace: scale", scale))
    while True:
        size, negative = geometric(ratio, source), bernoulli(Fraction(1, 2), source)
        if size or not negative:
            return -size if negative else size


def discrete_gaussian(sigma_squared: Rational | int, source: Source = SYSTEM_BITS) -> int:
    """Draw integers with probabilities proportional to ``exp(-y^2 / (2 sigma^2))``.

    A :func:`discrete_laplace` number Y of scale ``t = floor(sigma) + 1`` is accepted with probability
    ``exp(-(|Y| - sigma^2 / t)^2 / (2 sigma^2))`` (Canonne, Kamath and Steinke 2020, Algorithm 3).

    Parameters
    ----------
    sigma_squared : rational
        sigma^2 > 0, an upper bound on the variance, and nearly equal to it for sigma >= 2.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law. The expected number of proposals is below 3, each with at most ``7 L + 43`` expected bits, with L the
        bits of ``floor(sigma) + 1``.
    """
    square = positive_rational("discrete_gaussian: sigma_squared", sigma_squared)
    scale = isqrt(int(square)) + 1
    while True:
        proposed = discrete_laplace(scale, source)
        if bernoulli(Exponential((abs(proposed) - square / scale) ** 2 / (2 * square)), source):
            return proposed


def poisson(mean: Rational | int, source: Source = SYSTEM_BITS) -> int:
    """Draw 0, 1, 2, .. with probabilities ``exp(-mean) mean^j / j!``.

    Derived for this project. The result is a sum of numbers with means of at most 1/2. For such a mean m, a proposal j
    has probability ``2^-(j+1)`` and is accepted if the coins ``2 m / 1, .., 2 m / j`` all show heads. The product is
    ``m^j / (2 j!)``, so that at least half of all proposals are accepted.

    Parameters
    ----------
    mean : rational
        At least 0; the time is proportional to it.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law. The expected number of bits is at most ``8 ceil(2 mean)``.
    """
    doubled = 2 * rational("poisson: mean", mean, least=0)
    parts = ceil(doubled)
    part = doubled / parts if parts > 1 else doubled
    return sum(_short_poisson(part, source) for _ in range(parts))


def logarithmic(ratio: Probability, source: Source = SYSTEM_BITS) -> int:
    """Draw 1, 2, 3, .. with probabilities proportional to ``ratio^j / j``, the size of a cluster.

    Parameters
    ----------
    ratio : rational or Exponential
        In [0, 1) or ``exp(-x)`` with x > 0.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law: J, a :func:`geometric` number plus 1, is accepted with probability ``1 / J``, without the irrational
        constant of the law (derived for this project). The expected number of proposals is
        ``ratio / ((1 - ratio) ln(1 / (1 - ratio)))``.
    """
    checked = _ratio("logarithmic: ratio", ratio)
    while True:
        size = 1 + geometric(checked, source)
        if uniform_below(size, source) == 0:
            return size


def negative_binomial(shape: Rational | int, ratio: Probability, source: Source = SYSTEM_BITS) -> int:
    """Draw 0, 1, 2, .. with probabilities ``C(j + shape - 1, j) ratio^j (1 - ratio)^shape`` (Polya).

    The sum of n users' numbers of shape r / n has shape r. Derived for this project. For f < 1 the binomial coefficient
    is the product of the probabilities ``(i - 1 + f) / i`` for i = 1, .., j: a geometric number j is accepted if j such
    coins show heads. Coins of the geometric number and of the acceptance are tossed alternately, so that most attempts
    end early.

    Parameters
    ----------
    shape : rational
        At least 0, any fraction; the time grows with the shape.
    ratio : rational or Exponential
        In [0, 1) or ``exp(-x)`` with x > 0.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law. Each whole unit of the shape needs one :func:`geometric` number. The fractional part f needs
        ``(1 - ratio)^(f - 1)`` attempts in expectation.
    """
    whole, rest = divmod(rational("negative_binomial: shape", shape, least=0), 1)
    checked = _ratio("negative_binomial: ratio", ratio)
    total = sum(geometric(checked, source) for _ in range(whole))
    return total + (_negative_binomial_part(rest, checked, source) if rest else 0)


def negative_binomial_clusters(
    shape: Rational | int, ratio: Probability, source: Source = SYSTEM_BITS
) -> tuple[int, ...]:
    """Draw a Poisson number of clusters with logarithmic sizes, whose sum is a negative binomial number.

    Parameters
    ----------
    shape, ratio : rational, rational or Exponential
        As in :func:`negative_binomial`.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    tuple of int
        Sizes, >= 1 each, in no particular order; possibly empty. The numbers of clusters of size j are independent
        Poisson numbers with means ``shape ratio^j / j``, exactly. In addition to the bits of :func:`negative_binomial`,
        the expected number of bits is at most ``2 + 2 L`` for each unit of the sum, with L the bits of the sum.

    Notes
    -----
    The irrational mean number of clusters, ``-shape ln(1 - ratio)``, is not used. The sum of the sizes is drawn first.
    Given the sum, independent Poisson numbers with these means have Ewens' sampling formula with parameter `shape` as
    their law. The Chinese restaurant process draws from it with rational coins (Pitman, Combinatorial Stochastic
    Processes, 2006): the i-th unit begins a cluster with probability ``shape / (shape + i - 1)``, else it joins the
    cluster of a uniform earlier unit.
    """
    weight = rational("negative_binomial_clusters: shape", shape, least=0)
    sizes: list[int] = []
    cluster_of: list[int] = []  # by unit
    for earlier in range(negative_binomial(weight, ratio, source)):
        if bernoulli(weight / (weight + earlier), source):
            cluster_of.append(len(sizes))
            sizes.append(1)
        else:
            cluster = cluster_of[uniform_below(earlier, source)]
            cluster_of.append(cluster)
            sizes[cluster] += 1
    return tuple(sizes)


def _ratio(name: str, value: Probability) -> Fraction | Exponential:
    """Return the ratio if it is below 1, so that a draw ends. Raise ValueError otherwise."""
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
    """Draw a Poisson number with a mean of at most 1/2; `doubled` is twice the mean."""
    while True:
        proposed = _heads_in_a_row(Fraction(1, 2), source)
        if all(bernoulli(doubled / i if i > 1 else doubled, source) for i in range(1, proposed + 1)):
            return proposed


def _negative_binomial_part(shape: Fraction, ratio: Fraction | Exponential, source: Source) -> int:
    """Draw a negative binomial number with a shape below 1."""
    number = 0
    while bernoulli(ratio, source):
        number += 1
        if not bernoulli((number - 1 + shape) / number, source):
            number = 0
    return number
