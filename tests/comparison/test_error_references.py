"""The curator's noise and the answer without data, against numbers computed by hand."""

import math

import pytest

from shuffledp.accounting.general.profiles import GaussianProfile
from shuffledp.comparison.error_references import blind, floor
from shuffledp.comparison.options import Options
from shuffledp.comparison.setting import setting_of
from shuffledp.populations import Fixed
from shuffledp.tasks import Budget, Frequency, Sets, Summation, Vectors


def setting(task, population=Fixed(999), counts=None, budget=Budget(1.0, 1e-6)):  # noqa: B008  (frozen)
    of_budget = {"eps": budget.eps, "delta": budget.delta, "neighbours": budget.neighbours}
    return setting_of(Options(**of_budget, population=population, task=task, counts=counts))


def test_the_curator_hides_a_whole_set():
    one = floor(setting(Sets(10, 1)))
    assert one == pytest.approx(floor(setting(Frequency(10))), rel=1e-12)  # two counts move by one
    assert one == pytest.approx(1 / (2 * math.sinh(0.25) ** 2) / 1e6, rel=1e-12)
    assert floor(setting(Sets(10, 9))) == pytest.approx(one)  # one item is exchanged
    assert floor(setting(Sets(4, 4))) is None
    many = floor(setting(Sets(1_000, 50)))
    assert GaussianProfile(10 / math.sqrt(many * 1e6)).delta(1.0) == pytest.approx(1e-6, rel=1e-6)
    pure = floor(setting(Sets(1_000, 50), budget=Budget(1.0, 0.0)))
    assert pure == pytest.approx(2 * 100**2 / 1e6, rel=1e-3)  # Laplace noise of scale 100
    assert many < pure


@pytest.mark.parametrize("task", [Frequency(2), Sets(2, 1)])
def test_curator_releases_one_of_two_counts(task):
    """The second count is n minus the first. MULTI-EXACT and MULTI-UNION also release one count, with no less error."""
    assert floor(setting(task)) == pytest.approx(1 / (2 * math.sinh(0.5) ** 2) / 1e6, rel=1e-12)


def test_the_curator_hides_a_vector():
    gaussian = floor(setting(Vectors(1_000, 1.0, "l2")))
    assert GaussianProfile(2 / math.sqrt(gaussian * 1e6)).delta(1.0) == pytest.approx(1e-6, rel=1e-6)
    assert floor(setting(Vectors(5, 1.0, "l1"))) == pytest.approx(8 / 1e6)  # Laplace noise of scale 2
    assert floor(setting(Vectors(5, 1.0, "l2"), budget=Budget(1.0, 0.0))) is None
    added = floor(setting(Vectors(5, 1.0, "l2"), budget=Budget(1.0, 1e-6, "add_remove")))
    assert added == pytest.approx(gaussian / 4)


@pytest.mark.parametrize(
    "task, counts, error",
    [
        (Frequency(4), None, 1 / 16),  # zeros: equal shares are what is assumed
        (Frequency(4), [700, 100, 100, 100], (0.45**2 + 3 * 0.15**2) / 4),
        (Sets(4, 2), None, 1 / 4),
        (Sets(4, 2), [1_000, 600, 200, 200], (0.25 + 0.01 + 2 * 0.09) / 4),
        (Summation(6), None, 3_000.0**2),
        (Summation(2), [10, 980, 10], 1_000.0**2),  # at its largest, whatever the data
        (Vectors(5, 2.0), None, 4 / 5),
    ],
)
def test_the_best_answer_without_data(task, counts, error):
    assert blind(setting(task, counts=counts)) == pytest.approx(error, rel=1e-12)
