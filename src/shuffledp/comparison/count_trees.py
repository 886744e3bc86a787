r"""Count protocols on the nodes of a tree: calibration for all levels together, errors, simulation and client.

A user sends the node of the value on each of the h levels of a tree
(:mod:`shuffledp.accounting.expected_errors.range_trees`), by one protocol with independent noise on the counts of all
nodes. Replacing the user moves at most two counts of each level, and the levels have independent noise. Hence the
levels are h releases of the protocol to the same users (:mod:`shuffledp.comparison.releases`), and two values in
different nodes of all levels are a worst pair.

Replacement neighbors. Derived for this project.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from operator import mul
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.expected_errors.range_trees import Tree
from shuffledp.comparison.options import SettingOptions
from shuffledp.comparison.releases import Releases, calibrate_releases
from shuffledp.comparison.setting import setting_of
from shuffledp.guarantees import Guarantee
from shuffledp.numerics.argument_ranges import check_choice, check_count
from shuffledp.numerics.memoize import remember
from shuffledp.populations.base import Fixed
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.client.description import on_levels, tree_levels
from shuffledp.protocols.registry import get
from shuffledp.tasks import Array, Budget, Floats, Frequency, Ints, Participants, Public

#: Protocols with independent noise on every count of at least three, which depends on no value.
TREE_PROTOCOLS = ("central_laplace", "central_gaussian", "correlated_noise", "balls_into_bins")
#: Least number of counts, from which on both counts that a user moves have noise.
_FEWEST = 3
#: Protocols with independent errors of all counts for histograms, whose noise may depend on the values.
HISTOGRAM_PROTOCOLS = (
    *TREE_PROTOCOLS,
    "designated_coins",
    "silent_users",
    "one_sided_noise",
    "jump_counts",
    "sbin",
    "sageo",
    "s1geo",
    "skellam",
)


@dataclass(frozen=True)
class CountTree:
    """Calibrated count protocol of all nodes of a tree.

    Parameters
    ----------
    fan_outs : tuple of int
        From the root on, each at least 2; their product is the number of values.
    protocol : ProtocolBase
        Protocol whose values are the nodes, in the order of the levels.
    guarantee : Guarantee
        Label of the guarantee of all levels together.
    users : int
        Number of users, which the protocol is calibrated for.
    """

    fan_outs: tuple[int, ...]
    protocol: ProtocolBase = field(repr=False)
    guarantee: Guarantee
    users: int

    @classmethod
    def calibrate(cls, name: str, users: int, fan_outs: Sequence[int], eps: float, delta: float) -> Self:
        """Return a protocol calibrated for a budget (eps in nats) of all levels together.

        Raises
        ------
        ValueError
            If a number is out of range, or the protocol is not one of `TREE_PROTOCOLS` for several levels, or of
            `HISTOGRAM_PROTOCOLS` for one.
        Infeasible
            If no parameters meet the budget.
        """
        check_choice("protocol", name, TREE_PROTOCOLS if len(fan_outs) > 1 else HISTOGRAM_PROTOCOLS)
        for fan_out in fan_outs:
            check_count("fan_outs", fan_out, 2)
        task = Frequency(max(sum(accumulate(fan_outs, mul)), _FEWEST))
        if len(fan_outs) == 1:
            protocol = get("frequency", name).calibrate(Budget(eps, delta), Fixed(users - 1), task)
            return cls(tuple(fan_outs), protocol, protocol.guarantee, users)
        releases = calibrated_levels(name, users, len(fan_outs), eps, delta)
        changes: dict[str, Any] = {"domain_size": task.domain_size, "calibrated_for": task}
        return cls(tuple(fan_outs), replace(releases.protocol, **changes), releases.guarantee, users)

    @cached_property
    def tree(self) -> Tree:
        """Tree with the variance of a count, which is the same for all nodes."""
        nodes = max(sum(accumulate(self.fan_outs, mul)), _FEWEST)
        participants = self._participants(self.users, np.full((1, nodes), self.users / nodes))
        variance = self.protocol.expected_variance(participants)
        assert variance is not None
        return Tree(self.fan_outs, (float(variance[0, 0]) * self.users**2,) * len(self.fan_outs))

    def _participants(self, users: int, counts: Array) -> Participants:
        """Return users with these numbers of holders of the nodes, (R, nodes)."""
        return Participants(Public(np.full(len(counts), users)), counts, counts / users)

    @property
    def messages_per_user(self) -> float:
        """Expected number of messages of a user: a node per level, and noise."""
        return self.protocol.cost().messages_per_user + len(self.fan_outs) - 1

    def nodes(self, values: Array) -> list[Array]:
        """Return the entries of the nodes of each level, of an array of all nodes, (.., nodes)."""
        k = self.tree.sizes[0]
        return [values[..., first : first + k // size] for size, first in tree_levels(self.fan_outs)]

    def simulate(self, counts: Ints, rng: Generator, repeats: int = 1) -> Floats:
        """Draw least-squares estimates of the counts, (R, k), from users per value, (V,), V <= k."""
        users, k = int(counts.sum()), self.tree.sizes[0]
        values = np.pad(counts, (0, k - len(counts)))
        node_counts = np.concatenate(
            [values.reshape(-1, size).sum(axis=1) for size, _ in tree_levels(self.fan_outs)]
        )
        node_counts = np.pad(node_counts, (0, max(_FEWEST - len(node_counts), 0)))
        participants = self._participants(users, np.tile(node_counts, (repeats, 1)))
        return self.tree.estimate(users, self.nodes(users * self.protocol.simulate(participants, rng)))

    def export_client(self, folder: str | Path, inputs: int, **about: Any) -> None:
        """Write the programs of a deployment for the values 0..inputs-1, see `ProtocolBase.export_client`."""
        facts = {"task": "ranges", **about, "guarantee": self.guarantee, "fan_outs": list(self.fan_outs)}
        self.protocol.write_client(on_levels(self.protocol.client(), self.fan_outs, inputs), folder, facts)


@remember(256)
def calibrated_levels(name: str, users: int, levels: int, eps: float, delta: float) -> Releases:
    """Return the protocol of several levels with the fewest nodes; its noise does not depend on their number."""
    options = SettingOptions(eps=eps, delta=delta, users=users, domain_size=_FEWEST, rounds=levels)
    where = setting_of(options)
    once = get("frequency", name).calibrate(where.budget, where.population, where.task)
    return calibrate_releases(once, where, "exact")
