"""Uniform integers and coins, on which all other samplers are based."""

from __future__ import annotations

from fractions import Fraction

from shuffledp.sampling.bits import SYSTEM_BITS, Source
from shuffledp.sampling.rationals import Exponential, Probability, integer, probability, rational


def uniform_below(count: int, source: Source = SYSTEM_BITS) -> int:
    """Draw 0, 1, .., count - 1 with equal probabilities.

    Parameters
    ----------
    count : int
        At least 1.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        Exact law: a number of L bits, L the bits of ``count - 1``, is drawn until it is below the count. The expected
        number of bits is at most 2 L.

    Examples
    --------
    >>> from shuffledp.sampling import FixedBits, uniform_below
    >>> uniform_below(3, FixedBits([1, 1, 1, 0]))  # 3 is refused, then 2
    2
    """
    most = integer("uniform_below: count", count, 1) - 1
    while True:
        number = source.bits(most.bit_length())
        if number <= most:
            return number


def bernoulli(heads: Probability, source: Source = SYSTEM_BITS) -> bool:
    """Draw True with probability `heads`, else False.

    Parameters
    ----------
    heads : rational or Exponential
        Probability of heads, in [0, 1].
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    bool
        True for heads. Exact law. The expected number of bits is at most 2 for a rational probability, at most 11 for
        an exponential.

    Notes
    -----
    A rational probability is compared with a uniform number, binary digit by digit, until they differ. For ``exp(-x)``
    with x <= 1, coins ``x / 1, x / 2, ..`` are tossed until one shows tails; an odd coin is the first with tails with
    probability ``exp(-x)``. For larger x, a coin ``exp(-1)`` for each whole unit of x and a coin for the rest must all
    show heads (Canonne, Kamath and Steinke 2020, Algorithm 1).

    Examples
    --------
    >>> from fractions import Fraction
    >>> from shuffledp.sampling import FixedBits, bernoulli
    >>> bernoulli(Fraction(1, 3), FixedBits([0, 0]))  # 0.00.. is below 0.0101..
    True
    """
    checked = probability("bernoulli: heads", heads)
    if isinstance(checked, Exponential):
        return _exponential_coin(checked.rate, source)
    return _heads(1, checked, source) == 1


def binomial(trials: int, heads: Probability, source: Source = SYSTEM_BITS) -> int:
    """Draw the number of heads of several coins.

    The digits of all undecided coins are drawn together, so that the number of calls of the source grows with the
    logarithm of the trials.

    Parameters
    ----------
    trials : int
        Number of coins, >= 0.
    heads : rational or Exponential
        Probability of heads, in [0, 1].
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    int
        In 0..trials, with probabilities ``C(trials, j) heads^j (1 - heads)^(trials - j)``. Exact law. The expected
        number of bits is the same as for `trials` calls of :func:`bernoulli`.
    """
    count = integer("binomial: trials", trials, 0)
    checked = probability("binomial: heads", heads)
    if isinstance(checked, Exponential):
        return sum(_exponential_coin(checked.rate, source) for _ in range(count))
    return _heads(count, checked, source)


def _heads(coins: int, probability_of_heads: Fraction, source: Source) -> int:
    """Draw the number of uniform numbers below the probability; digits are compared one by one."""
    heads, undecided = 0, coins
    rest, unit = probability_of_heads.numerator, probability_of_heads.denominator
    if rest == unit:
        return coins
    while undecided and rest:  # once no digit of the probability is left, what is undecided is not below it
        digit, rest = divmod(2 * rest, unit)
        ones = source.bits(undecided).bit_count()
        if digit:
            heads += undecided - ones
            undecided = ones
        else:
            undecided -= ones
    return heads


def _exponential_coin(exponent: Fraction, source: Source) -> bool:
    whole, rest = divmod(exponent, 1)
    return all(
        _short_exponential_coin(Fraction(1), source) for _ in range(whole)
    ) and _short_exponential_coin(rest, source)


def _short_exponential_coin(exponent: Fraction, source: Source) -> bool:
    tosses = 1
    while _heads(1, exponent / tosses, source):
        tosses += 1
    return tosses % 2 == 1


def positive_rational(name: str, value: object) -> Fraction:
    """Return `value` as a Fraction > 0. Raise ValueError for other values."""
    return rational(name, value, above=0)
