"""Simulation of one batch for ordered values: the distribution function and quantiles with intervals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from shuffledp.comparison.best_trees import calibrate_tree
from shuffledp.comparison.options import BatchOptions, with_arguments_of
from shuffledp.comparison.simulated_ranges import Quantile, SimulatedRanges
from shuffledp.comparison.user_data import count_data
from shuffledp.numerics.argument_ranges import check_count, check_open_unit
from shuffledp.userdata.bins import Bins

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
    ends = labels if records is None or records.bins is None else Bins.parse(records.bins).edges[1:]
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
        tuple(
            Quantile(share, labels[value], labels[low], ends[high], labels[min(true, size - 1)])
            for share, value, low, high, true in places
        ),
        () if records is None else records.remarks,
    )
