"""Whether the optional extra for training is there."""

from __future__ import annotations

from importlib.util import find_spec


def available() -> bool:
    """Whether JAX is installed, so that `shuffledp.pipeline.learning.training` can be imported; imports nothing itself."""
    return find_spec("jax") is not None
