r"""Rows of ``shuffledp compare --task ranges``: errors of prefixes and ranges of ordered values 0..k-1.

Every protocol with independent errors of all counts has a row for a histogram, and some also for the best tree
(:mod:`shuffledp.comparison.count_trees`). Randomized response has errors of its own, for uniform values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.range_responses import UniformResponse
from shuffledp.accounting.expected_errors.range_trees import Tree
from shuffledp.comparison.best_trees import best_tree
from shuffledp.comparison.count_trees import HISTOGRAM_PROTOCOLS, TREE_PROTOCOLS, CountTree
from shuffledp.comparison.prefix_errors import RESPONSE, response_errors
from shuffledp.guarantees import Guarantee
from shuffledp.numerics.argument_ranges import check_choice, check_count
from shuffledp.numerics.rounding import number_text
from shuffledp.protocols.registry import get


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


def range_rows(
    users: int, domain_size: int, eps: float, delta: float, protocols: Sequence[str] | None = None
) -> list[RangeRow]:
    """Return rows of histograms and of the best trees, the least error of prefixes first; by default all protocols.

    Raises ValueError for a number out of range, or a protocol whose errors of ranges are unknown.
    """
    check_count("users", users, 2)
    check_count("domain_size", domain_size, 2)
    allowed = (*HISTOGRAM_PROTOCOLS, RESPONSE)
    for name in protocols or ():
        check_choice("protocols", name, allowed)
    rows = []
    for name in protocols or allowed:
        about = name, get("frequency", name).trust
        try:
            rows += [
                RangeRow(*about, "ok", "", *row) for row in _errors(name, users, domain_size, eps, delta)
            ]
        except Infeasible as error:
            rows.append(RangeRow(*about, "infeasible", str(error)))
    return sorted(rows, key=lambda row: math.inf if row.cdf_mse is None else row.cdf_mse)


def _errors(name: str, users: int, domain_size: int, eps: float, delta: float) -> Iterator[tuple[Any, ...]]:
    """Yield the last fields of the row of the histogram, and of the best tree."""
    if name == RESPONSE:
        protocol, errors = response_errors(users, domain_size, eps, delta)
        messages = protocol.cost().messages_per_user
        yield protocol.guarantee, *_columns(errors, users), messages, {"fan_outs": [domain_size]}
        return
    trees = [CountTree.calibrate(name, users, (domain_size,), eps, delta)]
    if name in TREE_PROTOCOLS and (best := best_tree(name, users, domain_size, eps, delta)) is not None:
        trees.append(best)
    for tree in trees:
        parameters = {"fan_outs": list(tree.fan_outs), "count_variances": list(tree.tree.variances)}
        yield tree.guarantee, *_columns(tree.tree, users), tree.messages_per_user, parameters


def _columns(errors: Tree | UniformResponse, users: int) -> tuple[float, ...]:
    return errors.cdf_mse, errors.range_mse, errors.largest_deviation, errors.band / users


#: Units and data of the table.
_NOTE = (
    "prefixes, ranges: mean squared errors in users², for uniform values. band ±95 %: half-width for all prefixes\n"
    "at once, a share of the users, rounded up. trust: whom users trust; a curator (central) is no shuffler."
)


def range_table(rows: Sequence[RangeRow]) -> str:
    """Return a line per protocol and tree, a note on units, and the protocols left out with their reasons."""
    trees = [" x ".join(map(str, row.parameters.get("fan_outs", ()))) for row in rows]
    wide = 2 + max(map(len, ("fan-outs", *trees)))
    numbers = f"{'prefixes':>10}{'ranges':>10}{'band ±95 %':>12}{'messages':>10}"
    lines = [f"{'protocol':<18}{'fan-outs':<{wide}}{numbers}  {'guarantee':<10}trust"]
    for row, tree in zip(rows, trees, strict=True):
        if row.status == "ok":
            errors = f"{row.cdf_mse:>10.4g}{row.range_mse:>10.4g}{number_text(row.band or 0.0, 'up', 3):>12}"
            sent = f"{row.messages_per_user:>10.4g}  {row.guarantee:<10}{row.trust}"
            lines.append(f"{row.protocol:<18}{tree:<{wide}}{errors}{sent}")
    left_out = [row for row in rows if row.status != "ok"]
    lines += ["", _NOTE]
    if left_out:
        lines += ["", "Left out:", *(f"  {row.protocol}: {row.reason}" for row in left_out)]
    return "\n".join(lines)
