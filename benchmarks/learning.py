"""Training: clipped sums against plain vmap(grad), and whole rounds with draws, noise and update."""

import numpy as np

from benchmarks.ratios import times_as_fast
from shuffledp.pipeline.learning import LearningData, Network, TrainingPlan

USERS = 60_000
ROUNDS = {
    "shuffle_sgd": {"batch": 60, "clip": 0.05, "noise_multiplier": 0.86, "rounds": 100},
    "checkin": {"rate": 0.1, "clip": 0.01, "noise_multiplier": 5.0, "rounds": 3},
}


def random_data() -> LearningData:
    """Return as many random images as MNIST has for training, and one for testing, so that evaluation is fast."""
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (USERS, 28, 28, 1), np.uint8)
    labels = rng.integers(0, 10, USERS, np.int32)
    return LearningData(images, labels, images[:1], labels[:1])


class Clipped:
    """Sum of clipped gradients by one backward pass."""

    params = (60, 6000)
    param_names = ("examples",)
    unit, timeout = "times as fast", 300

    def track_clipped_sum(self, count: int) -> float:
        import jax.numpy as jnp

        from shuffledp.pipeline.learning.clipping import clipped_sum, plain_clipped_sum
        from shuffledp.pipeline.learning.network import initial_parameters

        data, network = random_data(), Network()
        parameters = jnp.asarray(initial_parameters(network, np.random.default_rng(1)))
        images = jnp.asarray((data.train_images[:count] / 255 - data.mean) / data.spread, jnp.float32)
        labels = jnp.asarray(data.train_labels[:count])
        return times_as_fast(
            lambda: np.asarray(clipped_sum(network, parameters, images, labels, count, 0.05)),
            lambda: np.asarray(plain_clipped_sum(network, parameters, images, labels, 0.05)),
        )


class Rounds:
    """Rounds of both training algorithms."""

    params = tuple(ROUNDS)
    param_names = ("algorithm",)
    number, repeat, timeout = 1, 2, 300

    def setup(self, kind: str) -> None:
        how = ROUNDS[kind]
        self.data = random_data()
        self.plan = TrainingPlan(
            kind=kind, learning_rate=0.1, evaluate_every=how["rounds"], seed=1, network=Network(), **how
        )

    def time_rounds(self, kind: str) -> None:
        from shuffledp.pipeline.learning.training import train

        train(self.plan, self.data, every_seconds=3600)
