"""Populations: laws of, and bounds on, the number of *other* users who take part.

A population describes N - 1, the number of participants besides user 1. The guarantee of the shuffle model with a
random population is for a user who takes part, so that user 1 is not part of the random number and N >= 1.

A *law* (:class:`Fixed`, :class:`Binomial`, :class:`Poisson`, :class:`Empirical`) is a full distribution and can be
sampled. A *bound* (:class:`SubGaussian`, :class:`SubExponential`, :class:`MomentBounded`) has moments and a lower tail
only, which hold for all its laws.

All populations are immutable, hashable and comparable by value.
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.populations.base import (
        DEFAULT_TAIL as DEFAULT_TAIL,
        Binomial as Binomial,
        Fixed as Fixed,
        Law as Law,
        Population as Population,
        TailConvention as TailConvention,
    )
    from shuffledp.populations.bounds import (
        MomentBounded as MomentBounded,
        SubExponential as SubExponential,
        SubGaussian as SubGaussian,
    )
    from shuffledp.populations.laws import Empirical as Empirical, Poisson as Poisson
else:
    __getattr__, __dir__ = door(__name__)
