"""Histograms with fake users (Cheu and Zhilyaev 2021): the probability that a bit of a row is flipped.

Every user sends the one-hot row of its value and kappa rows of zeros, the *fake users*; every bit of every row is
flipped with probability q, and a row is one message. Two accountings:

``printed``
    ``q (1 - q) = 33 A ln(4/delta) / (5 n kappa)`` with ``A = ((e^eps + 1) / (e^eps - 1))^2``, and the smaller root q,
    which exists for ``kappa >= 132 A ln(4/delta) / (5 n)``. Only fake users count as noise.
``exact``
    The divergence itself. The likelihood ratio of a row against a flipped row of zeros depends on the bit of the user's
    value alone: ``(1 - q) / q`` if this bit is set and ``q / (1 - q)`` if not. So the row is a report with match rate
    q, ``E = ((1 - q) / q)^2``, among ``kappa n`` uniform messages with independent matches, see
    :mod:`shuffledp.accounting.general.matched_blanket`. The report is uniform with probability ``q / (1 - q)``. The
    rows of the other users are dropped, or, as a sharper bound, count as flipped rows of zeros with that probability.

Whole rows as messages double the error at ``kappa = 1``. The row of another user has the bit of that user's value, and
therefore hides user 1 only with probability ``q / (1 - q)``.

Cheu and Zhilyaev 2021, arXiv 2104.02739, whose theorem is quoted from code of third parties, not from the paper. The
divergence is derived for this project: an upper bound for every data set, exact for one user's row among the fake
users. The smallest sufficient q is rounded up by at most 1e-9 relative.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all others.
"""

import math
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.matched_blanket import (
    BLOCKS,
    block_length,
    matched_rate,
    mixed_matched_delta,
)
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, Standing, under
from shuffledp.numerics.argument_ranges import FromOne
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible, settled
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import Window, binomial_window
from shuffledp.protocols.frequency._unary_bits import WholeRows
from shuffledp.protocols.messages import Cost
from shuffledp.protocols.request import Request

#: Treatment of the other users' rows: dropped, or counted as a blanket.
OtherRows = Literal["dropped", "blanket"]

_XTOL = 1e-10
#: Log odds of a bit that is almost never flipped.
_MOST_LOGIT = 600.0


def fake_users_delta(
    eps: float, n: int, fakes: int, flip_probability: float, *, other_rows: OtherRows = "dropped"
) -> float:
    """Return a bound on delta of one user's row among all users' rows of zeros, `fakes` in number."""
    logit = math.log1p(-flip_probability) - math.log(flip_probability)
    return settled(lambda tail: _delta(eps, n, fakes, logit, other_rows, tail))


def _delta(eps: float, n: int, fakes: int, logit: float, other_rows: OtherRows, tail: float) -> float:
    q, eps_local = 1 / (1 + math.exp(logit)), 2 * logit
    if other_rows == "dropped" or n == 1:
        return mixed_matched_delta(Window(fakes, np.ones(1)), q, eps, eps_local, tail)
    rate = matched_rate(q, eps_local)
    blanket = binomial_window(n - 1, rate, tail)
    messages = Window(fakes + blanket.start, blanket.pmf, blanket.omitted)
    block = block_length(n - 1, rate, BLOCKS)
    return mixed_matched_delta(messages, q, eps, eps_local, tail, block=block)


@remember(1024)
def fake_users_flip_probability(
    n: int,
    kappa: int,
    eps: float,
    delta: float,
    *,
    accounting: str = "exact",
    other_rows: OtherRows = "dropped",
) -> float:
    """Return q in (0, 1/2), the probability that a bit of a row is flipped."""
    if accounting == "printed":
        noise = 33 / 5 * math.log(4 / delta) / math.tanh(eps / 2) ** 2 / n / kappa
        if not noise < 0.25:
            raise Infeasible(
                f"The theorem needs more than {4 * noise * kappa:.4g} fake users per user, there are {kappa}."
            )
        return 2 * noise / (1 + math.sqrt(1 - 4 * noise))
    tail = negligible(delta)

    def excess(logit: float) -> float:
        return log_ratio(_delta(eps, n, kappa * n, logit, other_rows, tail), delta)

    # Two differences of normal variables: a first guess of the number of matches. A local budget of eps suffices.
    matches = 2 * (math.sqrt(2 * math.log(1 / delta)) / eps) ** 2 + 1 / delta**0.1
    guess = math.log(max(kappa * n / matches - 1, 1.5))
    return 1 / (1 + math.exp(root_below(excess, guess, eps / 2, max(_MOST_LOGIT, eps), xtol=_XTOL)))


@dataclass(frozen=True)
class FakeUsers(WholeRows):
    """Rows of bits, one bit per value, as messages; every user sends the row of a value and kappa rows of zeros.

    The shuffler permutes rows. Users rely on all users' rows of zeros.
    """

    kappa: int
    other_rows: OtherRows

    name = "fake_users"
    task_kind = "frequency"
    label = "fake users"
    source = "Cheu and Zhilyaev 2021, arXiv 2104.02739"
    trust = "shuffler"
    relies_on = "others' dummies"
    poisoning = "capped messages"
    guarantees = under(
        printed=Standing(
            "unproven", "the theorem was read in third-party code only, not in the text of its paper"
        ),
        exact=UPPER,
    )
    reduction = "blanket"

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        kappa: FromOne = 10,
        other_rows: OtherRows = "dropped",
    ) -> Self:
        """Find the smallest flip probability for ``kappa`` fake users per user.

        Under ``exact``, ``other_rows``, the rows of other users' values, are ``dropped`` or count as rows of zeros with
        some probability (``blanket``). Raises `Infeasible` if kappa is too small for the printed theorem.
        """
        q = fake_users_flip_probability(
            request.n, kappa, request.eps, request.delta, accounting=request.accounting, other_rows=other_rows
        )
        return cls(request.n, request.k, 1 - q, q, kappa, other_rows)

    @property
    def rows_per_user(self) -> int:
        """Number of rows per user: one for the user's value, and kappa of fake users."""
        return 1 + self.kappa

    def counted_on(self) -> str:
        """Name the users who send dummies."""
        return f"{super().counted_on()}, {self.kappa:,} rows of zeros each"

    def cost(self) -> Cost:
        """Return the cost of ``1 + kappa`` rows with one bit per value."""
        rows = float(self.rows_per_user)
        return Cost(rows, float(self.domain_size), most_messages=rows)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of one user's row among the fake users."""
        return Profile(
            lambda eps: fake_users_delta(
                eps, users, self.kappa * users, self.other_rate, other_rows=self.other_rows
            ),
            "one row among the flipped rows of zeros, other users' rows being dropped or told",
        )

    def parameters(self) -> dict[str, float]:
        """Return the flip probability, and the number of fake users per user."""
        return {"flip_probability": self.other_rate, "fake_users": float(self.kappa)}
