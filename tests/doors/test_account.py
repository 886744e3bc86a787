"""What `shuffledp account` prints, compared with laws of the messages and with the computed numbers.

Every printed bound is on its side of the computed number, and every sentence about rounds is true of the messages.
"""

import json
import math
import re
from dataclasses import replace
from decimal import Decimal

import pytest

from command_line import invoked
from shuffledp.accountant import (
    amplification,
    budget,
    curves,
    personalized_answer,
    smallest_batch,
)
from shuffledp.accountant.training import training_answer, training_sentences
from shuffledp.accounting import GRR, GaussianRandomizer


def account(words):
    result = invoked(f"account {words}")
    assert result.exit_code == 0, result.output
    return result.output


def printed(pattern, text):
    return Decimal(re.search(pattern, text)[1].rstrip(".,").replace(",", ""))


def test_shared_crowd_has_no_renyi_sum():
    words = "--population poisson:1 --eps-local 1 --delta 1e-2 --rounds 2 --curves --randomizer binary"
    assert "Renyi" not in account(words)
    assert "Renyi" in account(f"{words} --crowd fresh")


@pytest.mark.parametrize(
    "words, message",
    [
        ("--users 9 --eps-local 1 --delta 1e-3 --rounds 2 --crowd shared", "--crowd needs --population"),
        ("--eps 1 --eps-local 1 --delta 1e-3 --rounds 2 --crowd fresh", "--crowd needs --population"),
        ("--population poisson:9 --eps-local 1 --delta 1e-3 --crowd fixed", "crowd must be shared or fresh"),
        ("--round 1:9 --delta 1e-3 --crowd fresh", "--round cannot be combined with"),
        ("--batches 9:1 --delta 1e-3 --crowd fresh", "--batches cannot be combined with"),
    ],
)
def test_crowd_without_population_is_refused(words, message):
    result = invoked(f"account {words}")
    assert result.exit_code == 1
    assert message in result.output and result.output.count("\n") == 1


ANSWERS = {
    "amplification": lambda x: amplification(x, 3_007, 1.23456789e-6),
    "randomizer": lambda x: amplification(x, 3_007, 1.23456789e-6, randomizer="grr", domain_size=7),
    "rounds": lambda x: amplification(x, 3_007, 1.23456789e-6, rounds=3),
    "budget": lambda x: budget(x, 30_011, 1.23456789e-6),
}


@pytest.mark.parametrize("question", ANSWERS)
@pytest.mark.parametrize("x", [0.7123456789, 1.3333333333, 0.1 + 0.2])
def test_printed_bounds_are_on_their_sides(question, x):
    """Every sentence, read as decimals: eps and delta are rounded up, lower bounds and budgets down."""
    answer = ANSWERS[question](x)
    text = str(answer)
    assert printed(r"eps = (\S+?)[:,]", text) >= Decimal(answer.eps)
    assert printed(r"eps = (\S+) holds", text) >= Decimal(answer.eps)
    assert printed(r"no eps below (\S+) does", text) <= Decimal(answer.eps_lower)
    assert printed(r"delta = (\S+)\.$", text.splitlines()[0]) >= Decimal(answer.delta)
    pattern = r"eps_local = (\S+):" if question == "budget" else r"local budget of (\S+?),"
    budgets = printed(pattern, text)
    assert Decimal(answer.eps_local) * Decimal("0.99999") <= budgets <= Decimal(answer.eps_local)
    assert ("(one round alone)" in text) == (answer.rounds > 1)
    assert text.replace("\n", "&") in answer._repr_html_().replace("\n", "&").replace("&#x27;", "'")


def test_curves_and_training_keep_their_sides():
    x, up, down = 1.234565, "1.23457", "1.23456"
    every = dict.fromkeys(
        ("eps", "delta", "orders", "renyi", "false_positive_rates", "false_negative_rates"), (x,)
    )
    text = str(replace(curves(1.3, 99), **every, mu=x, true_positive_rates=((0.01, x),)))
    rows = [line.split() for line in text.splitlines()]
    assert [row for row in rows if row[0] in (up, down)] == [[up, up], [down, up], [down, down]]
    assert f"mu = {up}," in text and f"at most {up}." in text
    answer = training_answer(37, 1.3, 1, 1.23456789e-6)
    text = "\n".join(training_sentences(answer))
    assert printed(r"eps = (\S+):", text) >= Decimal(answer["eps"])
    assert printed(r"no eps below (\S+) does", text) <= Decimal(answer["eps_lower"])


def test_numbers_of_users_are_in_full():
    text = account("--eps-local 8 --eps 0.1 --delta 1e-12")
    users = json.loads(account("--eps-local 8 --eps 0.1 --delta 1e-12 --json"))["users"]
    assert isinstance(users, int) and users > 10**7
    assert text.startswith(f"users = {users:,}: ")
    assert smallest_batch(8.0, 0.1, 1e-12).users == users


def test_printed_answer_equals_command_output(capsys):
    print(amplification(3.0, 1_000, 1e-6, randomizer="grr", domain_size=5))
    words = "--eps-local 3 --users 1000 --delta 1e-6 --randomizer grr --domain-size 5"
    assert capsys.readouterr().out == account(words)
    answer = personalized_answer([(999, GRR(2.0, 4)), (9, GRR(1.0, 4))], 1e-6, 0)
    assert printed(r"eps = (\S+):", str(answer)) >= Decimal(answer.eps)


def test_json_has_texts_for_infinite_numbers():
    answer = amplification(None, 1_000, 1e-6, randomizer=GaussianRandomizer(2.0)).as_dict()
    assert answer["eps_local"] == "inf" and "local budget" in str(amplification(1.0, 9, 0.1))
    unbounded = replace(curves(1.3, 99), renyi=(math.inf,), orders=(2.0,), mu=math.inf)
    text = json.dumps([answer, unbounded.as_dict()])
    assert "Infinity" not in text and "NaN" not in text
