"""Laws of samplers as rational numbers: all outcomes of their bits, or of their coins, with what stays undecided."""

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
    """Known bits from a seed, and how many were taken."""

    def __init__(self, seed: int) -> None:
        self._generator = random.Random(seed)
        self.used = 0

    def bits(self, count: int) -> int:
        self.used += count
        return self._generator.getrandbits(count) if count else 0


def by_bits(draw: Draw, depth: int) -> tuple[Masses, Fraction]:
    """Probabilities of what is decided by at most so many bits, and of what is not."""
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
    """A path of choices ends here: it is too long, or too unlikely."""


class _Again(Exception):  # noqa: N818  (a state, not an error)
    """A path goes on here, with one of several choices."""


class Choices:
    """Stands for coins and uniform numbers: every path of outcomes in turn, with its probability.

    Coins of exponential probability are kept as symbols: a path has the probability ``probability exp(-exponent)``,
    times ``1 - exp(-t)`` for each t of tails.
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
    """Every path of coins with what it draws, or None if it is left undecided."""
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
    """Probabilities of what is decided by paths of rational coins of at least this probability, and of the rest."""
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
    """Bounds of ``exp(-x)`` for x in [0, 10], by a series whose rest is bounded."""
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
    """Whether each probability of the law is what was decided, up to what was not, which is little."""
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
    """A law of finitely many values."""
    return lambda value: masses.get(value, Fraction(0))
