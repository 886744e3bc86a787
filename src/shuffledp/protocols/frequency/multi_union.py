"""MULTI-UNION: secret shares with Polya noise for a number of users that is reached with high probability."""

from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.random_population.multi_message import TABLE_II_BINOMIAL, multi_union_plan
from shuffledp.accounting.random_population.secure_sum import ShareForm
from shuffledp.guarantees import UPPER, Standing, under
from shuffledp.populations.laws import Binomial
from shuffledp.protocols.frequency._polya_shares import PolyaShares
from shuffledp.protocols.frequency._secret_shares import law_for_bits
from shuffledp.protocols.request import Request


@dataclass(frozen=True)
class MultiUnion(PolyaShares):
    """Secret shares with Polya noise; the noise of n1 users is geometric, and a union bound covers N < n1."""

    name = "multi_union"
    label = "MULTI-UNION"
    source = "Wang et al. 2023, Theorem 5 and Table II"
    guarantees = under(printed=TABLE_II_BINOMIAL, corrected=UPPER, exact=UPPER)

    @classmethod
    def fit(cls, request: Request, *, share_form: ShareForm | None = None) -> Self:
        """Find n1, with half of delta for too few users and half for the secure sum.

        The printed Table II is no valid tail bound for binomial laws (erratum RP-E16). Privacy degrades slowly below
        n1, so that the total delta still holds in the paper's settings, but not always. At rate 0.01, delta = 1e-8 and
        eps = 8 the true delta is nearly three times the claim. ``share_form`` is a form of
        `shuffledp.accounting.share_count`. Raises `Infeasible` for more than two values.
        """
        law, accounting = law_for_bits(request), request.accounting
        plan = multi_union_plan(law, request.eps, request.delta, accounting=accounting)
        return cls.planned(request, plan, share_form or ("printed" if accounting == "printed" else "any_n"))

    @property
    def standing(self) -> Standing:
        """Label of the guarantee; the printed table is a tail bound for all laws except binomial laws."""
        inherited = super().standing
        return (
            UPPER
            if inherited == TABLE_II_BINOMIAL and not isinstance(self.population, Binomial)
            else inherited
        )
