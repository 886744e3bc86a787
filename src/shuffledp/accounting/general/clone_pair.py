r"""The clones reduction as a comparison: two outputs, of which every other report has a known part.

With E = e^eps_local the reporter's output is the first with probability ``E / (E + 1)`` or ``1 / (E + 1)``, and each
other report is a clone with probability r, then either output with equal chances, and nothing otherwise. This is a
pair of laws against a blanket (:mod:`shuffledp.accounting.general.comparisons`), so that contour integrals evaluate
it: the cost does not grow with the number of clones, unlike the cost of the sum over their number
(:mod:`shuffledp.accounting.general.clones`), and eps differs from the eps of the sum by less than 1e-5 relative.

Against a randomizer's own blanket clones never win. The blanket ``min_x R(x)`` is at least ``e^-eps_local (R(0) +
R(1)) / 2``, as no ratio exceeds E, and at least ``(R(0) + R(1)) / (E + 1)`` for randomizers of which no output is
favored by two inputs. Those are the measures that the two reductions to clones have instead; a smaller measure gives a
larger delta, and the reduction to two outputs enlarges it further. Where a blanket is known the clones are therefore
for comparison only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from shuffledp.accounting.general.clones import REDUCTIONS
from shuffledp.accounting.general.comparisons import Outputs
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.argument_ranges import Eps, one_of
from shuffledp.numerics.argument_types import check_fields

if TYPE_CHECKING:
    from shuffledp.accounting.general.comparisons import Comparison
    from shuffledp.numerics.sum_excess import Side


@dataclass(frozen=True)
class ClonePair:
    """Two outputs and clones of them, in place of any randomizer with a local budget.

    Parameters
    ----------
    eps_local : float
        Nats, in (0, 300].
    reduction : {"clones", "randomized_response"}
        Reduction that determines the probability of a clone, as in
        :func:`shuffledp.accounting.general.clones.clone_rate`.

    Notes
    -----
    Feldman, McMillan and Talwar (2021). A :class:`shuffledp.accounting.general.randomizers.Randomizer`; a lower bound
    is one for the value of the reduction, not for a randomizer.
    """

    eps_local: Eps
    reduction: Annotated[str, one_of(REDUCTIONS)] = "clones"

    def __post_init__(self) -> None:
        check_fields(self, named=True)
        if self.eps_local > 300:
            raise ValueError(f"ClonePair: eps_local must be at most 300, got {self.eps_local!r}.")

    @property
    def standing(self) -> Standing:
        """An upper bound for every randomizer for which the reduction holds."""
        return UPPER

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return the single pair."""
        log_both = -self.eps_local if self.reduction == "clones" else math.log(2) - _log_odds(self.eps_local)
        likely = self.eps_local - _log_odds(self.eps_local)
        half = math.exp(log_both) / 2
        logs = np.array([likely, likely - self.eps_local]) - (log_both - math.log(2))
        return (Outputs(logs, logs[::-1], np.array([half, half]), np.zeros((0, 2))),)


def _log_odds(eps_local: float) -> float:
    """Return ``log(E + 1)``."""
    return eps_local + math.log1p(math.exp(-eps_local))
