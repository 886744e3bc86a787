"""Ghazi et al. 2021: sums with noise that cancels."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
