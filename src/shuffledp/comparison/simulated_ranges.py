"""Estimates of one simulated batch of ordered values, with quantiles and their intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shuffledp.comparison.count_trees import CountTree
from shuffledp.numerics.rounding import number_text
from shuffledp.outputs import wrapped
from shuffledp.tasks import Floats


@dataclass(frozen=True)
class Quantile:
    """Smallest value that a share of the users does not exceed: estimate, ends of the interval, and true value.

    A bin has the name of its smallest number, and an interval goes up to the end of its last bin.
    """

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
