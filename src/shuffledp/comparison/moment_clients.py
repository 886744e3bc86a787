"""Programs of a deployment for mean and variance of numbers 0..D: two sums, each with half of eps and delta.

:mod:`shuffledp.accounting.baselines.two_moments` defines both sums, and :mod:`shuffledp.comparison.moments` compares
protocols with the same budgets. Basic composition, replacement neighbors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from shuffledp.accounting.baselines.two_moments import square_levels
from shuffledp.guarantees import GUARANTEES, Guarantee
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.populations.base import Fixed
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.client.description import on_two_sums
from shuffledp.protocols.registry import get
from shuffledp.tasks import Budget, Summation


@dataclass(frozen=True)
class TwoSums:
    """Calibrated protocols of the numbers 0..`max_value`, and of their square levels."""

    numbers: ProtocolBase
    squares: ProtocolBase
    max_value: int

    @classmethod
    def calibrate(cls, name: str, users: int, max_value: int, eps: float, delta: float) -> Self:
        """Return the protocols for a budget of both sums together, eps in nats.

        Raises
        ------
        ValueError
            If a number is out of range, `max_value` is below 2 (the mean of bits has their variance), or the protocol
            has a local budget, which two sums would spend twice.
        Infeasible
            If no parameters meet the budget.
        """
        check_count("max_value", max_value, 2)
        budget, sizes = Budget(eps / 2, delta / 2), (max_value, int(square_levels(max_value).max()))
        kind = get("summation", name)
        numbers, squares = (kind.calibrate(budget, Fixed(users - 1), Summation(size)) for size in sizes)
        local = numbers.local_epsilon()
        if local is not None and math.isfinite(local):
            raise ValueError(f"moments need a protocol without a local budget, got {name}.")
        return cls(numbers, squares, max_value)

    @property
    def guarantee(self) -> Guarantee:
        """Label of the guarantee of both sums, at best ``upper``."""
        return max((self.numbers.guarantee, self.squares.guarantee, "upper"), key=GUARANTEES.index)

    def export_client(self, folder: str | Path, **about: Any) -> None:
        """Write the programs of a deployment, see `ProtocolBase.export_client`."""
        client = on_two_sums(self.numbers.client(), self.squares.client())
        parts = {"numbers": self.numbers.parameters(), "squares": self.squares.parameters()}
        stated = {
            "task": "moments",
            **about,
            "guarantee": self.guarantee,
            "composition": "basic",
            "sums": parts,
        }
        if "privacy" in about:
            stated["privacy"] = {**about["privacy"], "guarantee": self.guarantee}
        self.numbers.write_client(client, folder, stated)
