"""Rows of ``shuffledp compare --task mean``: mean and variance of numbers 0..D from two private sums.

:mod:`shuffledp.accounting.baselines.two_moments` defines both sums. A curator's noise is calibrated for both together:
e_1 is eps, and e_2 the largest that is possible. Every other protocol releases both sums with half of eps and delta
each, by basic composition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from shuffledp.accounting.baselines.two_moments import Moments, second_budget, square_levels
from shuffledp.guarantees import GUARANTEES, Guarantee
from shuffledp.numerics.rounding import number_text
from shuffledp.tasks import Summation

if TYPE_CHECKING:
    from shuffledp.comparison.options import Options
    from shuffledp.comparison.rows import Compared
    from shuffledp.tasks import Ints

_CURATOR = "central_laplace"


@dataclass(frozen=True)
class MomentRow:
    """Half-widths of a protocol in units of the numbers and of their squares; nan if the status is not ``ok``.

    The parameters are the eps of each sum alone. They add up to eps for basic composition, and to more for joint noise.
    """

    protocol: str
    label: str
    trust: str
    status: str
    reason: str
    guarantee: Guarantee | None
    composition: Literal["joint", "basic"]
    mean_half_width: float = math.nan
    variance_half_width: float = math.nan
    population_mean_half_width: float = math.nan
    messages_per_user: float = math.nan
    bits_per_user: float = math.nan
    parameters: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, with None for nan."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


def moment_rows(
    options: Options, counts: Ints, rows_of: Callable[[Options], Sequence[Compared]]
) -> list[MomentRow]:
    """Return the rows of all protocols for numbers with the shares of these counts, (D + 1,), the best rows first.

    `rows_of` returns the rows of a comparison of sums.
    """
    most, levels, eps = len(counts) - 1, square_levels(len(counts) - 1), options.eps
    users, squares = options.users or int(counts.sum()), int(levels.max())
    sums = tuple(float(users * np.average(of, weights=counts)) for of in (np.arange(most + 1), levels))
    from_widths = partial(Moments.from_sums, users, most, sums)

    def released(size: int, share: float, delta: float, names: Sequence[str] | None) -> dict[str, Compared]:
        changes: dict[str, Any] = {"eps": share, "delta": delta, "protocols": names}
        return {row.protocol: row for row in rows_of(replace(options, **changes, task=Summation(size)))}

    parts = 2 if squares else 1
    each = eps / parts, options.delta / parts, options.protocols
    first, second = released(most, *each), released(squares, *each) if squares else {}
    joint = second_budget(most, eps, eps) if squares and _CURATOR in first else None
    squares_alone = 0.0 if joint is None else joint * squares / most**2
    if joint is not None:
        first |= released(most, eps, options.delta, [_CURATOR])
        second |= released(squares, squares_alone, options.delta, [_CURATOR])
    moments_of_protocols = []
    for name, row in first.items():
        both = [row, second[name]] if squares else [row]
        basic = parts == 2 and name != _CURATOR
        shares = (eps / 2, eps / 2) if basic else (eps, squares_alone)[:parts]
        moments_of_protocols.append(_row(both, shares, "basic" if basic else "joint", from_widths))
    return sorted(
        moments_of_protocols,
        key=lambda row: (row.status != "ok", row.mean_half_width, row.variance_half_width),
    )


def _row(
    both: Sequence[Compared],
    shares: Sequence[float],
    composition: Literal["joint", "basic"],
    from_widths: Callable[[Sequence[float]], Moments],
) -> MomentRow:
    """Return the row of one or two sums with the eps of each release alone."""
    row = both[0]
    about = row.protocol, row.label, row.trust
    if wrong := next((part for part in both if part.status != "ok"), None):
        return MomentRow(*about, wrong.status, wrong.reason, None, composition)
    labels = [cast(Guarantee, part.guarantee) for part in both]
    moments = from_widths((row.half_width, both[1].half_width if len(both) == 2 else 0.0))
    return MomentRow(
        *about,
        row.status,
        row.reason,
        max((*labels, "upper" if composition == "basic" else "exact"), key=GUARANTEES.index),
        composition,
        moments.mean_half_width,
        moments.variance_half_width,
        moments.population_mean_half_width,
        sum(part.messages_per_user or 0.0 for part in both),
        sum(part.bits_per_user or 0.0 for part in both),
        dict(zip(("eps_mean", "eps_squares"), shares, strict=False)),
    )


#: Units and data of the table.
_NOTE = (
    "±95 %: half-widths for uniform numbers, rounded up, in units of the numbers and of their squares.\n"
    "trust: whom users trust; a curator (central) and secure summation (secure_sum) are not shufflers."
)


def moment_table(rows: Sequence[MomentRow]) -> str:
    """Return a line per protocol, a note on units, and the protocols that are left out with their reasons."""
    lines = [
        f"{'protocol':<22}{'mean ±95 %':>14}{'variance ±95 %':>16}{'messages':>10}  {'guarantee':<10}trust"
    ]
    for row in rows:
        if row.status == "ok":
            mean, variance = (number_text(x, "up", 4) for x in (row.mean_half_width, row.variance_half_width))
            widths = f"{mean:>14}{variance:>16}"
            lines.append(
                f"{row.protocol:<22}{widths}{row.messages_per_user:>10.4g}  {row.guarantee:<10}{row.trust}"
            )
    left_out = [row for row in rows if row.status != "ok"]
    lines += ["", _NOTE]
    if left_out:
        lines += ["", "Left out:", *(f"  {row.protocol}: {row.reason}" for row in left_out)]
    return "\n".join(lines)
