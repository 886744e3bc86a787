"""Check whether the optional extra for training is installed."""

from __future__ import annotations

from importlib.util import find_spec


def available() -> bool:
    """Return whether JAX is installed, without importing it."""
    return find_spec("jax") is not None
