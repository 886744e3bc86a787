"""Random numbers of the checks, and comparisons within bounds of a known false-alarm rate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shuffledp.tasks import Floats

SEED = 20230215
SIGMAS = 5.0
"""Standard errors that a mean or a variance may be off: 6e-7 for a normal deviate."""
P_VALUE = 1e-6
"""Of a test of two samples, below which their laws differ."""


def generator(offset: int = 0) -> np.random.Generator:
    """A generator with the fixed seed; different offsets give independent streams."""
    return np.random.default_rng([SEED, offset])


def mean_and_error(sample: Floats) -> tuple[Floats, Floats]:
    """Sample mean and its standard error, along the first axis."""
    return sample.mean(axis=0), sample.std(axis=0, ddof=1) / math.sqrt(len(sample))


def variance_and_error(sample: Floats) -> tuple[Floats, Floats]:
    """Sample variance and its standard error, from the fourth moment."""
    centered = sample - sample.mean(axis=0)
    variance = np.mean(centered**2, axis=0)
    fourth = np.mean(centered**4, axis=0)
    return variance * len(sample) / (len(sample) - 1), np.sqrt(
        np.maximum(fourth - variance**2, 0) / len(sample)
    )


def assert_close(name: str, got: Any, want: Any, error: Any, scale: Any = 0.0) -> None:
    """Compare within SIGMAS standard errors, and rounding."""
    got, want = np.asarray(got, float), np.asarray(want, float)
    slack = SIGMAS * np.asarray(error, float) + 1e-9 * (np.abs(want) + np.abs(scale) + 1e-12)
    off = np.abs(got - want) > slack
    assert not np.any(off), f"{name}: got {got}, expected {want} within {slack}"
