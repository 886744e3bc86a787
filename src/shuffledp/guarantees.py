"""What stands behind a number: the labels that results, legends and captions carry.

Conventions: a *claim* is that a mechanism is (eps, delta)-private for the eps (nats) and delta that a formula or a
calibration states. A label speaks about the way a claim was found, not about one setting: a formula that is known to
fail somewhere is ``violated`` wherever it is used, unless what was calibrated lies in a range in which it is proven.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

Guarantee = Literal["exact", "upper", "approximate", "unproven", "violated"]
"""How far a claim can be trusted.

``exact``
    The stated delta is the true worst case: that of the named pair, which is proven to dominate.
``upper``
    A proven upper bound, which may be loose.
``approximate``
    Numerically close, with no certified side.
``unproven``
    Evaluated exactly for a pair or a data set that is not proven to be the worst, or a theorem that is used outside of
    the range in which it is proven.
``violated``
    A setting is known in which the true delta exceeds the claim; the note names the witness.
"""
GUARANTEES: tuple[Guarantee, ...] = get_args(Guarantee)
"""From the strongest label to the weakest."""
NEED_A_NOTE: frozenset[str] = frozenset({"unproven", "violated"})
"""Labels that say nothing without a reason."""


@dataclass(frozen=True)
class Standing:
    """A label and its reason.

    Parameters
    ----------
    guarantee : {"exact", "upper", "approximate", "unproven", "violated"}
        See :data:`Guarantee`.
    note : str
        The open statement of an ``unproven`` claim, the witness of a ``violated`` one; these two need it.

    Raises
    ------
    ValueError
        If there is no such label, or the reason is missing.
    """

    guarantee: Guarantee
    note: str = ""

    def __post_init__(self) -> None:
        if self.guarantee not in GUARANTEES:
            raise ValueError(f"guarantee must be one of {', '.join(GUARANTEES)}, got {self.guarantee!r}.")
        if self.guarantee in NEED_A_NOTE and not self.note.strip():
            raise ValueError(f"A guarantee that is {self.guarantee} needs a note that says why.")


EXACT = Standing("exact")
UPPER = Standing("upper")


def weakest(standings: Iterable[Standing]) -> Standing:
    """The weakest of several standings, the first of equally weak ones: what a claim that needs all of them has.

    Raises
    ------
    ValueError
        If there is none.
    """
    found = list(standings)
    if not found:
        raise ValueError("There is no weakest of no standings.")
    return max(found, key=lambda standing: GUARANTEES.index(standing.guarantee))
