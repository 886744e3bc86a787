"""Composition of different batches, compared with repetition of one batch, and rejected arguments."""

import pytest

from shuffledp.accountant import amplification
from shuffledp.accountant.rounds import Batch, batch_named, rounds_epsilon
from shuffledp.accounting import ClonesProfile, OtherReports, composed_epsilon
from shuffledp.populations import Fixed


def test_batches_are_composed_from_their_profiles():
    batches = [Batch(1.0, 10_000, 4), Batch(2.0, 50_000)]
    answer = rounds_epsilon(batches, 1e-6)
    profiles = [ClonesProfile(OtherReports(Fixed(b.users - 1)), b.eps_local) for b in batches]
    assert answer.eps == composed_epsilon(profiles, 1e-6, rounds=[4, 1])
    assert answer.eps_lower == amplification(2.0, 50_000, 1e-6).eps_lower or answer.eps_lower < answer.eps
    assert (answer.reduction, answer.guarantee, answer.neighbours) == ("clones", "upper", "replace_one")
    assert answer.as_dict()["batches"][0] == {"eps_local": 1.0, "users": 10_000, "count": 4}


def test_local_budgets_add_up_without_others():
    answer = rounds_epsilon([Batch(0.5, 1, 2), Batch(0.25, 1)], 1e-9)
    assert answer.eps == pytest.approx(1.25, rel=1e-6)
    assert answer.eps <= 1.25


@pytest.mark.parametrize("text", ["1", "a:5", "1:b", "1:5:c", "1:5:6:7", "1:2.5"])
def test_malformed_batch_texts_are_refused(text):
    with pytest.raises(ValueError, match="round must be EPS_LOCAL:USERS"):
        batch_named(text)


def test_mistakes_are_refused():
    assert batch_named("1.5:100:3") == Batch(1.5, 100, 3)
    with pytest.raises(ValueError, match="At least one round"):
        rounds_epsilon([], 1e-6)
    with pytest.raises(ValueError, match="rounds must be"):
        rounds_epsilon([Batch(1.0, 5, 0)], 1e-6)
    with pytest.raises(ValueError, match="eps_local must be at most"):
        rounds_epsilon([Batch(1e3, 5)], 1e-6)
