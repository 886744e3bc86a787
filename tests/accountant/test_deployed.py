"""Systems as public texts describe them: what was read, what is computed, and what is refused."""

import math

import pytest

from shuffledp.accounting import (
    SymmetricRAPPOR,
    amplification,
    deployed_answer,
    deployed_epsilon,
    deployed_printed,
    deployed_users,
    deployments,
)

COMPUTED = [key for key, one in deployments().items() if one.status == "verified"]
REFUSED = [key for key in deployments() if key not in COMPUTED]


def test_every_system_says_where_its_settings_stand():
    assert len(COMPUTED) >= 3 and REFUSED
    for known in deployments().values():
        assert known.source.startswith("https://")
        assert known.place and known.read and known.system
        settings = (known.eps0, known.users, known.delta, known.eps)
        assert (None in settings) == bool(known.missing), "a setting is missing exactly where that is said"


@pytest.mark.parametrize("key", COMPUTED)
def test_a_system_is_what_the_accountant_makes_of_its_settings(key):
    known = deployments()[key]
    answer = deployed_answer(key)
    same = amplification(users=known.users, delta=known.delta, randomizer=SymmetricRAPPOR(known.eps0, 2))
    assert answer == same
    assert deployed_epsilon(key) == answer.eps
    assert deployed_epsilon(key, bound="lower") == answer.eps_lower <= answer.eps
    assert deployed_printed(key) == known.eps


@pytest.mark.parametrize("key", COMPUTED)
def test_the_printed_standard_deviation_is_that_of_the_settings(key):
    """The draft prints it beside eps: the reading of eps0, of a bit, is the draft's own."""
    known = deployments()[key]
    growth = math.exp(known.eps0)
    printed = {5.0: 26.1337, 6.5: 12.28, 7.0: 9.558}[known.eps0]
    assert math.sqrt(known.users * growth) / (growth - 1) == pytest.approx(printed, rel=1e-4)


def test_users_that_are_enough_are_enough_and_one_less_is_not():
    key = COMPUTED[-1]
    enough = deployed_users(key)
    assert deployed_epsilon(key, users=enough) <= deployed_printed(key)
    assert deployed_epsilon(key, users=enough - 1) > deployed_printed(key)
    assert deployed_users(key, colluding=0.1) >= enough / 0.9


def test_colluding_users_hide_nobody():
    key = COMPUTED[0]
    users = deployments()[key].users
    assert deployed_epsilon(key, colluding=0.1) == deployed_epsilon(key, users=round(0.9 * users))


@pytest.mark.parametrize("key", REFUSED)
def test_what_was_not_found_is_not_guessed(key):
    with pytest.raises(ValueError, match=f"^The eps of {key} cannot be computed. Not found for it: "):
        deployed_epsilon(key)


def test_an_unknown_system_is_refused():
    with pytest.raises(ValueError, match="deployment must be one of DAP, eps0 = 5"):
        deployed_epsilon("nobody")
    with pytest.raises(ValueError, match="with a published central eps, got 'ENPA'"):
        deployed_printed("ENPA")
    with pytest.raises(ValueError, match="bound must be one of upper, lower"):
        deployed_epsilon(COMPUTED[0], bound="both")
