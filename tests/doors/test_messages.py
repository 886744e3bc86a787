"""Messages and bits that commands print, compared with the messages that users send.

Means are within 6 standard errors, half a printed digit, and what rare messages may hide: a correct program misses
these limits with a probability of about 1e-8.
"""

import json
import math
import re

import numpy as np
import pytest

import shuffledp
from command_line import one_line, printed, typed, unwrapped
from printed_tables import best, cells
from shuffledp.identities import identity_of
from shuffledp.populations import Poisson
from shuffledp.protocols import available
from shuffledp.tasks import Budget, Frequency, Summation, Users

BUDGET = Budget(2.0, 1e-4)
OPTIONS = typed("--eps 2 --delta 1e-4")
REPEATS = 30


def check_mean(protocol, values, stated, about):
    rng = np.random.default_rng(20_261_128)
    means = np.array([len(protocol.encode(Users(values), rng)) for _ in range(REPEATS)]) / len(values)
    # Messages with a chance of 1e-8 to be absent in all runs.
    unseen = 18 * max(1.0, stated) / (REPEATS * len(values))
    error = 6 * means.std() / math.sqrt(REPEATS) + unseen + 6e-4 * stated
    assert abs(means.mean() - stated) <= error, (about, means.mean(), stated, error)


def most_sent(protocol, values):
    """Return the most messages of the first 20 users, who send most, and of 20 others, encoded one by one."""
    rng = np.random.default_rng(20_261_128)
    places = [*range(20), *np.linspace(20, len(values) - 1, 20).astype(int)]
    return max(len(protocol.encode(Users(values[i : i + 1], None, int(i)), rng)) for i in places)


def test_printed_messages_and_most_hold():
    task, users = Frequency(4), 200
    text = printed("compare --users", str(users), "--domain-size", "4", *OPTIONS)
    rows = cells(text)
    assert len(rows) > 25
    values = np.arange(users) % 2
    for name, row in rows.items():
        mean, most, bits, most_bits = (row[key] for key in ("messages", "most messages", "bits", "most bits"))
        protocol = best(task, name, users - 1, BUDGET)
        check_mean(protocol, values, float(mean), name)
        assert most_sent(protocol, values) <= float(most.lstrip("~")), name
        kinds = len(np.unique(protocol.encode(Users(values), np.random.default_rng(1)).payload, axis=0))
        size = float(bits) / float(mean)
        assert math.log2(kinds) <= size * 1.001, name
        assert float(most_bits.lstrip("~")) >= float(most.lstrip("~")) * size * 0.8, (
            name
        )  # one digit from 1e5 on


def test_mean_of_sum_omits_zeros():
    task, users = Summation(4), 400
    values = 1 + np.arange(users) % 4
    names = ("fragmented_rappor", "central_laplace")
    words = ("--users", str(users), *typed("--max-value 4 --eps 1 --delta 1e-6"))
    for name in names:
        protocol = best(task, name, users - 1, Budget(1.0, 1e-6))
        text = one_line("compare", *words, "--protocols", name)
        mean = re.search(r"A user whose number is not 0 sends (\S+) messages", text)
        if mean is not None:  # not idle
            check_mean(protocol, values, float(mean[1]), name)
        assert "average per user whose number is not 0" in text
        described = one_line("describe", name, *words)
        stated = re.search(r"A user whose number is not 0 sends (\S+) messages", described)
        check_mean(protocol, values, float(stated[1]), name)


#: Protocols whose messages depend on the planned number of users, or on a place in a list.
PLANNED = ("correlated_noise", "jump_counts", "one_sided_noise", "silent_users", "balls_into_bins")
LISTED = ("pure_dump", "mix_dump", "flexible_pure_dump", "designated_coins", "fake_users", "sageo")


@pytest.mark.parametrize("name", [*PLANNED, *LISTED])
@pytest.mark.parametrize("users", [100, 300, 600], ids=["fewer", "as planned", "more"])
@pytest.mark.filterwarnings("ignore:.*the guarantee needs")
def test_batch_states_messages_of_planned_users(name, users):
    """The mean is of all planned users: those at the first places of a list send more. The most is of any users."""
    counts = [users // 2, users // 4, users // 4, 0]
    batch = shuffledp.simulate(counts=counts, protocol=name, users=300, eps=2.0, delta=1e-4)
    text = unwrapped(batch)
    stated = re.search(r" a user sends (\S+) messages on average \(.*?\), at most ([\d,]+)", text)
    assert ("; of 300 users, a user sends" in text) == (users != 300)
    assert most_sent(batch.protocol, np.repeat(np.arange(4), counts)) <= float(stated[2].replace(",", ""))
    check_mean(batch.protocol, np.arange(300) % 4, float(stated[1]), (name, users))


def test_random_users_have_likeliest_messages():
    words = (*typed("--population poisson:300 --domain-size 4"), *OPTIONS, "--json")
    names = "pure_dump,silent_users"
    rows = json.loads(printed("compare", *words, "--protocols", names))["rows"]
    for row in rows:
        protocol = best(Frequency(4), row["protocol"], Poisson(300.0), BUDGET)
        check_mean(protocol, np.arange(301) % 4, row["messages_per_user"], row["protocol"])


def test_recommended_messages_are_of_the_table(tmp_path):
    data = tmp_path / "in.csv"
    data.write_text("v\n" + "0\n" * 120 + "1\n" * 60 + "2\n" * 20)
    words = ("--column", "v", "--domain-size", "4", *OPTIONS, "--protocols", "silent_users")
    text = printed("compare --data", str(data), *words)
    row = cells(text)["silent_users"]
    sent = f"A user sends {row['messages']} messages ({row['bits']} bits) on average for 200 counted users"
    most = row["most messages"].lstrip("~")
    assert f"{sent} with any values, at most {most} " in unwrapped(text)


CLEAR = [
    name
    for name in available("frequency")
    if re.search(r"sends? (the|their) true value", identity_of("frequency", name).sentence)
]


@pytest.mark.parametrize("name", CLEAR)
def test_declared_users_send_true_values(name):
    protocol, rng = best(Frequency(6), name, 39, BUDGET), np.random.default_rng(6)
    users = Users(np.full(40, 3))
    sent = [protocol.encode(users, rng).payload for _ in range(20)]
    assert all(np.count_nonzero(messages == 3) >= 40 for messages in sent)
    fixed = "a fixed number of" in identity_of("frequency", name).sentence
    assert (len({len(messages) for messages in sent}) == 1) is fixed
