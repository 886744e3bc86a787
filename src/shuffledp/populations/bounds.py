"""Bounds on the number of other users: moments and a lower tail that hold for all laws of the population."""

from __future__ import annotations

import math
from dataclasses import dataclass

from shuffledp.numerics.argument_ranges import NonNegative, OpenUnit, Positive, check_fields, checked
from shuffledp.populations.base import Population, TailConvention


@dataclass(frozen=True)
class SubGaussian(Population):
    """All laws with a given mean and a Gaussian lower tail.

    With `scale` as a variance proxy, the form of Theorem 4c is not a bound on delta (reading note RP-N10). The
    corrected form depends on `convention`, the printed form does not.

    Parameters
    ----------
    mean : float
        Expected number of other users, finite, at least 0.
    scale : float
        tau, in users, at least 0, with the meaning given by `convention`.
    convention : {"variance_proxy", "printed"}
        ``variance_proxy`` (the usual definition): ``Pr[N - 1 <= mean - t] <= exp(-t^2 / (2 scale^2))``. ``printed``:
        ``Pr[N - 1 <= mean - t] <= exp(-t^2 / scale^2)``, a stronger bound for the same `scale`, with which the
        constants of Wang et al. 2023, Theorem 4c, are correct.
    """

    mean: NonNegative
    scale: NonNegative
    convention: TailConvention = "variance_proxy"

    def __post_init__(self) -> None:
        check_fields(self, named=True)

    @property
    def variance(self) -> float:
        """Variance proxy: ``scale^2``, or half of it under the printed convention."""
        return self.scale**2 / (2 if self.convention == "printed" else 1)

    @checked
    def lower_bound(self, failure: OpenUnit) -> float:
        """Return ``mean - sqrt(2 variance log(1 / failure))``, at least 0."""
        log_inverse = -math.log(failure)
        return max(0.0, self.mean - math.sqrt(2 * self.variance * log_inverse))


@dataclass(frozen=True)
class SubExponential(Population):
    """All laws with a given mean and an exponential lower tail, ``Pr[N - 1 <= mean - t] <= a exp(-b t)``.

    Source: the definition in Wang et al. 2023, Theorem 4d, which does not bound the upper tail.

    Parameters
    ----------
    mean : float
        Expected number of other users, finite, at least 0.
    a : float
        Positive.
    b : float
        Positive, per user.
    """

    mean: NonNegative
    a: Positive
    b: Positive

    def __post_init__(self) -> None:
        check_fields(self, named=True)

    @property
    def variance(self) -> float:
        """Infinite, because a lower tail does not bound the variance."""
        return math.inf

    @checked
    def lower_bound(self, failure: OpenUnit) -> float:
        """Return ``mean - log(a / failure) / b``, within [0, mean]."""
        return max(0.0, self.mean - max(0.0, math.log(self.a / failure)) / self.b)


@dataclass(frozen=True)
class MomentBounded(Population):
    """All laws with a given mean and at most a given variance.

    Parameters
    ----------
    mean : float
        Expected number of other users, finite, at least 0.
    variance : float
        Largest variance, finite, at least 0.
    """

    mean: NonNegative
    variance: NonNegative

    def __post_init__(self) -> None:
        check_fields(self, named=True)

    @checked
    def lower_bound(self, failure: OpenUnit) -> float:
        """Return Cantelli's bound ``mean - sqrt(variance (1 / failure - 1))``."""
        return max(0.0, self.mean - math.sqrt(self.variance * (1 / failure - 1)))
