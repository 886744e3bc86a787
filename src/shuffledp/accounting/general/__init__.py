"""Accounting for any shuffle protocol: divergences, clones and blanket reductions, Renyi conversion."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
