"""Bounds in the text of `describe` are rounded to their side, and the printed setting is the setting."""

import re

import pytest

from command_line import invoked, printed, typed, unwrapped
from shuffledp.accountant.deployed import deployed_answer, deployments
from shuffledp.accounting import Infeasible
from shuffledp.populations import Fixed
from shuffledp.protocols.registry import available, get
from shuffledp.tasks import Budget, Frequency


@pytest.mark.parametrize("key", [key for key, known in deployments().items() if not known.missing])
def test_printed_deployed_eps_is_no_less(key):
    stated = float(re.search(r"Computed: eps = (\S+) \(nats\)", printed("describe", key))[1])
    exact = deployed_answer(key).eps
    assert exact <= stated <= exact * (1 + 1e-5)


@pytest.mark.parametrize("name", available("frequency"))
def test_printed_most_messages_hold(name):
    done = invoked(
        "describe", name, *typed("--users 5000 --domain-size 17 --eps 1 --delta 1e-6 --accounting exact")
    )
    try:
        protocol = get("frequency", name).calibrate(Budget(1.0, 1e-6), Fixed(4999), Frequency(17))
    except Infeasible as error:
        assert done.exit_code == 1 and unwrapped(error) in unwrapped(done.stderr)
        return
    cost = protocol.cost()
    most = re.search(r"No user sends more than (\S+) messages, (\S+) bits", unwrapped(done.stdout))
    if cost.most_messages is None:
        assert most is None
    else:
        assert float(most[1].replace(",", "")) >= cost.most_messages
        assert float(most[2].replace(",", "")) >= cost.most_bits


def test_printed_eps_is_above_budget():
    setting = typed("--users 5000 --domain-size 4 --delta 1.23456789e-6")
    text = printed("describe grr_blanket", *setting, "--eps", "1.0000001")
    assert "epsilon = 1.00001, delta = 1.23457e-06" in text
