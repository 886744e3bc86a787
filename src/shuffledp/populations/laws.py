"""Laws of the number of other users: full distributions, which can be sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import (
    Count,
    NonNegative,
    OpenUnit,
    Unit,
    check_count,
    check_fields,
    checked,
    format_value,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.windows import Window, binomial_window, convolve, poisson_window, thin
from shuffledp.populations.base import DEFAULT_TAIL, Binomial as Binomial, Law, checked_size


@dataclass(frozen=True)
class PoissonBinomial(Law):
    """Sum of independent binomial variables, for users who are counted with different probabilities.

    Parameters
    ----------
    parts : tuple of (int, float)
        Trials and rate of each variable, at least one.
    """

    parts: tuple[tuple[int, float], ...]

    @property
    def mean(self) -> float:
        """Sum of the means."""
        return sum(trials * rate for trials, rate in self.parts)

    @property
    def variance(self) -> float:
        """Sum of the variances."""
        return sum(trials * rate * (1 - rate) for trials, rate in self.parts)

    @checked
    def window(self, tail: OpenUnit = DEFAULT_TAIL) -> Window:
        """Return the likely numbers of other users; see :meth:`Law.window`."""
        return _convolved(self.parts, tail)

    @checked
    def thinned(self, rate: Unit) -> PoissonBinomial:
        """Return the law with every rate multiplied by `rate`."""
        share = rate
        return PoissonBinomial(tuple((trials, share * each) for trials, each in self.parts))

    @checked
    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None
    ) -> NDArray[np.int64]:
        """Draw numbers of other users; see :meth:`Law.sample`."""
        numbers = [rng.binomial(trials, rate, checked_size(size)) for trials, rate in self.parts]
        return np.asarray(np.sum(numbers, axis=0), np.int64)


@remember(64)
def _convolved(parts: tuple[tuple[int, float], ...], tail: float) -> Window:
    each = tail / len(parts)
    return reduce(convolve, (binomial_window(trials, rate, each) for trials, rate in parts))


@dataclass(frozen=True)
class Poisson(Law):
    """Poisson number of other users, who arrive independently, with the papers' lambda as mean.

    Parameters
    ----------
    mean : float
        Finite, at least 0.

    Examples
    --------
    >>> from shuffledp.populations import Poisson
    >>> others = Poisson(1000.0)
    >>> others.lower_bound(1e-6), others.quantile(0.5)
    (853.0, 1000)
    >>> round(float(others.window().pmf.sum()), 9)
    1.0
    """

    mean: NonNegative

    def __post_init__(self) -> None:
        check_fields(self, named=True)

    @property
    def variance(self) -> float:
        """Variance, equal to the mean."""
        return self.mean

    @checked
    def window(self, tail: OpenUnit = DEFAULT_TAIL) -> Window:
        """Return the likely numbers of other users; see :meth:`Law.window`."""
        return poisson_window(self.mean, tail)

    @checked
    def thinned(self, rate: Unit) -> Poisson:
        """Return Poisson(mean * rate)."""
        return Poisson(self.mean * rate)

    @checked
    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None
    ) -> NDArray[np.int64]:
        """Draw numbers of other users; see :meth:`Law.sample`."""
        return np.asarray(rng.poisson(self.mean, checked_size(size)), np.int64)


#: Largest difference of two observed numbers of users.
_MOST_SPREAD = 10**8


@dataclass(frozen=True)
class Empirical(Law):
    """Distribution with finite support, for example a histogram of past rounds.

    Parameters
    ----------
    pmf : (w,) sequence of float
        ``pmf[i]`` is the probability that N - 1 = start + i. Sums to 1 within 1e-9 and is then normalized.
    start : int
        Smallest number of other users, at least 0.
    """

    pmf: tuple[float, ...]
    start: int = 0

    def __post_init__(self) -> None:
        try:
            values = np.asarray(self.pmf, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"Empirical: pmf must be a sequence of numbers, got {format_value(self.pmf)}."
            ) from None
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
    @checked
    def of(cls, counts: Sequence[Count]) -> Empirical:
        """Return the distribution of observed numbers of other users.

        Parameters
        ----------
        counts : (r,) sequence of int
            Number of *other* users in each observed round, at least 0.
        """
        if not counts:
            raise ValueError("counts must not be empty.")
        start = min(counts)
        check_count("counts", max(counts), start, start + _MOST_SPREAD)
        tally = np.bincount(np.asarray(counts, np.int64) - start)
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

    @checked
    def window(self, tail: OpenUnit = DEFAULT_TAIL) -> Window:
        """Return the whole distribution; `tail` is not used. See :meth:`Law.window`."""
        return Window(self.start, np.asarray(self.pmf))

    @checked
    def thinned(self, rate: Unit) -> Empirical:
        """Return the law of Bin(N - 1, rate), normalized after a mass of at most 2e-30 is omitted."""
        window = thin(self.window(), rate, DEFAULT_TAIL)
        return Empirical(tuple(window.pmf.tolist()), window.start)

    @checked
    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None
    ) -> NDArray[np.int64]:
        """Draw numbers of other users; see :meth:`Law.sample`."""
        return np.asarray(
            self.start + rng.choice(len(self.pmf), size=checked_size(size), p=self.pmf), np.int64
        )
