"""Check for the optional extra of training."""

from __future__ import annotations

from importlib.util import find_spec


def available() -> bool:
    """Return whether JAX is installed, without an import; `shuffledp.pipeline.learning.training` needs it."""
    return find_spec("jax") is not None
