"""Analyzer of a deployment: estimates and intervals from shuffled messages; copied into ``analyzer.py``."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shuffledp.protocols.client.files import CONFIDENCE, Parameters, read_messages, written
from shuffledp.protocols.client.randomizers import hashed

#: Normal quantile of the confidence of an interval.
QUANTILE = 1.959963984540054

#: Parameters of an analyzer, and estimates with their half-widths.
Analyzer = Mapping[str, Any]
Answer = tuple[list[float], list[float]]
Tally = Counter[tuple[int, ...]]


def of_values(analyzer: Analyzer, tally: Tally) -> list[int]:
    """Return the number of messages that contain each value."""
    counts = [0] * analyzer["values"]
    for message, times in tally.items():
        for value in message:
            counts[value] += times
    return counts


def of_signs(analyzer: Analyzer, tally: Tally) -> list[int]:
    """Return, for each value, the number of messages +1 (even symbols) minus the number of -1 (odd symbols)."""
    counts = [0] * analyzer["values"]
    for (symbol,), times in tally.items():
        counts[symbol // 2] += -times if symbol % 2 else times
    return counts


def of_hashes(analyzer: Analyzer, tally: Tally) -> list[int]:
    """Return, for each value, the number of messages whose cell is the hash of this value."""
    return [
        sum(times for (seed, cell), times in tally.items() if hashed(seed, value, analyzer["cells"]) == cell)
        for value in range(analyzer["values"])
    ]


def of_symbols(analyzer: Analyzer, tally: Tally) -> list[int]:
    """Return the number of messages of each kind."""
    return [tally[(symbol,)] for symbol in range(analyzer["symbols"])]


def noise_of(analyzer: Analyzer, planned: int, users: int, messages: int) -> tuple[float, float]:
    """Return the mean noise of a count, and the 95 % quantile of the distance of the noise from the mean."""
    mean, reach = analyzer["noise_mean"], analyzer["noise_reach"]
    if analyzer["noise_from"] == "messages":  # all messages but one of each user are dummies
        share = 1 / analyzer["values"]
        dummies = max(messages - users, 0)
        return dummies * share, QUANTILE * math.sqrt(dummies * share * (1 - share))
    if analyzer["noise_from"] == "users":
        return mean * users / planned, reach * math.sqrt(users / planned) if users > planned else reach
    return mean, reach


def frequencies(analyzer: Analyzer, counts: Sequence[int], planned: int, users: int, messages: int) -> Answer:
    """Return relative frequencies; messages count at the rate `own` for their user's value, at `other` for others."""
    own, other = analyzer["own"], analyzer["other"]
    mean, reach = noise_of(analyzer, planned, users, messages)
    scale = users * (own - other)
    estimates, half_widths = [], []
    for count in counts:
        estimate = (count - users * other - mean) / scale
        held = users * min(max(estimate, 0.0), 1.0)
        reports = held * own * (1 - own) + (users - held) * other * (1 - other)
        estimates.append(estimate)
        half_widths.append(math.sqrt(reach**2 + QUANTILE**2 * reports) / scale)
    return estimates, half_widths


def leveled_sum(analyzer: Analyzer, counts: Sequence[int], planned: int, users: int, messages: int) -> Answer:
    """Return the sum after randomized response on levels in [0, 1], and its half-width at the estimated levels."""
    own, other, levels = analyzer["own"], analyzer["other"], len(counts) - 1
    gap, uniform = own - other, (levels + 1) * other
    square = (2 * levels + 1) / (6 * levels)
    total, variance = 0.0, 0.0
    for symbol, count in enumerate(counts):
        x, held = symbol / levels, (count - users * other) / gap
        total += held * x
        variance += held * (gap * x * x + uniform * square - (gap * x + uniform / 2) ** 2)
    variance = max(variance, 0.0) / gap**2 + users * analyzer["rounding"]
    return [total * analyzer["unit"]], [QUANTILE * math.sqrt(variance) * analyzer["unit"]]


def noisy_sum(analyzer: Analyzer, counts: Sequence[int], planned: int, users: int, messages: int) -> Answer:
    """Return the sum of all messages, integers from -D to D, and its half-width."""
    levels = len(counts) // 2
    total = sum(times * (symbol - levels) for symbol, times in enumerate(counts))
    reach = analyzer["noise_reach"] * math.sqrt(max(users / planned, 1.0))
    half_width = math.sqrt(reach**2 + QUANTILE**2 * users * analyzer["rounding"])
    return [total * analyzer["unit"]], [half_width * analyzer["unit"]]


#: Counting of messages, and estimation from counts, by the names in the parameters.
COUNTING: dict[str, Callable[[Analyzer, Tally], list[int]]] = {
    "of_values": of_values,
    "of_signs": of_signs,
    "of_hashes": of_hashes,
    "of_symbols": of_symbols,
}
ESTIMATING: dict[str, Callable[[Analyzer, Sequence[int], int, int, int], Answer]] = {
    "frequencies": frequencies,
    "leveled_sum": leveled_sum,
    "noisy_sum": noisy_sum,
}


def analysis(
    parameters: Parameters, messages: Sequence[tuple[int, ...]], users: int | None = None
) -> dict[str, Any]:
    """Return estimates and the half-widths of their 95 % intervals.

    Parameters
    ----------
    parameters : mapping
        Content of ``parameters.json``.
    messages : sequence of tuple of int
        All messages from the shuffler.
    users : int, optional
        Number of participants. Default: the number of messages if every user sends one, otherwise the planned number.

    Returns
    -------
    dict
        ``estimates`` and ``half_width``, one number per value or one for a sum; ``confidence``, ``users``,
        ``messages``.

    Raises
    ------
    ValueError
        If the number of users is below 1.
    """
    analyzer, planned = parameters["analyzer"], parameters["users"]
    usual = len(messages) if analyzer["one_message"] else planned
    present = usual if users is None else users
    if present < 1:
        raise ValueError(f"The number of users must be at least 1, got {present}.")
    counts = COUNTING[analyzer["counting"]](analyzer, Counter(messages))
    estimating = ESTIMATING[analyzer["estimating"]]
    estimates, half_widths = estimating(analyzer, counts, planned, present, len(messages))
    return {
        "protocol": parameters["protocol"],
        "users": present,
        "messages": len(messages),
        "confidence": CONFIDENCE,
        "estimates": estimates,
        "half_width": half_widths,
    }


def main() -> None:
    """Read the file of messages that the command line names, and write the estimates as JSON."""
    parser = argparse.ArgumentParser(description="Write estimates with 95 % intervals, as JSON.")
    parser.add_argument(
        "file", help="shuffled messages, a line of hexadecimal digits each; - reads standard input"
    )
    parser.add_argument(
        "--users", type=int, help="number of users who took part, where it is not the planned one"
    )
    asked = parser.parse_args()
    written(
        lambda parameters: (
            json.dumps(analysis(parameters, read_messages(parameters, asked.file), asked.users), indent=2)
            + "\n"
        )
    )
