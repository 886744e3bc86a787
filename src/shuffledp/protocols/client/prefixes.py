"""Analyzer of a deployment for ordered values: shares and quantiles with intervals; copied into ``analyzer.py``."""

from __future__ import annotations

import argparse
import json
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from shuffledp.protocols.client.analyzing import COUNTING, QUANTILE, present_users, stated
from shuffledp.protocols.client.files import USERS, Parameters, read_messages, warn, written
from shuffledp.protocols.client.randomizers import input_of, value_of
from shuffledp.protocols.client.trees import monotone, nodes_of

#: Shares of the users of the quantiles, if none are named.
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def prefix_analysis(
    parameters: Parameters,
    messages: Sequence[tuple[int, ...]],
    users: int | None = None,
    release: int | None = None,
    shares: Sequence[float] = SHARES,
    ranges: Sequence[tuple[int, int]] = (),
) -> dict[str, Any]:
    """Return shares of the users with at most each value, quantiles, and shares of ranges, with 95 % intervals.

    Parameters
    ----------
    parameters, messages, users, release
        See the analyzer of counts.
    shares : sequence of float
        Shares of the users, in (0, 1). A quantile is the smallest value that this share does not exceed.
    ranges : sequence of (int, int)
        First and last value of each range.

    Returns
    -------
    dict
        ``estimates`` and ``half_width`` for the users with at most each value, as shares; ``band``, the half-width
        for all values at once; ``quantiles``, whose intervals hold at once, and for bins go up to the end of a bin;
        ``ranges``.
    """
    analyzer, planned = parameters["analyzer"], parameters["planned_users"]
    present = present_users(parameters, messages, users)
    nodes, mean = nodes_of(analyzer, planned, present, len(messages))
    counts = COUNTING[analyzer["counting"]](analyzer, Counter(messages))
    levels = [
        [count - mean for count in counts[first : first + nodes.sizes[0] // size]]
        for size, first in analyzer["levels"]
    ]
    inputs, band = parameters["inputs"], nodes.band() / present
    below = [total / present for total in accumulate(nodes.counts(present, levels))][:inputs]
    widths = [QUANTILE * math.sqrt(nodes.variance(0, stop)) / present for stop in range(1, inputs + 1)]
    answer, warnings = stated(parameters, below, widths, present, len(messages), release)
    increasing = monotone(below)

    widened = "width" in parameters.get("domain", {})  # a bin has the name of its smallest number

    def name(share: float, more: int = 0) -> Any:
        return value_of(parameters, min(bisect_left(increasing, share), inputs - 1) + more)

    answer["band"] = band
    answer["quantiles"] = [
        {"share": share, "value": name(share), "low": name(share - band), "high": name(share + band, widened)}
        for share in shares
    ]
    answer["ranges"] = [
        {
            "first": value_of(parameters, first),
            "last": value_of(parameters, last),
            "estimate": below[last] - (below[first - 1] if first else 0.0),
            "half_width": QUANTILE * math.sqrt(nodes.variance(first, last + 1)) / present,
        }
        for first, last in ranges
    ]
    return answer | {"warnings": warnings}


def range_named(parameters: Parameters, text: str) -> tuple[int, int]:
    """Return the first and the last input of a range FIRST:LAST. Raise ValueError for any other text."""
    first, _, last = text.partition(":")
    ends = input_of(parameters, first), input_of(parameters, last)
    if not 0 <= ends[0] <= ends[1] < parameters["inputs"]:
        raise ValueError(f"a range must be FIRST:LAST with FIRST at most LAST, got {text!r}.")
    return ends


def main() -> None:
    """Read the file of messages that the command line names, and write the estimates as JSON."""
    parser = argparse.ArgumentParser(description="Write shares and quantiles with 95 % intervals, as JSON.")
    parser.add_argument(
        "file", help="shuffled messages, a line of hexadecimal digits each; - reads standard input"
    )
    parser.add_argument("--users", type=int, help=USERS)
    parser.add_argument(
        "--quantile",
        type=float,
        action="append",
        help="share of the users, in (0, 1), such as 0.5; repeatable",
    )
    parser.add_argument(
        "--range", action="append", default=[], help="FIRST:LAST, a range of values; repeatable"
    )
    arguments = parser.parse_args()

    def answer(parameters: Parameters) -> str:
        shares = arguments.quantile or SHARES
        if not all(0 < share < 1 for share in shares):
            raise ValueError(f"a quantile must be in (0, 1), got {shares}.")
        ranges = [range_named(parameters, text) for text in arguments.range]
        messages = read_messages(parameters, arguments.file)
        result = prefix_analysis(parameters, messages, arguments.users, None, shares, ranges)
        warn(result["warnings"])
        return json.dumps(result, indent=2) + "\n"

    written(answer)
