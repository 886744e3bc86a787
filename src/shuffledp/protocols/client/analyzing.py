"""Analyzer of a deployment: estimates and intervals from shuffled messages; copied into ``analyzer.py``."""

from __future__ import annotations

import argparse
import cmath
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shuffledp.protocols.client.files import (
    CONFIDENCE,
    USERS,
    Parameters,
    counted_users,
    guarantee_for,
    guarantee_holds,
    read_messages,
    warn,
    warnings_of,
    written,
)
from shuffledp.protocols.client.randomizers import hashed, value_of

#: Normal quantile of the confidence of an interval.
QUANTILE = 1.959963984540054
#: Largest tilt of a law in `tail`.
MOST_TILT = 40.0

#: Parameters of an analyzer, and estimates with their half-widths.
Analyzer = Mapping[str, Any]
Answer = tuple[list[float], list[float]]
Tally = Counter[tuple[int, ...]]
#: Mean, rate and sign of each of the independent parts of a count, see `sum_law`.
Parts = Sequence[tuple[float, float, int]]


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


@dataclass(frozen=True)
class Law:
    """Law of an integer: log moment generating function, mean, variance, and its range ``below < t < above``.

    `nodes` is the least number of nodes of an inversion.
    """

    log_moment: Callable[[complex], complex]
    mean: float
    variance: float
    below: float = -math.inf
    above: float = math.inf
    nodes: int = 1


def sum_law(parts: Parts, offset: float = 0.0, normal: float = 0.0) -> Law:
    """Return the law of a sum of independent parts, a constant, and normal noise of this variance.

    A part with the sign 1 has the generating function ``(1 + rate (z - 1))^(mean / rate)``. It is binomial for a
    positive rate, Poisson for 0 and negative binomial for a negative rate. The sign -1 subtracts the part.
    """

    def log_moment(t: complex) -> complex:
        total = offset * t + normal * t * t / 2
        for mean, rate, sign in parts:
            growth = cmath.exp(sign * t) - 1
            total += mean * (cmath.log(1 + rate * growth) / rate if rate else growth)
        return total

    limits = {sign: [math.inf] for sign in (1, -1)}
    for _, rate, sign in parts:
        if rate < 0:
            limits[sign].append(math.log1p(-1 / rate))
    return Law(
        log_moment,
        offset + sum(sign * mean for mean, _, sign in parts),
        normal + sum(mean * (1 - rate) for mean, rate, _ in parts),
        -min(limits[-1]),
        min(limits[1]),
    )


def tail(law: Law, sign: int, start: int) -> float:
    """Return the probability that ``sign * (C - start) >= 0`` for a number C with this law, or 1 if it is large.

    Notes
    -----
    The generating function is inverted on a circle (Abate and Whitt 1992). The radius ``exp(tilt)`` is near the
    saddle point. The number of nodes makes the aliasing error negligible.
    """
    distance = sign * (start - law.mean) - 0.5
    variance = max(law.variance, 1e-12)
    deviation = math.sqrt(variance)
    if distance <= deviation / 2:
        return 1.0
    limit = min(law.above if sign > 0 else -law.below, MOST_TILT)
    tilt = min(math.log1p(distance / variance), limit / 2)
    half = math.ceil(max(8 * deviation, 8 / tilt, 16 / (limit - tilt)) + 8)
    total, first = 0.0, 0.0
    for node in range(half):
        t = complex(tilt, math.pi * (node + 0.5) / half)
        term = cmath.exp(law.log_moment(sign * t) - sign * t * start) / (1 - cmath.exp(-t))
        total += term.real
        first = max(first, abs(term))
        if node >= law.nodes and abs(term) < 1e-6 * first:
            break
    return min(max(total / half, 0.0), 1.0)


def is_likely(law: Law, distance: float) -> bool:
    """Return whether a number is at least this far from its mean with a probability above 5 %."""
    above, below = math.ceil(law.mean + distance - 1e-9), math.floor(law.mean - distance + 1e-9)
    upper, level = tail(law, 1, above), 1 - CONFIDENCE
    return upper > level or upper + tail(law, -1, below) > level


