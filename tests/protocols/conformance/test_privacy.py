"""Planted faults of privacy are found, sound protocols pass, and the checks report missing comparisons."""

import math
from pathlib import Path

import numpy as np
import pytest

from shuffledp.protocols import conformance, get
from shuffledp.protocols.conformance import privacy

PLUGINS = Path(__file__).parents[1] / "plugins"


def planted(name):
    found = get("frequency", f"broken.py:{name}", root=PLUGINS)
    return found, tuple(c for c in conformance.default_cases(found) if c.task.domain_size == 2)[:1]


@pytest.mark.parametrize(
    "name, message",
    [
        ("NoProfile", "end to end, delta is at least"),
        ("FaithlessEncoder", "above the declared local budget"),
    ],
)
def test_a_planted_error_is_caught(name, message):
    said = []
    with pytest.raises(AssertionError, match=message):
        conformance.check_protocol(*planted(name), say=said.append)
    assert len(said) == 1
    assert said[0].startswith("privacy: REJECTED")


def test_bounds_are_close_below_truth():
    rng, eps = np.random.default_rng(3), 1.5
    keep = 1 / (1 + math.exp(-eps))
    ones, zeros = rng.random(40_000) < keep, rng.random(40_000) < 1 - keep
    assert 0.9 * eps < privacy.ratio_bound(ones, zeros) <= eps
    delta = keep - math.exp(1.0) * (1 - keep)
    assert 0.75 * delta < privacy.delta_bound(ones, zeros, 1.0) <= delta
    assert privacy.delta_bound(ones, zeros, eps) == 0


def test_unbounded_messages_are_put_into_ranges():
    rng = np.random.default_rng(4)
    one, two = (rng.laplace(at, 1.0, (40_000, 2)) for at in ((1.0, 0.0), (0.0, 0.0)))
    assert 0.7 < privacy.ratio_bound(one, two) <= 1
