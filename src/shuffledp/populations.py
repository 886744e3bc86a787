"""How many *other* users take part.

Everything in this module describes N - 1, the number of participants besides user 1: the guarantee of the
shuffle model with a random population is for a user who takes part, so user 1 is counted apart and N >= 1.

There are two kinds. A *law* (:class:`Fixed`, :class:`Binomial`, :class:`Poisson`, :class:`Empirical`) is a
full distribution and can be sampled. A *bound* (:class:`SubGaussian`, :class:`SubExponential`,
:class:`MomentBounded`) only states moments and a lower tail that every possible law obeys.

All of them are immutable, hashable and comparable by value.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from shuffledp.numerics.checks import (
    check_choice,
    check_count,
    check_nonnegative,
    check_open_unit,
    check_positive,
    check_unit,
)
from shuffledp.numerics.windows import Window, binomial_window, poisson_window, thin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Mass left out on either side of a probability window unless the caller asks for another.
DEFAULT_TAIL = 1e-30

Size = int | tuple[int, ...] | None
TailConvention = Literal["variance_proxy", "printed"]


class Population(ABC):
    """What is known about N - 1, the number of other users who take part."""

    if TYPE_CHECKING:  # at run time a property here would become the default value of the fields below

        @property
        def mean(self) -> float:
            """Expected number of other users."""

        @property
        def variance(self) -> float:
            """Variance of the number of other users, or an upper bound on it."""

    @abstractmethod
    def lower_bound(self, failure: float) -> float:
        """Return a number of other users that is reached except with a given probability.

        Parameters
        ----------
        failure : float
            In (0, 1).

        Returns
        -------
        float
            x with ``Pr[N - 1 < x] <= failure``; 0 when nothing better is known. The largest such integer for
            a law, not necessarily an integer for a bound.

        Raises
        ------
        ValueError
            If `failure` is outside (0, 1).
        """


class Law(Population):
    """A full distribution of N - 1."""

    @abstractmethod
    def window(self, tail: float = DEFAULT_TAIL) -> Window:
        """Return the probabilities of the likely numbers of other users.

        Parameters
        ----------
        tail : float
            Mass that may be left out on either side, in (0, 1). The total left out is at most ``omitted`` of
            the result, which is 0 where the whole support is covered.

        Returns
        -------
        Window
            ``start``, ``pmf`` (w,) and ``omitted``.
        """

    @abstractmethod
    def thinned(self, rate: float) -> Law:
        """Return the law of Bin(N - 1, rate), for example of the number of clones.

        Parameters
        ----------
        rate : float
            Probability with which each of the others is counted, in [0, 1].

        Raises
        ------
        ValueError
            If `rate` is outside [0, 1].
        """

    @abstractmethod
    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None
    ) -> NDArray[np.int64]:
        """Draw numbers of other users.

        Parameters
        ----------
        rng : numpy.random.Generator
        size : int or tuple of int, optional
            Shape of the result, () by default.

        Returns
        -------
        ndarray of int64
        """

    def quantile(self, level: float) -> int:
        """Return the smallest x with ``Pr[N - 1 <= x] >= level``.

        Parameters
        ----------
        level : float
            In (0, 1). Levels near 1 are read as ``Pr[N - 1 > x] <= 1 - level``.

        Returns
        -------
        int
            Number of other users.
        """
        level = check_open_unit(f"{type(self).__name__}: level", level)
        window = self.window(min(DEFAULT_TAIL, 1e-13 * min(level, 1 - level)))
        if level <= 0.5:  # sum from the side on which the probabilities are small
            index = int(np.searchsorted(np.cumsum(window.pmf), level))
        else:
            beyond = np.cumsum(window.pmf[::-1])[::-1]  # Pr[N - 1 >= x]
            index = int(np.count_nonzero(beyond > 1 - level)) - 1
        return window.start + min(max(index, 0), window.pmf.size - 1)

    def lower_bound(self, failure: float) -> float:
        """Return the largest integer x with ``Pr[N - 1 < x] <= failure``."""
        failure = check_open_unit(f"{type(self).__name__}: failure", failure)
        window = self.window(min(DEFAULT_TAIL, 1e-13 * failure))
        reached = int(np.searchsorted(np.cumsum(window.pmf), failure, side="right"))
        return float(window.start + min(reached, window.pmf.size - 1))


@dataclass(frozen=True)
class Fixed(Law):
    """A known number of other users: the classical shuffle model with N = others + 1 participants.

    Parameters
    ----------
    others : int
        At least 0.

    Raises
    ------
    ValueError
        If `others` is not an integer >= 0.
    """

    others: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "others", check_count("Fixed: others", self.others))

    @property
    def mean(self) -> float:
        """The number itself."""
        return float(self.others)

    @property
    def variance(self) -> float:
        """Zero."""
        return 0.0

    def window(self, tail: float = DEFAULT_TAIL) -> Window:
        """Return the single point of the support; see :meth:`Law.window`."""
        return Window(self.others, np.ones(1))

    def thinned(self, rate: float) -> Binomial:
        """Return Binomial(others, rate)."""
        return Binomial(self.others, rate)

    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None
    ) -> NDArray[np.int64]:
        """Return the number, `size` times, without touching `rng`."""
        return np.full(() if size is None else size, self.others, dtype=np.int64)


@dataclass(frozen=True)
class Binomial(Law):
    """Each of `trials` other users takes part independently with probability `rate`.

    Parameters
    ----------
    trials : int
        Potential *other* users, at least 0. A paper's n' counts user 1 as well: n' = trials + 1.
    rate : float
        In [0, 1].

    Raises
    ------
    ValueError
        If a value is outside its range.
    """

    trials: int
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", check_count("Binomial: trials", self.trials))
        object.__setattr__(self, "rate", check_unit("Binomial: rate", self.rate))

    @property
    def mean(self) -> float:
        """``trials * rate``."""
        return self.trials * self.rate

    @property
    def variance(self) -> float:
        """``trials * rate * (1 - rate)``."""
        return self.trials * self.rate * (1 - self.rate)

    def window(self, tail: float = DEFAULT_TAIL) -> Window:
        """Return the likely part of the distribution; see :meth:`Law.window`."""
        return binomial_window(self.trials, self.rate, check_open_unit("Binomial: tail", tail))

    def thinned(self, rate: float) -> Binomial:
        """Return Binomial(trials, self.rate * rate)."""
        return Binomial(self.trials, self.rate * check_unit("thinned: rate", rate))

    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None
    ) -> NDArray[np.int64]:
        """Draw numbers of other users; see :meth:`Law.sample`."""
        return np.asarray(rng.binomial(self.trials, self.rate, size), np.int64)


@dataclass(frozen=True)
class Poisson(Law):
    """Other users arrive independently; Poisson with mean `mean` (the papers' lambda).

    Parameters
    ----------
    mean : float
        Finite, at least 0.
    """

    mean: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", check_nonnegative("Poisson: mean", self.mean))

    @property
    def variance(self) -> float:
        """Equal to the mean."""
        return self.mean

    def window(self, tail: float = DEFAULT_TAIL) -> Window:
        """Return the likely part of the distribution; see :meth:`Law.window`."""
        return poisson_window(self.mean, check_open_unit("Poisson: tail", tail))

    def thinned(self, rate: float) -> Poisson:
        """Return Poisson(mean * rate)."""
        return Poisson(self.mean * check_unit("thinned: rate", rate))

    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None
    ) -> NDArray[np.int64]:
        """Draw numbers of other users; see :meth:`Law.sample`."""
        return np.asarray(rng.poisson(self.mean, size), np.int64)


@dataclass(frozen=True)
class Empirical(Law):
    """Any distribution with finite support, for example a histogram of past rounds.

    Parameters
    ----------
    pmf : (w,) sequence of float
        ``pmf[i]`` is the probability that N - 1 = start + i. Sums to 1 within 1e-9 and is then normalised.
    start : int
        Smallest number of other users, at least 0.

    Raises
    ------
    ValueError
        If an entry is negative or not finite, or if the sum is not 1.
    """

    pmf: tuple[float, ...]
    start: int = 0

    def __post_init__(self) -> None:
        values = np.asarray(self.pmf, np.float64)
        if values.ndim != 1 or values.size == 0:
            raise ValueError(
                f"Empirical: pmf must be a non-empty sequence of numbers, got shape {values.shape}."
            )
        if not np.all(np.isfinite(values) & (values >= 0)):
            raise ValueError("Empirical: every entry of pmf must be a finite number >= 0.")
        total = float(np.sum(values))
        if abs(total - 1) > 1e-9:
            raise ValueError(f"Empirical: pmf must sum to 1, got {total!r}.")
        object.__setattr__(self, "pmf", tuple((values / total).tolist()))
        object.__setattr__(self, "start", check_count("Empirical: start", self.start))

    @classmethod
    def of(cls, counts: Sequence[int] | NDArray[np.int64]) -> Empirical:
        """Return the distribution of observed numbers of other users.

        Parameters
        ----------
        counts : (r,) sequence of int
            One number of *other* users per observed round, each at least 0.
        """
        values = [check_count("Empirical: counts", c) for c in counts]
        if not values:
            raise ValueError("Empirical: counts must not be empty.")
        start = min(values)
        tally = np.bincount(np.asarray(values, np.int64) - start)
        return cls(tuple((tally / tally.sum()).tolist()), start)

    @property
    def mean(self) -> float:
        """Expected number of other users."""
        pmf = np.asarray(self.pmf)
        return self.start + float(pmf @ np.arange(pmf.size))

    @property
    def variance(self) -> float:
        """Variance of the number of other users."""
        pmf = np.asarray(self.pmf)
        x = np.arange(pmf.size)
        return float(pmf @ (x - float(pmf @ x)) ** 2)

    def window(self, tail: float = DEFAULT_TAIL) -> Window:
        """Return the whole distribution; `tail` is not used. See :meth:`Law.window`."""
        return Window(self.start, np.asarray(self.pmf))

    def thinned(self, rate: float) -> Empirical:
        """Return the law of Bin(N - 1, rate), with at most 2e-30 of its mass dropped before normalising."""
        window = thin(self.window(), check_unit("thinned: rate", rate), DEFAULT_TAIL)
        return Empirical(tuple(window.pmf.tolist()), window.start)

    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None
    ) -> NDArray[np.int64]:
        """Draw numbers of other users; see :meth:`Law.sample`."""
        return np.asarray(self.start + rng.choice(len(self.pmf), size=size, p=self.pmf), np.int64)


@dataclass(frozen=True)
class SubGaussian(Population):
    """All laws with a given mean and a Gaussian lower tail.

    Parameters
    ----------
    mean : float
        Expected number of other users, finite, at least 0.
    scale : float
        tau, in users, at least 0; what it bounds is said by `convention`.
    convention : {"variance_proxy", "printed"}
        ``variance_proxy`` (the usual definition): ``Pr[N - 1 <= mean - t] <= exp(-t^2 / (2 scale^2))``.
        ``printed``: ``Pr[N - 1 <= mean - t] <= exp(-t^2 / scale^2)``, the definition under which the
        constants of Wang et al. 2023, Theorem 4c, are right. The same `scale` promises more in the second.

    Raises
    ------
    ValueError
        If a value is outside its range.

    Notes
    -----
    With `scale` as a variance proxy the form of Theorem 4c does not bound delta (reading note RP-N10); the corrected
    form respects `convention`, the printed form ignores it.
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


@dataclass(frozen=True)
class SubExponential(Population):
    """All laws with a given mean and an exponential lower tail, ``Pr[N - 1 <= mean - t] <= a exp(-b t)``.

    Parameters
    ----------
    mean : float
        Expected number of other users, finite, at least 0.
    a : float
        Positive.
    b : float
        Positive, per user.

    Raises
    ------
    ValueError
        If a value is outside its range.

    Notes
    -----
    Definition behind Wang et al. 2023, Theorem 4d. It says nothing about the upper tail.
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
        """Infinite: a lower tail alone does not bound the variance."""
        return math.inf

    def lower_bound(self, failure: float) -> float:
        """Return ``mean - log(a / failure) / b``, within [0, mean]."""
        failure = check_open_unit("SubExponential: failure", failure)
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

    Raises
    ------
    ValueError
        If a value is outside its range.
    """

    mean: float
    variance: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", check_nonnegative("MomentBounded: mean", self.mean))
        object.__setattr__(self, "variance", check_nonnegative("MomentBounded: variance", self.variance))

    def lower_bound(self, failure: float) -> float:
        """Return Cantelli's ``mean - sqrt(variance (1 / failure - 1))``."""
        failure = check_open_unit("MomentBounded: failure", failure)
        return max(0.0, self.mean - math.sqrt(self.variance * (1 / failure - 1)))
