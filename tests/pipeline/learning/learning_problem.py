"""Classification problem for tests: small images of three classes, which differ in the place of a bright patch."""

import numpy as np

from shuffledp.pipeline.learning import LearningData, Network, TrainingPlan

NETWORK = Network(image=(16, 16, 1), classes=3)
USERS, TESTED = 40, 30


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
