"""Simulation of one batch for ordered values: the distribution function and quantiles with intervals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import Any

import numpy as np

from shuffledp.comparison.count_trees import CountTree, calibrate_tree
from shuffledp.comparison.options import BatchOptions, with_arguments_of
from shuffledp.comparison.user_data import count_data
from shuffledp.numerics.argument_ranges import check_count, check_open_unit
from shuffledp.numerics.rounding import number_text
from shuffledp.outputs import wrapped
from shuffledp.tasks import Floats

#: Shares of the users of the quantiles, if none are named.
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Options of a batch that ranges do not have.
_OTHERS = (
    "users",
    "population",
    "task",
    "set_size",
    "max_value",
    "dimension",
    "low",
    "levels",
    "item",
    "separator",
    "crowd",
)


@dataclass(frozen=True, eq=False)
class RangeOptions(BatchOptions):
    """Arguments of `shuffledp.simulate_ranges`."""

    data: Any = None
    _: KW_ONLY
    protocol: str
    fan_outs: str = "best"
    quantiles: Sequence[float] = SHARES


@dataclass(frozen=True)
class Quantile:
    """Smallest value that a share of the users does not exceed: estimate, ends of the interval, and true value."""

    share: float
    value: Any
    low: Any
    high: Any
    truth: Any


@dataclass(frozen=True, eq=False)
class SimulatedRanges:
    """Estimates of one simulated batch.

    Parameters
    ----------
    tree : CountTree
        The calibrated protocol.
    users : int
        Number of users of the batch.
    values : tuple
        Values in their order; for bins, the smallest number of each.
    estimates, truth : (k,) ndarray
        Estimated and true shares of the users with at most each value.
    band : float
        Half-width of a band that contains all true shares with 95 %, which an analyzer knows.
    quantiles : tuple of Quantile
        Quantiles, whose intervals hold at once with 95 %.
    remarks : tuple of str
        Remarks on the data, such as rows that were left out.
    """

    tree: CountTree
    users: int
    values: tuple[Any, ...]
    estimates: Floats
    truth: Floats
    band: float
    quantiles: tuple[Quantile, ...]
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        protocol, fan_outs = self.tree.protocol, " x ".join(map(str, self.tree.fan_outs))
        head = (
            f"{protocol.name}, {self.users:,} users, guarantee {self.tree.guarantee}; fan-outs {fan_outs}, a user "
            f"sends {self.tree.messages_per_user:.4g} messages on average; all shares of users with at most a value: "
            f"±{number_text(self.band, 'up', 2)} at once"
        )
        rows = [("share", "quantile", "95 % at once", "true")]
        rows += [(f"{q.share:g}", str(q.value), f"{q.low} to {q.high}", str(q.truth)) for q in self.quantiles]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(text.rjust(w) for text, w in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([*wrapped([head, *self.remarks]), *lines])

    def as_dict(self) -> dict[str, Any]:
        """Return plain data without the calibrated protocol."""
        return {
            "protocol": self.tree.protocol.name,
            "fan_outs": list(self.tree.fan_outs),
            "guarantee": self.tree.guarantee,
            "users": self.users,
            "messages_per_user": self.tree.messages_per_user,
            "values": list(self.values),
            "estimates": self.estimates.tolist(),
            "truth": self.truth.tolist(),
            "band": self.band,
            "quantiles": [asdict(quantile) for quantile in self.quantiles],
            "remarks": list(self.remarks),
        }


@with_arguments_of(RangeOptions)
def simulate_ranges(options: RangeOptions) -> SimulatedRanges:
    """Simulate one batch of a count protocol on a tree of the users' ordered values.

    This is a simulation, not a private release: its random numbers are reproducible, and the result contains the true
    values. Replacement neighbors.

    Parameters
    ----------
    data, counts, column, bins, domain_size, values, user, per_user, delimiter, memory, seed
        Data, as for `shuffledp.simulate`; the order of ``values`` is the order of the domain.
    protocol : str
        One of `TREE_PROTOCOLS`, or of `HISTOGRAM_PROTOCOLS` for one level.
    eps, delta : float
        Central budget of all levels together: eps in nats, positive; delta in [0, 1).
    fan_outs : str
        Fan-outs from the root on, such as ``"16,16"``, or ``"best"`` for the least error of prefixes.
    quantiles : sequence of float
        Shares of the users, in (0, 1).

    Warns
    -----
    UserWarning
        For every remark on the data, such as users whose value is outside of all bins.

    Raises
    ------
    ValueError
        If an argument is missing, out of range or of another task.
    Infeasible
        If no parameters of the protocol meet the budget.

    Notes
    -----
    :mod:`shuffledp.comparison.count_trees`.
    """
    if others := options.given(*_OTHERS):
        raise ValueError(f"{others[0]} must be left out for ranges of ordered values.")
    if options.rounds != 1 or options.neighbours != "replace_one" or options.dropout:
        raise ValueError("rounds, neighbours and dropout must be left out for ranges of ordered values.")
    for share in options.quantiles:
        check_open_unit("quantiles", share)
    options, records = count_data(options)
    if options.counts is None:
        raise ValueError("Give data, a value per user, or counts, users per value.")
    for remark in () if records is None else records.remarks:
        warnings.warn(remark, stacklevel=3)
    counts, rng = np.asarray(options.counts), np.random.default_rng(check_count("seed", options.seed))
    users, size = int(counts.sum()), len(counts)
    tree = calibrate_tree(options.protocol, options.fan_outs, users, size, options.eps, options.delta)
    estimates = tree.simulate(counts, rng)[0]
    labels = tuple(range(size)) if records is None else records.values
    truth = np.cumsum(counts)
    places = zip(
        options.quantiles,
        *tree.tree.quantiles(estimates, options.quantiles),
        np.searchsorted(truth, np.asarray(options.quantiles) * users),
        strict=True,
    )
    return SimulatedRanges(
        tree,
        users,
        labels,
        np.cumsum(estimates)[:size] / users,
        truth / users,
        tree.tree.band / users,
        tuple(Quantile(share, *(labels[min(place, size - 1)] for place in ends)) for share, *ends in places),
        () if records is None else records.remarks,
    )
