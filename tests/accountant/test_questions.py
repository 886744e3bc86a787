"""Several questions: one at random, assigned to groups, in separate messages, or all in one message."""

import itertools

import numpy as np
import pytest

from enumerated_reports import data_sets, responses, worst_delta
from shuffledp.accountant import questions_epsilon
from shuffledp.accountant.questions import joint_randomizer
from shuffledp.accounting import (
    GRR,
    BinaryRandomizedResponse,
    FiniteRandomizer,
    LaplaceRandomizer,
    SubsetSelection,
    blanket_epsilon,
    blanket_randomizer_delta,
)

USERS, DELTA = 100_000, 1e-8


@pytest.mark.parametrize(
    "eps_local, k, questions, one, apart, joint",
    [
        (1.0, 10, 4, 0.009218, 0.01913, 0.02811),
        (2.0, 10, 4, 0.030739, 0.06358, 0.32778),
    ],
)
def test_all_questions(eps_local, k, questions, one, apart, joint):
    """The references split atoms on a grid of 0.25, which costs up to 0.5 %."""
    randomizer = GRR(eps_local, k)
    assert questions_epsilon(randomizer, USERS, DELTA, questions) == pytest.approx(one, abs=6e-7)
    for assignment, reference in (("all", apart), ("joint", joint)):
        found = questions_epsilon(randomizer, USERS, DELTA, questions, assignment)
        assert 0.994 * reference < found < 1.0002 * reference
    assert questions_epsilon(randomizer, USERS, DELTA, questions, "all") < questions * one


#: Table of subset selection: each of the 6 pairs of 4 values, likelier if it has the user's value.
SUBSETS = np.exp(
    1.5 * np.array([[x in each for each in itertools.combinations(range(4), 2)] for x in range(4)])
)


@pytest.mark.parametrize(
    "answer, rows",
    [
        (GRR(1.0, 3), responses(3, 1.0)),
        (BinaryRandomizedResponse(1.0), responses(2, 1.0)),
        (SubsetSelection(1.5, 4, 2), SUBSETS / SUBSETS.sum(axis=1, keepdims=True)),
    ],
)
def test_message_is_product_of_tables(answer, rows):
    table = FiniteRandomizer(rows)
    for eps in (0.2, 1.0):
        ours, theirs = (
            blanket_randomizer_delta(joint_randomizer(each, 2), 20, eps) for each in (answer, table)
        )
        assert ours == pytest.approx(theirs, rel=1e-4)
    assert questions_epsilon(answer, 50, 1e-4, 2, "joint") == pytest.approx(
        questions_epsilon(table, 50, 1e-4, 2, "joint"), rel=1e-4
    )


def test_no_joint_data_set_loses_more():
    rows = np.kron(responses(2, 0.7), responses(2, 0.7))
    for eps in (0.1, 0.6):
        bound = blanket_randomizer_delta(joint_randomizer(GRR(0.7, 2), 2), 3, eps)
        assert (worst := worst_delta(rows, data_sets(rows, 2), eps)) <= bound < 2 * worst


def test_a_single_question():
    for assignment, randomizer in (
        ("random", LaplaceRandomizer(1.0)),
        ("assigned", LaplaceRandomizer(1.0)),
        ("all", LaplaceRandomizer(1.0)),
        ("joint", GRR(1.0, 4)),
    ):
        found = questions_epsilon(randomizer, 500, 1e-6, 1, assignment)
        assert found == pytest.approx(blanket_epsilon(randomizer, 500, 1e-6), rel=1e-6)


@pytest.mark.parametrize(
    "randomizer, users, questions, assignment, message",
    [
        (
            *(GRR(1.0, 4), 4, 5, "assigned"),
            "users must be at least the number of questions, 5, got 4",
        ),
        (LaplaceRandomizer(1.0), 100, 2, "joint", "randomizer must have finitely many outputs"),
        (
            *(FiniteRandomizer(responses(3, 1.0)), 100, 20, "joint"),
            "at most 16777216 entries in its table for all questions, got 9",
        ),
        (GRR(100.0, 3), 100, 4, "joint", "eps_local must be at most 300"),
    ],
)
def test_bad_questions(randomizer, users, questions, assignment, message):
    with pytest.raises(ValueError, match=message):
        questions_epsilon(randomizer, users, 1e-6, questions, assignment)
