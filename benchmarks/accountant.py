"""Times of the accountant, of public packages with the same results, and of the published evaluation.

Of the packages with random allocation, only pld-accounting can be installed together with this library;
random-allocation needs an older NumPy. None of dp-accounting, prv-accountant, riskcal, gdpnum and opendp has a shuffle
event.
"""

import math
from functools import partial

import numpy as np
from random_population import Row
from summation import processor_seconds

from shuffledp.accountant.shuffled_rounds import amplification, budget, smallest_batch
from shuffledp.accounting.general.blanket import blanket_epsilon, blanket_randomizer_delta
from shuffledp.accounting.general.noise_randomizers import LaplaceRandomizer
from shuffledp.accounting.general.randomizers import GRR
from shuffledp.accounting.training.random_allocation import allocation_epsilon


def rounded_up_delta(eps_local: float, values: int, users: int, eps: float, cells: int = 1200) -> float:
    """Return delta of randomized response's blanket by one transform, on a grid with every value rounded up.

    The method is from arXiv 2504.07414.
    """
    e, e_eps = math.exp(eps_local), math.exp(eps)
    p, step = 1 / (e + values - 1), (e - 1) / cells
    atoms = {e - e_eps: p, 1 - e * e_eps: p, 1 - e_eps: (values - 2) * p, 0.0: 1 - values * p}
    lowest = math.ceil((1 - e * e_eps) / step)
    size = math.ceil((e - e_eps) / step) - lowest + 1
    law = np.zeros(size)
    for value, mass in atoms.items():
        law[math.ceil(value / step) - lowest] += mass
    length = 1 << math.ceil(math.log2(users * (size - 1) + 1))
    sums = np.fft.irfft(np.fft.rfft(law, length) ** users, length)[: users * (size - 1) + 1]
    at = step * (np.arange(sums.size) + users * lowest)
    return float(np.maximum(at, 0) @ np.maximum(sums, 0)) / users


def rows() -> list[Row]:
    """Return all rows of the table, in some seconds; needs the packages of the benchmarks' lock file."""
    from PLD_accounting import gaussian_allocation_epsilon_range

    result = []
    for sigma, steps in ((1.0, 100), (2.0, 100)):
        ours = allocation_epsilon(1e-6, steps, sigma=sigma)
        theirs, below = gaussian_allocation_epsilon_range(delta=1e-6, sigma=sigma, num_steps=steps)
        if not below <= ours <= theirs:
            raise AssertionError(f"{below} <= {ours} <= {theirs} does not hold.")
        name = f"eps of random allocation, sigma {sigma:g}, {steps} steps: {ours:.4f}, pld-accounting {theirs:.4f}"
        peer = partial(gaussian_allocation_epsilon_range, delta=1e-6, sigma=sigma, num_steps=steps)
        call = partial(allocation_epsilon, 1e-6, steps, sigma=sigma)
        result.append(Row(name, processor_seconds(call, 3), processor_seconds(peer, 1)))
    ours = blanket_randomizer_delta(GRR(1.0, 10), 1000, 0.07)
    theirs = rounded_up_delta(1.0, 10, 1000, 0.07)
    result.append(
        Row(
            f"delta of shuffled GRR, 1,000 users: {ours:.3e}, values rounded up on a grid {theirs:.3e}",
            processor_seconds(partial(blanket_randomizer_delta, GRR(1.0, 10), 1000, 0.07), 3),
            processor_seconds(partial(rounded_up_delta, 1.0, 10, 1000, 0.07), 3),
        )
    )
    for name, call in (
        ("central eps, any randomizer, 10^6 users", partial(amplification, 4.0, 10**6, 1e-6)),
        ("central eps, any randomizer, 10^9 users", partial(amplification, 1.0, 10**9, 1e-6)),
        (
            "central eps, GRR over 100 values, 10^9 users",
            partial(amplification, 4.0, 10**9, 1e-6, randomizer="grr", domain_size=100),
        ),
        ("central eps, Laplace, 10^6 users", partial(amplification, 1.0, 10**6, 1e-6, randomizer="laplace")),
        (
            "local budget, GRR over 100 values, 10^5 users",
            partial(budget, 1.0, 10**5, 1e-8, randomizer="grr", domain_size=100),
        ),
        ("smallest batch, any randomizer", partial(smallest_batch, 4.0, 0.5, 1e-6)),
        (
            "lower bound of eps, Laplace, 10^6 users",
            partial(blanket_epsilon, LaplaceRandomizer(1.0), 10**6, 1e-6, "lower"),
        ),
    ):
        result.append(Row(name, processor_seconds(call, 3)))
    return result