def last_likely(likely: Callable[[float], bool], step: float, most: float = math.inf) -> float:
    """Return the largest distance in [0, most] that is likely, rounded up by at most 0.5 %."""
    low, high = 0.0, min(step, most)
    while likely(high):
        if high >= most:
            return most
        low, high = high, min(2 * high, most)
    while high - low > 0.005 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if likely(middle) else (low, middle)
    return high


def likely_distance(law: Law) -> float:
    """Return the largest distance from the mean that is likely."""
    return last_likely(lambda distance: is_likely(law, distance), QUANTILE * math.sqrt(law.variance) + 1)


def farthest(
    law_for: Callable[[float], Law], observed: int, estimate: float, most: float, step: float
) -> float:
    """Return the largest distance from the estimate to a number in [0, most] that the observed count does not reject.

    `law_for` returns the law of the count for a number. A test rejects a number if the count is as far from its mean
    with a probability of at most 5 %. `step` is about the result.
    """
    nearest = min(max(estimate, 0.0), most)

    def on_side(sign: int, room: float) -> float:
        def likely(distance: float) -> bool:
            law = law_for(nearest + sign * distance)
            return is_likely(law, abs(observed - law.mean))

        return last_likely(likely, step, room) if room and likely(0.0) else 0.0

    return abs(estimate - nearest) + max(on_side(1, most - nearest), on_side(-1, nearest))


def noise_of(analyzer: Analyzer, planned: int, users: int, messages: int) -> tuple[Parts, float]:
    """Return the parts of a count's noise for the number of users or messages, and its constant."""
    noise = analyzer["noise"]
    if noise["from"] == "messages":  # all messages but one of each user are dummies, see `dealt`
        share = 1 / analyzer["values"]
        return [(max(messages - users, 0) * share, share, 1)], 0.0
    present = min(users / planned, 1.0)
    if noise["from"] == "places" and present < 1:  # users who dropped out at random had some of the coins
        coins = noise["coins"]
        mean = coins * present / 2
        seats = coins * present * (1 - coins / planned) * (planned - users) / (planned - 1)
        return [(mean, 1 - (mean / 2 + seats / 4) / mean, 1)], 0.0
    scale = users / planned if noise["from"] == "users" else 1.0
    return [(mean * scale, rate, sign) for mean, rate, sign in noise["parts"]], noise["offset"]


def frequencies(analyzer: Analyzer, counts: Sequence[int], planned: int, users: int, messages: int) -> Answer:
    """Return relative frequencies; messages count at one rate for their user's value, at another for other values."""
    own_rate, other_rate = analyzer["own"], analyzer["other"]
    parts, offset = noise_of(analyzer, planned, users, messages)
    noise = sum_law(parts, offset)

    def law_for(number: float) -> Law:
        reports = [(number * own_rate, own_rate, 1), ((users - number) * other_rate, other_rate, 1)]
        return sum_law([*reports, *parts], offset)

    estimates = {
        count: (count - users * other_rate - noise.mean) / (own_rate - other_rate) for count in set(counts)
    }
    half_widths = {}
    shared = likely_distance(noise) if own_rate == 1 and other_rate == 0 else None  # the same for all counts
    for count, estimate in estimates.items():
        number = min(max(estimate, 0.0), users)
        if shared is not None:
            half_widths[count] = max(abs(estimate - number), min(shared, max(estimate, users - estimate)))
        else:
            step = (1.3 * QUANTILE * math.sqrt(law_for(number).variance) + 1) / (own_rate - other_rate)
            half_widths[count] = farthest(law_for, count, estimate, float(users), step)
    return [estimates[count] / users for count in counts], [half_widths[count] / users for count in counts]


