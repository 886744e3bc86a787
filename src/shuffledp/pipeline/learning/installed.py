"""Check for the optional extra of training."""

from __future__ import annotations

from importlib.util import find_spec


def available() -> bool:
    """Return whether JAX is installed, which `shuffledp.pipeline.learning.training` needs, without importing it."""
    return find_spec("jax") is not None
