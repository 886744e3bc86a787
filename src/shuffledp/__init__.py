"""Reproducible experiments and exact accounting for the shuffle model of differential privacy."""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.comparison.comparing import compare
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["__version__", "compare"]

__version__ = "0.1.0"
