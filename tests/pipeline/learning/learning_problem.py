"""Classification problem for tests: small images of three classes, which differ in the place of a bright patch."""

import jax.numpy as jnp
import numpy as np

from shuffledp.pipeline.learning import LearningData, Network, TrainingPlan
from shuffledp.pipeline.learning.network import initial_parameters

NETWORK = Network(image=(16, 16, 1), classes=3)
USERS, TESTED = 40, 30
ROWS, COUNT, CHUNK = 23, 17, 5  # the chunk divides neither


def images_of(labels, rng):
    images = rng.integers(0, 60, (len(labels), 16, 16, 1))
    for image, label in zip(images, labels, strict=True):
        image[5 * label : 5 * label + 5] += 150
    return images.astype(np.uint8)


def problem(seed=3):
    rng = np.random.default_rng(seed)
    train, test = (rng.integers(0, 3, size).astype(np.int32) for size in (USERS, TESTED))
    return LearningData(images_of(train, rng), train, images_of(test, rng), test)


def plan(**changes):
    settings = {
        "kind": "shuffle_sgd",
        "batch": 8,
        "learning_rate": 0.5,
        "clip": 0.3,
        "noise_multiplier": 0.4,
        "rounds": 6,
        "evaluate_every": 4,
        "seed": 11,
        "network": NETWORK,
    }
    if changes.get("kind") == "checkin":
        settings |= {"batch": None, "rate": 0.25}
    return TrainingPlan(**(settings | changes))


def case(network, seed=0):
    """Return random parameters (larger than initial parameters, for different gradients), images and labels."""
    rng = np.random.default_rng(seed)
    parameters = 2 * initial_parameters(network, rng)
    images = rng.standard_normal((ROWS, *network.image)).astype(np.float32)
    labels = rng.integers(0, network.classes, ROWS).astype(np.int32)
    return jnp.asarray(parameters), jnp.asarray(images), jnp.asarray(labels)
