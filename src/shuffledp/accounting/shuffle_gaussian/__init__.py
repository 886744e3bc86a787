"""Renyi accounting of shuffled Gaussian reports, by Liew and Takahashi (2022)."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
