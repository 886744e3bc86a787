"""Mean and variance from two sums: the curator's joint budget, the estimates, coverage, and the command."""

import json
import math

import numpy as np
import pytest

from command_line import invoked, printed, typed
from shuffledp.accounting.baselines.two_moments import Moments, second_budget, square_levels


def largest_loss(most, first, second):
    """Return the largest log ratio of both noisy sums over all replacements of a number, by enumeration."""
    numbers, levels = np.arange(most + 1), square_levels(most)
    moved = np.abs(np.subtract.outer(numbers, numbers)) * first / most
    return (moved + np.abs(np.subtract.outer(levels, levels)) * second / most**2).max()


@pytest.mark.parametrize("most", [2, 3, 8, 13, 400])
@pytest.mark.parametrize("first", [0.3, 0.75, 1.0])
def test_both_sums_together_spend_exactly_eps(most, first):
    second = second_budget(most, 1.0, first)
    assert largest_loss(most, first, second) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("first, second", [(1.0, 1.0), (0.9, 1.7325), (0.75, 2.25), (0.5, 2.9142)])
def test_many_levels_have_real_number_frontier(first, second):
    """Specification, for eps = 1; the second moment is free."""
    assert second == pytest.approx(2 - first + 2 * math.sqrt(1 - first), abs=6e-5)
    assert second_budget(20_000, 1.0, first) == pytest.approx(second, abs=1e-4)


def test_a_bit_has_no_second_sum():
    assert not square_levels(1).any()
    assert second_budget(1, 1.0, 1.0) == math.inf


@pytest.mark.parametrize("most", [1, 2, 5, 6, 100])
def test_exact_sums_give_exact_moments(most):
    numbers = np.random.default_rng(1).binomial(most, 0.3, 50)
    sums = float(numbers.sum()), float(square_levels(most)[numbers].sum())
    found = Moments.from_sums(50, most, sums, (0.0, 0.0))
    assert found.mean == pytest.approx(numbers.mean())
    assert found.variance == pytest.approx(numbers.var(ddof=1))
    assert found.mean_half_width == found.variance_half_width == 0
    assert found.population_mean_half_width == pytest.approx(1.96 * numbers.std(ddof=1) / 50**0.5, rel=1e-4)


SETTING = typed("compare --task mean --users 1000 --eps 1 --delta 1e-6")
FEW = ["--protocols", "central_laplace,skellam,sparse_sum"]


@pytest.mark.parametrize("most", [1, 4])
def test_the_command_prints_half_widths(most):
    words = (*SETTING, *FEW, "--max-value", str(most))
    rows = {row["protocol"]: row for row in json.loads(printed(*words, "--json"))["rows"]}
    curator, other, out = rows["central_laplace"], rows["skellam"], rows["sparse_sum"]
    assert (curator["guarantee"], curator["composition"]) == ("exact", "joint")
    parts = ("exact", "joint", 1.0) if most == 1 else ("upper", "basic", 0.5)
    assert (other["guarantee"], other["composition"], other["parameters"]["eps_mean"]) == parts
    assert out["status"] == "infeasible" and out["mean_half_width"] is None
    # The quantile of discrete Laplace noise of ratio a is near that of Laplace noise, within a step.
    assert curator["mean_half_width"] * 1000 == pytest.approx(most * math.log(20), abs=0.8)
    if most == 4:
        scale = most**2 / second_budget(most, 1.0, 1.0)
        width = scale * math.log(20) + (most * math.log(20)) ** 2 / 1000
        assert curator["variance_half_width"] * 999 == pytest.approx(width, abs=0.8)
        assert curator["parameters"] == {"eps_mean": 1.0, "eps_squares": pytest.approx(1 / 3)}  # alone
        spread = (most * (most + 2) / 12) * 1000 / 999
        wide = math.hypot(1.96 * math.sqrt(spread / 1000), curator["mean_half_width"])
        assert curator["population_mean_half_width"] == pytest.approx(wide, rel=1e-4)
    text = printed(*words)
    line = next(line.split() for line in text.splitlines() if line.startswith("central_laplace"))
    for shown, name in zip(line[1:3], ("mean_half_width", "variance_half_width"), strict=True):
        assert curator[name] <= float(shown) <= curator[name] * (1 + 1e-3)  # rounded up
    assert line[-1] == "central" and "in units of the numbers" in text
    assert "  sparse_sum: sparse_sum needs several coordinates" in text


@pytest.mark.parametrize(
    "more, message",
    [
        (typed("--max-value 3 --rounds 2"), "--rounds must be left out for --task mean"),
        (typed("--max-value 3 --neighbors add_remove"), "--neighbors must be left out"),
        ([], "needs --users and --max-value"),
        (["--max-value", "2.5"], "--max-value must be an integer"),
    ],
)
def test_other_options_are_refused(more, message):
    done = invoked(*SETTING, *more)
    assert done.exit_code == 1 and message in done.output
