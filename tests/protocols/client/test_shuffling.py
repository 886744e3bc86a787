"""Parts of clients and shufflers in this process: laws of dummies, files of messages, and values out of range."""

import json
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from exact_laws import SeededBits
from shuffledp.accounting import Infeasible
from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols.client.analyzing import analysis
from shuffledp.protocols.client.files import checksum, decoded, encoded, read_messages, read_parameters
from shuffledp.protocols.client.randomizers import coins, user_messages
from shuffledp.protocols.client.shuffling import shuffled_messages
from shuffledp.protocols.messages import Messages
from shuffledp.protocols.request import Request
from shuffledp.tasks import Budget, Summation

FORM = {
    "message": [{"name": "value", "bytes": 1, "values": 5}, {"name": "seed", "bytes": 2, "values": 65536}],
    "checksum": "0a0b0c0d0e0f",
}
TAG = bytes.fromhex("0a0b0c0d")
MANY = 4000
ANY = {"inputs": 3, "client": [], "places": None, "one_message": True, "analyzer": {}, "planned_users": 9}


def test_shuffler_noise_has_exact_laws():
    geometric = {"part": "with_geometric", "values": MANY, "left": "1/2", "right": "1/3", "turn": 2}
    laws = [
        ({"part": "sampled", "rate": "3/8"}, [(v,) for v in range(MANY)], [5 / 8, 3 / 8]),
        ({"part": "with_binomial", "values": MANY, "coins": 3}, [], [1 / 8, 3 / 8, 3 / 8, 1 / 8]),
        (geometric, [], np.array([1 / 4, 1 / 2, 1, 1 / 3, 1 / 9, 1 / 18]) / 2.25),
    ]
    for place, (part, messages, law) in enumerate(laws):
        sent = shuffled_messages({"shuffler": [part]}, messages, SeededBits(place))
        numbers = Counter(message[0] for message in sent)
        counts = np.bincount([min(numbers[v], len(law) - 1) for v in range(MANY)], minlength=len(law))
        assert stats.chisquare(counts, MANY * np.asarray(law)).pvalue > 1e-6, part


def test_message_files_are_read_or_refused(tmp_path):
    messages, file = [(0, 0), (4, 65535), (1, 258)], tmp_path / "messages"
    file.write_text("".join(f"{encoded(FORM, message).hex()}\n" for message in messages))
    assert read_messages(FORM, str(file)) == messages
    for content, error in (
        (b"\0" + TAG, "a message has 7 bytes, got 5"),
        (b"\5\0\0" + TAG, r"value must be in 0\.\.4, got 5"),
        (b"\0\0\0\0\0\0\0", "a message of this deployment ends in its tag 0a0b0c0d, got 00000000"),
    ):
        with pytest.raises(ValueError, match=error):
            decoded(FORM, content)
        file.write_text(f"000000{TAG.hex()}\n{content.hex()}\n")
        with pytest.raises(ValueError, match=f"line 2: {error}"):
            read_messages(FORM, str(file))
    file.write_text("\u00e9\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1: non-hexadecimal number"):
        read_messages(FORM, str(file))
    file.write_text(json.dumps({**FORM, "checksum": checksum(FORM)}))
    assert read_parameters(file)["message"] == FORM["message"]
    file.write_text(json.dumps({**FORM, "inputs": 6, "checksum": checksum(FORM)}))
    with pytest.raises(ValueError, match="the parameters do not have this checksum"):
        read_parameters(file)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: user_messages(ANY, 3, 0), r"value must be in 0\.\.2, got 3"),
        (lambda: user_messages(ANY, 2, -1), "place must be at least 0, got -1"),
        (
            lambda: user_messages(ANY | {"places": 5}, 2, 5),
            r"place must be in 0\.\.4, the planned users, got 5",
        ),
        (lambda: analysis(ANY, [], None), "at least 1, got 0"),
        (lambda: analysis(ANY, [(1,)], 2), "there are 1 messages of 2 users"),
        (lambda: analysis(ANY | {"one_message": False}, [(1,)]), "Give the number of users"),
        (lambda: Messages(np.array(1.0)), "payload must be an array"),
        (
            lambda: Request(Budget(1.0, 1e-6), Fixed(9), Summation(3)).k,
            "estimates frequencies, but the task is 'summation'",
        ),
    ],
)
def test_values_out_of_range_are_refused(call, error):
    with pytest.raises(ValueError, match=error):
        call()


def test_places_and_users_of_parts():
    certain = {"first": 2, "rate": "1", "values": 3}
    assert [len(coins(certain, 0, place, SeededBits(0))) for place in range(4)] == [3, 3, 0, 0]
    with pytest.raises(Infeasible, match="population Fixed"):
        _ = Request(Budget(1.0, 1e-6), Binomial(9, 0.5), Summation(3)).n
