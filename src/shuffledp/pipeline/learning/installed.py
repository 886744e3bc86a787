"""Whether the optional extra for training is there."""

from __future__ import annotations

from importlib.util import find_spec


def available() -> bool:
    """Whether JAX is installed, which `shuffledp.pipeline.learning.training` needs; imports nothing itself."""
    return find_spec("jax") is not None
