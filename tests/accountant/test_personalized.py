"""Users with different randomizers: tables, nearly worst data sets, and all data sets of a few users."""

import itertools

import numpy as np
import pytest

from enumerated_reports import responses, worst_delta
from shuffledp.accountant import personalized_answer, personalized_delta, personalized_epsilon
from shuffledp.accounting import (
    GRR,
    DensityRandomizer,
    FiniteRandomizer,
    GaussianRandomizer,
    Infeasible,
    LaplaceRandomizer,
    SubsetSelection,
    blanket_epsilon,
    blanket_randomizer_delta,
)

# -- all data sets of few users ----------------------------------------------------------------------------------------


def _rows(randomizer):
    return (
        np.array(randomizer.table)
        if isinstance(randomizer, FiniteRandomizer)
        else responses(3, randomizer.eps_local)
    )


def _worst_delta(groups, victim, eps):
    """Return the largest delta over all data sets of the others and all pairs of the victim's inputs."""
    others = [_rows(r) for i, (n, r) in enumerate(groups) for _ in range(n - (i == victim))]
    return worst_delta(_rows(groups[victim][1]), itertools.product(*others), eps)


@pytest.mark.parametrize("budgets", [(0.5, 4.0, 4.0, 0.5), (4.0, 4.0, 0.5, 0.5), (1.0, 1.0, 3.0, 2.0)])
def test_no_data_set_loses_more(budgets):
    """The data sets are those of four users."""
    groups = [(1, GRR(eps, 3)) for eps in budgets]
    for eps in (0.1, 0.3, 0.6):
        if eps >= budgets[0]:
            continue
        worst = _worst_delta(groups, 0, eps)
        upper = personalized_delta(groups, eps, 0)
        assert worst <= upper * (1 + 1e-9)
        assert upper < 1.6 * worst
        answer = personalized_answer(groups, upper, 0)
        assert answer.eps == pytest.approx(eps, rel=1e-4)


def test_data_sets_of_tables_are_bounded():
    """No data set of users with tables loses more than the bound."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        tables = [FiniteRandomizer(rng.dirichlet(np.full(3, 4.0), size=2)) for _ in range(2)]
        groups = [(2, tables[0]), (2, tables[1])]
        for victim in (0, 1):
            answer = personalized_answer(groups, 0.02, victim)
            for eps in (answer.eps, 0.5 * answer.eps):
                assert _worst_delta(groups, victim, eps) <= personalized_delta(groups, eps, victim) * (
                    1 + 1e-9
                )
            assert len(answer.considered) == 3


# -- one randomizer, several kinds, none -------------------------------------------------------------------------------


def test_equal_users_have_one_randomizers_bound():
    for randomizer in (GRR(2.0, 5), LaplaceRandomizer(1.0), SubsetSelection(2.0, 6, 2)):
        groups = [(600, randomizer), (400, randomizer)]
        assert personalized_epsilon(groups, 1e-6, 1) == pytest.approx(
            blanket_epsilon(randomizer, 1000, 1e-6), rel=1e-6
        )
        assert personalized_delta(groups, 0.2, 0) == pytest.approx(
            blanket_randomizer_delta(randomizer, 1000, 0.2), rel=1e-6
        )


def test_response_tables_and_formulas_agree():
    formulas = [(300, GRR(1.0, 3)), (700, GRR(3.0, 3))]
    tables = [(n, FiniteRandomizer(_rows(r))) for n, r in formulas]
    for victim in (0, 1):
        found, other = (personalized_answer(each, 1e-6, victim).considered for each in (formulas, tables))
        assert dict(found) == pytest.approx(dict(other), rel=1e-5)


def test_larger_budget_hides_no_smaller_one():
    small, large = LaplaceRandomizer(0.5), LaplaceRandomizer(4.0)
    groups = [(1, small), (99_999, large)]
    answer = personalized_answer(groups, 1e-6, 0)
    assert (answer.eps, answer.reduction, answer.hiding[1]) == (0.5, "local", 0.0)
    assert "group 1 does not hide the victim: its budget 4 is above 0.5" in answer.note
    assert personalized_delta(groups, 0.1, 0) >= 0.02230  # the event that some report is above 5
    assert personalized_delta(groups, 0.4, 0) >= 0.006388
    assert personalized_delta([(1, small), (999_999, LaplaceRandomizer(2.0))], 0.4, 0) >= 2.52e-4
    assert personalized_delta(groups, 0.5, 0) == 0
    assert personalized_epsilon(groups, 1e-6, 1) < 0.1
    assert personalized_epsilon([(1000, small), (99_999, large)], 1e-6, 0) == pytest.approx(
        blanket_epsilon(small, 1000, 1e-6), rel=1e-6
    )


def test_uncompared_randomizers_do_not_hide():
    density = DensityRandomizer(
        lambda x, y: -np.abs(y - x), lambda x, low, high: (high - low) / 10, (0.0, 1.0), (0.0, 5.0, 10.0), 1.0
    )
    for own, other in itertools.permutations((GRR(1.0, 3), GRR(1.0, 4), LaplaceRandomizer(1.0), density), 2):
        answer = personalized_answer([(1, own), (10, other)], 1e-6, 0)
        assert (answer.eps, answer.reduction) == (1.0, "local")
        assert "group 1 does not hide the victim" in answer.note


def test_table_without_blanket_hides_by_users():
    """Users with a table without a blanket hide the victim as much as they hide each other."""
    told = FiniteRandomizer([[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(Infeasible):
        personalized_answer([(5, told)], 1e-6, 0)
    some = FiniteRandomizer([[0.9, 0.1], [0.5, 0.5]])
    answer = personalized_answer([(1, some), (8, told)], 1e-6, 0)
    assert answer.reduction == "local"
    assert answer.note == (
        "group 1 does not hide the victim: its outputs are not comparable with the victim's, or lack some of them"
    )


def test_gaussian_noise_keeps_unproven_label():
    answer = personalized_answer([(1, GaussianRandomizer(2.0)), (50, GRR(1.0, 3))], 1e-6, 0)
    assert answer.reduction == "local"
    assert answer.guarantee == "unproven"
    assert answer.eps == pytest.approx(blanket_epsilon(GaussianRandomizer(2.0), 1, 1e-6))
    assert answer.as_dict()["considered"] == {"local": answer.eps}


@pytest.mark.parametrize(
    "groups, victim, message",
    [
        (
            *([0.5, 1.0], 0),
            r"groups\[0\] must be \(number of users, randomizer\).*A local budget alone does not determine",
        ),
        ([(10, 0.5)], 0, r"groups\[0\] must be .*got \(10, 0.5\)"),
        ([(0, GRR(1.0, 3))], 0, r"groups\[0\]: number of users must be"),
        ([], 0, "groups must be a list"),
        ([(10, GRR(1.0, 3))], 1, r"victim must be the index of a group, in \[0, 0\], got 1"),
    ],
)
def test_budgets_without_randomizers_are_refused(groups, victim, message):
    with pytest.raises(ValueError, match=message):
        personalized_epsilon(groups, 1e-6, victim)
