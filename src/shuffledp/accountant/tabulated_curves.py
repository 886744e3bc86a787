"""Privacy profile of a shuffled batch, and its conversions to other definitions.

Conventions: eps in nats; one user's input is replaced; `users` counts all users. Every number is a bound: delta,
Renyi divergence, mu and true positive rates are upper bounds, false negative rates lower bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.accountant.answers import Tabular, plain
from shuffledp.accountant.batches import checked_rounds, crowd_in, setting_of
from shuffledp.accountant.reductions import LEAST_COMPOSED, one_round
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.exports import (
    gaussian_fit,
    profile_end,
    profile_grid,
    renyi_from_profile,
    trade_off,
    true_positive_rate,
)
from shuffledp.accounting.general.profiles import Exported, Kind, View
from shuffledp.accounting.general.randomizers import Randomizer
from shuffledp.numerics.argument_ranges import EpsArray, checked
from shuffledp.numerics.rounding import Side, number_text
from shuffledp.optional_dependencies import needed
from shuffledp.populations.base import Population

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from shuffledp.accounting.general.profiles import PrivacyProfile

ORDERS = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
RATES = (1e-3, 1e-2, 0.05, 0.1, 0.2, 0.5)
#: Rows that are given of delta(eps), and where they end.
_ROWS, _LEAST_DELTA = 24, 1e-15
#: Evaluation points of delta down to that delta, and below it, where only high orders matter.
_POINTS, _BEHIND, _VANISHED = 240, 120, 1e-280


@dataclass(frozen=True)
class Curves(Tabular):
    """Privacy profile and the quantities that it implies.

    Parameters
    ----------
    eps, delta : tuple of float
        Points of the profile, from eps = 0 (the total variation) to the eps with a delta of about 1e-15; of about 1e-12
        for several rounds.
    orders, renyi : tuple of float
        Orders of Renyi divergence and its values, nats. Empty if all values are infinite, and for several rounds unless
        their divergences add up.
    false_positive_rates, false_negative_rates : tuple of float
        Trade-off curve of tests between two neighbors: no test has a smaller false negative rate.
    mu : float
        Parameter of Gaussian differential privacy: the batch is mu-GDP down to the least delta of the profile.
    regret : float
        Largest distance between the trade-off curves of the batch and of mu-GDP, 0 for a Gaussian profile.
    true_positive_rates : tuple of (float, float)
        Largest true positive rate of a test at false positive rates 1e-2 and 1e-3.
    reduction : str
        Reduction of the profile, as in an answer.
    """

    eps: tuple[float, ...]
    delta: tuple[float, ...]
    orders: tuple[float, ...]
    renyi: tuple[float, ...]
    false_positive_rates: tuple[float, ...]
    false_negative_rates: tuple[float, ...]
    mu: float
    regret: float
    true_positive_rates: tuple[tuple[float, float], ...]
    reduction: str

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, with the text ``inf`` for infinite numbers."""
        rates = {f"{rate:g}": value for rate, value in self.true_positive_rates}
        return dict(plain(asdict(self) | {"true_positive_rates": rates}))

    def lines(self) -> list[str]:
        """Return the curves as lines of text."""
        return lines(self)

    def to_frame(self) -> DataFrame:
        """Return a data frame of pandas with the columns eps and delta."""
        with needed():
            import pandas as pd
        return pd.DataFrame({"eps": self.eps, "delta": self.delta})

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw delta against eps, and return the axes; raise MissingExtra without Matplotlib."""
        with needed():
            import matplotlib.pyplot as plt
        if axes is None:
            axes = plt.subplots(layout="constrained")[1]
        axes.semilogy(self.eps, self.delta, label=self.reduction)
        axes.set(xlabel="eps (nats)", ylabel="delta")
        axes.legend()
        return axes


@dataclass(frozen=True, eq=False)
class Tabulated(Exported):
    """Privacy profile through given points, with chords in e^eps between them; `eps` (nats) increases from 0.

    Beyond the last point delta is bounded by the last value. A true profile is convex in e^eps (Zhu, Dong and Wang
    2022), so that chords between upper bounds are an upper bound.
    """

    eps: NDArray[np.float64]
    values: NDArray[np.float64]
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "values of another profile"

    @checked
    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return delta for each eps (nats, >= 0), in the shape of `eps`."""
        eps_ = np.asarray(eps, np.float64)
        return np.asarray(np.interp(np.expm1(eps_), np.expm1(self.eps), self.values), np.float64)