def leveled_sum(analyzer: Analyzer, counts: Sequence[int], planned: int, users: int, messages: int) -> Answer:
    """Return the sum after randomized response on levels in [0, 1], and its half-width.

    The law for a sum has the estimated numbers of users per level, of whom some move to the first or the last level.
    """
    own_rate, other_rate, levels = analyzer["own"], analyzer["other"], len(counts) - 1
    gap, all_levels = own_rate - other_rate, range(levels + 1)
    observed = sum(level * count for level, count in enumerate(counts))
    uniform, square = other_rate * sum(all_levels), other_rate * sum(level**2 for level in all_levels)
    estimate = (observed - users * uniform) / gap
    positive = [max(count - users * other_rate, 0.0) for count in counts]
    shares = [users * number / sum(positive) for number in positive]
    center, most = sum(level * share for level, share in enumerate(shares)), float(users * levels)
    rounding: float = users * analyzer["rounding"] * (gap * levels) ** 2

    def law_for(number: float) -> Law:
        end = levels if number > center else 0
        moved_share = (number - center) / ((most if end else 0.0) - center) if number != center else 0.0
        numbers = [
            share * (1 - moved_share) + (users * moved_share if level == end else 0.0)
            for level, share in enumerate(shares)
        ]

        def log_moment(t: complex) -> complex:
            shift = max(t.real * levels, 0.0)  # keeps all powers at most 1
            powers = [cmath.exp(t * level - shift) for level in all_levels]
            others = other_rate * sum(powers)
            reports = sum(
                n * cmath.log(gap * power + others) for n, power in zip(numbers, powers, strict=True) if n
            )
            return complex(reports + users * shift + rounding * t * t / 2)

        variance = sum(n * (gap * x**2 + square - (gap * x + uniform) ** 2) for x, n in enumerate(numbers))
        return Law(log_moment, gap * number + users * uniform, rounding + variance, nodes=32)

    step = (1.3 * QUANTILE * math.sqrt(law_for(center).variance) + 1) / gap
    width = farthest(law_for, observed, estimate, most, step)
    unit = analyzer["unit"] / levels
    return [estimate * unit], [width * unit]


def noisy_sum(analyzer: Analyzer, counts: Sequence[int], planned: int, users: int, messages: int) -> Answer:
    """Return the sum of all messages, integers from -D to D, and its half-width."""
    levels = len(counts) // 2
    total = sum(times * (symbol - levels) for symbol, times in enumerate(counts))
    parts, offset = noise_of(analyzer, planned, users, messages)
    law = sum_law(parts, offset, users * analyzer["rounding"])
    return [total * analyzer["unit"]], [likely_distance(law) * analyzer["unit"]]


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


def present_users(parameters: Parameters, messages: Sequence[tuple[int, ...]], users: int | None) -> int:
    """Return the number of users who took part. Raise ValueError if it is unknown or below 1."""
    present = counted_users(parameters, messages, users)
    if present is None:
        raise ValueError("Give the number of users who took part with --users.")
    if present < 1:
        raise ValueError(f"The number of users must be at least 1, got {present}.")
    return present


def stated(
    parameters: Parameters,
    estimates: Sequence[float],
    half_widths: Sequence[float],
    present: int,
    messages: int,
    release: int | None,
) -> tuple[dict[str, Any], list[str]]:
    """Return the entries that every answer has, and warnings on the numbers of users, messages and releases."""
    analyzer, planned = parameters["analyzer"], parameters["planned_users"]
    domain = parameters.get("domain", {})
    values = [value_of(parameters, place) for place in range(parameters["inputs"])]
    answer = {
        "protocol": parameters["protocol"],
        "planned": planned,
        "users": present,
        "messages": messages,
        "guarantee": guarantee_for(parameters, present),
        "guarantee_note": parameters["guarantee_note"],
        "guarantee_holds": guarantee_holds(parameters, present),
        "confidence": CONFIDENCE,
        **{name: domain[name] for name in ("values", "width", "unit") if name in domain},
        **({"values": values} if "width" in domain else {}),
        "estimates": estimates,
        "half_width": half_widths,
        "conditions": {
            name: {"users": present, "who": "counted", "data": data, "side": side}
            for name, data, side in (("estimates", "given", "nearest"), ("half_width", "worst", "up"))
        },
    }
    warnings = warnings_of(parameters, present)
    if (rounds := parameters.get("rounds")) is not None:
        answer |= {"rounds": rounds, "round": release}
        if release is not None and release > rounds:
            answer["guarantee_holds"] = False
            warnings.append(
                f"The guarantee does not hold: it covers {rounds} releases to the same users, and this is release "
                f"{release}."
            )
    noise = analyzer.get("noise", {})
    if noise.get("from") == "messages":
        least = present * (1 + noise["each"]) + max(noise["more"] - max(planned - present, 0), 0)
        most = present * (1 + noise["each"]) + min(noise["more"], present)
        if not least <= messages <= most:
            warnings.append(f"{present} users send {least} to {most} messages, but there are {messages}.")
    return answer, warnings


