"""Segmented aggregation of sets with several privacy levels, by Wang et al. 2024."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
