"""Shares of the error of a coarse sum, and the messages that encode it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from shuffledp.numerics.logs import log1mexp
from shuffledp.protocols._noise_shares import LARGE, ClientNoise, last_jump, summed
from shuffledp.protocols.client.description import decay_below, decaying_clusters, text
from shuffledp.tasks import Floats, Ints


@dataclass(frozen=True)
class CoarseCentralNoise:
    """Two-sided geometric noise whose jumps are sent as messages D or -D, D = ``max_value``, and messages 1.

    Jumps of size j come at the rate ``ratio^j / j``, see :mod:`shuffledp.designs.coarse_design`.
    """

    ratio: float
    max_value: int

    def messages(self, part: Floats, rng: Generator) -> Mapping[int, Ints]:
        """Draw the number of copies of each message, for each size of a user's part in `part`."""
        rate = -np.log1p(-self.ratio)
        ones = np.zeros(np.shape(part), np.int64)
        copies: dict[int, Ints] = {}
        for sign in (1, -1):
            jumps = np.asarray(rng.poisson(rate * part))
            sizes = rng.logseries(self.ratio, int(jumps.sum()))
            coarse, fine = np.divmod(sign * sizes, self.max_value)  # rounded down, for negative jumps too
            copies[sign * self.max_value] = summed(np.abs(coarse), jumps)
            ones = ones + summed(fine, jumps)
        copies[1] = copies.get(1, 0) + ones
        return copies

    def client_noises(self, levels: int) -> list[ClientNoise]:
        """Return the laws of positive and of negative jumps."""
        decay = decay_below(1 - self.ratio)
        law = {"decay": text(decay), "content": [], "levels": self.max_value}
        return [(law | {"jump": sign}, decaying_clusters(1.0, decay)) for sign in (1, -1)]

    def rates(self, size: int) -> Floats:
        """Return the rates of jumps that send 0, 1, .. messages, (size,); a jump of ``size * D`` sends more."""
        jumps = np.arange(1, min(size * self.max_value, last_jump(self.ratio)))
        rate = self.ratio**jumps / jumps
        sent = [np.sum(np.abs(np.divmod(sign * jumps, self.max_value)), axis=0) for sign in (1, -1)]
        return np.asarray(np.bincount(np.concatenate(sent), np.concatenate((rate, rate)), size)[:size], float)

    def log_moment(self, tilt: float) -> float:
        """Return an upper bound on ``log E e^(tilt N)`` for the number N of messages.

        A jump by ``a D + b`` gets the rate of a jump by ``a D``. A jump by ``-(a D - b)`` gets the rate of a jump by
        ``-(a - 1) D`` if a is 2 or more.
        """
        log_ratio, d = math.log(self.ratio), self.max_value
        rest = np.arange(d)
        decay = d * log_ratio + tilt
        if decay >= 0 or tilt - log_ratio > LARGE / d:
            return math.inf
        blocks = -float(log1mexp(-decay)) / d
        up = np.exp(rest * (log_ratio + tilt))
        down = np.exp(rest * (tilt - log_ratio) + decay)
        moment = blocks * up.sum() + (up[1:] / rest[1:]).sum() + (down * (blocks + 1 / (d - rest))).sum()
        return float(moment + 2 * math.log1p(-self.ratio))
