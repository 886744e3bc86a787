"""Description of a protocol's client: messages, parts of the local randomizer, and the analyzer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import Any

#: Rate of clusters of some sizes, the first size, and the number of sizes.
ClusterRate = tuple[float, int, int]

#: Relative increase of the noise, so that rounding of floating point numbers never reduces the noise.
MORE = Fraction(1, 2**32)


@dataclass(frozen=True)
class Client:
    """Client, shuffler and analyzer of a calibrated protocol, for ``users`` users and inputs 0..inputs-1.

    ``message`` has name and number of values of each field. ``parts`` of the local randomizer have the key ``part`` of
    `client.randomizers.RANDOMIZERS` and its parameters; ``shuffler`` has steps from `client.shuffling.SHUFFLING`.
    ``analyzer`` has ``counting`` and ``estimating``, keys of `client.analyzing`, and their parameters. ``exactness``
    states how the client's probabilities differ from the calibrated ones.
    """

    users: int
    inputs: int
    message: Sequence[tuple[str, int]]
    parts: Sequence[Mapping[str, Any]]
    analyzer: Mapping[str, Any]
    exactness: str
    shuffler: Sequence[Mapping[str, Any]] = field(default=())

    @property
    def one_message(self) -> bool:
        """True if every user sends one message and the shuffler adds none."""
        single_parts = ("response", "subset", "local_hash")
        return not self.shuffler and len(self.parts) == 1 and self.parts[0]["part"] in single_parts


def tree_levels(fan_outs: Sequence[int]) -> list[tuple[int, int]]:
    """Return the number of values of a node, and the index of the first node, of each level of a tree."""
    nodes = list(accumulate(fan_outs, mul))
    return [
        (nodes[-1] // number, first)
        for number, first in zip(nodes, accumulate([0, *nodes[:-1]]), strict=True)
    ]


def on_levels(client: Client, fan_outs: Sequence[int], inputs: int) -> Client:
    """Return the client of values 0..inputs-1 that sends a node of every level, for a client of all nodes as values."""
    levels = tree_levels(fan_outs)
    parts = [
        {"part": "nodes", "symbols": part["symbols"], "levels": levels} if part["part"] == "kept" else part
        for part in client.parts
    ]
    analyzer = {**client.analyzer, "levels": levels, "size": math.prod(fan_outs)}
    return replace(client, inputs=inputs, parts=parts, analyzer=analyzer)


def on_two_sums(numbers: Client, squares: Client) -> Client:
    """Return the client of a number that sends it and its square level, with the symbols of two clients of sums.

    Raises ValueError unless messages of both clients are one symbol.
    """
    if any(len(one.message) != 1 or one.shuffler for one in (numbers, squares)):
        raise ValueError("Mean and variance need a client whose messages are one symbol each.")
    (_, size), (_, more) = numbers.message[0], squares.message[0]
    moved = [{**part, "squares": numbers.inputs - 1, "offset": size} for part in squares.parts]
    analyzer = {
        "counting": "of_symbols",
        "symbols": size + more,
        "estimating": numbers.analyzer["estimating"],
        "sums": [numbers.analyzer, squares.analyzer],
    }
    return replace(
        numbers, message=[("symbol", size + more)], parts=[*numbers.parts, *moved], analyzer=analyzer
    )


#: Statement of clients that use the probabilities of the calibration.
AS_CALIBRATED = "Probabilities are the calibrated numbers, to the last bit."


def odds_below(eps_local: float) -> dict[str, str]:
    """Return integer weights of a true and of any other report; their ratio is at most ``exp(eps_local)``."""
    from shuffledp.sampling.clients import ValueResponse  # jobs write no clients
    from shuffledp.sampling.rationals import MOST_EXPONENT

    response = ValueResponse.within(Fraction(min(eps_local, MOST_EXPONENT)), 2)
    return {"true_weight": str(response.true_weight), "other_weight": str(response.other_weight)}


#: Statement of clients that use `odds_below`.
ODDS = (
    "The odds of a true report are an integer over 2^64, the largest that is at most exp(eps_local): a report is that "
    "of the calibrated randomizer, replaced by a uniform one with a probability below 2^-63 / eps_local."
)
#: Statement of clients that send shares of rounded noise.
ROUNDED_UP = (
    "Rates of the noise are rounded up: users send the calibrated noise, and independent noise on top, which is "
    "post-processing."
)


def text(number: float | Fraction) -> str:
    """Return a number as the text of a fraction, exact for a floating-point number."""
    return str(Fraction(number))


def decay_below(stop: float) -> Fraction:
    """Return a decay rate of a negative binomial law, rounded down from ``-log(1 - stop)``."""
    return Fraction(-math.log1p(-stop)) * (1 - MORE)


def decaying_clusters(shape: float, decay: Fraction) -> list[ClusterRate]:
    """Return bounds on the rates ``shape exp(-decay j) / j`` of clusters of sizes j = 1, 2, ..

    Notes
    -----
    Each bound holds for the sizes between two powers of two below ``1 / decay``, the last for all larger sizes.
    """
    x = float(decay)
    bands = [2**power for power in range(max(math.ceil(-math.log2(x)), 0))]
    last = 2 ** len(bands)
    tail = shape * math.exp(-x * last) / (last * -math.expm1(-x))
    return [*((shape * math.exp(-x * first), first, first) for first in bands), (tail, last, 0)]


def shares_part(
    noises: Iterable[tuple[Mapping[str, Any], Sequence[ClusterRate]]], part: Fraction, **extra: Any
) -> dict[str, Any]:
    """Return a part of independent noises, all rates rounded up, see `client.randomizers.shares`.

    Parameters
    ----------
    noises : iterable of (dict, sequence of (float, int, int))
        Each dict has ``decay`` and ``content`` or ``jump``. Each triple has a rate, the first size of a cluster and the
        number of sizes, 0 if there is no last size.
    part : Fraction
        Part of the noises that the client draws.
    """
    laws: list[dict[str, Any]] = []
    cells: list[list[int]] = []
    weights: list[int] = []
    for law, rates in noises:
        cells += [[len(laws), first, sizes] for _, first, sizes in rates]
        weights += [math.ceil(Fraction(rate) * (1 + MORE) * 2**64) for rate, _, _ in rates]
        laws.append(dict(law))
    ends = list(accumulate(weights))
    return {
        "part": "shares",
        **extra,
        "noises": laws,
        "cells": cells,
        "ends": [str(end) for end in ends],
        "mean": text(Fraction(ends[-1], 2**64) * part),
    }


def noise_law(
    parts: Iterable[tuple[float, float, int]], origin: str = "none", offset: float = 0.0, **extra: Any
) -> dict[str, Any]:
    """Return the law of the noise of a count, see `client.analyzing.sum_law`, for the planned number of users.

    The law is constant (`origin` ``none``), or its means are proportional to the number of ``users``. Or its coins are
    of the first ``places`` of the list, or it has the dummies among the ``messages``.
    """
    return {"parts": [list(part) for part in parts], "offset": offset, "from": origin, **extra}


def laplace_parts(eps: float) -> list[tuple[float, float, int]]:
    """Return the parts of discrete Laplace noise of ratio ``e^-eps``, the difference of two geometric numbers."""
    mean = 1 / math.expm1(eps)
    return [(mean, -mean, 1), (mean, -mean, -1)]


def frequencies(
    values: int,
    counting: str,
    own_rate: float,
    other_rate: float,
    noise: Mapping[str, Any],
    **extra: Any,
) -> dict[str, Any]:
    """Return the parameters of `client.analyzing.frequencies` for k `values`, with its two rates."""
    return {
        "estimating": "frequencies",
        "counting": counting,
        "values": values,
        "own": own_rate,
        "other": other_rate,
        "noise": noise,
        **extra,
    }
