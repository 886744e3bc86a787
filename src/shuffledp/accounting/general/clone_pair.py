"""The clones reduction as a comparison: two outputs, and other reports that are clones of them.

With E = e^eps_local, user 1's output is the first with probability ``E / (E + 1)`` or ``1 / (E + 1)``. Each other
report is a clone with probability r, and then either output with probability 1/2; else it is neither. This is a pair of
laws against a blanket (:mod:`shuffledp.accounting.general.comparisons`), evaluated by contour integrals. The cost does
not grow with the number of clones, unlike the cost of the sum over this number
(:mod:`shuffledp.accounting.general.clones`). The two eps differ by less than 1e-5 relative.

The clones bound is never smaller than the bound by the randomizer's own blanket. The blanket ``min_x R(x)`` is at least
``e^-eps_local (R(0) + R(1)) / 2``, as no ratio exceeds E, and at least ``(R(0) + R(1)) / (E + 1)`` for randomizers of
which no output is favored by two inputs. The two reductions to clones replace the blanket by these smaller measures. A
smaller measure gives a larger delta, and the reduction to two outputs enlarges it further. For a known blanket, the
clones are therefore for comparison only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from shuffledp.accounting.general.clones import REDUCTIONS
from shuffledp.accounting.general.comparisons import Outputs
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.argument_ranges import Eps, check_fields, one_of

if TYPE_CHECKING:
    from shuffledp.accounting.general.comparisons import Comparison
    from shuffledp.numerics.sum_excess import Side


@dataclass(frozen=True)
class ClonePair:
    """Two outputs and their clones, in place of any randomizer with the local budget `eps_local` (nats, in (0, 300]).
    Feldman, McMillan and Talwar (2021). A lower bound is a bound for the value of the reduction, not for a randomizer.
    """

    eps_local: Eps
    reduction: Annotated[str, one_of(REDUCTIONS)] = "clones"

    def __post_init__(self) -> None:
        check_fields(self, named=True)
        if self.eps_local > 300:
            raise ValueError(f"ClonePair: eps_local must be at most 300, got {self.eps_local!r}.")

    @property
    def standing(self) -> Standing:
        """Label ``upper`` of the guarantee, for every randomizer to which the reduction applies."""
        return UPPER

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return the comparison of the two outputs, with their clones as the blanket."""
        log_both = -self.eps_local if self.reduction == "clones" else math.log(2) - _log_odds(self.eps_local)
        likely = self.eps_local - _log_odds(self.eps_local)
        half = math.exp(log_both) / 2
        logs = np.array([likely, likely - self.eps_local]) - (log_both - math.log(2))
        return (Outputs(logs, logs[::-1], np.array([half, half]), np.zeros((0, 2))),)


def _log_odds(eps_local: float) -> float:
    return eps_local + math.log1p(math.exp(-eps_local))
