"""Bounds on the number of other users: moments and a lower tail that hold for all laws of the population."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

from shuffledp.numerics.argument_guards import guarded_methods
from shuffledp.numerics.argument_ranges import (
    check_choice,
    check_nonnegative,
    check_open_unit,
    check_positive,
)
from shuffledp.populations.base import Population, TailConvention


@guarded_methods
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

    mean: float
    scale: float
    convention: TailConvention = "variance_proxy"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", check_nonnegative("SubGaussian: mean", self.mean))
        object.__setattr__(self, "scale", check_nonnegative("SubGaussian: scale", self.scale))
        check_choice("SubGaussian: convention", self.convention, get_args(TailConvention))

    @property
    def variance(self) -> float:
        """Variance proxy: ``scale^2``, or half of it under the printed convention."""
        return self.scale**2 / (2 if self.convention == "printed" else 1)

    def lower_bound(self, failure: float) -> float:
        """Return ``mean - sqrt(2 variance log(1 / failure))``, at least 0."""
        log_inverse = -math.log(check_open_unit("SubGaussian: failure", failure))
        return max(0.0, self.mean - math.sqrt(2 * self.variance * log_inverse))


@guarded_methods
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

    mean: float
    a: float
    b: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", check_nonnegative("SubExponential: mean", self.mean))
        object.__setattr__(self, "a", check_positive("SubExponential: a", self.a))
        object.__setattr__(self, "b", check_positive("SubExponential: b", self.b))

    @property
    def variance(self) -> float:
        """Infinite, because a lower tail does not bound the variance."""
        return math.inf

    def lower_bound(self, failure: float) -> float:
        """Return ``mean - log(a / failure) / b``, within [0, mean]."""
        failure = check_open_unit("SubExponential: failure", failure)
        return max(0.0, self.mean - max(0.0, math.log(self.a / failure)) / self.b)


@guarded_methods
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

    mean: float
    variance: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", check_nonnegative("MomentBounded: mean", self.mean))
        object.__setattr__(self, "variance", check_nonnegative("MomentBounded: variance", self.variance))

    def lower_bound(self, failure: float) -> float:
        """Return Cantelli's bound ``mean - sqrt(variance (1 / failure - 1))``."""
        failure = check_open_unit("MomentBounded: failure", failure)
        return max(0.0, self.mean - math.sqrt(self.variance * (1 / failure - 1)))
