"""Analyzer of a deployment for mean and variance, from two sums; copied into ``analyzer.py``."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from shuffledp.protocols.client.analyzing import COUNTING, ESTIMATING, QUANTILE, present_users, stated
from shuffledp.protocols.client.files import USERS, Parameters, read_messages, warn, written


def moment_analysis(
    parameters: Parameters,
    messages: Sequence[tuple[int, ...]],
    users: int | None = None,
    release: int | None = None,
) -> dict[str, Any]:
    """Return mean and variance of the users' numbers, with the half-widths of their 95 % intervals.

    `shuffledp.accounting.baselines.two_moments` has the sums and the formulas. ``estimates`` are the mean and the
    variance; ``population_mean_half_width`` is for the mean of a population from which the users are a random sample.
    """
    analyzer, planned, most = parameters["analyzer"], parameters["planned_users"], parameters["inputs"] - 1
    present = present_users(parameters, messages, users)
    counts = COUNTING[analyzer["counting"]](analyzer, Counter(messages))
    sums, widths, start = [], [], 0
    for each in analyzer["sums"]:
        symbols = counts[start : start + each["symbols"]]
        (total,), (width,) = ESTIMATING[each["estimating"]](each, symbols, planned, present, sum(symbols))
        sums.append(total)
        widths.append(width)
        start += each["symbols"]
    center, more = sums[0] / present - most / 2, present / max(present - 1, 1)
    variance = (sums[1] / present + most % 2 / 4 - center**2) * more
    spread = (math.hypot(widths[1], 2 * center * widths[0]) + widths[0] ** 2 / present) * more / present
    population = math.hypot(QUANTILE * math.sqrt(max(variance, 0.0) / present), widths[0] / present)
    domain = parameters.get("domain", {"low": 0.0, "high": most})
    step = (domain["high"] - domain["low"]) / most
    estimates = [domain["low"] + step * sums[0] / present, step**2 * variance]
    half_widths = [step * widths[0] / present, step**2 * spread]
    answer, warnings = stated(parameters, estimates, half_widths, present, len(messages), release)
    answer |= {
        "mean": estimates[0],
        "mean_half_width": half_widths[0],
        "variance": estimates[1],
        "variance_half_width": half_widths[1],
        "population_mean_half_width": step * population,
    }
    return answer | {"warnings": warnings}


def main() -> None:
    """Read the file of messages that the command line names, and write mean and variance as JSON."""
    parser = argparse.ArgumentParser(description="Write mean and variance with 95 % intervals, as JSON.")
    parser.add_argument(
        "file", help="shuffled messages, a line of hexadecimal digits each; - reads standard input"
    )
    parser.add_argument("--users", type=int, help=USERS)
    asked = parser.parse_args()

    def answer(parameters: Parameters) -> str:
        found = moment_analysis(parameters, read_messages(parameters, asked.file), asked.users)
        warn(found["warnings"])
        return json.dumps(found, indent=2) + "\n"

    written(answer)
