"""Local randomizers, each with the exact law that its parameters define; copied into the client.

A part of a client draws messages, tuples of integers, from the user's value and the user's place in the list of users.
A user sends the messages of all parts of the protocol in random order.
"""

from __future__ import annotations

import argparse
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from shuffledp.protocols.client.files import Parameters, encoded, warn, written
from shuffledp.sampling.bits import SYSTEM_BITS, Source
from shuffledp.sampling.clients import ValueResponse, shuffled
from shuffledp.sampling.coins import bernoulli, uniform_below
from shuffledp.sampling.laws import geometric, poisson
from shuffledp.sampling.rationals import Exponential

#: Parameters of a part, its messages, and the function that draws them.
Part = Mapping[str, Any]
Sent = list[tuple[int, ...]]
Randomizer = Callable[[Part, int, int, Source], Sent]

MASK = 2**64 - 1
STEP = 0x9E3779B97F4A7C15


@cache
def exact(text: str) -> Fraction:
    """Return the fraction of a text such as 3/8, without rounding."""
    return Fraction(text)


def kept(part: Part, value: int, place: int, source: Source) -> Sent:
    """Return the first symbol of the value with probability `rate`, and otherwise no message."""
    return [(value * part["symbols"],)] if bernoulli(exact(part["rate"]), source) else []


