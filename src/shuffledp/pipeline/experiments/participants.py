"""Participants of every repeat, drawn once per grid point, so that all methods have the same participants.

The stream of a repeat is named by data set, population, task and repeat, not by method, accounting or eps, so that
curves of one figure have the same participants. The name has every setting of the data set and the task that a draw
depends on. The name omits settings that only interpret a draw: the split of users over privacy levels, the sign and the
scale of numbers, the clipping norm of vectors, and the choice between the truth of the participants and of the
population.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shuffledp.numerics.windows import Window
from shuffledp.pipeline.experiments.seeds import canonical_json, generator
from shuffledp.pipeline.experiments.sources.interface import Held, Source, Truth
from shuffledp.populations.base import Law
from shuffledp.tasks import Floats, Ints, Participants, Task

#: Entries (numbers of participants times coordinates) up to which expectations sum over the whole law of N.
MOST_NODES = 1_000_000


@dataclass(frozen=True)
class Typical:
    """Likely numbers of participants with their weights; counts are expected counts, not draws."""

    participants: Participants
    weights: Floats
    sampling_variance: Floats


@dataclass
class LastDraw:
    """Numbers of participants drawn last, (R,), and their data; privacy levels can be reassigned without a draw."""

    key: str = ""
    n: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    held: list[Held] = field(default_factory=list)


def participants(
    task: Task,
    source: Source,
    law: Law,
    *,
    repeats: int,
    seed: int,
    truth: Truth = "participants",
    last: LastDraw | None = None,
) -> Participants:
    """Return the participants of all repeats of one grid point; user 1 always takes part.

    ``law`` is the law of the number of other users. The first r repeats do not depend on the number of repeats.
    ``truth`` selects the participants' data or their population as the truth of an estimate. ``last`` is reused if its
    key matches, and replaced otherwise.
    """
    names = ["data", dict(source.key), repr(law), task.kind, list(task.counts_shape)]
    draw = LastDraw() if last is None else last
    key = canonical_json([names, repr(task), repeats, seed])
    if draw.key != key:
        draw.key, draw.held = "", []  # what was kept is not needed any more
        draw.n = np.empty(repeats, np.int64)
        for repeat in range(repeats):
            rng = generator(seed, *names, repeat)
            draw.n[repeat] = 1 + int(law.sample(rng))
            draw.held.append(source.draw(int(draw.n[repeat]), rng))
        draw.key = key
    return source.gathered(draw.n, draw.held, truth)


def typical(task: Task, source: Source, law: Law, *, truth: Truth = "participants") -> Typical | None:
    """Return expected participants, weights and the sampling variance, for closed forms; None if data are unknown."""
    window = law.window(1e-15)
    nodes, weights = _thinned_out(window, MOST_NODES // int(np.prod(task.counts_shape)))
    expected = source.expected(1 + nodes, truth)
    return None if expected is None else Typical(expected[0], weights, expected[1])


def _thinned_out(window: Window, most: int) -> tuple[Ints, Floats]:
    """Return at most ``most`` numbers of users with weights; neighboring numbers are pooled at their rounded mean."""
    weights = window.pmf / window.pmf.sum()
    size = -(-len(weights) // max(most, 1))
    starts = np.arange(0, len(weights), size)
    pooled = np.add.reduceat(weights, starts)
    means = np.add.reduceat(weights * window.support, starts) / np.where(pooled > 0, pooled, 1)
    return np.rint(means).astype(np.int64), pooled
