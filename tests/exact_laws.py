"""Laws of samplers as rational numbers, over all outcomes of bits or coins, with the undecided mass."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from itertools import count

import pytest

from shuffledp.sampling import Exponential, FixedBits, OutOfBits, Source, laws

Draw = Callable[[Source], Hashable]
Masses = dict[Hashable, Fraction]


class SeededBits:
    """Bits from a seed, with the number of used bits."""

    def __init__(self, seed: int) -> None:
        self._generator = random.Random(seed)
        self.used = 0

    def bits(self, count: int) -> int:
        self.used += count
        return self._generator.getrandbits(count) if count else 0


def by_bits(draw: Draw, depth: int) -> tuple[Masses, Fraction]:
    """Return the probabilities of results after at most `depth` bits, and the undecided mass."""
    masses: Masses = defaultdict(Fraction)
    undecided = Fraction(0)
    prefixes: list[tuple[int, ...]] = [()]
    while prefixes:
        prefix = prefixes.pop()
        source = FixedBits(prefix)
        try:
            drawn = draw(source)
        except OutOfBits:
            if len(prefix) < depth:
                prefixes += [(*prefix, 0), (*prefix, 1)]
            else:
                undecided += Fraction(1, 2**depth)
            continue
        assert source.used == len(prefix), "bits are taken as they are needed"
        masses[drawn] += Fraction(1, 2 ** len(prefix))
    return dict(masses), undecided


class _Undecided(Exception):  # noqa: N818  (a state, not an error)
    """Signal that a path of choices is too long or too unlikely."""


class _Again(Exception):  # noqa: N818  (a state, not an error)
    """Signal that a path continues with one of several choices."""


class Choices:
    """Substitute for coins and uniform numbers that visits every path of outcomes, with its probability.

    Coins of exponential probability stay symbols: a path has the probability ``probability exp(-exponent)``, times ``1
    - exp(-t)`` for each t of tails.
    """

    def __init__(self, path: tuple[int, ...], least: Fraction) -> None:
        self.path = path
        self.least = least
        self.taken = 0
        self.wanted = 0
        self.probability = Fraction(1)
        self.exponent = Fraction(0)
        self.tails: tuple[Fraction, ...] = ()

    def choose(self, options: int) -> int:
        if self.probability < self.least:
            raise _Undecided
        if self.taken == len(self.path):
            self.wanted = options
            raise _Again
        self.taken += 1
        return self.path[self.taken - 1]

    def uniform_below(self, most: int, source: object = None) -> int:
        chosen = self.choose(most)
        self.probability /= most
        return chosen

    def bernoulli(self, heads: Fraction | int | Exponential, source: object = None) -> bool:
        if isinstance(heads, Exponential):
            shown = heads.rate == 0 or bool(self.choose(2))
            if shown:
                self.exponent += heads.rate
            else:
                self.tails += (heads.rate,)
            return shown
        assert 0 <= heads <= 1
        shown = bool(self.choose(2)) if 0 < heads < 1 else heads == 1
        self.probability *= heads if shown else 1 - heads
        return shown


def paths(draw: Draw, least: Fraction, longest: int = 60) -> Iterator[tuple[Hashable | None, Choices]]:
    """Return every path of coins with its result, or None for an undecided path."""
    with pytest.MonkeyPatch.context() as patch:
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            choices = Choices(waiting.pop(), least)
            patch.setattr(laws, "bernoulli", choices.bernoulli)
            patch.setattr(laws, "uniform_below", choices.uniform_below)
            try:
                drawn = draw(FixedBits([]))
            except _Again:
                if len(choices.path) < longest:
                    waiting += [(*choices.path, option) for option in range(choices.wanted)]
                    continue
                drawn = None
            except _Undecided:
                drawn = None
            yield drawn, choices


def by_coins(draw: Draw, least: Fraction) -> tuple[Masses, Fraction]:
    """Return the probabilities of results over paths of rational coins with at least this probability, and the rest."""
    masses: Masses = defaultdict(Fraction)
    undecided = Fraction(0)
    for drawn, path in paths(draw, least):
        assert not path.exponent and not path.tails, "for rational coins alone"
        if drawn is None:
            undecided += path.probability
        else:
            masses[drawn] += path.probability
    assert sum(masses.values()) + undecided == 1
    return dict(masses), undecided


def exponential(x: Fraction, terms: int = 40) -> tuple[Fraction, Fraction]:
    """Return bounds on ``exp(-x)`` for x in [0, 10], from a series with a bounded remainder."""
    term, total = Fraction(1), Fraction(0)
    for n in count():
        total += term
        term *= x / (n + 1)
        if n >= terms:
            break
    ratio = x / (terms + 2)
    assert ratio < 1
    return 1 / (total + term / (1 - ratio)), 1 / total


def agrees(
    found: tuple[Masses, Fraction],
    law: Callable[[Hashable], Fraction | tuple[Fraction, Fraction]],
    at_most: float,
) -> bool:
    """Return whether each probability of the law agrees with the decided mass, up to a small undecided mass."""
    masses, undecided = found
    assert masses, "nothing was decided"
    assert undecided <= at_most, float(undecided)
    for value, mass in masses.items():
        bounds = law(value)
        low, high = bounds if isinstance(bounds, tuple) else (bounds, bounds)
        if not (mass <= high and low <= mass + undecided):
            return False
    return True


def table(masses: Mapping[Hashable, Fraction]) -> Callable[[Hashable], Fraction]:
    """Return a law of finitely many values."""
    return lambda value: masses.get(value, Fraction(0))
