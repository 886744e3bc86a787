r"""Ranges of ordered values 0..k-1 from counts on the levels of a tree, for ``shuffledp compare --task ranges``.

A tree with the fan-outs ``B_1, .., B_h`` has nodes of ``s_l`` values on level l, ``s_0 = k > s_1 > .. > s_h = 1``. A
user sends the node of the value on every level, by a protocol that adds independent noise of the variance ``v_l`` to
every count. The number n of users is known. The estimate is generalized least squares, in closed form: let A_l replace
a vector of k counts by its averages over the nodes of level l, and ``P_l = A_l - A_{l-1}``. Level m estimates every
``P_l x``, ``l <= m``, with the weight ``s_m / v_m``. With ``lambda_l = sum_{m >= l} s_m / v_m`` the variance of the sum
of the counts with weights g is ``sum_l |P_l g|^2 / lambda_l``. One level, ``h = 1``, is a histogram whose known total
reduces the errors of its prefix sums.

The levels together: a curator's Laplace noise has ``eps / h`` on each level. Correlated noise has ``eps / h`` and
``delta / h`` on each level, by basic composition. Dummies are balls into bins for sets: the h nodes of a user are a
set, with one bound for all levels. Replacement neighbors. Derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.special import ndtri

from shuffledp.accounting.errors import Infeasible
from shuffledp.guarantees import Guarantee
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.populations.base import Fixed
from shuffledp.protocols.registry import get
from shuffledp.tasks import Budget, Floats, Frequency, Participants, Public, Sets, TaskKind

#: Quantile of the largest absolute value of a Brownian bridge, 95 %, for the band of a flat histogram.
_BRIDGE = 1.3581
#: Protocols with independent noise on every count, and the task that they solve for all levels or for each.
_KINDS: dict[str, TaskKind] = {
    "central_laplace": "frequency",
    "correlated_noise": "frequency",
    "balls_into_bins": "sets",
}


@dataclass(frozen=True)
class Tree:
    """Fan-outs from the root on, and the variance of the noise of a count on each level."""

    fan_outs: tuple[int, ...]
    variances: tuple[float, ...]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of a node on the levels 0..h."""
        return tuple(math.prod(self.fan_outs[level:]) for level in range(len(self.fan_outs) + 1))

    @cached_property
    def information(self) -> Floats:
        """Numbers lambda_l of the levels 1..h."""
        return np.cumsum((np.array(self.sizes[1:]) / self.variances)[::-1])[::-1]

    @property
    def cdf_mse(self) -> float:
        """Mean squared error of the k prefixes of values below j = 0..k-1, in squared users."""
        s = np.array(self.sizes, float)
        return float(np.sum(-np.diff((s**2 - 1) / (6 * s)) / self.information))

    @property
    def range_mse(self) -> float:
        """Mean squared error of all ranges of at least one value, in squared users."""
        s, k = np.array(self.sizes, float), self.sizes[0]
        twice = float(np.sum(-k * np.diff(s**2) / 12 / self.information))
        return 2 * self.cdf_mse - 2 / (k * (k + 1)) * twice

    @property
    def prefix_variances(self) -> Floats:
        """Variances of the prefixes of values below j = 0..k-1, (k,), in squared users."""
        j = np.arange(self.sizes[0])
        squares = np.array([j - (rest := j % size) + rest**2 / size for size in self.sizes])
        return np.asarray(np.diff(squares, axis=0).T @ (1 / self.information), np.float64)

    @property
    def largest_deviation(self) -> float:
        """Largest standard deviation of a prefix, in users."""
        return math.sqrt(float(self.prefix_variances.max()))

    @property
    def band(self) -> float:
        """Half-width of a band that contains all prefixes with 95 %, in users."""
        k = self.sizes[0]
        if len(self.fan_outs) == 1:
            return _BRIDGE * math.sqrt(self.variances[0] * k)
        return float(-ndtri(0.025 / (k - 1))) * self.largest_deviation

    def estimate(self, users: int, counts: Sequence[Floats]) -> Floats:
        """Return the counts of all values, (k,), from the noisy counts of the nodes of each level."""
        k = self.sizes[0]

        def averaged(values: Floats, size: int) -> Floats:
            return np.repeat(values.reshape(-1, size).mean(axis=1), size)

        result = np.full(k, users / k)
        for m, (noisy, variance) in enumerate(zip(counts, self.variances, strict=True), 1):
            spread = np.repeat(np.asarray(noisy, float), self.sizes[m]) / self.sizes[m]
            for level in range(1, m + 1):
                part = averaged(spread, self.sizes[level]) - averaged(spread, self.sizes[level - 1])
                result += self.sizes[m] / variance / self.information[level - 1] * part
        return result


