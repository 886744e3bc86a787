"""Times of training: clipped sums against plain vmap(grad), and whole rounds with draws, noise and update.

``python benchmarks/learning.py`` writes operations per example, and the achieved rates, into docs/benchmarks.md.
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from random_population import Row, best_of

from shuffledp.pipeline.doc_blocks import write_block
from shuffledp.pipeline.learning import LearningData, Network, TrainingPlan, available

PAGE = Path(__file__).resolve().parents[1] / "docs/benchmarks.md"

USERS = 60_000
SHUFFLE_SGD = {"kind": "shuffle_sgd", "batch": 60, "clip": 0.05, "noise_multiplier": 0.86}
CHECKIN = {"kind": "checkin", "rate": 0.1, "clip": 0.01, "noise_multiplier": 5.0}
POOLINGS = ("disjoint", "overlapping")


def rows() -> list[Row]:
    """Return all rows of the table, in about a minute; empty without JAX."""
    if not available():
        return []
    data = random_data()
    sums = [clipped(Network(pooling), count, data) for pooling in POOLINGS for count in (60, 6000)]
    rounds = [
        round_of(
            TrainingPlan(learning_rate=0.1, rounds=r, evaluate_every=r, seed=1, network=Network(p), **how),
            data,
        )
        for p in POOLINGS
        for how, r in ((SHUFFLE_SGD, 100), (CHECKIN, 3))
    ]
    return [*sums, *rounds]


def random_data() -> LearningData:
    """Return as many random images as MNIST has for training, and only one for testing, so that evaluation is fast."""
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (USERS, 28, 28, 1), np.uint8)
    labels = rng.integers(0, 10, USERS, np.int32)
    return LearningData(images, labels, images[:1], labels[:1])


def clipped(network: Network, count: int, data: LearningData) -> Row:
    """Return the row for the clipped sum."""
    import jax.numpy as jnp

    from shuffledp.pipeline.learning.clipping import clipped_sum, plain_clipped_sum
    from shuffledp.pipeline.learning.network import initial_parameters

    parameters = jnp.asarray(initial_parameters(network, np.random.default_rng(1)))
    images = jnp.asarray((data.train_images[:count] / 255 - data.mean) / data.spread, jnp.float32)
    labels = jnp.asarray(data.train_labels[:count])
    results = {}

    def fast() -> float:
        results["fast"] = np.asarray(clipped_sum(network, parameters, images, labels, count, 0.05))
        return 0.0

    def plain() -> float:
        results["plain"] = np.asarray(plain_clipped_sum(network, parameters, images, labels, 0.05))
        return 0.0

    repeats = 100 if count <= 60 else 4  # the first compiles
    seconds, reference = (best_of(function, repeats)[0] for function in (fast, plain))
    difference = np.linalg.norm(results["fast"] - results["plain"]) / np.linalg.norm(results["plain"])
    return Row(
        f"clipped sum of {count:,} gradients of {network.size:,} parameters, against vmap(grad)",
        seconds,
        reference,
        float(difference),
    )


def round_of(plan: TrainingPlan, data: LearningData) -> Row:
    """Return the row for a whole round of training."""
    from shuffledp.pipeline.learning.training import train

    def run() -> float:
        return train(plan, data, every_seconds=3600).points[-1].loss

    seconds = best_of(run, 4)[0] / plan.rounds
    taking_part = plan.batch or round(USERS * (plan.rate or 0))
    return Row(
        f"round of {plan.kind}, {taking_part:,} participants, {plan.network.size:,} parameters", seconds
    )


def cpu_seconds(function: Callable[[], object]) -> float:
    """Return the least CPU seconds of ten calls, which other programs disturb less than wall time."""
    seconds = []
    for _ in range(10):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return min(seconds)


def roofline() -> str:
    """Return the network's operations by layer, and the machine's rate of products of float32 matrices."""
    import jax.numpy as jnp

    from shuffledp.pipeline.learning.clipping import clipped_sum
    from shuffledp.pipeline.learning.network import initial_parameters

    network, data, size, count = Network(), random_data(), 1024, 6000
    square = jnp.ones((size, size), jnp.float32)
    rate = 2 * size**3 / cpu_seconds(lambda: (square @ square).block_until_ready())
    parameters = jnp.asarray(initial_parameters(network, np.random.default_rng(1)))
    images = jnp.asarray((data.train_images[:count] / 255 - data.mean) / data.spread, jnp.float32)
    labels = jnp.asarray(data.train_labels[:count])
    seconds = cpu_seconds(
        lambda: clipped_sum(network, parameters, images, labels, count, 0.01).block_until_ready()
    )
    lines = ["| layer | forward, kFLOP | backward, kFLOP |", "|---|---:|---:|"]
    total = 0.0
    for number, layer in enumerate(network.layers):
        forward = 2 * layer.positions * layer.inputs * layer.outputs
        backward = forward * (1 if number == 0 else 2)  # nothing lies below the first layer
        lines.append(
            f"| {layer.positions} x {layer.inputs} x {layer.outputs} | {forward / 1e3:.0f} | {backward / 1e3:.0f} |"
        )
        total += forward + backward
    reached = count * total / seconds
    text = (
        f"An example needs {total / 1e6:.2f} MFLOP. Matrix products reach {rate / 1e9:.0f} GFLOP per CPU second. "
        f"Clipped sums take {1e6 * seconds / count:.0f} us per example and reach {reached / 1e9:.0f} GFLOP per CPU "
        f"second, {100 * reached / rate:.0f} % of the rate of matrix products."
    )
    return "\n".join([*lines, "", text])


if __name__ == "__main__":
    text = roofline()
    print(text)
    write_block(PAGE, "training rate", text)
