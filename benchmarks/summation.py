"""Times for correlated noise: the exact accountant over all ordered pairs of inputs, and the closed forms."""

import time
from collections.abc import Callable
from functools import partial

from random_population import Row

from shuffledp.accounting.baselines.fragmented_rappor import rappor_flip_probability
from shuffledp.accounting.summation.closed_designs import best_modular_design
from shuffledp.accounting.summation.design_search import family_design
from shuffledp.accounting.summation.joint_noise import correlated_noise_delta
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.numerics.memoize import forget_all

SETTINGS = ((5, "halving", None), (20, "halving", None), (20, "hub", (5,)), (100, "hub", (5, 25)))


def processor_seconds(function: Callable[[], object], repeats: int) -> float:
    """Return the smallest processor time, which other programs disturb less than wall time."""
    seconds = []
    for _ in range(repeats):
        forget_all()
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return min(seconds)


def design(size: int, atoms: str, hubs: tuple[int, ...] | None) -> NoiseDesign:
    return family_design(size, 1.0, 1e-6, 0.9, atoms=atoms, hubs=hubs)


def rows() -> list[Row]:
    """Return all rows of the table, in about a minute."""
    found = []
    for size, atoms, hubs in SETTINGS:
        one, name = design(size, atoms, hubs), f"D = {size}, {atoms} {hubs or ''}".rstrip()
        repeats = 5 if size <= 20 else 1
        for bound in ("estimate", "upper"):
            found.append(
                Row(
                    f"exact delta of all ordered pairs, {bound}, {name}",
                    processor_seconds(partial(correlated_noise_delta, one, 1.0, bound=bound), repeats),
                )
            )
    found.append(
        Row("one-parameter design, D = 5, star", processor_seconds(partial(design, 5, "star", None), 3))
    )
    found.append(
        Row(
            "best modular design, D = 5",
            processor_seconds(partial(best_modular_design, 5, 1.0, 1e-6, 0.9), 1),
        )
    )
    found.append(
        Row(
            "flip probability of RAPPOR, n = 10^7",
            processor_seconds(partial(rappor_flip_probability, 10**7, 1.0, 1e-6), 3),
        )
    )
    return found
