"""Several questions to the same users: every user answers one question, or all questions.

The neighbor may change all answers of one user. If each user answers one question, chosen uniformly and independently
of the answers, a report (question, randomized answer) has a blanket with the weight of one question, and its likelihood
ratios have the law of one question. So the bound is the bound for one question with all users, for any number of
questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from shuffledp.accounting.general.blanket import BlanketProfile, blanket_epsilon, population_epsilon
from shuffledp.accounting.general.comparisons import Comparison, Outputs
from shuffledp.accounting.general.composition import composed_epsilon
from shuffledp.accounting.general.randomizers import (
    MOST_ENTRIES,
    FiniteRandomizer,
    Randomizer,
    SubsetSelection,
    checked_budget,
    in_subsets,
    outputs_of,
)
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.argument_ranges import Delta, FromOne, format_value
from shuffledp.populations.base import Fixed

if TYPE_CHECKING:
    from shuffledp.numerics.sum_excess import Side

Assignment = Literal["random", "assigned", "all", "joint"]


def questions_epsilon(
    randomizer: Randomizer,
    users: FromOne,
    delta: Delta,
    questions: FromOne,
    assignment: Assignment = "random",
) -> float:
    """Return the central eps of users who answer one or all of several questions.

    Parameters
    ----------
    randomizer : Randomizer
        Of one answer. For ``joint`` randomized response, subset selection or a small finite table.
    users : int
        All users, >= 1.
    delta : float
        In (0, 1), for all answers of a user together.
    questions : int
        Number of questions K, >= 1.
    assignment : {"random", "assigned", "all", "joint"}
        ``random``: each user answers one question, chosen uniformly and independently of the answers. ``assigned``:
        each user answers one question and the analyzer knows which; the K groups differ by one user at most. ``all``:
        each user answers all questions, and the answers to each question are a shuffled batch of their own. ``joint``:
        each user sends all answers in one message.

    Returns
    -------
    float
        Nats; an upper bound by the privacy blanket if one user's answers to all questions are replaced. At most the
        local budget, for ``all`` and ``joint`` K times the local budget.

    Raises
    ------
    ValueError
        If a group would have no user, or one message cannot have all answers of this randomizer.

    Notes
    -----
    ``random`` has the bound of one question with all users. ``all`` is a composition of K blankets, ``joint`` the
    blanket of K answers, whose weight is the K-th power of the weight of one; every number of changed answers is
    compared. Balle, Bell, Gascon and Nissim (2019); Su, Cheng and Wang (arXiv 2504.07414).

    Examples
    --------
    >>> from shuffledp.accountant import questions_epsilon
    >>> from shuffledp.accounting import GRR
    >>> [round(questions_epsilon(GRR(2.0, 10), 100_000, 1e-8, 4, way), 4) for way in ("random", "assigned", "joint")]
    [0.0307, 0.0635, 0.3278]
    """
    if assignment == "random":
        return blanket_epsilon(randomizer, users, delta)
    if assignment == "assigned":
        if users < questions:
            raise ValueError(f"users must be at least the number of questions, {questions}, got {users!r}.")
        return blanket_epsilon(randomizer, users // questions, delta)
    if assignment == "joint":
        return population_epsilon(joint_randomizer(randomizer, questions), Fixed(users - 1), delta, "upper")
    if questions == 1:
        return blanket_epsilon(randomizer, users, delta)
    answers = BlanketProfile(randomizer, Fixed(users - 1))
    return min(composed_epsilon([answers], delta, rounds=[questions]), questions * randomizer.eps_local)


def joint_randomizer(randomizer: Randomizer, questions: int) -> Randomizer:
    """Return the randomizer of one message with the answers to all questions.

    Raises
    ------
    ValueError
        If the randomizer is neither subset selection nor randomized response, and its table is none or too large.
    """
    randomizer = in_subsets(randomizer)
    if isinstance(randomizer, SubsetSelection):
        return JointSubsets(randomizer, questions)
    if isinstance(randomizer, FiniteRandomizer):
        table = np.array(randomizer.table)
        if table.size**questions <= MOST_ENTRIES:
            return FiniteRandomizer(cast("Any", reduce(np.kron, [table] * questions)))
        raise ValueError(
            f"randomizer must have at most {MOST_ENTRIES} entries in its table for all questions, got "
            f"{table.size}^{questions}."
        )
    raise ValueError(
        f"randomizer must have finitely many outputs for a joint message, got {format_value(randomizer)}."
    )


@dataclass(frozen=True)
class JointSubsets:
    """Message with several answers by subset selection.

    Parameters
    ----------
    answer : SubsetSelection
    questions : int
        Number of answers.
    """

    answer: SubsetSelection
    questions: int

    def __post_init__(self) -> None:
        checked_budget("randomizer times questions", self.eps_local)

    @property
    def eps_local(self) -> float:
        """Sum of the budgets of all answers, nats."""
        return self.answer.eps_local * self.questions

    @property
    def standing(self) -> Standing:
        """Guarantee ``upper``, for an adversary who learns which messages come from the blanket."""
        return UPPER

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return a pair of inputs per number of changed answers, against the blanket."""
        answer = self.answer
        changed = cast("Outputs", answer.comparisons("upper", tail)[0])
        share, inside = answer.blanket_weight, answer.subset_size / answer.domain_size
        budget = answer.eps_local
        same = outputs_of([(budget, budget, share * inside), (0.0, 0.0, share * (1 - inside))])
        return tuple(
            reduce(_together, [changed] * count + [same] * (self.questions - count))
            for count in range(1, self.questions + 1)
        )


def _together(first: Outputs, second: Outputs) -> Outputs:
    """Return kinds of outputs of two independent answers; kinds with the same likelihood ratios are merged."""
    log_own = np.add.outer(first.log_own, second.log_own).ravel()
    log_other = np.add.outer(first.log_other, second.log_other).ravel()
    masses = np.multiply.outer(first.masses, second.masses).ravel()
    _, places, kinds = np.unique(
        np.round(np.column_stack((log_own, log_other)), 9), axis=0, return_index=True, return_inverse=True
    )
    return Outputs(
        log_own[places],
        log_other[places],
        np.bincount(kinds.ravel(), masses).astype(np.float64),
        np.zeros((0, 2)),
    )
