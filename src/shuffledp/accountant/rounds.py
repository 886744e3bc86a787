"""Several shuffled batches of the same users with different local budgets or numbers of participants.

Conventions: eps in nats; the input of one user is replaced in all batches; delta covers all batches together; `users`
counts all users.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shuffledp.accountant.answers import ONE_ROUND, Tabular, bounds_lines, plain
from shuffledp.accountant.batches import checked_fraction, checked_rounds, eps_local_of, setting_of
from shuffledp.accountant.reductions import one_round
from shuffledp.accountant.shuffled_rounds import amplification
from shuffledp.accounting.general.composition import composed_epsilon
from shuffledp.guarantees import UPPER
from shuffledp.numerics.argument_ranges import Count, Delta, check_count, check_fields
from shuffledp.numerics.rounding import number_text

if TYPE_CHECKING:
    from shuffledp.accounting.general.profiles import PrivacyProfile


@dataclass(frozen=True)
class Batch:
    """A shuffled batch, and the number of batches with the same local budget and users.

    Parameters
    ----------
    eps_local : float
        Local budget, nats, in (0, 100].
    users, count : int
        Number of all users, >= 1, and number of such batches, in [1, 10^6].
    """

    eps_local: float
    users: Count
    count: Count = 1

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class RoundsAnswer(Tabular):
    """Joint guarantee of several batches.

    Parameters
    ----------
    eps : float
        Proven central eps, nats.
    eps_lower : float or None
        Lower bound on every valid eps: the bound of one of the batches alone.
    delta : float
    batches : tuple of Batch
    reduction : str
        As in :class:`shuffledp.accountant.Answer`; ``local`` if no amplification is proven.
    guarantee, note, trust, neighbours, randomizer
        As in :class:`shuffledp.accountant.Answer`.
    colluding : float
    """

    eps: float
    eps_lower: float | None
    delta: float
    batches: tuple[Batch, ...]
    reduction: str
    guarantee: str
    note: str
    trust: str
    neighbours: str
    randomizer: str
    colluding: float

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return dict(plain(asdict(self)))

    def lines(self) -> list[str]:
        """Return the answer as lines of text, every bound rounded to its side."""
        delta = number_text(self.delta, "up")
        lines = [f"eps = {number_text(self.eps, 'up')}: the following rounds together, delta = {delta}."]
        for batch in self.batches:
            times = f", {batch.count:,} times" if batch.count > 1 else ""
            eps_local = number_text(batch.eps_local, "down")
            lines.append(f"  {batch.users:,} users with a local budget of {eps_local}{times}")
        lines += bounds_lines(self.eps, self.eps_lower, ONE_ROUND)
        lines.append(
            f"Randomizer: {self.randomizer}. Reduction: {self.reduction}. Guarantee: {self.guarantee}."
        )
        if self.note:
            lines.append(f"Note: {self.note}.")
        lines.append("Neighbors differ in one user's input (replaced), in all rounds.")
        lines.append(self.trust)
        return lines


def batch_named(text: str) -> Batch:
    """Return the batch written as ``1.5:10000`` or ``1.5:10000:16``; raise ValueError for other texts."""
    words = text.split(":")
    try:
        if len(words) not in (2, 3):
            raise ValueError
        return Batch(float(words[0]), *(int(word) for word in words[1:]))
    except ValueError:
        raise ValueError(
            f"round must be EPS_LOCAL:USERS or EPS_LOCAL:USERS:COUNT, a number and integers, got {text!r}."
        ) from None


def rounds_epsilon(
    batches: Sequence[Batch],
    delta: Delta,
    *,
    randomizer: str = "any",
    domain_size: int | None = None,
    subset_size: int | None = None,
    colluding: float = 0.0,
) -> RoundsAnswer:
    """Return the central guarantee of several batches with different numbers of users and local budgets.

    An upper bound: :func:`shuffledp.accounting.composed_epsilon`, which lists its sources, for the profiles of the
    batches, or the sum of all local budgets if this sum is smaller. Replacement of one user's input in all batches.

    Parameters
    ----------
    batches : sequence of Batch
        Batches, at least one. User 1 takes part in all of them.
    delta : float
        In (0, 1), of all batches together.
    randomizer, domain_size, subset_size, colluding
        As in :func:`shuffledp.accountant.amplification`, the same in all batches; the randomizer by name.

    Returns
    -------
    RoundsAnswer
        With an upper bound on eps, nats.
    """
    if not batches:
        raise ValueError("At least one round is needed, got none.")
    colluding = checked_fraction(colluding)
    profiles: list[PrivacyProfile] = []
    alone = []
    reduction = ""
    for batch in batches:
        checked_rounds(batch.count)
        check_count("users", batch.users, 1)
        setting = setting_of(randomizer, domain_size, subset_size, delta, 1)
        eps_local_of(batch.eps_local, setting)
        single = one_round(setting, batch.eps_local, batch.users, None, colluding)
        profiles.append(single.profile())
        reduction = single.reduction
        answer = amplification(
            batch.eps_local,
            batch.users,
            delta,
            randomizer=randomizer,
            domain_size=domain_size,
            subset_size=subset_size,
            colluding=colluding,
        )
        alone.append(answer)
    counts = [batch.count for batch in batches]
    if sum(counts) == 1:
        eps, reduction = alone[0].eps, alone[0].reduction
    else:
        eps = composed_epsilon(profiles, delta, rounds=counts)
    local = sum(batch.count * batch.eps_local for batch in batches)
    if eps >= local:
        eps, reduction = local, "local"
    weakest = next((candidate for candidate in alone if candidate.guarantee != UPPER.guarantee), alone[0])
    lower = [candidate.eps_lower for candidate in alone if candidate.eps_lower is not None]
    return RoundsAnswer(
        eps=eps,
        eps_lower=min(max(lower), eps) if lower else None,
        delta=alone[0].delta,
        batches=tuple(batches),
        reduction=reduction,
        guarantee=UPPER.guarantee if reduction == "local" else weakest.guarantee,
        note="" if reduction == "local" else weakest.note,
        trust=alone[0].trust,
        neighbours="replace_one",
        randomizer=alone[0].randomizer,
        colluding=colluding,
    )
