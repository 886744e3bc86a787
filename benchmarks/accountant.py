"""Times of the accountant's answers, and ratios with the public packages that have the same results.

Of the packages with random allocation, only pld-accounting can be installed together with this library;
random-allocation needs an older NumPy. None of dp-accounting, prv-accountant, riskcal, gdpnum and opendp has a shuffle
event.
"""

import contextlib
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np

from benchmarks.ratios import seconds, times_as_fast
from shuffledp.accountant import amplification, budget, smallest_batch
from shuffledp.accounting import GRR, Infeasible, allocation_epsilon, blanket_randomizer_delta

EPS_LOCAL, EPS = (1e-3, 0.1, 1.0, 4.0, 8.0, 12.0), (1e-3, 0.03, 0.3, 1.0, 4.0)
USERS, DELTA = (1, 100, 10**5, 10**7, 10**9), (1e-2, 1e-6, 1e-15)
FAMILIES = {
    "any": {},
    "binary": {"randomizer": "binary"},
    "grr, 10 values": {"randomizer": "grr", "domain_size": 10},
    "grr, 10^6 values": {"randomizer": "grr", "domain_size": 10**6},
    "subset, 100 values": {"randomizer": "subset", "domain_size": 100},
    "laplace": {"randomizer": "laplace"},
    "rappor, 100 values": {"randomizer": "rappor", "domain_size": 100},
}


def calls(question: str, family: str) -> Iterator[Callable[[], object]]:
    """Yield the calls of a question on a product of settings."""
    options = FAMILIES[family]
    if question == "central eps":
        yield from (partial(amplification, *one, **options) for one in product(EPS_LOCAL, USERS, DELTA))
    elif question == "local budget":
        yield from (partial(budget, *one, **options) for one in product(EPS, USERS, DELTA))
    else:
        for eps_local, share, delta in product(EPS_LOCAL, (1e-3, 0.1, 0.9), DELTA):
            yield partial(smallest_batch, eps_local, share * eps_local, delta, **options)


class Answers:
    """Largest CPU time of one answer with empty caches; the goal is at most 0.1 s."""

    params = (("central eps", "local budget", "smallest batch"), tuple(FAMILIES))
    param_names = ("question", "randomizer")
    unit, timeout = "s", 600

    def track_slowest(self, question: str, family: str) -> float:
        slowest = 0.0
        for call in calls(question, family):
            with contextlib.suppress(Infeasible):
                slowest = max(slowest, seconds(call, 1))
        return slowest


class PldAccounting:
    """Random allocation, compared with pld-accounting at its default settings, whose range has our value."""

    params = (1.0, 2.0)
    param_names = ("sigma",)
    unit, timeout = "times as fast", 300

    def track_allocation(self, sigma: float) -> float:
        from PLD_accounting import gaussian_allocation_epsilon_range

        peer = partial(gaussian_allocation_epsilon_range, delta=1e-6, sigma=sigma, num_steps=100)
        ours = partial(allocation_epsilon, 1e-6, 100, sigma=sigma)
        theirs, below = peer()
        assert below <= ours() <= theirs
        return times_as_fast(ours, peer)


def rounded_up_delta(eps_local: float, values: int, users: int, eps: float, cells: int = 1200) -> float:
    """Return delta of randomized response's blanket on a grid with every value rounded up: arXiv 2504.07414."""
    e, e_eps = math.exp(eps_local), math.exp(eps)
    p, step = 1 / (e + values - 1), (e - 1) / cells
    atoms = {e - e_eps: p, 1 - e * e_eps: p, 1 - e_eps: (values - 2) * p, 0.0: 1 - values * p}
    lowest = math.ceil((1 - e * e_eps) / step)
    law = np.zeros(math.ceil((e - e_eps) / step) - lowest + 1)
    for value, mass in atoms.items():
        law[math.ceil(value / step) - lowest] += mass
    size = users * (law.size - 1) + 1
    length = 1 << math.ceil(math.log2(size))
    sums = np.fft.irfft(np.fft.rfft(law, length) ** users, length)[:size]
    return float(np.maximum(step * (np.arange(size) + users * lowest), 0) @ np.maximum(sums, 0)) / users


def track_blanket_on_a_grid() -> float:
    """Return the ratio with the published evaluation of a blanket, which is an upper bound of ours."""
    ours = partial(blanket_randomizer_delta, GRR(1.0, 10), 1000, 0.07)
    assert ours() <= rounded_up_delta(1.0, 10, 1000, 0.07) <= 1.2 * ours()
    return times_as_fast(ours, partial(rounded_up_delta, 1.0, 10, 1000, 0.07))


track_blanket_on_a_grid.unit = "times as fast"