def power_trees(domain_size: int) -> Iterator[tuple[int, ...]]:
    """Yield all trees of two or more levels with fan-outs that are powers of two, for the smallest power from k on."""
    bits = (domain_size - 1).bit_length()
    for cuts in product((False, True), repeat=bits - 1):
        ends = [place for place, cut in enumerate(cuts, 1) if cut]
        if ends:
            yield tuple(2 ** (end - start) for start, end in pairwise([0, *ends, bits]))


@dataclass(frozen=True)
class RangeRow:
    """Errors of a protocol on a tree for uniform data: squared users, users, and the band as a share of the users."""

    protocol: str
    trust: str
    status: str
    reason: str
    guarantee: Guarantee | None = None
    cdf_mse: float | None = None
    range_mse: float | None = None
    largest_deviation: float | None = None
    band: float | None = None
    messages_per_user: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


def levels_of(
    name: str, users: int, fan_outs: Sequence[int], eps: float, delta: float
) -> tuple[Tree, Guarantee, float]:
    """Return the tree with the noise of a protocol, the label of its guarantee, and the messages per user."""
    tasks: Sequence[Frequency | Sets]
    nodes, h = [math.prod(fan_outs[:level]) for level in range(1, len(fan_outs) + 1)], len(fan_outs)
    budget, tasks = Budget(eps, delta), [Sets(sum(nodes), h)]
    if _KINDS[name] == "frequency":  # from three values on, both counts that a user moves have noise
        budget, tasks = Budget(eps / h, delta / h), [Frequency(max(size, 3)) for size in nodes]
    made = [get(_KINDS[name], name).calibrate(budget, Fixed(users - 1), task) for task in tasks]
    public, variances = Public(np.array([users])), []
    for protocol, task in zip(made, tasks, strict=True):
        held = np.full((1, *task.counts_shape), users / task.domain_size)
        shares = np.full((1, *task.estimate_shape), 1 / task.domain_size)
        variance = protocol.expected_variance(Participants(public, held, shares))
        assert variance is not None
        variances.append(float(variance.mean()) * users**2)
    label = made[0].guarantee if h == 1 or len(made) == 1 else "upper"
    noise = tuple(variances * h if len(made) == 1 else variances)
    return Tree(tuple(fan_outs), noise), label, sum(one.cost().messages_per_user for one in made)


def range_rows(users: int, domain_size: int, eps: float, delta: float) -> list[RangeRow]:
    """Return rows of the histogram and of the best tree of each protocol, the least error of prefixes first."""
    check_count("users", users, 2)
    check_count("domain_size", domain_size, 2)
    rows = []
    for name, kind in _KINDS.items():
        about = name, get(kind, name).trust
        try:
            best = [(domain_size,), *_best_tree(name, users, domain_size, eps, delta)]
            found = [levels_of(name, users, fan_outs, eps, delta) for fan_outs in best]
        except Infeasible as error:
            rows.append(RangeRow(*about, "infeasible", str(error)))
            continue
        for tree, label, messages in found:
            errors = tree.cdf_mse, tree.range_mse, tree.largest_deviation, tree.band / users
            parameters = {"fan_outs": list(tree.fan_outs), "count_variances": list(tree.variances)}
            rows.append(RangeRow(*about, "ok", "", label, *errors, messages, parameters))
    return sorted(rows, key=lambda row: math.inf if row.cdf_mse is None else row.cdf_mse)


def _best_tree(name: str, users: int, domain_size: int, eps: float, delta: float) -> list[tuple[int, ...]]:
    """Return the tree of at least two levels with the least error of prefixes; none for two values."""
    noise = cache(lambda h: levels_of(name, users, (2,) * h, eps, delta)[0].variances)
    trees = [Tree(fan_outs, noise(len(fan_outs))) for fan_outs in power_trees(domain_size)]
    return [min(trees, key=lambda tree: tree.cdf_mse).fan_outs] if trees else []


def range_table(rows: Sequence[RangeRow]) -> str:
    """Return a line per protocol and tree, and the protocols that are left out with their reasons."""
    lines = [
        f"{'protocol':<18}{'fan-outs':<20}{'prefixes':>10}{'ranges':>10}{'band ±95 %':>12}{'messages':>10}"
    ]
    for row in rows:
        if row.status == "ok":
            names = f"{row.protocol:<18}{' x '.join(map(str, row.parameters['fan_outs'])):<20}"
            errors = f"{row.cdf_mse:>10.4g}{row.range_mse:>10.4g}{row.band:>12.3g}"
            lines.append(f"{names}{errors}{row.messages_per_user:>10.4g}  {row.guarantee}")
    left = [row for row in rows if row.status != "ok"]
    return "\n".join(
        [*lines, *["", "Left out:"] * bool(left), *(f"  {r.protocol}: {r.reason}" for r in left)]
    )
