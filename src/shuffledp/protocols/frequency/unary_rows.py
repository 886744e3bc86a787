"""Unary encoding: every user sends one row with a randomized bit per value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting.baselines.unary_rows import (
    ROW_BOUNDS,
    ROW_FORMS,
    RowRates,
    row_rates,
)
from shuffledp.accounting.general.matched_blanket import blanketed_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.argument_ranges import check_choice
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost
from shuffledp.protocols.frequency._unary_bits import WholeRows
from shuffledp.protocols.reliance import Reliance


@dataclass(frozen=True)
class UnaryRows(WholeRows):
    """A message is a row of bits, one per value; every user sends one.

    The shuffler permutes rows. Users rely on the rows of all others, which look like rows without a value now and then.
    """

    name = "unary_rows"
    task_kind = "frequency"
    label = "unary rows"
    source = "Wang, Blocki, Li and Jha 2017 (SUE, OUE); Erlingsson, Pihur and Korolova 2014"
    trust = "shuffler"
    relies_on: ClassVar[Reliance] = "others' reports"
    accountings = ("exact",)
    guarantees: ClassVar[Mapping[str, Standing]] = {"exact": UPPER}
    reduction = "blanket"

    @classmethod
    @from_request
    def calibrate(
        cls, n: int, k: int, eps: float, delta: float, *, form: str = "best", bound: str = "blanket"
    ) -> Self:
        """The rates of the bits, see :func:`shuffledp.accounting.baselines.unary_rows.row_rates`.

        Parameters
        ----------
        form : {"best", "symmetric", "optimized"}
            Rates of least error, symmetric ones (SUE), or an own bit that is a fair coin (OUE).
        bound : {"blanket", "clones"}
            What the local budget is made from: the rows' own blanket, or for comparison the clones reduction.
        """
        check_choice(f"{cls.name}: form", form, ROW_FORMS)
        check_choice(f"{cls.name}: bound", bound, ROW_BOUNDS)
        rates = row_rates(n, k, eps, delta, form=form, bound=bound)
        return cls(n, k, rates.own_rate, rates.other_rate)

    @property
    def rates(self) -> RowRates:
        """Of the bits."""
        return RowRates(self.own_rate, self.other_rate)

    def cost(self) -> Cost:
        """One row of a bit per value."""
        return Cost(1.0, float(self.domain_size), most_messages=1.0)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The row among the rows of others that look like rows without a value."""
        return Profile(
            lambda eps: blanketed_delta(eps, users - 1, self.other_rate, self.rates.eps_local),
            "privacy blanket of Balle et al. 2019, evaluated exactly for rows of bits",
        )

    def parameters(self) -> dict[str, float]:
        """Rates of the bits, and the local budget."""
        return {
            "own_rate": self.own_rate,
            "other_rate": self.other_rate,
            "eps_local": self.rates.eps_local,
        }
