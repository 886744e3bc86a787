"""Fake users: one-hot rows of users among rows of zeros, all of them with flipped bits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting.baselines.fake_users import (
    FAKE_USERS_ACCOUNTINGS,
    FAKE_USERS_STANDINGS,
    OTHER_ROWS,
    fake_users_delta,
    fake_users_flip_probability,
)
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import Standing
from shuffledp.numerics.argument_ranges import check_choice, check_count
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost
from shuffledp.protocols.frequency._unary_bits import WholeRows
from shuffledp.protocols.reliance import Reliance


@dataclass(frozen=True)
class FakeUsers(WholeRows):
    """A message is a row of bits, one per value; every user sends its own row and kappa rows of zeros.

    The shuffler permutes rows. Users rely on the rows of zeros of all users.

    Parameters
    ----------
    kappa : int
        Fake users per user, at least 1.
    other_rows : {"dropped", "blanket"}
        What the accounting takes other users' own rows for.
    """

    kappa: int
    other_rows: str

    name = "fake_users"
    task_kind = "frequency"
    label = "fake users"
    source = "Cheu and Zhilyaev 2021, arXiv 2104.02739"
    trust = "shuffler"
    relies_on: ClassVar[Reliance] = "others' dummies"
    accountings = FAKE_USERS_ACCOUNTINGS
    guarantees: ClassVar[Mapping[str, Standing]] = FAKE_USERS_STANDINGS
    reduction = "blanket"

    @classmethod
    @from_request
    def calibrate(
        cls,
        n: int,
        k: int,
        eps: float,
        delta: float,
        *,
        accounting: str = "exact",
        kappa: int = 10,
        other_rows: str = "dropped",
    ) -> Self:
        """The smallest flip probability.

        See :func:`shuffledp.accounting.baselines.fake_users.fake_users_flip_probability`.

        Parameters
        ----------
        kappa : int
            Fake users per user, at least 1. The more, the closer the error is to that of dummies of single values.
        other_rows : {"dropped", "blanket"}
            Under ``exact``: whether own rows of others count as nothing, or as rows of zeros now and then.

        Raises
        ------
        Infeasible
            If delta is 0, or kappa is too small for the printed theorem.
        """
        kappa = check_count(f"{cls.name}: kappa", kappa, 1)
        check_choice(f"{cls.name}: other_rows", other_rows, OTHER_ROWS)
        q = fake_users_flip_probability(n, kappa, eps, delta, accounting=accounting, other_rows=other_rows)
        return cls(n, k, 1 - q, q, kappa, other_rows)

    @property
    def rows_per_user(self) -> int:
        """The own row and those of the fake users."""
        return 1 + self.kappa

    def counted_on(self) -> str:
        """The users who send dummies."""
        return f"{super().counted_on()}, {self.kappa:,} rows of zeros each"

    def cost(self) -> Cost:
        """``1 + kappa`` rows of a bit per value."""
        rows = float(self.rows_per_user)
        return Cost(rows, float(self.domain_size), most_messages=rows)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The own row among the fake users."""
        return Profile(
            lambda eps: fake_users_delta(
                eps, users, self.kappa * users, self.other_rate, other_rows=self.other_rows
            ),
            "one row among the flipped rows of zeros, other users' rows being dropped or told",
        )

    def parameters(self) -> dict[str, float]:
        """Flip probability, and fake users per user."""
        return {"flip_probability": self.other_rate, "fake_users": float(self.kappa)}
