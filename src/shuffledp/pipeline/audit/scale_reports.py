"""Deltas of one report per user at any scale: randomized response, Laplace noise, slots."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.pipeline.audit import pairs
from shuffledp.pipeline.audit.finite_laws import (
    UNIT,
    around,
    binomial_counts,
    hockey_stick,
    largest,
    mixed,
    outcomes,
)
from shuffledp.pipeline.audit.measured import (
    BINARY,
    SPLIT,
    Measured,
    Profile,
    alone,
    binary,
    gains_of,
    truth,
)
from shuffledp.populations.base import Fixed, Law
from shuffledp.populations.laws import Empirical

if TYPE_CHECKING:
    from shuffledp.protocols._checkin import CheckinSchedule
    from shuffledp.protocols._schedules import OneReport
    from shuffledp.protocols.frequency._randomized_response import RandomizedResponse
    from shuffledp.protocols.frequency.random_checkin import RandomCheckin
    from shuffledp.protocols.vectors import random_checkin as vector_checkin
    from shuffledp.protocols.vectors._laplace import LaplaceNoise


def _reports(protocol: OneReport, population: Law) -> Law:
    """Return the law of the number of other reports, from other users and dummies, all with the same input."""
    window = population.window()
    numbers = window.start + np.arange(window.pmf.size)
    dummies = protocol.dummy_count
    total = np.maximum(numbers, dummies) if protocol.adaptive else numbers + dummies
    if not dummies:
        return population
    if total[0] == total[-1]:
        return Fixed(int(total[0]))
    pmf = np.bincount(total - total[0], weights=window.pmf)
    return Empirical(tuple((pmf / pmf.sum()).tolist()), int(total[0]))


def randomized_response(protocol: RandomizedResponse, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the users' and dummies' reports; all of them except user 1's have value 0."""
    k = protocol.domain_size
    own_rate, other_rate = truth(protocol.eps_local, k)
    if protocol.trust == "local":
        return alone(own_rate, other_rate, eps)
    reports = _reports(protocol, population)
    if k == 2:
        return binary(reports, own_rate, other_rate, eps)
    total = pairs.total_of(reports, 2 * other_rate)
    return Measured(pairs.of_split(total, gains_of(own_rate, other_rate), eps), "lower", SPLIT)


def _kept(protocol: CheckinSchedule) -> float:
    """Return the probability that user 1 takes part and its slot keeps its report."""
    window, m = protocol.population.window(), protocol.slots
    n = window.start + np.arange(window.pmf.size) + 1.0
    chance = (
        float(window.pmf @ (m * -np.expm1(n * np.log1p(-1 / m)) / n))
        if m > 1
        else float(window.pmf @ (1 / n))
    )
    return chance * (protocol.population.rate if protocol.threat == "own_coin" else 1.0)


def _checkin(
    protocol: CheckinSchedule, own_rate: float, other_rate: float, stray: float, eps: float
) -> Measured:
    """Return delta of two kinds of reports in the slots; all users except user 1 have the input of the fillers."""
    keep_rate, m = _kept(protocol), protocol.slots
    gains = {(1, 0): keep_rate * own_rate, (0, 1): keep_rate * other_rate, (0, 0): 0.0}
    without = 1 - keep_rate * (own_rate + other_rate)
    if own_rate + other_rate < 1 - 1e-12:
        # Nothing on the two counts: another kind in the own slot, or a filler's report or another user's in it.
        none = keep_rate * (1 - own_rate - other_rate)
        one_less, all_of_them = (binomial_counts(x, 2 * stray) for x in (m - 1, m))
        law = mixed([(none / without, one_less), ((1 - keep_rate) / without, all_of_them)])
        gains[(0, 0)] = without
        return Measured(pairs.of_split(one_less, gains, eps, alone=law), "lower", SPLIT)
    laws = []
    for rate in (own_rate, other_rate):
        with_own = pairs.with_coin(binomial_counts(m - 1, stray), rate)
        without_own = binomial_counts(m, stray)
        laws.append(mixed([(keep_rate, with_own), (1 - keep_rate, without_own)]))
    bounds = largest(hockey_stick([outcomes(a, b)], eps) for a, b in (laws, laws[::-1]))
    return Measured(bounds, "lower", BINARY)


def random_checkin(protocol: RandomCheckin, population: Law, level: int, eps: float) -> Measured:
    """Return delta of reports in slots; the fillers and all other users have value 0."""
    own_rate, other_rate = truth(protocol.eps_local, protocol.domain_size)
    return _checkin(protocol, own_rate, other_rate, other_rate, eps)


def _laplace_kinds(eps_local: float) -> tuple[float, float, float]:
    """Return the probabilities of a first coordinate beyond the norm, for inputs at this end, the other end, and 0."""
    return 0.5, 0.5 * math.exp(-eps_local), 0.5 * math.exp(-eps_local / 2)


def laplace(protocol: LaplaceNoise, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the first coordinates beyond the clipping norm; dummies and other users have the zero vector."""
    own_rate, other_rate, stray = _laplace_kinds(protocol.eps_local)
    if protocol.trust == "local":
        # The densities differ by the most wherever a coordinate lies beyond the norm, and by less within it.
        lost = -math.expm1((eps - protocol.eps_local) / 2)
        return Measured(around(lost, 8 * UNIT), "exact", "one report and its sender")
    total = pairs.total_of(_reports(protocol, population), 2 * stray)
    return Measured(pairs.of_split(total, gains_of(own_rate, other_rate), eps), "lower", SPLIT)


def checked_in_vectors(
    protocol: vector_checkin.RandomCheckin, population: Law, level: int, eps: float
) -> Measured:
    """Return delta of first coordinates in slots; the fillers and other users have the zero vector."""
    own_rate, other_rate, stray = _laplace_kinds(protocol.eps_local)
    return _checkin(protocol, own_rate, other_rate, stray, eps)


PROFILES: Mapping[str, Profile] = {
    "frequency._randomized_response.RandomizedResponse": randomized_response,
    "frequency.random_checkin.RandomCheckin": random_checkin,
    "vectors._laplace.LaplaceNoise": laplace,
    "vectors.random_checkin.RandomCheckin": checked_in_vectors,
}
