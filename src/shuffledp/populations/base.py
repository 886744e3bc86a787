"""Base classes of laws of, and bounds on, the number of other users; a fixed number and its thinned law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import (
    Count,
    OpenUnit,
    Unit,
    check_count,
    check_fields,
    checked,
)
from shuffledp.numerics.windows import Window

if TYPE_CHECKING:
    pass

#: Default mass outside of a probability window, on either side.
DEFAULT_TAIL = 1e-30

TailConvention = Literal["variance_proxy", "printed"]


def checked_size(size: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """Return a shape, () for None. Raise ValueError unless its entries are integers >= 0."""
    if size is None:
        return ()
    several = size if isinstance(size, Sequence) else (size,)
    return tuple(check_count("size", each) for each in several)


class Population(ABC):
    """Law of, or bound on, N - 1, the number of other users who take part."""

    #: Description in error messages.
    in_words: ClassVar[str] = (
        "the number of other users as a Population, such as Fixed(29999) for 30,000 users"
    )

    if TYPE_CHECKING:  # at run time a property here would become the default value of the fields below

        @property
        def mean(self) -> float:
            """Expected number of other users."""

        @property
        def variance(self) -> float:
            """Variance of the number of other users, or an upper bound on it."""

    @abstractmethod
    def lower_bound(self, failure: OpenUnit) -> float:
        """Return a lower bound on N - 1 that fails with at most a given probability.

        Parameters
        ----------
        failure : float
            In (0, 1).

        Returns
        -------
        float
            x with ``Pr[N - 1 < x] <= failure``, at least 0. For a law, the largest such integer.
        """


class Law(Population):
    """Full distribution of N - 1."""

    in_words: ClassVar[str] = "the number of other users as a Law, such as Fixed(29999) for 30,000 users"

    @abstractmethod
    def window(self, tail: OpenUnit = DEFAULT_TAIL) -> Window:
        """Return the probabilities of the likely numbers of other users.

        Parameters
        ----------
        tail : float
            Mass that may be omitted on either side, in (0, 1).

        Returns
        -------
        Window
            ``start``, ``pmf`` (w,) and ``omitted``, a bound on the omitted mass; 0 if the window contains the support.
        """

    @abstractmethod
    def thinned(self, rate: Unit) -> Law:
        """Return the law of Bin(N - 1, rate), for example of the number of clones.

        Parameters
        ----------
        rate : float
            Probability that another user is counted, in [0, 1].
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
            Shape of the result, () by default; integers >= 0.

        Returns
        -------
        ndarray of int64
        """

    @checked
    def quantile(self, level: OpenUnit) -> int:
        """Return the smallest x with ``Pr[N - 1 <= x] >= level``.

        Parameters
        ----------
        level : float
            In (0, 1). Levels near 1 mean ``Pr[N - 1 > x] <= 1 - level``.
        """
        window = self.window(min(DEFAULT_TAIL, 1e-13 * min(level, 1 - level)))
        if level <= 0.5:  # sum from the side on which the probabilities are small
            index = int(np.searchsorted(np.cumsum(window.pmf), level))
        else:
            beyond = np.cumsum(window.pmf[::-1])[::-1]  # Pr[N - 1 >= x]
            index = int(np.count_nonzero(beyond > 1 - level)) - 1
        return window.start + min(max(index, 0), window.pmf.size - 1)

    @checked
    def lower_bound(self, failure: OpenUnit) -> float:
        """Return the largest integer x with ``Pr[N - 1 < x] <= failure``."""
        window = self.window(min(DEFAULT_TAIL, 1e-13 * failure))
        reached = int(np.searchsorted(np.cumsum(window.pmf), failure, side="right"))
        return float(window.start + min(reached, window.pmf.size - 1))


@dataclass(frozen=True)
class Fixed(Law):
    """Known number of other users: the classical shuffle model with N = others + 1 participants.

    Parameters
    ----------
    others : int
        Number of other users, at least 0.

    Examples
    --------
    >>> from shuffledp.populations import Fixed
    >>> others = Fixed(999)  # a thousand users in all
    >>> others.mean, others.variance, others.lower_bound(1e-6)
    (999.0, 0.0, 999.0)
    """

    others: Count

    def __post_init__(self) -> None:
        check_fields(self, named=True)

    @property
    def mean(self) -> float:
        """Number of other users."""
        return float(self.others)

    @property
    def variance(self) -> float:
        """Zero."""
        return 0.0

    @checked
    def window(self, tail: OpenUnit = DEFAULT_TAIL) -> Window:
        """Return the only point of the support; see :meth:`Law.window`."""
        from shuffledp.numerics.windows import Window

        return Window(self.others, np.ones(1))

    @checked
    def thinned(self, rate: Unit) -> Law:
        """Return Binomial(others, rate)."""
        return Binomial(self.others, rate)

    @checked
    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None
    ) -> NDArray[np.int64]:
        """Return the number of other users in the shape `size`; `rng` is not used."""
        return np.full(checked_size(size), self.others, dtype=np.int64)


@dataclass(frozen=True)
class Binomial(Law):
    """Binomial number of other users: each of `trials` takes part independently with probability `rate`.

    Parameters
    ----------
    trials : int
        Number of potential *other* users, at least 0. A paper's n' includes user 1: n' = trials + 1.
    rate : float
        In [0, 1].

    Examples
    --------
    10,000 users who take part with probability 0.1, and a lower bound that fails with probability 1e-6:

    >>> from shuffledp.populations import Binomial
    >>> others = Binomial(10_000, 0.1)
    >>> others.mean, round(others.variance), others.lower_bound(1e-6)
    (1000.0, 900, 860.0)
    >>> others.thinned(0.5)
    Binomial(trials=10000, rate=0.05)
    """

    trials: Count
    rate: Unit

    def __post_init__(self) -> None:
        check_fields(self, named=True)

    @property
    def mean(self) -> float:
        """Mean ``trials * rate``."""
        return self.trials * self.rate

    @property
    def variance(self) -> float:
        """Variance ``trials * rate * (1 - rate)``."""
        return self.trials * self.rate * (1 - self.rate)

    @checked
    def window(self, tail: OpenUnit = DEFAULT_TAIL) -> Window:
        """Return the likely numbers of other users; see :meth:`Law.window`."""
        from shuffledp.numerics.windows import binomial_window

        return binomial_window(self.trials, self.rate, tail)

    @checked
    def thinned(self, rate: Unit) -> Binomial:
        """Return Binomial(trials, self.rate * rate)."""
        return Binomial(self.trials, self.rate * rate)

    @checked
    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None
    ) -> NDArray[np.int64]:
        """Draw numbers of other users; see :meth:`Law.sample`."""
        return np.asarray(rng.binomial(self.trials, self.rate, checked_size(size)), np.int64)
