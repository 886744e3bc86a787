"""Deployed systems in public texts: the settings, the computed eps and the rejected values."""

import math

import pytest

from shuffledp.accountant import (
    amplification,
    deployed_answer,
    deployed_epsilon,
    deployed_printed,
    deployed_users,
    deployments,
)
from shuffledp.accounting import SymmetricRAPPOR

VERIFIED = [key for key, one in deployments().items() if one.status == "verified"]
COMPUTED = [key for key in VERIFIED if deployments()[key].randomizer == "symmetric_rappor"]
REFUSED = [key for key in deployments() if key not in VERIFIED]
ONE, BOTH = "Cobalt, 1m report", "Cobalt, both reports"


@pytest.mark.parametrize("key", COMPUTED)
def test_deployed_answer_is_of_its_settings(key):
    known = deployments()[key]
    answer = deployed_answer(key)
    same = amplification(users=known.users, delta=known.delta, randomizer=SymmetricRAPPOR(known.eps0, 2))
    assert answer == same
    assert deployed_epsilon(key) == answer.eps
    assert deployed_epsilon(key, bound="lower") == answer.eps_lower <= answer.eps
    assert deployed_printed(key) == known.eps
    assert deployed_epsilon(key, colluding=0.1) == deployed_epsilon(key, users=round(0.9 * known.users))


def test_smallest_number_of_users_is_tight():
    key = COMPUTED[-1]
    enough = deployed_users(key)
    assert deployed_epsilon(key, users=enough) <= deployed_printed(key)
    assert deployed_epsilon(key, users=enough - 1) > deployed_printed(key)
    assert deployed_users(key, colluding=0.1) >= enough / 0.9


def test_printed_fabrication_budget_holds_one_day():
    """The values are from another program; a cell's mean is the number of devices times the mean per device."""
    assert deployed_epsilon(ONE) == pytest.approx(0.99815, abs=1e-5)
    assert deployed_epsilon(ONE, rounds=7) == pytest.approx(2.7711, abs=1e-4)
    assert deployed_epsilon(ONE, rounds=30, colluding=0.1) == pytest.approx(6.4184, abs=1e-4)
    assert deployed_epsilon(ONE, colluding=0.5) == pytest.approx(1.43403, abs=2e-5)
    assert deployed_epsilon(ONE, users=10**7) == pytest.approx(0.30224, abs=1e-5)
    assert deployed_epsilon(BOTH, rounds=1) == pytest.approx(1.04890, abs=1e-5)
    assert deployed_epsilon(BOTH) == deployed_epsilon(BOTH, rounds=30) == pytest.approx(6.3829, abs=1e-4)
    assert deployed_answer(ONE).guarantee == "exact" and math.isinf(deployed_answer(ONE).eps_local)
    assert deployed_answer(ONE, users=1000).eps == math.inf, "an empty gaining cell is too likely"


def test_devices_needed_for_several_days():
    for days, needed in ((1, 996_457), (7, 6.97e6)):
        enough = deployed_users(ONE, rounds=days)
        assert enough == pytest.approx(needed, rel=2e-3)
        assert deployed_epsilon(ONE, users=enough, rounds=days) <= deployed_printed(ONE) * (1 + 1e-9)
        assert deployed_epsilon(ONE, users=round(0.999 * enough), rounds=days) > deployed_printed(ONE)
    assert deployed_users(ONE, colluding=0.1) == math.ceil(deployed_users(ONE) / 0.9)
    with pytest.raises(ValueError, match="Not found for it: an eps of all reports and rounds together"):
        deployed_users(BOTH)


@pytest.mark.parametrize("key", REFUSED)
def test_unknown_parameters_are_not_guessed(key):
    with pytest.raises(ValueError, match=f"^The eps of {key} cannot be computed. Not found for it: "):
        deployed_epsilon(key)


def test_system_without_published_eps_is_refused():
    with pytest.raises(ValueError, match="with a published central eps, got 'ENPA'"):
        deployed_printed("ENPA")
