"""The two rounds of the segmented protocol: the announcement of privacy levels, and its cost."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from scripts_by_file import ROOT
from shipped_settings import shipped_settings
from shuffledp.accounting import Infeasible
from shuffledp.pipeline.experiments.runner import run
from shuffledp.populations import Fixed
from shuffledp.protocols import conformance, get
from shuffledp.protocols.conformance import SameSets
from shuffledp.protocols.sets._first_round import FirstRound, settled
from shuffledp.tasks import Budget, Participants, Public, Sets

N, TASK = 6_000, Sets(5, 2, 3)
BUDGET = Budget((1.0, 2.0, 4.0), 1e-5)
FIRST = {"protocol": "pure_dump", "eps": 0.4, "delta": 1e-6}
WHO = SameSets(TASK, ((0, 1), (1, 3), (2, 3), (0, 3), (3, 1)), (300, 600, 300))


def segmented(first=FIRST, accounting="printed", budget=BUDGET, **options):
    return get("sets", "segmented").calibrate(
        budget, Fixed(N - 1), TASK, accounting=accounting, first_round=first, **options
    )


@pytest.mark.parametrize("accounting", ["printed", "corrected", "exact"])
def test_budgets_of_rounds_add_up(accounting):
    protocol = segmented(accounting=accounting, blankets=1.0)
    numbers = protocol.parameters()
    for level, eps in enumerate(BUDGET.levels, 1):
        assert_allclose(numbers["eps_first"] + numbers[f"eps_data_{level}"], eps, rtol=1e-12)
    assert_allclose(numbers["delta_first"] + numbers["delta_data"], BUDGET.delta, rtol=1e-12)
    for level, eps in enumerate(protocol.plan.eps):  # what is left is met by the data round
        assert protocol.level_profile(level).delta(eps) <= protocol.plan.delta * (1 + 1e-9)
    assert protocol.announcing.privacy_profile().delta(0.4) <= 1e-6
    assert protocol.privacy_profile() is None  # it would cover one of the rounds only
    assert numbers["messages_first"] == protocol.announcing.cost().messages_per_user


def test_announcement_has_accounting_of_data():
    """The protocol of the announcement must offer this accounting."""
    dummies = {
        a: segmented(accounting=a, blankets=1.0).announcing.dummies_in_all for a in ("printed", "exact")
    }
    assert dummies["exact"] < dummies["printed"]
    assert segmented(accounting="corrected", blankets=1.0).announcing.dummies_in_all == dummies["printed"]
    chosen = {**FIRST, "accounting": "exact"}
    assert segmented(chosen, blankets=1.0).announcing.dummies_in_all == dummies["exact"]


def test_noisy_shares_become_level_sizes():
    shares = np.array([[-0.1, 0.5, 0.6], [0.25, 0.5, 0.25], [0.0, 0.0, 0.0]])
    found = settled(shares, np.array([1000.0, 1001.0, 30.0]))
    assert np.array_equal(found.sum(axis=1), [1000, 1001, 30])
    assert np.array_equal(found[0], [1, 454, 545])
    assert np.array_equal(found[2], [10, 10, 10])


def dealt(repeats, rng):
    """Return the users of `WHO`, with levels assigned at random in every repeat."""
    sizes = np.array(WHO.times) * len(WHO.sets)
    of_each = np.full(len(WHO.sets), sum(WHO.times))
    first = rng.multivariate_hypergeometric(of_each, sizes[0], repeats)
    second = np.stack([rng.multivariate_hypergeometric(of_each - taken, sizes[1]) for taken in first])
    holders = np.stack([first, second, of_each - first - second], axis=1)
    held = np.array([np.isin(np.arange(TASK.domain_size), items) for items in WHO.sets], int)
    counts = holders @ held
    public = Public(np.full(repeats, N), np.tile(sizes.astype(float), (repeats, 1)))
    return Participants(public, counts, counts.sum(axis=1) / N)


@pytest.mark.parametrize(
    "accounting, first, how, repeats",
    [
        ("printed", {"eps": 0.05}, {"blankets": 0.1}, 2_000),  # the announcement is most of the error
        ("corrected", {"eps": 0.8}, {"blankets": 0.1}, 2_000),
        ("corrected", {"protocol": "amplified", "eps": 0.1}, {"objective": "error"}, 40),
        ("printed", {"eps": 0.1}, {"objective": "bound"}, 40),
    ],
)
def test_expected_error_includes_announcement_noise(accounting, first, how, repeats):
    protocol = segmented({**FIRST, **first}, accounting, **how)
    rng = np.random.default_rng(8)
    who = dealt(repeats, rng)
    expected = protocol.expectation("squared_error", who)[0].sum()
    errors = np.sum((protocol.simulate(who, rng) - who.truth) ** 2, axis=1)
    # 5 standard errors, missed once in 2 million, and 1 % for the announcements that the expectation is averaged over.
    assert abs(errors.mean() - expected) < 5 * errors.std() / math.sqrt(repeats) + 0.01 * expected
    exact = segmented(None, accounting, Budget(protocol.plan.eps, protocol.plan.delta), **how)
    # Among many users nothing is announced wrongly, and the two agree but for rounding.
    assert expected >= exact.expectation("squared_error", who)[0].sum() * (1 - 1e-12)


def test_error_averages_the_same_announcements():
    protocol = segmented(blankets=0.1)
    who = WHO(2)
    expected = protocol.expectation("squared_error", who)
    assert expected.shape == who.truth.shape and np.array_equal(
        expected, protocol.expectation("squared_error", who)
    )
    assert (
        protocol.expectation("variance", who) is None
    )  # given the users of each level: not a sum of such terms


def test_private_announcement_passes_checks():
    """All checks except the check of the mean apply, because the noisy number of reports is in the denominator."""
    found = get("sets", "segmented")
    case = conformance.Case(
        Budget((2.0, 4.0), 1e-2), Fixed(59), Sets(5, 2, 2), "printed",
        options=(("blankets", 3.0), ("first_round", FirstRound("pure_dump", 1.0, 1e-3))),
        participating=SameSets(Sets(5, 2, 2), ((0, 1), (1, 3), (2, 3)), (8, 12)),
    )  # fmt: skip
    for check in conformance.CHECKS:
        if check not in (conformance.check_unbiased, conformance.check_refusals):
            check(found, [case])


def test_round_without_data_budget_is_refused():
    with pytest.raises(Infeasible, match="first_round must have eps below 1 "):
        segmented({**FIRST, "eps": 1.0})
    with pytest.raises(Infeasible, match="first_round must have eps below"):
        segmented({**FIRST, "delta": 1e-5})
    with pytest.raises(ValueError, match="needs the keys protocol, eps and delta"):
        segmented({"protocol": "pure_dump", "eps": 0.1, "budget": 1})
    with pytest.raises(ValueError, match="first_round: eps"):
        segmented({**FIRST, "eps": -1.0})
    with pytest.raises(ValueError, match="No frequency protocol named 'pure_dum'"):
        segmented({**FIRST, "protocol": "pure_dum"})


def test_runner_expects_announced_levels():
    """Expected and simulated errors agree for an uneven split, which the search uses."""
    experiment = shipped_settings("paper").papers["segmented"].experiments["uniform"]
    job = experiment.job("segmented_best", 7)
    grid = {"s": [4], "n": [2000], "split": ["25-50-25", "25-25-50"]}
    job = replace(job, repeats=40, accounting=["printed"], grid=grid)
    result = run(job, prepared=ROOT / "data/prepared", root=ROOT)
    values = result.values.to_pandas()
    cells = result.cells.to_pandas()
    assert len(cells) == 2 and (cells["status"] == "ok").all()
    assert cells["parameters"].nunique() == 2
    for cell in cells["cell"]:
        rows = values[values["cell"] == cell]
        simulated = rows.loc[rows["kind"] == "simulated", "value"]
        expected = float(rows.loc[rows["kind"] == "expected", "value"].iloc[0])
        assert abs(simulated.mean() - expected) < 5 * simulated.std() / math.sqrt(40)
