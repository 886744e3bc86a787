"""DUMP, shuffle privacy with dummy points, by Li et al."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
