"""Shuffler of a deployment, with the dummies that it adds; copied into ``shuffler.py``."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from shuffledp.protocols.client.files import (
    USERS,
    Parameters,
    counted_users,
    encoded,
    read_messages,
    warn,
    warnings_of,
    written,
)
from shuffledp.protocols.client.randomizers import Part, Sent, exact
from shuffledp.sampling.bits import SYSTEM_BITS, Source
from shuffledp.sampling.clients import shuffled
from shuffledp.sampling.coins import bernoulli, binomial
from shuffledp.sampling.laws import geometric

Shuffling = Callable[[Part, Sent, Source], Sent]


def sampled(part: Part, messages: Sent, source: Source) -> Sent:
    """Keep each message with probability `rate`."""
    return [message for message in messages if bernoulli(exact(part["rate"]), source)]


def with_binomial(part: Part, messages: Sent, source: Source) -> Sent:
    """Add a binomial number of dummies for every value, the heads of `coins` fair coins."""
    half = exact("1/2")
    return messages + [
        (value,) for value in range(part["values"]) for _ in range(binomial(part["coins"], half, source))
    ]


def two_sided(part: Part, source: Source) -> int:
    """Draw from the two-sided geometric law on 0, 1, .., whose mode is `turn`.

    ``turn + z``, z >= 0, has the weight ``right^z``; ``turn - z``, 0 < z <= turn, has the weight ``left^z``.
    """
    left_ratio, right_ratio, turn = exact(part["left"]), exact(part["right"]), part["turn"]
    below, above = left_ratio / (1 - left_ratio), 1 / (1 - right_ratio)
    while True:
        if bernoulli(above / (above + below), source):
            return int(turn + geometric(right_ratio, source))
        number = int(turn - 1 - geometric(left_ratio, source))
        if number >= 0:
            return number


def with_geometric(part: Part, messages: Sent, source: Source) -> Sent:
    """Add a number of dummies for every value, from a two-sided geometric law on 0, 1, .."""
    return messages + [(value,) for value in range(part["values"]) for _ in range(two_sided(part, source))]


#: Shuffling by the name in the parameters.
SHUFFLING: dict[str, Shuffling] = {
    "sampled": sampled,
    "with_binomial": with_binomial,
    "with_geometric": with_geometric,
}


def shuffled_messages(parameters: Parameters, messages: Sent, source: Source = SYSTEM_BITS) -> Sent:
    """Return the messages for the analyzer, in random order, from the messages of all users."""
    for part in parameters["shuffler"]:
        messages = SHUFFLING[part["part"]](part, messages, source)
    return shuffled(messages, source)


def main() -> None:
    """Read the file of messages that the command line names, add the dummies, and write all in random order."""
    parser = argparse.ArgumentParser(
        description="Write messages in random order, dummies of the shuffler added."
    )
    parser.add_argument(
        "file", help="messages of all users, a line of hexadecimal digits each; - reads standard input"
    )
    parser.add_argument("--users", type=int, help=USERS)
    arguments = parser.parse_args()

    def answer(parameters: Parameters) -> str:
        messages = read_messages(parameters, arguments.file)
        warn(warnings_of(parameters, counted_users(parameters, messages, arguments.users)))
        mixed = shuffled_messages(parameters, messages)
        return "".join(f"{encoded(parameters, message).hex()}\n" for message in mixed)

    written(answer)
