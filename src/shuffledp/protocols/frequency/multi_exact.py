"""MULTI-EXACT: secret shares with Polya noise, planned by the exact delta averaged over the number of users."""

from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.random_population.multi_message import multi_exact_plan
from shuffledp.accounting.random_population.secure_sum import ShareForm
from shuffledp.guarantees import UPPER, under
from shuffledp.protocols.frequency._polya_shares import PolyaShares
from shuffledp.protocols.frequency._secret_shares import law_for_bits
from shuffledp.protocols.request import Request


@dataclass(frozen=True)
class MultiExact(PolyaShares):
    """MULTI-UNION with the largest n1 for which the noise's mean delta is at most half of the budget's delta."""

    name = "multi_exact"
    label = "MULTI-EXACT"
    source = "this project: the noise of Wang et al. 2023, Theorem 5, with its exact expected delta"
    proof = "shuffledp.accounting.random_population.multi_message"
    guarantees = under(exact=UPPER)

    @classmethod
    def fit(cls, request: Request, *, share_form: ShareForm = "any_n") -> Self:
        """Find n1, with half of delta for noise of too few users and half for the secure sum.

        ``share_form`` is a form of `shuffledp.accounting.share_count`. Raises `Infeasible` for more than two values.
        """
        plan = multi_exact_plan(law_for_bits(request), request.eps, request.delta)
        return cls.planned(request, plan, share_form)
