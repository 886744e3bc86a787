r"""Ranges of ordered values 0..k-1 from counts on the levels of a tree, for ``shuffledp compare --task ranges``.

A user sends the node of the value on every level of a tree of counts
(:mod:`shuffledp.accounting.expected_errors.range_trees`), by a protocol that adds independent noise to every count.

The levels together: a curator's Laplace noise has ``eps / h`` on each level. Correlated noise has ``eps / h`` and
``delta / h`` on each level, by basic composition. Dummies are balls into bins for sets: the h nodes of a user are a
set, with one bound for all levels. Replacement neighbors. Derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.range_trees import Tree, power_trees
from shuffledp.guarantees import Guarantee
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.numerics.rounding import number_text
from shuffledp.populations.base import Fixed
from shuffledp.protocols.registry import get
from shuffledp.tasks import Budget, Frequency, Participants, Public, Sets, TaskKind

#: Protocols with independent noise on every count, and the task that they solve for all levels or for each.
_KINDS: dict[str, TaskKind] = {
    "central_laplace": "frequency",
    "correlated_noise": "frequency",
    "balls_into_bins": "sets",
}


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


#: Units and data of the table.
_NOTE = (
    "prefixes, ranges: mean squared errors in users², for uniform values. band ±95 %: half-width for all prefixes\n"
    "at once, a share of the users, rounded up. trust: whom users trust; a curator (central) is no shuffler."
)


def range_table(rows: Sequence[RangeRow]) -> str:
    """Return a line per protocol and tree, a note on units, and the protocols left out with their reasons."""
    numbers = f"{'prefixes':>10}{'ranges':>10}{'band ±95 %':>12}{'messages':>10}"
    lines = [f"{'protocol':<18}{'fan-outs':<20}{numbers}  {'guarantee':<10}trust"]
    for row in rows:
        if row.status == "ok":
            names = f"{row.protocol:<18}{' x '.join(map(str, row.parameters['fan_outs'])):<20}"
            errors = f"{row.cdf_mse:>10.4g}{row.range_mse:>10.4g}{number_text(row.band or 0.0, 'up', 3):>12}"
            lines.append(f"{names}{errors}{row.messages_per_user:>10.4g}  {row.guarantee:<10}{row.trust}")
    left = [row for row in rows if row.status != "ok"]
    return "\n".join(
        [*lines, "", _NOTE, *["", "Left out:"] * bool(left), *(f"  {r.protocol}: {r.reason}" for r in left)]
    )
