"""Privacy amplification: generalized randomized response under the privacy blanket, with no dummies."""

from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.general.grr_blanket import blanket_local_budget
from shuffledp.guarantees import UPPER, under
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.frequency._dummy_points import FixedDummies
from shuffledp.protocols.request import Request


@dataclass(frozen=True)
class GrrBlanket(FixedDummies):
    """Randomized response over k values, with the largest local budget that the other users' uniform reports allow."""

    name = "grr_blanket"
    relies_on = "others' reports"
    poisoning = "one report"
    task_kind = "frequency"
    label = "privacy-amplification"
    source = "Balle et al. 2019, Theorem 3.1"
    guarantees = under(printed=UPPER, exact=UPPER)
    reduction = "blanket"
    profile_points = 240

    @classmethod
    def fit(cls, request: Request) -> Self:
        """Find the largest local budget, at least eps, under the blanket averaged over the number of uniform reports.

        ``printed`` is the theorem, for eps <= 1.
        """
        eps_local = blanket_local_budget(
            request.n, request.k, request.eps, request.delta, accounting=request.accounting
        )
        return cls(request.n, request.k, eps_local, 0)

    def counted_on(self) -> str:
        """Name all other users."""
        return PlannedUsers.counted_on(self)

    def parameters(self) -> dict[str, float]:
        """Return ``eps_local``, the only parameter without dummies."""
        return {"eps_local": self.eps_local}