def nodes(part: Part, value: int, place: int, source: Source) -> Sent:
    """Return the first symbol of the value's node on every level of a tree."""
    return [((first + value // size) * part["symbols"],) for size, first in part["levels"]]


def rounded(part: Part, value: int, source: Source) -> int:
    """Draw the level in 0..levels of a number in 0..max_value by unbiased rounding."""
    below, rest = divmod(value * int(part["levels"]), int(part["max_value"]))
    return below + (bernoulli(Fraction(rest, part["max_value"]), source) if rest else 0)


@cache
def over(symbols: int, true_weight: str, other_weight: str) -> ValueResponse:
    """Return randomized response over this number of symbols, with the weights of a true and another report."""
    return ValueResponse(symbols, int(true_weight), int(other_weight))


def response(part: Part, value: int, place: int, source: Source) -> Sent:
    """Draw the report of randomized response on the value's level."""
    symbols = over(part["levels"] + 1, part["true_weight"], part["other_weight"])
    return [(symbols.report(rounded(part, value, source), source),)]


def subset(part: Part, value: int, place: int, source: Source) -> Sent:
    """Draw an ascending subset; its weight is `true_weight` if the user's value is in it, otherwise `other_weight`."""
    k, size = part["values"], part["size"]
    with_value, without = size * int(part["true_weight"]), (k - size) * int(part["other_weight"])
    holds = uniform_below(with_value + without, source) < with_value
    others = [other for other in range(k) if other != value]
    for at in range(size - holds):
        place_drawn = at + uniform_below(len(others) - at, source)
        others[at], others[place_drawn] = others[place_drawn], others[at]
    return [tuple(sorted(others[: size - holds] + [value] * holds))]


def mixed(state: int) -> int:
    """Return the output of the SplitMix64 finalizer, 64 bits."""
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
    return state ^ state >> 31


def hashed(seed: int, value: int, cells: int) -> int:
    """Return the cell, in 0..cells-1, of a value under the hash function with this seed."""
    output = mixed(mixed(seed * STEP & MASK) + (value + 1) * STEP & MASK)
    return (output >> 32) * cells >> 32


def local_hash(part: Part, value: int, place: int, source: Source) -> Sent:
    """Draw a seed, and the report of randomized response on the value's cell."""
    seed = source.bits(32)
    cells = over(part["cells"], part["true_weight"], part["other_weight"])
    return [(seed, cells.report(hashed(seed, value, part["cells"]), source))]


def level(part: Part, value: int, place: int, source: Source) -> Sent:
    """Return a message with the randomly rounded level of a number, or no message for level 0."""
    drawn_level = rounded(part, value, source)
    return [(drawn_level + part["levels"],)] if drawn_level else []


def dealt(part: Part, value: int, place: int, source: Source) -> Sent:
    """Draw `each` uniform values; a user whose place is below `more` draws one further value."""
    return [(uniform_below(part["values"], source),) for _ in range(part["each"] + (place < part["more"]))]


def coins(part: Part, value: int, place: int, source: Source) -> Sent:
    """Draw each value with probability `rate` if `first` is None or the user's place is below `first`."""
    if part["first"] is not None and place >= part["first"]:
        return []
    return [(dummy,) for dummy in range(part["values"]) if bernoulli(exact(part["rate"]), source)]


def poisson_dummies(part: Part, value: int, place: int, source: Source) -> Sent:
    """Draw a Poisson number of uniform values; the numbers of different values are independent Poisson variables."""
    number = poisson(exact(part["mean"]), source)
    return [(uniform_below(part["values"], source),) for _ in range(number)]


def cluster(part: Part, source: Source) -> tuple[Part, int]:
    """Draw a noise and the size of one of its clusters, or a size 0 for none.

    A cell has the sizes ``first, first + 1, ..``, finitely or infinitely many. The proposed size j is uniform, or has
    probabilities proportional to ``exp(-decay j)``. It is kept with a probability that makes its rate proportional to
    ``exp(-decay j) / j``.
    """
    at = bisect_right(part["ends"], uniform_below(int(part["ends"][-1]), source), key=int)
    number, first, sizes = part["cells"][at]
    noise = part["noises"][number]
    decay = exact(noise["decay"])
    further = uniform_below(sizes, source) if sizes else geometric(Exponential(decay), source)
    stays = bernoulli(Fraction(first, first + further), source) and (
        sizes == 0 or bernoulli(Exponential(decay * further), source)
    )
    return noise, first + further if stays else 0


def shares(part: Part, value: int, place: int, source: Source) -> Sent:
    """Draw a user's share of noises: clusters of messages, each with a uniform counter.

    A cluster of size j has each message of `content` j times. With `jump` the cluster is the number ``j`` or ``-j``,
    sent as messages of the largest absolute value, and messages 1 for the remainder.
    """
    sent: Sent = []
    for _ in range(poisson(exact(part["mean"]), source)):
        noise, size = cluster(part, source)
        if size == 0:
            continue
        first = uniform_below(part["counters"], source) * part["symbols"]
        content = [(symbol, times * size) for symbol, times in noise["content"]]
        if "jump" in noise:
            most = noise["levels"]
            jumps, rest = divmod(noise["jump"] * size, most)
            content = [(most + noise["jump"] * most, abs(jumps)), (most + 1, rest)]
        for symbol, times in content:
            sent += [(first + symbol,)] * times
    return sent


#: Randomizer by the name in the parameters.
RANDOMIZERS: dict[str, Randomizer] = {
    "kept": kept,
    "nodes": nodes,
    "response": response,
    "subset": subset,
    "local_hash": local_hash,
    "level": level,
    "dealt": dealt,
    "coins": coins,
    "poisson_dummies": poisson_dummies,
    "shares": shares,
}


def input_of(parameters: Parameters, text: str) -> int:
    """Return the client's input for a value: its index in the list of values, or the nearest step of a number.

    Without a ``domain`` in the parameters, the text is the input. A number outside of the range is clipped. Raise
    ValueError for any other text that is no value.
    """
    domain, text = parameters.get("domain", {}), text.strip()
    if "values" in domain:
        place = domain["values"].index(text) if text in domain["values"] else domain["other"]
        if place is None:
            raise ValueError(f"value must be in the list of {len(domain['values'])} values, got {text!r}.")
        return int(place)
    if "width" in domain:
        return bin_of(parameters, text)
    try:
        number = float(text) if domain else int(text)
        if not domain:
            return int(number)
        inside = min(max(number, domain["low"]), domain["high"])
        span: float = domain["high"] - domain["low"]
        steps: int = round((inside - domain["low"]) / span * (parameters["inputs"] - 1))
        return steps
    except ValueError:
        raise ValueError(f"value must be {'a number' if domain else 'an integer'}, got {text!r}.") from None


def value_of(parameters: Parameters, place: int) -> Any:
    """Return the value of an input of the client; for bins, the smallest number of the bin."""
    domain = parameters.get("domain", {})
    if "values" in domain:
        return domain["values"][place]
    if "width" in domain:
        edge = exact(domain["first"]) + place * exact(domain["width"])
        return int(edge) if edge.denominator == 1 else float(edge)
    step = (domain["high"] - domain["low"]) / (parameters["inputs"] - 1) if domain else 1
    return domain.get("low", 0) + step * place


def bin_of(parameters: Parameters, text: str) -> int:
    """Return the bin of a number, without rounding. Raise ValueError for a number outside of all bins, or none."""
    first, width = (exact(parameters["domain"][name]) for name in ("first", "width"))
    try:
        number = Fraction(text if abs(float(text)) < math.inf else "")
    except ValueError:
        raise ValueError(f"value must be a number, got {text!r}.") from None
    place = (number - first) // width
    if not 0 <= place < parameters["inputs"]:
        end = float(first + parameters["inputs"] * width)
        raise ValueError(f"value must be at least {float(first):g} and below {end:g}, got {text!r}.")
    return int(place)


def square_level(value: int, most: int) -> int:
    """Return the level of the square of a number 0..most around the middle."""
    return ((2 * value - most) ** 2 - most % 2) // 4


def user_messages(
    parameters: Parameters, value: int, place: int = 0, source: Source = SYSTEM_BITS
) -> list[bytes]:
    """Draw the messages of one user.

    Parameters
    ----------
    parameters : mapping
        Content of ``parameters.json``.
    value : int
        Value of the user, in 0..inputs-1.
    place : int
        Index of the user in the list of all users, in 0..places-1. In some protocols the first users add dummies.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    list of bytes
        Messages of equal length, in random order.

    Raises
    ------
    ValueError
        If the value or the place is outside of its range.
    """
    if not 0 <= value < parameters["inputs"]:
        raise ValueError(f"value must be in 0..{parameters['inputs'] - 1}, got {value}.")
    places = parameters["places"]
    if place < 0 or (places is not None and place >= places):
        allowed = "at least 0" if places is None else f"in 0..{places - 1}, the planned users"
        raise ValueError(f"place must be {allowed}, got {place}.")
    sent: Sent = []
    for part in parameters["client"]:
        number = square_level(value, part["squares"]) if "squares" in part else value
        drawn = RANDOMIZERS[part["part"]](part, number, place, source)
        sent += [(symbol + part["offset"],) for (symbol,) in drawn] if "offset" in part else drawn
    return [encoded(parameters, message) for message in shuffled(sent, source)]


def unlisted(parameters: Parameters, text: str) -> list[str]:
    """Return a sentence if a value is not in the list of values and counts as the other values; else nothing."""
    domain = parameters.get("domain", {})
    if "values" not in domain or text.strip() in domain["values"]:
        return []
    values, other = domain["values"], domain["values"][domain["other"]]
    return [f"1 value is not in the list of {len(values)} values, and counts as {other!r}."]


def main() -> None:
    """Write the messages of the value on the command line, one line of hexadecimal digits per message."""
    parser = argparse.ArgumentParser(
        description="Write the messages of one user, a line of hexadecimal digits each."
    )
    parser.add_argument(
        "value", help="value of the user: a value or number of `domain` in parameters.json, or an input"
    )
    parser.add_argument(
        "--place",
        type=int,
        default=0,
        help="place in the list of all users, from 0 on; some protocols add dummies at the first places (default: 0)",
    )
    arguments = parser.parse_args()

    def answer(parameters: Parameters) -> str:
        messages = user_messages(parameters, input_of(parameters, arguments.value), arguments.place)
        warn(unlisted(parameters, arguments.value))
        return "".join(f"{message.hex()}\n" for message in messages)

    written(answer)
