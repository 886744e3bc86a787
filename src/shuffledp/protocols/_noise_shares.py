"""Shares of noise that add up over users: negative binomial numbers, and compound Poisson numbers with jumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shuffledp.accounting.summation.jump_noise import jump_sizes
from shuffledp.tasks import Floats, Ints


class Share(Protocol):
    """A noise of which any part can be drawn."""

    def draw(self, part: Floats, rng: np.random.Generator) -> Ints:
        """Independent draws of so large a part of the noise each, in the shape of `part`."""
        ...


@dataclass(frozen=True)
class NegativeBinomialShare:
    """Negative binomial numbers.

    Parameters
    ----------
    shape : float
        Of the whole noise, > 0.
    stop : float
        Probability of stopping, in (0, 1).
    """

    shape: float
    stop: float

    def draw(self, part: Floats, rng: np.random.Generator) -> Ints:
        """Independent draws, in the shape of `part`."""
        return np.asarray(rng.negative_binomial(self.shape * part, self.stop))


@dataclass(frozen=True)
class JumpShare:
    """A Poisson number of jumps, see :mod:`shuffledp.accounting.summation.jump_noise`.

    Parameters
    ----------
    rate : float
        Expected jumps of the whole noise.
    center : float
        Of their sizes.
    """

    rate: float
    center: float

    def draw(self, part: Floats, rng: np.random.Generator) -> Ints:
        """Independent draws, in the shape of `part`; time grows with the number of jumps."""
        jumps = np.asarray(rng.poisson(self.rate * part))
        sizes = jump_sizes(self.center)
        owner = np.repeat(np.arange(jumps.size), jumps.ravel())
        drawn = 1 + rng.choice(sizes.size, owner.size, p=sizes)
        total = np.bincount(owner, drawn, jumps.size)
        return np.asarray(np.rint(total), np.int64).reshape(jumps.shape)