def curves(
    eps_local: float | None = None,
    users: int | None = None,
    *,
    randomizer: str | Randomizer = "any",
    domain_size: int | None = None,
    subset_size: int | None = None,
    population: Population | None = None,
    colluding: float = 0.0,
    rounds: int = 1,
    crowd: str | None = None,
    false_positive_rates: Sequence[float] = RATES,
    orders: Sequence[float] = ORDERS,
) -> Curves:
    """Return the privacy profile of a shuffled batch and the quantities that follow from it.

    Parameters
    ----------
    eps_local, users, randomizer, domain_size, subset_size, population, colluding, rounds, crowd
        As in :func:`shuffledp.accountant.amplification`.
    false_positive_rates, orders : sequence of float
        Each rate in [0, 1], and each order above 1.

    Returns
    -------
    Curves
        Eps and divergences in nats.

    Raises
    ------
    Infeasible
        If the randomizer has no blanket.

    Notes
    -----
    Upper bounds on the privacy loss, from the smallest delta over the reductions. Sources as for
    :func:`shuffledp.accountant.amplification`, and for the conversions as in
    :mod:`shuffledp.accounting.general.exports`. If only a bound on the number of users is known, the results hold for
    every law that it allows: delta is averaged over the smallest numbers. For several rounds with a fresh crowd, it
    is the delta for a number of users that all rounds reach, plus the probability of fewer users. Divergences of rounds
    add up only if the number of users is known, or has a law and is drawn anew; else none is returned.

    Examples
    --------
    >>> from shuffledp.accountant import curves
    >>> found = curves(1.0, 10_000)
    >>> round(found.mu, 4), [round(rate, 4) for _, rate in found.true_positive_rates]
    (0.0153, [0.0104, 0.0011])
    """
    setting = setting_of(
        randomizer, domain_size, subset_size, LEAST_COMPOSED, rounds, crowd_in(crowd, population)
    )
    batch = one_round(setting, eps_local, users, population, colluding)
    rounds = checked_rounds(rounds)
    least = _LEAST_DELTA if rounds == 1 else LEAST_COMPOSED
    divergences: list[float] = []
    if rounds == 1 or batch.adds_up:
        single = _table(batch.profile(), _LEAST_DELTA)
        divergences = _renyi(single, tuple(orders))
    table = single if rounds == 1 else _table(batch.composed(), least)
    eps = profile_end(table, least) * np.linspace(0.0, 1.0, _ROWS + 1) ** 1.5
    fit = gaussian_fit(table, negligible=least)
    return Curves(
        eps=tuple(eps.tolist()),
        delta=tuple(table.delta(eps).tolist()),
        orders=tuple(orders) if divergences else (),
        renyi=tuple(rounds * value for value in divergences),
        false_positive_rates=tuple(false_positive_rates),
        false_negative_rates=tuple(trade_off(table, false_positive_rates).tolist()),
        mu=fit.mu,
        regret=fit.regret,
        true_positive_rates=tuple((rate, true_positive_rate(table, rate)) for rate in (1e-2, 1e-3)),
        reduction=batch.reduction,
    )


def _renyi(table: Tabulated, orders: tuple[float, ...]) -> list[float]:
    """Return the divergences of one round, which are additive over rounds; none if delta does not vanish."""
    try:
        return [float(value) for value in renyi_from_profile(table, orders)]
    except Infeasible:
        return []


def _table(profile: PrivacyProfile, least: float) -> Tabulated:
    """Return delta at several hundred eps, from which all conversions are computed."""
    eps, values = profile_grid(profile, least, _POINTS)
    last = profile_end(profile, _VANISHED)
    if least > _LEAST_DELTA or last <= eps[-1]:
        return Tabulated(eps, values)
    behind = np.linspace(eps[-1], last, _BEHIND + 1)[1:]
    deltas = np.minimum(np.minimum.accumulate(profile.delta(behind)), values[-1])
    return Tabulated(np.concatenate((eps, behind)), np.concatenate((values, deltas)))


def lines(tabulated: Curves) -> list[str]:
    """Return the curves as lines of text, with every bound rounded to its side."""
    rows = [
        f"Profile ({tabulated.reduction}):",
        *_columns(("eps", "up", tabulated.eps), ("delta", "up", tabulated.delta)),
        f"Gaussian privacy: mu = {number_text(tabulated.mu, 'up')}, regret {number_text(tabulated.regret, 'up', 2)}.",
    ]
    if tabulated.orders:
        rows += [
            "Renyi divergence:",
            *_columns(("order", "down", tabulated.orders), ("eps", "up", tabulated.renyi)),
        ]
    rows.append("Tests of two neighbors:")
    rows += _columns(
        ("false positives", "down", tabulated.false_positive_rates),
        ("false negatives", "down", tabulated.false_negative_rates),
    )
    for rate, most in tabulated.true_positive_rates:
        rows.append(
            f"True positive rate at a false positive rate of {rate:g}: at most {number_text(most, 'up')}."
        )
    return rows


def _columns(*columns: tuple[str, Side, Sequence[float]]) -> list[str]:
    """Return rows of numbers under their names, each column rounded to its side."""
    texts = [[name, *(number_text(value, side) for value in values)] for name, side, values in columns]
    return [f"  {first:>15}  {second:>15}" for first, second in zip(*texts, strict=True)]