def analysis(
    parameters: Parameters,
    messages: Sequence[tuple[int, ...]],
    users: int | None = None,
    release: int | None = None,
) -> dict[str, Any]:
    """Return estimates and the half-widths of their 95 % intervals.

    Parameters
    ----------
    parameters : mapping
        Content of ``parameters.json``.
    messages : sequence of tuple of int
        All messages from the shuffler.
    users : int, optional
        Number of users who took part, >= 1. It may be left out if every user sends one message.
    release : int, optional
        Number of this release, >= 1, if the guarantee covers several.

    Returns
    -------
    dict
        ``estimates`` and ``half_width``, one number per value or one for a sum, with the ``values`` or the ``unit`` of
        the deployment if it has them; ``confidence``; ``users``,
        ``planned`` and ``messages``; ``guarantee_holds`` for this number of users; ``conditions``, the users, the data
        and the side of rounding for which numbers hold; ``warnings``. Frequencies also have ``sum`` and
        ``sum_half_width``, and sums the ``mean`` of the users with ``mean_half_width``, and ``relative_half_width``,
        the half-width divided by the absolute value of the sum.

    Raises
    ------
    ValueError
        If the number of users is unknown, below 1, or not the number of messages where every user sends one.
    """
    analyzer, planned = parameters["analyzer"], parameters["planned_users"]
    present = present_users(parameters, messages, users)
    counts = COUNTING[analyzer["counting"]](analyzer, Counter(messages))
    estimating = ESTIMATING[analyzer["estimating"]]
    estimates, half_widths = estimating(analyzer, counts, planned, present, len(messages))
    domain = parameters.get("domain", {})
    if "high" in domain:
        step = (domain["high"] - domain["low"]) / (parameters["inputs"] - 1)
        estimates = [domain["low"] * present + step * estimate for estimate in estimates]
        half_widths = [step * half_width for half_width in half_widths]
    answer, warnings = stated(parameters, estimates, half_widths, present, len(messages), release)
    if estimating is frequencies:
        total, width = math.fsum(estimates), math.hypot(*half_widths)
        answer |= {"sum": total, "sum_half_width": width}
        if abs(total - 1) > max(width, 1e-9):
            warnings.append(
                f"The frequencies sum to {total:.6g}, not to 1 within {width:.2g}. Of correct runs, at most about 1 in "
                f"20 has such a sum; otherwise the number of users is not {present}, or messages were lost, added or "
                "changed."
            )
    else:
        (total,), (width,) = estimates, half_widths
        answer |= {"mean": total / present, "mean_half_width": width / present}
        conditions: dict[str, Any] = answer["conditions"]
        conditions |= {"mean": conditions["estimates"], "mean_half_width": conditions["half_width"]}
        answer["relative_half_width"] = width / abs(total) if total else "inf"
    return answer | {"warnings": warnings}


def counted_release(messages: Sequence[tuple[int, ...]], analyzed: Path) -> int:
    """Return the place of these messages in a file of digests, from 1 on; new messages are added to the file."""
    digest = hashlib.sha256(json.dumps(sorted(messages)).encode()).hexdigest()
    digests = analyzed.read_text(encoding="ascii").split() if analyzed.exists() else []
    if digest not in digests:
        digests.append(digest)
        analyzed.write_text("\n".join(digests) + "\n", encoding="ascii")
    return digests.index(digest) + 1


def main() -> None:
    """Read the file of messages that the command line names, and write the estimates as JSON."""
    parser = argparse.ArgumentParser(description="Write estimates with 95 % intervals, as JSON.")
    parser.add_argument(
        "file", help="shuffled messages, a line of hexadecimal digits each; - reads standard input"
    )
    parser.add_argument("--users", type=int, help=USERS)
    parser.add_argument(
        "--round", type=int, help="number of this release; by default different files are counted"
    )
    arguments = parser.parse_args()

    def answer(parameters: Parameters) -> str:
        messages = read_messages(parameters, arguments.file)
        release = arguments.round
        if release is None and "rounds" in parameters:
            release = counted_release(messages, Path(__file__).with_name("analyzed.txt"))
        result = analysis(parameters, messages, arguments.users, release)
        warn(result["warnings"])
        return json.dumps(result, indent=2) + "\n"

    written(answer)
