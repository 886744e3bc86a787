"""The local budget under the privacy blanket: direct sums, full enumeration, and the printed theorem."""

import math

import mpmath
import pytest
from numpy.testing import assert_allclose

from enumerated_reports import data_sets, responses, worst_delta
from references.blankets import reports
from shuffledp.accounting import Infeasible
from shuffledp.accounting.general.grr_blanket import (
    blanket_local_budget,
    grr_blanket_delta,
    grr_blanket_epsilon,
    pieced_blanket_delta,
    uniform_reports,
)


@pytest.mark.parametrize("values, n", [(2, 1), (2, 6), (3, 2), (3, 5), (4, 4)])
@pytest.mark.parametrize("eps_local", [0.4, 4.0])
def test_no_other_inputs_lose_more(values, n, eps_local):
    table, slack = responses(values, eps_local), []
    for eps in (0.0, 0.1, 0.35, 1.2):
        claimed = grr_blanket_delta(eps, n, values, eps_local)
        truth = worst_delta(table, data_sets(table, n - 1), eps)
        assert truth <= claimed * (1 + 1e-9) + 1e-15
        slack.append(truth / claimed if claimed else 1.0)
    assert max(slack) > 0.7  # the bound is not idle
    if n == 1:
        assert_allclose(slack, 1.0)


@pytest.mark.parametrize(
    "n, values, eps", [(500_000, 50, 0.2), (500_000, 500, 1.0), (70_187, 900, 0.6), (9, 3, 0.5)]
)
def test_printed_budgets_are_safe(n, values, eps):
    printed = blanket_local_budget(n, values, eps, 1e-6, accounting="printed")
    assert printed >= eps
    assert printed <= blanket_local_budget(n, values, eps, 1e-6, accounting="exact") * (1 + 1e-10)


def test_exact_eps_of_the_extremes():
    assert grr_blanket_epsilon(10**6, 5, 0.3, 0.01, accounting="exact") == 0.0
    alone = grr_blanket_epsilon(1, 4, 1e-3, 2.0, accounting="exact")
    want = math.log(math.exp(2.0) - 1e-3 * (math.exp(2.0) + 3))
    assert alone == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: blanket_local_budget(100, 5, 1.01, 1e-6, accounting="printed"),
        lambda: blanket_local_budget(100, 5, 0.5, 0.291, accounting="printed"),
        lambda: grr_blanket_epsilon(100, 5, 0.291, 1.0, accounting="printed"),
    ],
)
def test_uncovered_requests_are_refused(ask):
    with pytest.raises(Infeasible, match="The theorem holds for"):
        ask()


@pytest.mark.parametrize(
    "n, values, eps_local, eps",
    [
        (6, 466, 30.0001, 30.0),
        (30, 10, 12.01, 12.0),
        (12, 466, 8.01, 8.0),
        (9, 4, 3.0, 2.0),
        (9, 3, 1.2, 0.7),
    ],
)
def test_few_uniform_reports_at_large_eps(n, values, eps_local, eps):
    """Rounding must not move thresholds beyond the counts, or charge for numbers without any loss."""
    with mpmath.workdps(50):
        exact = reports(n, values, mpmath.mpf(eps), mpmath.mpf(eps_local))
    assert grr_blanket_delta(eps, n, values, eps_local) == pytest.approx(float(exact), rel=1e-11)
    pieces = uniform_reports(n, values, eps_local, 0, 1e-30)
    assert pieced_blanket_delta(pieces, values, eps, eps_local, 1e-30) == pytest.approx(
        float(exact), rel=1e-11
    )


def test_budget_is_eps_without_hiding_reports():
    budget = blanket_local_budget(100_000, 466, 30.0, 1e-9, accounting="exact")
    assert 30.0 <= budget <= 30.0 + 1e-8  # it was 30.0016, with a delta of 0.0016
